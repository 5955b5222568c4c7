"""The people behind the numbers: who they are, who is like them, and what each point does to them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from ifair.audit.intervals import mean_between
from ifair.audit.measures import plain
from ifair.audit.parts import Part, shown
from ifair.metrics import flip_test

DIGITS = 3
"""Of probabilities; other scores keep four significant digits."""


def describe(part: Part, ids: NDArray[Any]) -> dict[str, Any]:
    """Everything about the people of a part that does not depend on a point, column by column.

    Parameters
    ----------
    part : Part
    ids : array of shape (M,)
        What people are found by.
    """
    near = part.neighbours
    distance = np.linalg.norm(part.may_count[near] - part.may_count[:, None, :], axis=2)
    return {
        "ids": [shown(value) for value in ids],
        "attributes": [_column(name, part.records.frame[name]) for name in part.records.frame.columns],
        "group": part.records.group.astype(int).tolist(),
        "truth": [plain(value) for value in part.y.tolist()],
        "query": None if part.query is None else [shown(value) for value in part.query],
        "neighbours": near.tolist(),
        "distances": np.round(distance, 2).tolist(),
    }


def _column(name: str, column: pd.Series) -> dict[str, Any]:
    if is_numeric_dtype(column) and not is_bool_dtype(column):
        values = [None if pd.isna(value) else plain(value) for value in column.tolist()]
        return {"name": name, "values": values}
    codes, labels = pd.factorize(np.array([shown(value) for value in column], dtype=object), sort=True)
    return {"name": name, "labels": [str(label) for label in labels], "codes": codes.tolist()}


def flips(
    part: Part, scores: Callable[[Any], Any], decisions: Callable[[Any], Any], resamples: int = 500
) -> dict[str, Any]:
    """What changes for everybody if only the protected attributes do.

    Parameters
    ----------
    part : Part
    scores : callable
        From encoded records (M, N) to scores (M,).
    decisions : callable
        From scores to decisions.
    resamples : int
        Of the bootstrap interval.

    Returns
    -------
    dict
        ``summary``: the flip test, with a 95 % interval of the share flipped (of the mean, where decisions are scores).
        ``people``: None where nothing changes for anybody; otherwise ``score``, with other protected attributes;
        ``to``, which ones, a number in ``alternatives``: those that change the decision if any do, else those that
        move the score most. ``alternatives`` is a list of ``{attribute: value}``.
    """
    names = [str(part.X.columns[i]) for i in part.hidden]
    seen: list[tuple[dict[str, str], NDArray[np.float64]]] = []

    def watched(X: pd.DataFrame) -> NDArray[np.float64]:
        result = scores(X)
        seen.append((_whose(part, X, names), result))
        return result

    try:
        found = flip_test(part.X, protected=names, probability=watched)
    except ValueError:  # everybody has the same protected attributes
        return {"summary": None, "alternatives": [], "people": None}
    (_, own), others = seen[0], seen[1:]
    alternatives = [label for label, _ in others]
    after = np.array([result for _, result in others])
    same = np.array([decisions(result) == decisions(own) for result in after])
    moved = np.abs(after - own)
    most = np.where(same, 0.0, 1.0 + moved.max()) + moved
    chosen = most.argmax(axis=0)
    two_valued = set(np.unique(decisions(own))) <= {0, 1}
    assert found.probability is not None
    flipped = np.asarray((~same).any(axis=0))
    # Everybody has as many alternatives as the others, so the mean of people's means is the mean over all.
    extent = flipped if two_valued else moved.sum(axis=0) / max(len(moved) - 1, 1)
    summary = {
        "mean": plain(found.probability.mean),
        "worst": plain(found.probability.worst),
        "worst_person": found.probability.worst_person,
        "share_flipped": plain(float(flipped.mean())) if two_valued else None,
        "interval": [plain(end) for end in mean_between(extent, part.query, resamples)],
        "alternatives": found.n_alternatives,
    }
    if not moved.any():
        return {"summary": summary, "alternatives": alternatives, "people": None}
    people = {"score": rounded(after[chosen, np.arange(len(own))]), "to": chosen.tolist()}
    return {"summary": summary, "alternatives": alternatives, "people": people}


def _whose(part: Part, X: pd.DataFrame, names: list[str]) -> dict[str, str]:
    """The protected attributes that everybody has in a changed table, as the original table writes them."""
    wanted = X[names].to_numpy()[0]
    row = int(np.argmax((part.X[names].to_numpy() == wanted).all(axis=1)))
    frame = part.records.frame
    return {name: shown(frame[name].iloc[row]) for name in part.records.protected}


def rounded(scores: NDArray[np.float64]) -> list[float]:
    """Scores as short as they can be shown; a probability stays on its side of one half, as that decides."""
    if scores.min() >= 0 and scores.max() <= 1:
        short = np.round(scores, DIGITS)
        return np.round(np.where((scores > 0.5) & (short <= 0.5), 0.5 + 10.0**-DIGITS, short), DIGITS).tolist()
    return [float(f"{score:.4g}") for score in scores]
