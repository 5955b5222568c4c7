"""What one unit of an experiment works on."""

from dataclasses import asdict, dataclass, field
from typing import Any


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


def prepare(case: Case) -> Split:
    """The split of a case, encoded. The last few are kept: units are run dataset by dataset and split by split."""
    return prepared(case.dataset, case.options, case.max_records, case.max_training, case.seed)


def fit_setting(case: Case, parts: Split, setting: Mapping[str, Any], near: Pipeline | None = None) -> Pipeline:
    """The method of a case at a setting, fitted on the training part; ``near`` is what the setting before gave."""
    return learn(case.method, setting, parts.train, parts.protected, case.solver, case.seed, near=near)


def fit_chosen(case: Case, parts: Split) -> Pipeline:
    """The method of a case at the setting that was chosen, as it was fitted on the way through the grid."""
    return learn_again(case.method, case.setting, parts.train, parts.protected, case.grid, case.solver, case.seed)


def represent(steps: Pipeline, parts: Split) -> list[NDArray[np.float64]]:
    """The train, validation and test records as a fitted method represents them."""
    return [np.asarray(steps.transform(part.X)) for part in (parts.train, parts.validation, parts.test)]


def measure_grid(case: Case) -> list[dict[str, Any]]:
    """All settings of one method on one split.

    Returns
    -------
    list of dict
        For every ``setting`` of the grid: whether the fit ``converged``, and the measures of the paper's classifier or
        ranker on ``validation`` and on ``test``.
    """
    parts = prepare(case)
    rows, steps = [], None
    for setting in settings_of(case.method, case.grid):
        steps = fit_setting(case, parts, setting, near=steps)
        validation, test = measured(parts, represent(steps, parts))
        converged = bool(getattr(steps[-1], "converged_", True))
        rows.append({"setting": setting, "converged": converged, "validation": validation, "test": test})
    return rows
