"""The people behind the numbers: who they are, who is like them, and what each point does to them."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ifair.datasets.dataset import Dataset
from ifair.evaluate.measures import flip_scores, plain_number
from ifair.evaluate.resampling import Resamples
from ifair.evaluate.splits import Part, name_groups, value_text
from ifair.evaluate.training import Trained
from ifair.metrics.arguments import average
from ifair.results import Attribute, Flip, People, PointPeople

DIGITS = 3
"""Of probabilities; other scores keep four significant digits."""

NAMED_VALUES = 6
"""Values of an attribute that are named; of more, only their number is told."""


def describe_people(part: Part, ids: NDArray[Any]) -> People:
    """Everything about the people of a part that does not depend on a point, column by column."""
    within = part.peers.indices >= 0
    return {
        "ids": [value_text(value) for value in ids],
        "attributes": [_describe_column(part.records.frame, name) for name in part.records.frame.columns],
        "group": part.records.group.astype(int).tolist(),
        "truth": [plain_number(value) for value in part.y.tolist()],
        "query": None if part.query is None else [value_text(value) for value in part.query],
        # Nobody stands for somebody out of reach: whoever has no close peers has an empty list.
        "neighbours": [near[kept].tolist() for near, kept in zip(part.peers.indices, within)],
        "distances": [np.round(far[kept], 2).tolist() for far, kept in zip(part.peers.distances, within)],
    }


def _describe_column(frame: pd.DataFrame, name: str) -> Attribute:
    column = frame[name]
    if is_numeric_dtype(column) and not is_bool_dtype(column):
        values = [None if pd.isna(value) else plain_number(value) for value in column.tolist()]
        return {"name": name, "values": values}
    codes, labels = pd.factorize(name_groups(frame, name), sort=True)
    return {"name": name, "labels": [str(label) for label in labels], "codes": codes.tolist()}


def describe_group(dataset: Dataset) -> str:
    """Who is in the protected group, such as ``sex is female``, or ``age is at most 25``.

    Found in the records themselves: an attribute that tells the group from the others names it; otherwise several
    together do, each with the values that only members have.
    """
    inside = dataset.group
    parts = []
    for name in dataset.protected:
        said = _describe_attribute(name, dataset.frame[name], inside)
        if said is None:
            continue
        words, is_whole = said
        if is_whole:
            return words
        parts.append(words)
    return " or ".join(parts) or f"{int(inside.sum()):,} people who were named one by one"


def count_unknown(dataset: Dataset) -> int:
    """How many people outside the protected group may be in it, by a protected value that they lack.

    Where an attribute alone tells the group, it is those who lack it. Otherwise those who lack one, and have nothing
    that no member has.
    """
    inside, frame = dataset.group, dataset.frame[list(dataset.protected)]
    for name in frame.columns:
        said = _describe_attribute(name, frame[name], inside)
        if said is not None and said[1]:
            return int((frame[name].isna() & ~inside).sum())
    possible = [_may_be_of_member(frame[name], inside) for name in frame.columns]
    return int((frame.isna().any(axis=1) & ~inside & np.logical_and.reduce(possible)).sum())


def _may_be_of_member(column: pd.Series, inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Who lacks a value, or has one that a member has too; of a measure, one among those of members."""
    members = column[inside].dropna()
    shared = column.isin(members.unique())
    if is_numeric_dtype(column) and not is_bool_dtype(column) and len(members):
        shared = column.between(members.min(), members.max())
    return (shared | column.isna()).to_numpy(dtype=bool)


def _describe_attribute(name: str, column: pd.Series, inside: NDArray[np.bool_]) -> tuple[str, bool] | None:
    """What only members have of an attribute, and whether all members have it; None where there is nothing."""
    members, others = column[inside], column[~inside]
    if is_numeric_dtype(column) and not is_bool_dtype(column) and column.nunique() > 2:
        if not len(members) or not len(others):
            return None
        if members.max() < others.min():
            return f"{name} is at most {value_text(members.max())}", True
        if members.min() > others.max():
            return f"{name} is at least {value_text(members.min())}", True
        return None
    only = [value for value in members.dropna().unique() if not (others == value).any()]
    if not only:
        return None
    whole = bool(members.isin(only).all())
    texts = sorted(value_text(value) for value in only)
    listed = " or ".join(texts) if len(texts) <= NAMED_VALUES else f"one of {len(texts)} values"
    return f"{name} is {listed}", whole


def flip_people(
    part: Part, trained: Trained, draws: Resamples, own: NDArray[np.float64] | None = None
) -> tuple[Flip | None, PointPeople]:
    """What changes for everybody if only the protected attributes do: the flip test, and what people are shown.

    The interval is of the share flipped (of the mean, where decisions are scores); None where everybody has the same
    protected attributes. People are shown those attributes that change the decision if any do, else those that move the
    score most. What the model says of people as they are is their ``own``, where it is known.
    """
    own = trained.scores(part.records.frame) if own is None else own
    rows, changed = flip_scores(part.records, trained, own)
    limit = trained.threshold if trained.task == "classification" else None
    people: PointPeople = {"score": round_scores(own, limit), "flip": None, "alternatives": []}
    if not rows:
        return None, people
    moved = np.abs(changed - own)
    flips = ~np.isnan(moved) & (trained.decisions(changed) != trained.decisions(own))
    furthest = np.nanmax(moved, axis=0)
    two_valued = set(np.unique(trained.decisions(own))) <= {0, 1}
    flipped = flips.any(axis=0)
    extent = flipped if two_valued else np.nanmean(moved, axis=0)
    interval = draws.average(extent).describe()
    summary: Flip = {
        "mean": plain_number(np.nanmean(moved) if part.weight is None else _weigh_moves(moved, part.weight)),
        "worst": plain_number(furthest.max()),
        "worst_person": int(furthest.argmax()),
        "share_flipped": plain_number(average(flipped, part.weight)) if two_valued else None,
        "interval": [interval["low"], interval["high"]],
        "alternatives": len(rows),
    }
    if furthest.any():
        # Nobody is shown their own attributes as the other ones: those are NaN, and come last.
        shown = np.nan_to_num(np.where(flips, 1.0 + furthest.max(), 0.0) + moved, nan=-1.0).argmax(axis=0)
        people["flip"] = {"score": round_scores(changed[shown, np.arange(len(own))], limit), "to": shown.tolist()}
        frame, names = part.records.frame, part.records.protected
        people["alternatives"] = [{name: value_text(frame[name].iloc[row]) for name in names} for row in rows]
    return summary, people


def _weigh_moves(moved: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The mean move of scores, shape (n_alternatives, M), over people who stand for several; NaN is none."""
    known = ~np.isnan(moved)
    return float((np.where(known, moved, 0.0) @ weights).sum() / (known @ weights).sum())


def round_scores(scores: NDArray[np.float64], threshold: float | None = None) -> list[float]:
    """Scores as short as they can be shown, each on its side of the threshold, as that decides."""
    if scores.min() >= 0 and scores.max() <= 1:
        short = np.round(scores, DIGITS)
    else:
        short = np.array([float(f"{score:.4g}") for score in scores])
    if threshold is None:
        return short.tolist()
    shown = float(plain_number(threshold))
    below = np.floor(shown * 10.0**DIGITS) / 10.0**DIGITS
    side = scores > threshold
    short = np.where(side & (short <= shown), below + 10.0**-DIGITS, np.where(~side & (short > shown), below, short))
    return np.round(short, 12).tolist()
