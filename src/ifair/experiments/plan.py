"""What experiments have in common: a unit for every dataset, split and method, and how their records are read back."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ifair.experiments.profiles import Profile, Source
from ifair.experiments.protocol import best
from ifair.experiments.runner import Unit

Records = Sequence[Mapping[str, Any]]
"""What :func:`ifair.experiments.runner.run_units` returns."""

Earlier = Mapping[str, Records]
"""Records of the experiments that were run before, by the experiment's name."""

UTILITY = {"classification": "AUC", "ranking": "MAP"}
"""The experiments that try every setting, and the utility by which one is chosen."""


def unit(label: str, function: Callable[..., Any], **arguments: Any) -> Unit:
    """A unit that calls a function of a module with these arguments."""
    return Unit(label, f"{function.__module__}:{function.__name__}", arguments)


def source_arguments(source: Source) -> dict[str, Any]:
    """The arguments of a unit that say which records it reads."""
    return {
        "dataset": source.name,
        "options": source.options,
        "most": source.most,
        "most_training": source.most_training,
    }


def grid_units(
    function: Callable[..., Any], profile: Profile, sources: Sequence[Source], methods: Sequence[str]
) -> list[Unit]:
    """Every setting of every method on every split; methods that are learned have a unit for each K.

    The function takes the arguments of :func:`ifair.experiments.classification.evaluate`.
    """
    return [
        unit(
            ", ".join((source.name, *named, f"split {seed + 1}")),
            function,
            **source_arguments(source),
            seed=seed,
            method=method,
            grid=share,
            search=profile.search,
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


def rows_by_split(records: Records) -> dict[str, dict[str, dict[int, list[Any]]]]:
    """Dataset, method, seed: the rows of all settings, whichever units they were in."""
    found: dict[str, dict[str, dict[int, list[Any]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for record in records:
        arguments = record["arguments"]
        found[arguments["dataset"]][arguments["method"]][arguments["seed"]] += record["result"]
    return found


def chosen_settings(earlier: Earlier, rule: str = "optimal") -> dict[tuple[str, str, int], dict[str, Any]]:
    """Dataset, method and seed: the setting that a rule chose on validation in the experiments that tried them all."""
    return {
        (dataset, method, seed): dict(best(rows, rule, utility=utility)["setting"])
        for experiment, utility in UTILITY.items()
        for dataset, by_method in rows_by_split(earlier.get(experiment, ())).items()
        for method, by_seed in by_method.items()
        for seed, rows in by_seed.items()
    }


def chosen_units(
    function: Callable[..., Any], profile: Profile, sources: Sequence[Source], methods: Sequence[str], earlier: Earlier
) -> list[Unit]:
    """A unit for every dataset, split and method at the setting that was chosen earlier.

    Before anything was run (a plan that is only printed) the settings are not known and None.
    """
    settings = chosen_settings(earlier)
    return [
        unit(
            f"{source.name}, {method}, split {seed + 1}",
            function,
            **source_arguments(source),
            seed=seed,
            method=method,
            setting=settings.get((source.name, method, seed)),
            grid=profile.grid,
            search=profile.search,
        )
        for source in sources
        for seed in range(profile.n_splits)
        for method in methods
    ]


def grouped(records: Records, *keys: str) -> dict[Any, Any]:
    """Results of records as a nested dict by these arguments, in lists at the bottom.

    Examples
    --------
    >>> records = [{"arguments": {"dataset": "credit", "seed": seed}, "result": seed} for seed in (0, 1)]
    >>> grouped(records, "dataset")
    {'credit': [0, 1]}
    """
    if not keys:
        return [record["result"] for record in records]  # type: ignore[return-value]
    parts: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    for record in records:
        parts[record["arguments"][keys[0]]].append(record)
    return {value: grouped(part, *keys[1:]) for value, part in parts.items()}
