"""A point of an audit: what a candidate does to the people of the test part, measured in every way."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ifair.audit.people_view import flip_people, round_scores
from ifair.audit.tuning import find_role
from ifair.evaluate.candidates import Candidate
from ifair.evaluate.judgement import Judgement, attack_representation, brief_measures, certify_representation
from ifair.evaluate.measures import plain_number
from ifair.evaluate.resampling import Measured
from ifair.evaluate.splits import Split, name_groups, value_text
from ifair.evaluate.training import Existing, Outcome, Trained, train
from ifair.models.ifair import IFair
from ifair.results import Point
from ifair.similarity.peers import Searches, share_searches


def try_candidate(
    candidate: Candidate,
    parts: Split,
    seed: int,
    options: dict[str, Any],
    *,
    threshold: float,
    rate: float | None = None,
    parity: tuple[str, str] | None = None,
    searches: Searches,
    **how: Any,
) -> tuple[Point, dict[str, Measured]] | str:
    """A point with its measures, or why there is none; ``how`` as of :func:`judge_point`.

    ``parity`` and its column: groups get the same rate, found on validation people. ``searches``: known peers.
    """
    with share_searches(searches):
        try:
            trained = train(candidate, parts, seed, options, threshold=threshold)
        except (TypeError, ValueError) as error:
            return str(error)
        if rate is not None and parts.task == "classification":
            trained = trained.at_rate(parts.validation, rate)
        if parity is not None:
            trained = trained.at_parity(parts.validation, *parity)
        return judge_point(candidate, trained, parts, **how)


def judge_point(
    candidate: Candidate,
    trained: Trained | Existing,
    parts: Split,
    *,
    resamples: int,
    higher_is_better: bool,
    graders: Mapping[str, Any],
) -> tuple[Point, dict[str, Measured]]:
    """Everything about a point, and its measures in all resamples.

    Of a model that exists already scores are all that is known: what it would say about other people is not, and what
    gives the group away are the scores.
    """
    outcome = trained.outcome(parts.test)
    test = Judgement(parts.test, outcome, parts, resamples)
    measures, shift = test.measures(), None
    if isinstance(trained, Trained):
        shift = trained.shift
        Z = trained.represent(parts.test.records.frame)
        flip, people = flip_people(parts.test, trained, test.draws, outcome.scores)
        more = _describe_model(trained, parts)
        more |= _describe_batch(trained, parts, resamples) if trained.consistent else {}
        more |= {} if shift is None else {"parity_gap": test.gap_at_parity(shift.column, shift.parity)}
    else:
        Z = np.asarray(outcome.scores, dtype=np.float64)[:, None]
        limit = trained.threshold if trained.decided is None and parts.task == "classification" else None
        flip, people = None, {"score": round_scores(Z[:, 0], limit), "flip": None, "alternatives": []}
        more = {"archetypes": None, "weights": None}
    point: Any = {
        "id": candidate.id,
        "name": candidate.name,
        "role": find_role(candidate),
        "family": candidate.method,
        "setting": dict(candidate.setting),
        "candidate": candidate.to_data(),
        # By a protected column groups may be given the same rate.
        "blind": candidate.blind and (shift is None or shift.column not in parts.protected),
        "threshold": plain_number(trained.threshold) if parts.task == "classification" else None,
        "validation": brief_measures(parts.validation, trained.outcome(parts.validation), parts),
        "test": test.describe(measures),
        "graders": test.graders(graders),
        "groups": test.groups(),
        "adversary": attack_representation(Z, parts.test, resamples),
        "certificate": certify_representation(Z, parts.test),
        "flip": flip,
        "worst": test.worst(higher_is_better=higher_is_better),
        "people": people,
        **more,
    }
    return point, measures


def _describe_batch(trained: Trained, parts: Split, resamples: int) -> dict[str, Any]:
    """The people of the test part decided about together; who is decided about otherwise than by the model alone."""
    test = parts.test
    frame = test.records.frame[trained.columns]
    if parts.task != "classification":
        scores = trained.estimator.scores(frame, query=test.query)
        judged = Judgement(test, Outcome(scores, scores), parts, resamples)
        return {"batch": judged.describe(judged.measures())}
    shift, wanted = trained.shift, int(trained.outcome(test).decisions.sum())
    if shift is None:
        batch = trained.estimator.decide(frame, threshold=trained.threshold)
    else:
        groups = name_groups(test.records.frame, shift.column)
        batch = trained.estimator.decide(frame, n=wanted, parity=shift.parity, groups=groups)
    judged = Judgement(test, Outcome(batch.scores, batch.selected.astype(np.int64)), parts, resamples)
    changed = []
    for person in batch.changed.tolist():
        near = batch.peers.indices[person]
        alike = [int(other) for other in near if other >= 0 and batch.selected[other] == batch.selected[person]]
        before, after = batch.model_scores[person], batch.scores[person]
        changed.append({"person": person, "before": plain_number(before), "after": plain_number(after), "peers": alike})
    return {"batch": judged.describe(judged.measures()), "changed": changed}


def _describe_model(trained: Trained, parts: Split) -> dict[str, Any]:
    """The archetypes and the weights of the attributes, where the representation has any."""
    model, encoder = trained.representation, trained.pipeline[0]
    if not isinstance(model, IFair):
        return {"archetypes": None, "weights": None}
    X = encoder.transform(parts.train.records.frame[trained.columns])
    table = model.archetypes(X, encoder)
    rows = [[_plain_cell(value) for value in row] for row in table.to_numpy(dtype=object).tolist()]
    weights = [
        {"name": name, "weight": plain_number(model.alpha_[encoder.origin_ == name].sum())}
        for name in encoder.attributes_
    ]
    bound = {}
    if model.output == "nearest":
        test = parts.test
        nearest = encoder.transform(test.records.frame[trained.columns])
        bound = {"bound": plain_number(model.consistency_bound(nearest, neighbours=test.neighbours))}
    return {
        **bound,
        "archetypes": {"columns": [str(name) for name in table.columns], "rows": rows},
        "weights": sorted(weights, key=lambda one: -float(one["weight"] or 0)),
        "converged": trained.converged,
    }


def _plain_cell(value: Any) -> Any:
    if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
        return float(f"{float(value):.4g}") if np.isfinite(value) else None
    return value_text(value)
