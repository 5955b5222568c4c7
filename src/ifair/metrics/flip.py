"""The flip test: change only a person's protected attributes, and see what moves."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.errors import IfairError, check_choice, check_known
from ifair.metrics.arguments import Floats, Groups, Ints, Result, find_groups
from ifair.metrics.certificate import Distance, minkowski
from ifair.similarity import Similarity

Function = Callable[[Any], Any]

MOST = 50
"""Combinations of protected values that are tried, the most frequent ones."""


@dataclass(frozen=True, slots=True)
class Shift(Result):
    """How far one output moves.

    Attributes
    ----------
    mean : float
        Over people and their alternatives.
    worst : float
        The largest of all.
    worst_person : int
        Row of the person who moves most.
    per_person : array of shape (M,)
        Each person's largest.
    """

    mean: float
    worst: float
    worst_person: int
    per_person: Floats = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class FlipTest(Result):
    """What changing only the protected attributes changes.

    Attributes
    ----------
    representation : Shift or None
        Distance between a person's representations.
    probability : Shift or None
        Absolute difference of the probability (total variation for more than two classes).
    decision : Shift or None
        1 where the decision changes, so ``mean`` is the share of all changes tried that flip it.
    share_flipped : float or None
        Share of people for whom at least one change flips the decision.
    n_people, n_alternatives : int
        ``n_alternatives`` counts the combinations of protected values that were tried, a person's own included.
    n_without_peers : int
        With a similarity, people like whom nobody has other protected values: nothing was changed, and they count in
        no mean.
    """

    representation: Shift | None
    probability: Shift | None
    decision: Shift | None
    share_flipped: float | None
    n_people: int
    n_alternatives: int
    n_without_peers: int = 0

    def __str__(self) -> str:
        lines = [f"flip test, {self.n_people} people, {self.n_alternatives} combinations of protected values"]
        if self.n_without_peers:
            lines.append(f"  {self.n_without_peers} of them like nobody with other protected values: not tested")
        for name in ("representation", "probability"):
            shift = getattr(self, name)
            if shift is not None:
                who = f"worst {shift.worst:.4g} (person {shift.worst_person})"
                lines.append(f"  {name} moves by {shift.mean:.4g} on average, {who}")
        if self.share_flipped is not None:
            lines.append(f"  the decision flips for {100 * self.share_flipped:.3g} % of people")
        return "\n".join(lines)


def flip_test(
    X: Any,
    *,
    protected: Sequence[Any],
    transform: Function | None = None,
    probability: Function | None = None,
    decision: Function | None = None,
    alternatives: str = "each",
    max_alternatives: int = MOST,
    distance: Distance | None = None,
    similarity: Similarity | None = None,
    random_state: int = 0,
) -> FlipTest:
    """Give people other protected attributes and nothing else, and compare what comes out.

    Parameters
    ----------
    X : array or frame (pandas, polars) of shape (M, N)
        What the functions take.
    protected : sequence of column names or indices
        All columns that hold protected attributes, for encoded data all columns that came from them: they
        are changed together, to combinations that occur in ``X``, so that no impossible person is made up.
        For one attribute at a time, name only its columns.
    transform, probability, decision : callables, optional
        From ``X`` to representations (M, D), probabilities (M,) or (M, C), decisions (M,): for instance
        ``pipeline[:-1].transform``, ``pipeline.predict_proba``, ``pipeline.predict``.
    alternatives : {"each", "permute"}
        "each": every combination that occurs, the ``max_alternatives`` most frequent. "permute": for each
        person one combination other than theirs, at random as frequent as it is.
    distance : callable, optional
        Between rows of representations; default Euclidean. See :func:`ifair.metrics.minkowski`.
    similarity : Similarity, optional
        Who is like whom in the table ``X``: one that is fitted, by which the protected columns do not count. In place
        of ``alternatives`` everybody gets the protected values of the person most like them who has others: a
        combination that somebody like them has. Who has no such person within reach is not tested.

    Examples
    --------
    >>> import numpy as np
    >>> from ifair.metrics import flip_test
    >>> X = np.array([[0.2, 0], [0.5, 1], [0.8, 1]])  # the second column is protected
    >>> print(flip_test(X, protected=[1], decision=lambda X: X @ [1, 0.4] > 0.7))
    flip test, 3 people, 2 combinations of protected values
      the decision flips for 33.3 % of people
    """
    given = {"representation": transform, "probability": probability, "decision": decision}
    functions = {name: function for name, function in given.items() if function is not None}
    if not functions:
        raise IfairError("give at least one of transform, probability and decision")
    columns: list[Any] = [protected] if isinstance(protected, str) else list(protected)
    for name in columns if hasattr(X, "columns") else ():
        check_known("protected column", name, X.columns)
    own = find_groups(X[columns] if hasattr(X, "columns") else np.asarray(X)[:, columns])
    if len(own) < 2:
        raise IfairError(f"the protected columns {columns} hold one combination only: nothing to change")
    if similarity is None:
        donors = _choose_donors(own, alternatives, max_alternatives, np.random.default_rng(random_state))
    else:
        donors = [_find_unlike_peers(X, columns, own, similarity)]
    measure: dict[str, Callable[[Any, Any], Any]] = {
        "representation": distance or minkowski(),
        "probability": lambda a, b: np.abs(a - b).sum(axis=1) / (1 if a.shape[1] == 1 else 2),
        "decision": lambda a, b: (a != b).any(axis=1).astype(np.float64),
    }
    before = {name: _to_rows(function(X)) for name, function in functions.items()}
    moved: dict[str, list[Floats]] = {name: [] for name in functions}
    for donor in donors:
        changed = replace_protected(X, columns, donor)
        untouched = own.codes == own.codes[donor]
        for name, function in functions.items():
            shift = np.asarray(measure[name](before[name], _to_rows(function(changed))), dtype=np.float64)
            moved[name].append(np.where(untouched, np.nan, shift))
    shifts = {name: _summarise_shifts(np.array(values)) for name, values in moved.items()}
    decided = shifts.get("decision")
    return FlipTest(
        representation=shifts.get("representation"),
        probability=shifts.get("probability"),
        decision=decided,
        share_flipped=None if decided is None else float(np.nanmean(decided.per_person)),
        n_people=len(own.codes),
        n_alternatives=len(donors) if alternatives == "each" and similarity is None else 2,
        n_without_peers=0 if similarity is None else int((donors[0] == np.arange(len(own.codes))).sum()),
    )


def each_alternative(protected: pd.DataFrame) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
    """For each of the combinations of protected values that :func:`flip_test` tries: whose row everybody gets it from,
    and whose own it is. None where there is but one."""
    own = find_groups(protected)
    if len(own) > 1:
        for donor in _choose_donors(own, "each", MOST, np.random.default_rng(0)):
            yield donor, own.codes == own.codes[donor]


def _choose_donors(own: Groups, alternatives: str, most: int, rng: np.random.Generator) -> list[Ints]:
    """For each round, the row from which each person gets the protected attributes."""
    check_choice("alternatives", alternatives, ("each", "permute"))
    n = len(own.codes)
    if alternatives == "each":
        sizes = np.bincount(own.codes, minlength=len(own))
        kept = np.sort(np.argsort(-sizes, kind="stable")[: max(most, 2)])
        firsts = [int(np.argmax(own.codes == code)) for code in kept]
        return [np.full(n, first) for first in firsts]
    donor = np.empty(n, dtype=np.intp)
    for code in range(len(own)):
        members = own.members(code)
        donor[members] = rng.choice(np.flatnonzero(~members), size=int(members.sum()))
    return [donor]


def _find_unlike_peers(X: Any, columns: list[Any], own: Groups, similarity: Similarity) -> Ints:
    """The row of the person most like each with another combination; their own where there is nobody within reach."""
    names = {str(name) for name in columns} if hasattr(X, "columns") else {str(i) for i in columns}
    if counted := sorted(names & set(similarity.attributes_)):
        raise IfairError(
            f"the similarity counts {', '.join(counted)}, which the flip test changes: name them as its protected"
        )
    points, donor = similarity.embed(X), np.arange(len(own.codes))
    for code in range(len(own)):
        members, others = np.flatnonzero(own.members(code)), np.flatnonzero(~own.members(code))
        nearest = similarity.neighbours(points[members], points[others], n_neighbors=1).indices[:, 0]
        donor[members] = np.where(nearest < 0, members, others[nearest])
    if (donor == np.arange(len(donor))).all():
        raise IfairError("nobody is like anybody with other protected values within the caliper of the similarity")
    return donor


def _summarise_shifts(moved: Floats) -> Shift:
    """From shifts of shape (rounds, M), NaN where a person kept their own combination."""
    known = ~np.isnan(moved)
    per_person = np.where(known.any(axis=0), np.max(moved, axis=0, where=known, initial=-np.inf), np.nan)
    worst = int(np.nanargmax(per_person))
    return Shift(float(np.nanmean(moved)), float(per_person[worst]), worst, per_person)


def _to_rows(output: Any) -> NDArray[Any]:
    array = np.asarray(output)
    return array[:, None] if array.ndim == 1 else array


def replace_protected(X: Any, columns: list[Any], donor: Ints) -> Any:
    """A copy of ``X`` whose protected columns are those of the donor rows; types stay."""
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns([X[name][donor] for name in columns])
    if hasattr(X, "iloc"):  # pandas
        return X.assign(**{name: X[name].iloc[donor].set_axis(X.index) for name in columns})
    changed = np.array(X)
    changed[:, columns] = changed[donor][:, columns]
    return changed
