"""Everything an audit finds about a table, as plain data that a report can be made of."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from ifair.audit.cautions import CHANCE, list_cautions
from ifair.audit.people_view import describe_people, flip_people
from ifair.audit.referee import compare_points, draw_front, give_verdicts, name_points
from ifair.audit.roles_in_words import describe_group
from ifair.audit.tuning import SOLVER, name_choices
from ifair.datasets.dataset import Dataset
from ifair.encode import columns_of
from ifair.errors import IfairError
from ifair.evaluate.candidates import Candidate, list_candidates
from ifair.evaluate.fronts import pareto_front
from ifair.evaluate.judgement import Judgement, attack_representation, certify_representation
from ifair.evaluate.measures import USEFULNESS, brief_measures, plain_number
from ifair.evaluate.resampling import Measured
from ifair.evaluate.splits import Split, split_table
from ifair.evaluate.training import Trained, train
from ifair.models.ifair import IFair
from ifair.results import AuditedData, Evidence, LeftOut, Point, Utility, list_versions

Step = Callable[[str, int, int], None]
"""Told what was done last, how much is done and how much there is."""


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
        What people are found by. Default: the number of the row, from 0.
    seed : int, optional
        Of the split and of the starts. Default: that of the tuning, or 0.
    higher_is_better : bool
        Whether a high score, or the positive class, is good for the person.
    resamples : int
        Of every bootstrap interval.
    most_people : int
        People who are judged and shown, at most.
    solver : mapping, optional
        Parameters of iFair's and LFR's solver.
    categorical : sequence of str
        Columns of numbers that are codes of categories.
    similarity : Similarity, mapping of its parameters, "attributes" or "paper", optional
        Who is like whom. Default: :class:`ifair.Similarity` of all unprotected attributes.
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
    names = np.arange(len(dataset)) if ids is None else np.asarray(ids)
    tell = step or (lambda *_: None)
    parts = split_table(dataset, seed, most_people=most_people, categorical=categorical, similarity=similarity)
    first, *others = list_candidates(
        None if tuning is None else [point["setting"] for point in tuning["front"]],
        two_classes=parts.task == "classification" and len(set(parts.train.group)) == 2,
    )
    try:
        full = train(first, parts, seed, options)
    except ValueError as error:
        raise IfairError(f"no model can be trained on {dataset.name}: {error}") from error
    point, measures = _measure(first, full, parts, resamples, higher_is_better)
    total = 1 + len(others)
    tell(first.name, 1, total)
    # By now the neighbours of both parts are known, and other processes get them with the parts.
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_try)(candidate, parts, seed, options, resamples, higher_is_better) for candidate in others
    )
    points: list[Point] = [point]
    measured = [measures]
    left_out: list[LeftOut] = []
    for done, (candidate, found) in enumerate(zip(others, jobs), start=2):
        if isinstance(found, str):
            left_out.append({"name": candidate.name, "why": found})
        else:
            points.append(found[0])
            measured.append(found[1])
        tell(candidate.name, done, total)
    utility, explained = USEFULNESS[parts.task]
    _mark_front(points)
    for point in points:
        point["cautions"] = list_cautions(parts.task, utility, point, points[0])
    name_points(points)
    compare_points(points, measured)
    choices = name_choices(choosable_points(points))
    worth: Utility = {"name": utility, "explained": explained, "chance": CHANCE.get(parts.task)}
    verdict = give_verdicts(points, choices, worth, dataset.protected)
    found_evidence: Evidence = {
        "format": "ifair-evidence",
        "version": 2,
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
            "model": "logistic regression" if parts.task == "classification" else "linear regression",
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
    if verdict is not None:
        found_evidence["verdict"] = verdict
    return found_evidence


def _try(
    candidate: Candidate, parts: Split, seed: int, options: dict[str, Any], *how: Any
) -> tuple[Point, dict[str, Measured]] | str:
    """A point with its measures, or why there is none."""
    try:
        trained = train(candidate, parts, seed, options)
    except ValueError as error:
        return str(error)
    return _measure(candidate, trained, parts, *how)


def _measure(
    candidate: Candidate, trained: Trained, parts: Split, resamples: int, higher_is_better: bool
) -> tuple[Point, dict[str, Measured]]:
    test = Judgement(parts.test, trained.outcome(parts.test), parts, resamples)
    measures = test.measures()
    Z = trained.represent(parts.test.records.frame)
    flip, people = flip_people(parts.test, trained, resamples)
    point: Any = {
        "id": candidate.id,
        "name": candidate.name,
        "family": candidate.method,
        "setting": dict(candidate.setting),
        "blind": candidate.blind,
        "validation": brief_measures(parts.validation, trained.outcome(parts.validation), parts),
        "test": test.describe(measures),
        "groups": test.groups(),
        "adversary": attack_representation(Z, parts.test, resamples),
        "certificate": certify_representation(Z, parts.test),
        "flip": flip,
        "worst": test.worst(higher_is_better=higher_is_better),
        "people": people,
        **_describe_model(trained, parts),
    }
    return point, measures


def _describe_model(trained: Trained, parts: Split) -> dict[str, Any]:
    """The archetypes and the weights of the attributes, where the representation has any."""
    model, encoder = trained.representation, trained.pipeline[0]
    if not isinstance(model, IFair):
        return {"archetypes": None, "weights": None}
    X = encoder.transform(parts.train.records.frame[trained.columns])
    table = model.archetypes(X, encoder)
    rows = [[_plain_cell(value) for value in row] for row in table.to_numpy(dtype=object).tolist()]
    weights = [
        {"name": name, "weight": plain_number(model.alpha_[columns_of(name, X.columns)].sum())}
        for name in encoder.attributes_
    ]
    return {
        "archetypes": {"columns": [str(name) for name in table.columns], "rows": rows},
        "weights": sorted(weights, key=lambda one: -float(one["weight"] or 0)),
        "converged": trained.converged,
    }


def _plain_cell(value: Any) -> Any:
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, float, np.number)):
        return float(f"{float(value):.4g}") if np.isfinite(value) else None
    return "(missing)" if pd.isna(value) else str(value)


def choosable_points(points: Sequence[Point]) -> list[Point]:
    """The points of iFair to choose among: those that cannot see protected attributes, if there are any."""
    fair = [point for point in points if point["family"] == "ifair"]
    return [point for point in fair if point["blind"]] or fair


def _mark_front(points: Sequence[Point]) -> None:
    """Say of every point whether no other one beats it on validation data."""
    values = [
        [np.nan if value is None else value for value in (point["validation"]["utility"], point["validation"]["yNN"])]
        for point in points
    ]
    for point, on in zip(points, pareto_front(values)):
        point["on_front"] = bool(on)


def _describe_data(dataset: Dataset, parts: Split) -> AuditedData:
    y, group = dataset.outcome, dataset.group
    return {
        "name": dataset.name,
        "description": dataset.description,
        "source": dataset.source,
        "licence": dataset.licence,
        "records": len(dataset),
        "target": str(y.name),
        "positive": dataset.positive,
        "protected": list(dataset.protected),
        "group": describe_group(dataset),
        "ranked_by": None if dataset.query is None else "query",
        "group_share": plain_number(group.mean()),
        "base_protected": plain_number(y[group].mean()) if group.any() else None,
        "base_others": plain_number(y[~group].mean()) if (~group).any() else None,
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
