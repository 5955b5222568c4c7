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
from ifair.evaluate.splits import Split, limit_rows, split_dataset
from ifair.evaluate.training import Trained, choose_engine, train, train_along, train_on_path


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

    def to_dict(self) -> dict[str, Any]:
        """The case as plain data; ``Case(**data)`` reads it."""
        return asdict(self)

    def engine_solver(self, parts: Split) -> dict[str, Any]:
        """The solver, on a GPU where there is one and the training part is large enough to keep it busy."""
        return {"engine": choose_engine(len(parts.train)), **self.solver}


def load_subset(case: Case) -> Dataset:
    """The dataset of a case, or at most so many of its records, drawn at random (whole queries of a ranking)."""
    dataset = load(case.dataset, **case.options)
    rows = np.arange(len(dataset))
    kept = limit_rows(dataset, rows, case.max_records, [case.seed, 20190408], least_queries=3)
    return dataset if len(kept) == len(rows) else dataset.take(kept)


def prepare(case: Case) -> Split:
    """The split of a case, encoded; scales and categories are learned on the training part alone.

    The last few are kept: units are run dataset by dataset and split by split, and share neighbours.
    """
    return _prepare(
        case.dataset, json.dumps(case.options, sort_keys=True), case.max_records, case.max_training, case.seed
    )


@lru_cache(maxsize=2)
def _prepare(dataset: str, options: str, max_records: int | None, max_training: int | None, seed: int) -> Split:
    case = Case(dataset, seed, json.loads(options), max_records, max_training)
    encoder = Encoder(missing="ignore")
    return split_dataset(load_subset(case), seed, encoder=encoder, most_training=max_training)


def train_setting(case: Case, parts: Split, setting: Mapping[str, Any]) -> Trained:
    """The method of a case at a setting, trained on the training part."""
    return train(Candidate(case.method, setting), parts, case.seed, case.engine_solver(parts))


def train_chosen(case: Case, parts: Split) -> Trained:
    """The method of a case at the setting that was chosen, as it was trained on the way through the grid."""
    candidate = Candidate(case.method, case.setting or {})
    path = list_settings(case.method, case.grid)
    return train_on_path(candidate, path, parts, case.seed, case.engine_solver(parts))


def represent(trained: Trained, parts: Split) -> list[NDArray[np.float64]]:
    """The train, validation and test records as a trained candidate represents them."""
    return [trained.represent(part.records.frame) for part in (parts.train, parts.validation, parts.test)]


def measure(trained: Trained, parts: Split) -> dict[str, dict[str, float]]:
    """What a trained candidate reaches on validation and on test, in the paper's measures."""
    held_out = {"validation": parts.validation, "test": parts.test}
    return {name: paper_measures(part, trained.outcome(part)) for name, part in held_out.items()}


def measure_grid(case: Case) -> list[dict[str, Any]]:
    """All settings of one method on one split.

    Returns
    -------
    list of dict
        For every ``setting`` of the grid: whether the fit ``converged``, and the measures of the paper's classifier or
        ranker on ``validation`` and on ``test``.
    """
    parts = prepare(case)
    settings = list(list_settings(case.method, case.grid))
    candidates = [Candidate(case.method, setting) for setting in settings]
    path = train_along(candidates, parts, case.seed, case.engine_solver(parts))
    return [
        {"setting": setting, "converged": trained.converged, **measure(trained, parts)}
        for setting, trained in zip(settings, path)
    ]
