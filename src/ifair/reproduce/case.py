"""What one unit of an experiment works on, and what experiments do with it by way of ``ifair.evaluate``."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.data import Dataset, load
from ifair.encode import Encoder
from ifair.evaluate.candidates import Candidate, list_settings
from ifair.evaluate.measures import paper_measures
from ifair.evaluate.splits import Part, Split, limit_rows, reuse_records, split_candidates, split_dataset
from ifair.evaluate.training import Trained, choose_engine, train_many


@dataclass(frozen=True, slots=True)
class Case:
    """A method on one split of a dataset. Plain data, so that it can be written to a file and hashed.

    Attributes
    ----------
    dataset : str
        A dataset of the registry, or ``"synthetic"``.
    seed : int
        Of the split (or of the points that are drawn), and of the method.
    options : dict
        Options of the dataset's loader.
    max_records, max_training : int or None
        Limits on the records of all (whole queries of a ranking), and of the training part.
    method : str
        What is tried: a name of ``ifair.models.representations``, or one that the experiment defines.
    setting : dict or None
        The setting of the method that an earlier experiment chose on validation data.
    grid : dict
        What is tried: ``K``, ``ratios`` of iFair's weights, ``lfr`` coefficients, ``p`` of FA*IR ...
    solver : dict
        Parameters of the solver, for methods that have one: ``n_restarts``, ``max_iter``, ``tol``.
    known : list of dict
        Rows that an earlier experiment measured on this split, where they are compared with.
    held_out : str
        What of a dataset a model does not learn from: ``"thirds"``, two thirds of the records (whole queries of a
        ranking); ``"candidates"``, two thirds of the records whatever their query; ``"nothing"``.
    """

    dataset: str
    seed: int
    options: dict[str, Any] = field(default_factory=dict)
    max_records: int | None = None
    max_training: int | None = None
    method: str = ""
    setting: dict[str, Any] | None = None
    grid: dict[str, Any] = field(default_factory=dict)
    solver: dict[str, Any] = field(default_factory=dict)
    known: list[dict[str, Any]] = field(default_factory=list)
    held_out: str = "thirds"

    def to_dict(self) -> dict[str, Any]:
        """The case as plain data; ``Case(**data)`` reads it."""
        return asdict(self)

    def engine_solver(self, part: Part, n_fits: int = 1) -> dict[str, Any]:
        """The solver, on a GPU where there is one and so many fits of a part keep it busy."""
        return {"engine": choose_engine(len(part), n_fits), **self.solver}


def load_subset(case: Case) -> Dataset:
    """The dataset of a case, or at most so many of its records, drawn at random (whole queries of a ranking)."""
    dataset = load(case.dataset, **case.options)
    rows = np.arange(len(dataset))
    kept = limit_rows(dataset, rows, case.max_records, [case.seed, 20190408], least_queries=3)
    return dataset if len(kept) == len(rows) else dataset.take(kept)


def prepare(case: Case) -> Split:
    """The split of a case, encoded: scales are learned on the training part, categories known from the whole table.

    The last few are kept: units are run dataset by dataset and split by split, and share neighbours.
    """
    options = json.dumps(case.options, sort_keys=True)
    return _prepare(case.dataset, options, case.max_records, case.max_training, case.seed, case.held_out)


@lru_cache(maxsize=2)
def _prepare(
    dataset: str, options: str, max_records: int | None, max_training: int | None, seed: int, held_out: str
) -> Split:
    case = Case(dataset, seed, json.loads(options), max_records, max_training)
    encoder = Encoder(missing="ignore")
    people = load_subset(case)
    if held_out == "nothing":
        return reuse_records(people, encoder=encoder)
    if held_out == "candidates":
        return split_candidates(people, seed, encoder=encoder)
    known = load(dataset, **case.options).frame
    return split_dataset(people, seed, encoder=encoder, most_training=max_training, known=known)


def train_setting(case: Case, parts: Split, setting: Mapping[str, Any]) -> Trained:
    """The method of a case at a setting, trained on the training part."""
    return train_many([Candidate(case.method, setting)], parts, case.seed, case.engine_solver(parts.train))[0]


def train_chosen(case: Case, parts: Split) -> Trained:
    """The method of a case at the setting that was chosen, trained as in the grid."""
    return train_many(
        [Candidate(case.method, case.setting or {})], parts, case.seed, case.engine_solver(parts.train, 3)
    )[0]


def represent(trained: Trained, parts: Split) -> list[NDArray[np.float64]]:
    """The train, validation and test records as a trained candidate represents them."""
    return [trained.represent_part(part) for part in (parts.train, parts.validation, parts.test)]


def measure(trained: Trained, parts: Split) -> dict[str, dict[str, float]]:
    """What a trained candidate reaches on validation and on test, in the paper's measures."""
    held_out = {"validation": parts.validation, "test": parts.test}
    return {name: paper_measures(part, trained.outcome(part)) for name, part in held_out.items()}


def measure_grid(case: Case) -> list[dict[str, Any]]:
    """All settings of one method on one split, fitted at once.

    Returns
    -------
    list of dict
        For every ``setting`` of the grid: whether the fit ``converged``, the measures of the paper's classifier or
        ranker on ``validation`` and on ``test``, and ``learned``: see :func:`describe_fit`.
    """
    parts = prepare(case)
    return [{"setting": setting, **measure_fit(trained, parts)} for setting, trained in train_grid(case, parts)]


def train_grid(case: Case, parts: Split) -> list[tuple[dict[str, Any], Trained]]:
    """Every setting of the method of a case, fitted at once, with what was trained at it."""
    settings = list(list_settings(case.method, case.grid))
    candidates = [Candidate(case.method, setting) for setting in settings]
    trained = train_many(candidates, parts, case.seed, case.engine_solver(parts.train, 3 * len(settings)))
    return list(zip(settings, trained))


def measure_fit(trained: Trained, parts: Split) -> dict[str, Any]:
    """Whether a fit ``converged``, the measures on ``validation`` and ``test``, and what was ``learned``."""
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
