"""What outcomes for the people of a part are worth, and how fairly they treat people."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ifair.datasets.dataset import Dataset
from ifair.evaluate.candidates import make_model
from ifair.evaluate.splits import Part, Split
from ifair.evaluate.training import Outcome, Trained, decide, fit_model, model_scores
from ifair.metrics import (
    accuracy,
    auc,
    average_precision_at_k,
    consistency,
    consistency_per_person,
    equal_opportunity,
    hard_auc,
    kendall_tau,
    share_at_k,
    statistical_parity,
)
from ifair.metrics.adversary import make_attacker
from ifair.metrics.arguments import average_queries
from ifair.metrics.flip import each_alternative, replace_protected

Floats = NDArray[np.float64]

TOP = 10
"""Places of a ranking that the paper looks at."""

UTILITY = {"classification": "AUC", "ranking": "MAP"}
"""The key of the utility in :func:`paper_measures`, by which settings are chosen."""


USEFULNESS = {
    "classification": ("AUC", "how often a random positive case gets a higher score than a random negative one"),
    "regression": ("Kendall's tau", "how well the order of the predictions agrees with the true order"),
    "ranking": ("MAP", "how many of the truly best ten of a query are ranked first, averaged over queries"),
}
"""What the ``utility`` of :class:`ifair.evaluate.judgement.Judgement` is called for each task, and what it says."""


def paper_measures(part: Part, outcome: Outcome) -> dict[str, float]:
    """Everything that the paper prints of a classifier or, where there are queries, of a ranking.

    And whatever post-processing adds.
    """
    if part.query is None:
        found = classification_measures(part, outcome.decisions, outcome.scores)
    else:
        found = ranking_measures(part, outcome.scores, outcome.order)
    return {**found, **outcome.extra}


def classification_measures(part: Part, decisions: NDArray[Any], scores: Floats) -> dict[str, float]:
    """Everything that the paper prints of a classifier, and the AUC of its scores."""
    return {
        "Acc": accuracy(part.y, decisions),
        "AUC": hard_auc(part.y, decisions),
        "AUC_of_scores": auc(part.y, scores),
        "EqOpp": equal_opportunity(part.y, decisions, sensitive_features=part.group),
        "Parity": statistical_parity(part.y, decisions, sensitive_features=part.group),
        "yNN": consistency(decisions, neighbours=part.neighbours, kind="label"),
    }


def ranking_measures(part: Part, scores: Floats, order: Floats | None = None) -> dict[str, float]:
    """Everything that the paper prints of a ranking, as means over queries; records in no query are only neighbours.

    ``MAP`` (AP@10; relevant are the truly ten best), ``KT`` (0 for a query in which nobody is told apart), ``yNN``
    (within queries), ``yNN_of_all`` (across them), ``percent_protected`` among the first ten. Candidates are ranked by
    ``order``, larger first, where that is not the scores.
    """
    by = scores if order is None else order
    across = consistency_per_person(scale_to_unit(scores), neighbours=part.neighbours_of_all, kind="score")
    queries = []
    for rows, near in part.rankings:
        share = share_at_k(None, by[rows], sensitive_features=part.group[rows], k=TOP)
        is_told_apart = np.ptp(part.y[rows]) > 0 and np.ptp(by[rows]) > 0
        queries.append(
            {
                "MAP": average_precision_at_k(part.y[rows], by[rows], k=TOP),
                "KT": kendall_tau(part.y[rows], by[rows]) if is_told_apart else 0.0,
                "yNN": consistency(scale_to_unit(scores[rows]), neighbours=near, kind="score"),
                "yNN_of_all": average_queries(across[rows], query=None),
                "percent_protected": 100.0 * share,
            }
        )
    return {name: float(np.mean([query[name] for query in queries])) for name in queries[0]}


def scale_to_unit(scores: Floats) -> Floats:
    """Scores from 0 to 1; all 0 where they are equal."""
    width = np.ptp(scores)
    return (scores - scores.min()) / width if width > 0 else np.zeros(len(scores))


def measure_mapped(
    parts: Split, mapped: Sequence[Any], *, model: str = "linear", seed: int = 0
) -> list[dict[str, float]]:
    """What a model trained on the first of three mapped parts reaches on the others, in the paper's measures."""
    fitted = fit_model(make_model(model, parts.task, seed), np.asarray(mapped[0]), parts.train)
    found = []
    for part, Z in zip((parts.validation, parts.test), mapped[1:]):
        scores = model_scores(fitted, np.asarray(Z), parts.task)
        found.append(paper_measures(part, Outcome(scores, decide(scores, parts.task))))
    return found


def guess_group(parts: Split, seen: Any, unseen: Any, adversary: str, seed: int) -> dict[str, float]:
    """``accuracy`` and ``AUC`` (1/2: nothing is given away) with which an adversary, "logistic" or "boosting", trained
    on the training part as it is ``seen``, guesses the group on the test part, which is ``unseen``."""
    model = make_attacker(adversary, seed).fit(seen, parts.train.group)
    return {
        "accuracy": accuracy(parts.test.group, model.predict(unseen)),
        "AUC": auc(parts.test.group, model.predict_proba(unseen)[:, 1]),
    }


def flip_scores(
    people: Dataset, trained: Trained, own: Floats, ask: Callable[[pd.DataFrame], Floats] | None = None
) -> tuple[list[int], Floats]:
    """Everybody's score with every combination of protected attributes that occurs, the fifty most frequent.

    Of each combination the row of somebody who has it, and what the model then says, shape (n_combinations, M): NaN
    where the combination is a person's own; nothing where all have the same. What it says of people as they are is
    their ``own``, and one that does not look at protected columns is not asked again. ``ask``: for what, of a table of
    people, by default the scores.
    """
    frame, names = people.frame, list(people.protected)
    sees = bool(set(names) & trained.looks_at)
    # A missing value is a value too, of its own.
    codes = pd.DataFrame({name: pd.factorize(frame[name])[0] for name in names})
    rows, changed = [], []
    for donor, is_own in each_alternative(codes):
        rows.append(int(donor[0]))
        says = (ask or trained.scores)(replace_protected(frame, names, donor)) if sees else own
        changed.append(np.where(is_own, np.nan, says))
    return rows, np.array(changed).reshape(len(rows), len(people))


def plain_number(value: Any) -> Any:
    """A number that JSON can hold, to six digits; None for one that is undefined or without limit."""
    if isinstance(value, (str, int)):
        return value
    number = float(value)
    return float(f"{number:.6g}") if np.isfinite(number) else None
