"""What experiments have in common: a unit for every dataset, split and method, and how their records are read back."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ifair.evaluate.measures import UTILITY
from ifair.evaluate.rules import choose_row
from ifair.reproduce.case import Case
from ifair.reproduce.profiles import Profile, Source
from ifair.reproduce.runner import Record, Unit

Records = Sequence[Record]

Earlier = Mapping[str, Records]
"""Records of the experiments that were run before, by the experiment's name."""


def make_unit(label: str, function: Callable[[Case], Any], case: Case) -> Unit:
    """A unit that calls a function of a module with a case."""
    return Unit(label, f"{function.__module__}:{function.__name__}", case)


def plan_grid(
    function: Callable[[Case], Any], profile: Profile, sources: Sequence[Source], methods: Sequence[str]
) -> list[Unit]:
    """Every setting of every method on every split; methods that are learned have a unit for each K."""
    return [
        make_unit(
            ", ".join((source.name, *named, f"split {seed + 1}")),
            function,
            profile.case(source, seed, method=method, grid=share),
        )
        for source in sources
        for seed in range(profile.n_splits)
        for method in methods
        for named, share in _shares(profile.grid, method)
    ]


def _shares(grid: Mapping[str, Any], method: str) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """Parts of the grid that a unit each works on, with what they are called."""
    if method == "lfr" or method.startswith("ifair"):
        return [((method, f"K = {k}"), {**grid, "K": [k]}) for k in grid["K"]]
    return [((method,), dict(grid))]


def plan_chosen(
    function: Callable[[Case], Any],
    profile: Profile,
    sources: Sequence[Source],
    methods: Sequence[str],
    earlier: Earlier,
) -> list[Unit]:
    """A unit for every dataset, split and method at the setting that was chosen earlier.

    Before anything was run (a plan that is only printed) the settings are not known and None.
    """
    settings = choose_settings(earlier)
    return [
        make_unit(
            f"{source.name}, {method}, split {seed + 1}",
            function,
            profile.case(source, seed, method=method, setting=settings.get((source.name, method, seed))),
        )
        for source in sources
        for seed in range(profile.n_splits)
        for method in methods
    ]


def rows_by_split(records: Records) -> dict[str, dict[str, dict[int, list[Any]]]]:
    """Dataset, method, seed: the rows of all settings, whichever units they were in."""
    rows: dict[str, dict[str, dict[int, list[Any]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for record in records:
        rows[record.case.dataset][record.case.method][record.case.seed] += record.result
    return rows


def choose_settings(earlier: Earlier, rule: str = "balanced") -> dict[tuple[str, str, int], dict[str, Any]]:
    """Dataset, method and seed: the setting that a rule chose on validation in the experiments that tried them all."""
    return {
        (dataset, method, seed): dict(choose_row(rows, rule, utility=utility)["setting"])
        for experiment, utility in UTILITY.items()  # the two that try every setting
        for dataset, by_method in rows_by_split(earlier.get(experiment, ())).items()
        for method, by_seed in by_method.items()
        for seed, rows in by_seed.items()
    }


def group_results(records: Records, *fields: str) -> dict[Any, Any]:
    """Results of records as a nested dict by these fields of their cases, in lists at the bottom.

    Examples
    --------
    >>> records = [Record(f"split {seed}", Case("credit", seed), seed, 0.1, {}) for seed in (0, 1)]
    >>> group_results(records, "dataset")
    {'credit': [0, 1]}
    """
    if not fields:
        return [record.result for record in records]  # type: ignore[return-value]
    parts: dict[Any, list[Record]] = defaultdict(list)
    for record in records:
        parts[getattr(record.case, fields[0])].append(record)
    return {value: group_results(part, *fields[1:]) for value, part in parts.items()}
