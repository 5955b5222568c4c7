"""Decisions about a batch of people: who is chosen, whom the model alone decides about otherwise, and why."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.errors import IfairError, check_choice, count_words
from ifair.graph import Smoothing, select
from ifair.similarity import Similarity
from ifair.similarity.peers import Peers

__all__ = ["BatchDecisions"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

PARITIES = ("selection", "opportunity")
PEERS = ("batch", "training")
PARITY_ROUNDS = 100
PARITY_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class BatchDecisions:
    """What `decide` returns.

    Attributes
    ----------
    selected : ndarray of bool, shape (n_people,)
    scores : ndarray of shape (n_people,)
        What decides. Smoothed; with `parity` smoothed after the threshold of the person's group is subtracted, so that
        it says how far somebody is above it.
    smoothed : ndarray of shape (n_people,)
        Smoothed without thresholds of groups, on the scale of the model: what `scores` would be without `parity`.
    model_scores : ndarray of shape (n_people,)
        What the inner model says.
    threshold : float
        Scores above it are selected.
    group_thresholds : dict
        With `parity`, what is subtracted from the model's scores of each group before smoothing; else empty. Peers of
        other groups pull on what is left, so that a threshold may lie outside the range of the scores.
    gap : float
        The smoothing objective is at most this share of itself above its minimum; 0 with ``peers="training"``, where
        every score is exact by itself.
    changed : int array
        Positions of the people about whom the inner model decides otherwise when it selects by the same threshold, or
        as many people, without groups.
    changed_by_group : int array
        Of these, the people whom the thresholds of groups changed: with one threshold for all, the smoothed scores
        decide as the inner model does. Of the others it was the peers.
    tied : int array
        Positions of people whose scores cannot be told from the threshold, where some of them are selected and others
        not: of these, the ones with the higher model score came first, then the ones in earlier rows.
    peers : Peers
        The people most like each, by their positions in the batch; with ``peers="training"`` by those in `reference_`.
    """

    selected: Bools
    scores: Floats
    smoothed: Floats
    model_scores: Floats
    threshold: float
    group_thresholds: dict[Any, float]
    gap: float
    changed: NDArray[np.intp]
    changed_by_group: NDArray[np.intp]
    tied: NDArray[np.intp]
    peers: Peers
    _graph: Any = field(repr=False)  # of the batch; None where people are compared with the reference
    _people: pd.DataFrame = field(repr=False)
    _similarity: Similarity = field(repr=False)

    def explain(self, person: int, most: int = 3, differences: int | None = None) -> str:
        """Why a person is decided about as they are, for a case worker to read.

        Parameters
        ----------
        person : int
            Position in the batch.
        most : int, default=3
            How many of the people most like them to describe; of a changed decision, those who were decided about as
            they were, unless their group's threshold changed it. Of the reference only coordinates are kept: its people
            are counted and not described.
        differences : int, optional
            How many of the largest differences to name, and nothing that is the same; by default all of both.
        """
        chosen = bool(self.selected[person])
        verdict = "selected" if chosen else "not selected"
        text = f"{self._label(person)} is {verdict}: model score {self.model_scores[person]:.3f}"
        changed = bool(np.isin(person, self.changed))
        alone = f"; the model alone would {'not ' if chosen else ''}have selected them" if changed else ""
        by_group = person in self.changed_by_group
        alone += "; the cause is their group's threshold, and not their peers" if by_group else ""
        tied = "; tied at the threshold, where the model's score came first" if person in self.tied else ""
        if self._graph is None:
            return f"{text}{self._explain_by_reference(person)}{tied}{alone}"
        near = self._find_alike(person)
        if len(near) == 0:
            height = f", {self._height(person)}" if self.group_thresholds else ""
            return f"{text}{height}; no close peers, so the model's score stands{alone}"
        same = self.selected[near] == chosen
        text += f", with peers {self._height(person)}"
        text += f"; {int(self.selected[near].sum())} of {len(near)} people like them selected"
        text += self._count_alike(person)
        text += tied + alone
        shown = near[same] if changed and not by_group and same.any() else near
        lines = [f"  {self._label(other)}, {self._describe(person, other, differences)}" for other in shown[:most]]
        return "\n".join([text, *lines])

    def to_frame(self) -> pd.DataFrame:
        """Everybody: selected, both scores, how many close peers, whether the decision changed, whether it is a tie.

        The score is `smoothed`, on the scale of the model. With `parity` something else decides: `above_threshold`, how
        far they are above the threshold of their group.
        """
        everyone = np.arange(len(self.selected))
        columns = {
            "selected": self.selected,
            "score": self.smoothed,
            **({"above_threshold": self.scores} if self.group_thresholds else {}),
            "model_score": self.model_scores,
            "peers": self.peers.count,
            "changed": np.isin(everyone, self.changed),
            "tied": np.isin(everyone, self.tied),
        }
        return pd.DataFrame(columns, index=self._people.index)

    def explain_changes(self, most: int = 3) -> pd.DataFrame:
        """Everybody whose decision changed: what it is now, scores as of `to_frame`, and the explanation."""
        everybody = self.to_frame().iloc[self.changed]
        reasons = [self.explain(int(person), most) for person in self.changed]
        return everybody.drop(columns=["peers", "changed", "tied"]).assign(explanation=reasons)

    def _explain_by_reference(self, person: int) -> str:
        """What a score owes to the training people."""
        count = int(self.peers.count[person])
        if count == 0:
            return "; no close peers among the training people, so the model's score stands"
        peers = count_words(count, "close peer", "close peers")
        return f", with {peers} among the training people {self._height(person)}"

    def _find_alike(self, person: int) -> NDArray[np.intp]:
        """Whoever the person is compared with: their peers, the nearest first, and then those whose peer they are."""
        own = self.peers.indices[person]
        own = own[own >= 0]
        row = self._graph.indices[self._graph.indptr[person] : self._graph.indptr[person + 1]]
        return np.concatenate([own, np.setdiff1d(row, own)]).astype(np.intp)

    def _count_alike(self, person: int) -> str:
        """How many of the people that somebody is compared with are their peers, where others are among them."""
        own = int(self.peers.count[person])
        others = len(self._find_alike(person)) - own
        return f" ({count_words(own, 'peer', 'peers')}, and {others} whose peer they are)" if others else ""

    def _describe(self, person: int, other: int, differences: int | None) -> str:
        verdict = "selected" if self.selected[other] else "not selected"
        compared = self._similarity.explain(self._people, person, int(other))
        words = compared.text
        if differences is not None:
            words = ", ".join(compared.differences[:differences]) or "the same in everything"
        score = self._height(other) if self.group_thresholds else f"score {self._height(other)}"
        return f"{verdict}, {score}: {words}"

    def _height(self, person: int) -> str:
        """The smoothed score; with parity how far it is from the threshold of the person's group."""
        score = f"{self.scores[person]:.3f}"
        if not self.group_thresholds:
            return score
        side = "below" if score.startswith("-") else "above"
        distance = score.removeprefix("-")
        return f"{distance} {side} their group's threshold" if float(distance) else "at their group's threshold"

    def _label(self, person: int) -> str:
        return f"person {self._people.index[person]}"


def check_reference_decisions(parity: str | None, query: Any) -> None:
    """Refuse what people who are compared with the training people only cannot be asked for."""
    for name, value, why in (
        ("parity", parity, "finds the thresholds of groups in the batch as a whole"),
        ("query", query, "compares people of the batch with each other"),
    ):
        if value is not None:
            raise IfairError(f"{name} {why}: leave it out, or compare with peers='batch'")


def check_groups(n_people: int, groups: Any, parity: str | None, *, threshold: float | None, probable: bool) -> None:
    """Refuse groups that do not fit the people, and a parity that cannot be had."""
    if groups is not None:
        missing = pd.isna(np.asarray(groups))
        if missing.shape != (n_people,):
            got = repr(groups) if isinstance(groups, str) else f"the shape {missing.shape}"
            raise IfairError(f"groups must be an array, one group for each of {n_people:,} people; got {got}")
        if missing.any():
            raise IfairError(f"groups has no value for person {int(missing.argmax())}; name a group for it")
    if parity is None:
        return
    check_choice("parity", parity, PARITIES)
    if groups is None:
        raise IfairError("parity needs groups, the group of every person")
    if threshold is not None:
        raise IfairError("parity finds the thresholds itself: give rate or n, not threshold")
    if parity == "opportunity" and not probable:
        raise IfairError(
            "parity='opportunity' needs probabilities of being positive, and the inner model gives none: use "
            "parity='selection', or a classifier with predict_proba"
        )


def select_by_group(
    model_scores: Floats, groups: NDArray[Any], n: int, weights: Floats, smooth: Callable[[Floats], Smoothing]
) -> tuple[Bools, Bools, Smoothing, dict[Any, float]]:
    """Select n people so that every group has the same share of its weight selected, to within one person.

    A threshold is subtracted from the scores of each group and moved until the group's places end at a height of 0: the
    smoothed scores then solve the problem with these thresholds, and no other decision with as many of every group
    is better. Raising a group's threshold by some amount lowers scores by at most as much, so that steps by how far
    places end from 0 do not overshoot. Weights are 1 for equal selection, the probability of being positive for equal
    opportunity. Returns who is selected and who is tied, the smoothing, and the thresholds by group.
    """
    names, codes = np.unique(groups, return_inverse=True)
    thresholds = np.zeros(len(names))
    members = [np.flatnonzero(codes == g) for g in range(len(names))]
    for _ in range(PARITY_ROUNDS):
        smoothing = smooth(model_scores - thresholds[codes])
        places = _share_places(smoothing.scores, codes, weights, n)
        ends = np.array([_end_of_places(smoothing.scores[rows], k) for rows, k in zip(members, places)])
        if np.abs(ends).max() <= max(smoothing.error, PARITY_TOLERANCE):
            break
        thresholds += ends
    selected, tied = np.zeros(len(codes), dtype=bool), np.zeros(len(codes), dtype=bool)
    for rows, k in zip(members, places):
        found = select(smoothing.scores[rows], n=k, priority=model_scores[rows], tolerance=smoothing.error)
        selected[rows], tied[rows] = found.chosen, found.tied
    return selected, tied, smoothing, dict(zip(names.tolist(), thresholds.tolist()))


def find_group_thresholds(scores: Floats, groups: NDArray[Any], n: int, weights: Floats) -> dict[Any, float]:
    """The threshold of every group at which n people are selected, at the same share of every group's weight.

    For people who are decided about one at a time, by scores that are what they are: see :func:`select_by_group`.
    """

    def keep(scores: Floats) -> Smoothing:
        return Smoothing(scores, gap=0.0, relative_gap=0.0, error=0.0, n_iter=0, converged=True)

    return select_by_group(scores, groups, n, weights, keep)[3]


def _share_places(scores: Floats, codes: NDArray[np.intp], weights: Floats, n: int) -> NDArray[np.intp]:
    """How many of each group are among n, at equal shares of the groups' weights.

    Everybody stands at the share of their group's weight that is before the middle of their own; the first n are in.
    """
    share = np.empty(len(scores))
    for g in range(codes.max() + 1):
        rows = np.flatnonzero(codes == g)
        rows = rows[np.argsort(-scores[rows], kind="stable")]
        reached = np.cumsum(weights[rows])
        share[rows] = (reached - 0.5 * weights[rows]) / max(reached[-1], np.finfo(float).tiny)
    first = np.argsort(share, kind="stable")[:n]
    return np.bincount(codes[first], minlength=codes.max() + 1)


def _end_of_places(scores: Floats, n: int) -> float:
    """The height halfway between the last one in and the first one out; of one of them, where all or none are in."""
    descending = np.sort(scores)[::-1]
    return float(descending[max(n - 1, 0) : n + 1].mean())
