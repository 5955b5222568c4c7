"""Everything an audit finds about a table, as plain data that a report can be made of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from ifair.audit.cautions import CHANCE, list_cautions
from ifair.audit.people_view import count_unknown, describe_group, describe_people
from ifair.audit.points import judge_point, try_candidate
from ifair.audit.referee import compare_points, draw_front, give_verdicts
from ifair.audit.table_cautions import find_telling, list_table_cautions
from ifair.audit.tuning import (
    SOLVER,
    choose_penalised,
    find_front,
    find_similarity,
    is_choosable,
    letter,
    list_tuned,
    name_choices,
)
from ifair.datasets.dataset import Dataset
from ifair.errors import IfairError
from ifair.evaluate.arms import MODELS, PENALTIES, list_candidates
from ifair.evaluate.candidates import EXISTING, Candidate
from ifair.evaluate.judgement import find_graders
from ifair.evaluate.measures import USEFULNESS, plain_number
from ifair.evaluate.splits import Split, find_all_peers, split_table
from ifair.evaluate.training import Existing, check_parity
from ifair.metrics.arguments import average
from ifair.results import AuditedData, Choices, Evidence, LeftOut, Parity, Point, Utility, list_versions
from ifair.similarity.peers import Searches, share_searches

Step = Callable[[str, int, int], None]
"""Told what was done last, how much is done and how much there is."""

COUNTED_ONCE = (
    "how well the protected group is guessed",
    "the certificate",
    "who is treated worst",
    "who is like whom",
    "the components of SVD",
)
"""What people who stand for several count once in."""

LEARNED_FROM = 10_000
"""People that an audit learns from, at most: enough to judge by, and soon done."""


def evidence(
    dataset: Dataset,
    *,
    tuning: Mapping[str, Any] | None = None,
    ids: ArrayLike | None = None,
    seed: int | None = None,
    higher_is_better: bool = True,
    resamples: int = 500,
    most_people: int = 10_000,
    solver: Mapping[str, Any] | None = None,
    categorical: Sequence[str] = (),
    similarity: Any = None,
    models: Sequence[str] = MODELS,
    threshold: float | None = None,
    rate: float | None = None,
    parity: tuple[str, str] | None = None,
    existing: Existing | None = None,
    n_jobs: int | None = None,
    step: Step | None = None,
) -> Evidence:
    """Learn, decide and measure: a table before and after iFair, with its rivals.

    Everything is learned on one third of the records, settings are chosen on another, and all that is said about
    people and decisions is measured on the last.

    Parameters
    ----------
    dataset : Dataset
        With a target; see :func:`ifair.data.from_table`.
    tuning : mapping, optional
        What :func:`ifair.audit.tune` found for this table: the points of its front are compared. Default: a small
        grid of settings.
    ids : array of shape (n_records,), optional
        What people are found by. Default: the number of the row, from 1.
    seed : int, optional
        Of the split and of the starts. Default: that of the tuning, or 0.
    higher_is_better : bool
        Whether a high score, or the positive class, is good for the person.
    resamples : int
        Of every bootstrap interval.
    most_people : int
        People who are judged and shown, at most.
    solver, categorical, similarity, models
        As of :func:`ifair.audit.tune`; the models are of what is compared where nobody tuned.
    threshold : float, optional
        Of two classes: who has a higher score is decided about positively. Default: that of the tuning, or 0.5.
    rate : float, optional
        Instead of a threshold: that of each point above which this share of the validation people is.
    parity : tuple of str, optional
        ``("selection", COLUMN)``: every group of a column is selected at the same rate, as many people in all;
        ``("opportunity", COLUMN)``: at the same rate among those whom the model expects to be positive. By a threshold
        per group, found on the validation people. The group is then used in deciding. By default that of the tuning.
    existing : Existing, optional
        A model that decides already: it is judged by what it said, beside models that delete columns.
    n_jobs : int, optional
        Processes; -1 for one per core. The result does not depend on it.
    step : callable, optional
        Called as ``step(what, done, total)``.

    Returns
    -------
    Evidence
        Numbers, strings, lists and dicts only; :class:`ifair.results.Evidence` names them all.
        :func:`ifair.report.page` makes a page of it.
    """
    seed = seed if seed is not None else int((tuning or {}).get("seed", 0))
    options = dict(solver or (tuning or {}).get("solver") or SOLVER)
    names = np.arange(1, len(dataset) + 1) if ids is None else np.asarray(ids)
    tell = step or (lambda *_: None)
    if tuning is not None:
        categorical = categorical or tuning.get("categorical", ())
        similarity = find_similarity(tuning) if similarity is None else similarity
        if parity is None and existing is None and "parity" in tuning:
            parity = tuning["parity"]["kind"], tuning["parity"]["groups"]
    parts = split_for_audit(dataset, seed, most_people=most_people, categorical=categorical, similarity=similarity)
    if parity is not None:
        check_parity(dataset, parts.task, *parity)
    candidates = list_audited(tuning, parts, models, alone=existing is None)
    how: dict[str, Any] = {"resamples": resamples, "higher_is_better": higher_is_better, "rate": rate}
    how["parity"] = parity
    given = (threshold, (tuning or {}).get("threshold"), 0.5)
    how["threshold"] = next(value for value in given if value is not None)
    searches: Searches = {}
    with share_searches(searches):
        how["graders"] = find_graders(parts)
        if any(candidate.consistent for candidate in candidates):
            find_all_peers(parts)
    how["searches"] = searches
    first = try_candidate(candidates[0], parts, seed, options, **how)
    if isinstance(first, str):
        raise IfairError(f"no model can be trained on {dataset.name}: {first}")
    tell(candidates[0].name, 1, len(candidates))
    # By now the neighbours of all parts are known, and other processes get them. What takes long comes first, so that
    # no process ends long after the others.
    order = sorted(range(1, len(candidates)), key=lambda i: not candidates[i].is_learned)
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(try_candidate)(candidates[i], parts, seed, options, **how) for i in order
    )
    tried: dict[int, Any] = {0: first}
    for i, result in zip(order, jobs):
        tried[i] = result
        tell(candidates[i].name, len(tried), len(candidates))
    points: list[Point] = []
    measured = []
    left_out: list[LeftOut] = []
    for i, candidate in enumerate(candidates):
        found = tried[i]
        if isinstance(found, str):
            left_out.append({"name": candidate.name, "why": found})
        else:
            found[0]["label"] = letter(i)
            points.append(found[0])
            measured.append(found[1])
    if existing is not None:
        shared = {name: how[name] for name in ("resamples", "higher_is_better", "graders")}
        point, reached = judge_point(Candidate(EXISTING, model=existing.name), existing, parts, **shared)
        point["label"] = letter(len(candidates))
        points.append(point)
        measured.append(reached)
        left_out.append({"name": f"the flip test of {point['name']}", "why": "what it would say is not known"})
    utility, explained = USEFULNESS[parts.task]
    penalised, front = choose_penalised(points, parts.task), {point["id"] for point in find_front(points)}
    for point in points:
        point["role"] = "penalised" if point["id"] == penalised else point["role"]
        point["on_front"] = point["id"] in front
        point["cautions"] = list_cautions(parts.task, utility, point, points[0])
    compare_points(points, measured)
    choices = choose_points(points, parts.task, tuning)
    worth: Utility = {"name": utility, "explained": explained, "chance": CHANCE.get(parts.task)}
    told_by = find_telling(dataset)
    verdict = give_verdicts(points, choices, worth, dataset.protected, told_by=list(told_by))
    found_evidence: Evidence = {
        "format": "ifair-evidence",
        "version": 3,
        "task": parts.task,
        "utility": worth,
        "higher_is_better": higher_is_better,
        "data": _describe_data(dataset, parts),
        "settings": {
            "seed": seed,
            "neighbours": int(parts.test.peers.count.max()),
            "wanted_neighbours": parts.test.n_neighbors,
            "without_peers": int((~parts.test.peers.has_peers).sum()),
            "similarity": parts.similarity,
            "resamples": resamples,
            "solver": options,
            "model": ", ".join(dict.fromkeys(candidate.model for candidate in candidates)),
            "tuned": tuning is not None,
            "categorical": list(categorical),
        },
        "versions": list_versions(),
        "points": points,
        "left_out": left_out,
        "choices": choices,
        "people": describe_people(parts.test, names[parts.test.rows]),
        "front": draw_front(points, measured),
    }
    if cautions := list_table_cautions(parts, told_by, parity):
        found_evidence["cautions"] = cautions
    if verdict is not None:
        found_evidence["verdict"] = verdict
    if parity is not None:
        found_evidence["settings"]["parity"] = cast(Parity, {"kind": parity[0], "groups": parity[1]})
    return found_evidence


def split_for_audit(dataset: Dataset, seed: int, **options: Any) -> Split:
    """The thirds that an audit learns, chooses and judges on; ``ifair fit --as-audited`` learns on the first, too."""
    return split_table(dataset, seed, most_training=LEARNED_FROM, **options)


def list_audited(
    tuning: Mapping[str, Any] | None, parts: Split, models: Sequence[str], *, alone: bool = True
) -> list[Candidate]:
    """What is compared, in the order of the letters that points are called by.

    ``alone``: nothing else is judged. Beside a model that exists already stand only those that delete columns.
    """
    low, high = parts.score_range
    tuned = None if tuning is None else list_tuned(tuning)
    if tuned is None and not alone:
        tuned = [Candidate("masked", {"C": C}) for C in PENALTIES]
    return list_candidates(
        tuned,
        models=models if tuning is None else [tuning["baselines"][0]["candidate"]["model"]],
        two_classes=parts.task == "classification" and len(set(parts.train.group)) == 2,
        width=high - low,
    )


def name_audited(tuning: Mapping[str, Any]) -> dict[str, str]:
    """The ids of what an audit of a tuning compares, by letter; LFR, the last, may be left out of it."""
    first = tuning["baselines"][0]["candidate"]["model"]
    two_classes = tuning["task"] == "classification"
    listed = list_candidates(list_tuned(tuning), models=[first], two_classes=two_classes)
    return {letter(i): candidate.id for i, candidate in enumerate(listed)}


def choose_points(points: Sequence[Point], task: str, tuning: Mapping[str, Any] | None) -> Choices:
    """What the rules choose: what they chose when the table was tuned, so that nothing is called by two names."""
    in_use = [point["id"] for point in points if point["family"] == EXISTING]
    if in_use:
        return {"balanced": in_use[0]}
    chosen = name_choices([point for point in points if is_choosable(point)], task)
    known = {point["id"] for point in points}
    return {**chosen, **{k: v for k, v in (tuning or {}).get("choices", {}).items() if v in known}}


def _describe_data(dataset: Dataset, parts: Split) -> AuditedData:
    y, group, weight = dataset.outcome.to_numpy(dtype=np.float64), dataset.group, dataset.relative_weight
    weighted: Any = {}
    if dataset.weight is not None:
        once = COUNTED_ONCE if parts.task == "classification" else ("Kendall's tau", *COUNTED_ONCE)
        weighted = {"weighted_by": str(dataset.weight.name), "counted_once": list(once)}
    return {
        **weighted,
        "name": dataset.name,
        "description": dataset.description,
        "source": dataset.source,
        "licence": dataset.licence,
        "records": len(dataset),
        "target": str(dataset.outcome.name),
        "positive": dataset.positive,
        "negative": dataset.negative,
        "protected": list(dataset.protected),
        "group": describe_group(dataset),
        "ranked_by": None if dataset.query is None else "query",
        "unknown_others": count_unknown(dataset),
        "group_share": plain_number(average(group.astype(np.float64), weight)),
        "base_protected": plain_number(average(y, weight, group)),
        "base_others": plain_number(average(y, weight, ~group)),
        "parts": {"train": len(parts.train), "validation": len(parts.validation), "test": len(parts.test)},
        "columns": [
            {
                "name": str(name),
                "kind": "number" if pd.api.types.is_numeric_dtype(column) else "category",
                "values": int(column.nunique()),
                "missing": int(column.isna().sum()),
                "protected": name in dataset.protected,
            }
            for name, column in dataset.frame.items()
        ],
    }
