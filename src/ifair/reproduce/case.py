"""What one unit of an experiment works on, and what experiments do with it by way of ``ifair.evaluate``."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.data import load
from ifair.encode import Encoder
from ifair.evaluate.candidates import Candidate, list_settings
from ifair.evaluate.measures import paper_measures
from ifair.evaluate.splits import Part, Split, limit_rows, reuse_records, split_candidates, split_dataset
from ifair.evaluate.training import Change, Trained, choose_engine, train_many


@dataclass(frozen=True, slots=True)
class Case:
    """A method on one split of a dataset. Plain data, so that ``asdict`` of it can be written to a file and hashed."""

    dataset: str  # a dataset of the registry, or "synthetic"
    seed: int  # of the split (or of the points that are drawn), and of the method
    options: dict[str, Any] = field(default_factory=dict)  # options of the dataset's loader
    max_records: int | None = None  # of all, at most; whole queries of a ranking
    max_training: int | None = None  # records of the training part, at most
    method: str = ""  # what is tried: a name of ifair.models.representations, or one that the experiment defines
    setting: dict[str, Any] | None = None  # of the method, as an earlier experiment chose it on validation data
    grid: dict[str, Any] = field(default_factory=dict)  # what is tried: K, ratios of iFair's weights, p of FA*IR ...
    solver: dict[str, Any] = field(default_factory=dict)  # where the method has one: n_restarts, max_iter, tol
    # What a model does not learn from: "thirds", two thirds of the records (whole queries of a ranking); "candidates",
    # two thirds of the records whatever their query; "nothing".
    held_out: str = "thirds"

    def engine_solver(self, part: Part, n_fits: int = 1) -> dict[str, Any]:
        """The solver, on a GPU where there is one and so many fits of a part keep it busy."""
        return {"engine": choose_engine(len(part), n_fits), **self.solver}


def prepare(case: Case, drawn_by: Mapping[str, Any] | None = None) -> Split:
    """The split of a case, encoded: scales are learned on the training part, categories known from the whole table.

    ``drawn_by``: options of the loader with whose queries records are drawn, where not all are kept, so that cases with
    others have the same; by default its own. The last few are kept: units are run dataset by dataset and split by
    split, and share neighbours.
    """
    names = ("dataset", "seed", "options", "max_records", "max_training", "held_out")
    described = {name: getattr(case, name) for name in names}
    drawn = case.options if drawn_by is None or case.max_records is None else dict(drawn_by)
    return _prepare(json.dumps(described, sort_keys=True), json.dumps(drawn, sort_keys=True))


@lru_cache(maxsize=2)
def _prepare(described: str, drawn_by: str) -> Split:
    case, encoder, options = Case(**json.loads(described)), Encoder(missing="ignore"), json.loads(drawn_by)
    whole = load(case.dataset, **case.options)
    # At most so many, drawn at random; whole queries of a ranking.
    drawn = whole if options == case.options else load(case.dataset, **options)
    kept = limit_rows(drawn, np.arange(len(drawn)), case.max_records, [case.seed, 20190408], least_queries=3)
    people = whole if len(kept) == len(whole) else whole.take(kept)
    if case.held_out == "nothing":
        return reuse_records(people, encoder=encoder)
    if case.held_out == "candidates":
        return split_candidates(people, case.seed, encoder=encoder)
    return split_dataset(people, case.seed, encoder=encoder, most_training=case.max_training, known=whole.frame)


def train_setting(case: Case, parts: Split, setting: Mapping[str, Any], n_fits: int = 1) -> Trained:
    """The method of a case at a setting, trained on the training part."""
    engine = case.engine_solver(parts.train, n_fits)
    return train_many([Candidate(case.method, setting)], parts, case.seed, engine)[0]


def train_chosen(case: Case, parts: Split) -> Trained:
    """The method of a case at the setting that was chosen, trained as in the grid."""
    return train_setting(case, parts, case.setting or {}, 3)


def represent(trained: Trained, parts: Split) -> list[NDArray[np.float64]]:
    """The train, validation and test records as a trained candidate represents them."""
    return [trained.represent_part(part) for part in parts]


def measure_grid(case: Case) -> list[dict[str, Any]]:
    """All settings of one method on one split, fitted at once; of each ``setting`` what :func:`measure_fit` says."""
    parts = prepare(case)
    return [{"setting": setting, **measure_fit(trained, parts)} for setting, trained in train_grid(case, parts)]


def train_grid(
    case: Case,
    parts: Split,
    change: Change = lambda model: model,
    settings: Sequence[dict[str, Any]] | None = None,
) -> list[tuple[dict[str, Any], Trained]]:
    """Every setting of the method of a case, or these, fitted at once, with what was trained at it."""
    settings = list(list_settings(case.method, case.grid)) if settings is None else settings
    candidates = [Candidate(case.method, setting) for setting in settings]
    trained = train_many(candidates, parts, case.seed, case.engine_solver(parts.train, 3 * len(settings)), change)
    return list(zip(settings, trained))


def measure_fit(trained: Trained, parts: Split) -> dict[str, Any]:
    """Whether a fit ``converged``, the measures on ``validation`` and ``test``, and what it ``learned``.

    The measures are those of the paper's classifier or ranker; for the last see :func:`describe_fit`.
    """
    outcome = trained.outcome(parts.test)
    test = paper_measures(parts.test, outcome)
    same = parts.validation is parts.test
    validation = test if same else paper_measures(parts.validation, trained.outcome(parts.validation))
    learned = describe_fit(trained, outcome.decisions, float(np.ptp(parts.test.y)))
    return {"converged": trained.converged, "validation": validation, "test": test, "learned": learned}


def describe_fit(trained: Trained, outcomes: NDArray[Any], true_range: float) -> dict[str, Any]:
    """What a fit ended at.

    ``constant``: one outcome for all people but one in a hundred. Of a representation with prototypes also
    ``protected_weight``, the mean attribute weight of protected columns divided by that of the others.
    """
    low, high = np.quantile(outcomes, (FEW, 1.0 - FEW), method="nearest")
    found: dict[str, Any] = {"constant": bool(high - low <= ALIKE * true_range)}
    model = trained.representation
    if hasattr(model, "alpha_"):
        hidden = model.protected_mask_
        others = float(model.alpha_[~hidden].mean())
        found["protected_weight"] = float(model.alpha_[hidden].mean()) / others if others > 0 else float("inf")
    return found


FEW = 0.01
"""Share of people at either end who may be treated otherwise, where all others are treated alike."""

ALIKE = 1e-3
"""Scores that differ by less than this share of the true ones' range are alike."""
