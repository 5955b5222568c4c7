"""Beyond the paper: do landmarks change the conclusions? The same fits with all pairs, and from another start."""

from dataclasses import replace
from typing import Any

from ifair.report.blocks import Block, Bullets, Heading, Line, Table, Text
from ifair.reproduce import changes, labels
from ifair.reproduce.case import Case, prepare, train_grid
from ifair.reproduce.changes import ANOTHER_START, Changes
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Unit, make_unit
from ifair.results import Results

SIZES = (100, 300, 1000)
MAX_TRAINING = 3000
"""Records up to which all pairs are compared, as the estimator does by itself."""
RATIOS = ((0.9, 0.1), (0.5, 0.5), (0.1, 0.9))
"""Weights of iFair under which pairs count."""


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset with a label and split, iFair-b at the smallest K of the grid."""
    grid = {"K": profile.grid["K"][:1], "ratios": RATIOS, "landmarks": SIZES}
    changed: Any = {"method": "ifair-b", "grid": grid, "solver": {**profile.solver, "n_restarts": 1}}
    return [
        make_unit(compare_pairs, profile.case(source, seed, (None, MAX_TRAINING), **changed))
        for source, seed in profile.splits(profile.classification)
    ]


def compare_pairs(case: Case) -> dict[str, Any]:
    """What ``changes.measure_kinds`` says of all pairs, from two starts, and of so many ``landmarks`` (of the grid).

    The settings of a kind are fitted at once. Numbers of landmarks that are not below that of records are left out.
    """
    parts = prepare(case)
    sizes = [size for size in case.grid["landmarks"] if size < len(parts.train)]
    every = replace(case, solver={**case.solver, "pairs": "all"})
    kinds = {"all_pairs": every, ANOTHER_START: replace(every, seed=case.seed + 1_000_003)}
    kinds |= {f"landmarks_{size}": replace(case, solver={**case.solver, "pairs": size}) for size in sizes}
    return changes.measure_kinds(parts, {kind: train_grid(one, parts) for kind, one in kinds.items()})


def section(found: dict[str, Changes], results: Results) -> list[Block]:
    """What changes against all pairs, beside what another start changes."""
    return [
        Heading("Landmarks in place of all pairs"),
        Text(
            "The same fits of iFair-b with all pairs of records, with pairs of every record and some landmarks, and "
            "with all pairs from another random start: the change of each measure on test against all pairs, as its "
            "mean, and after the slash the mean of its size. What landmarks change is to be compared with what the "
            "start changes."
        ),
        Table(changes.tabulate_changes(found, _name_kind)),
        Bullets([line for dataset, one in found.items() for line in _describe_change(dataset, one)]),
    ]


def _describe_change(dataset: str, one: Changes) -> list[Line]:
    """Is the change by the most landmarks larger than that by another start?"""
    kind = list(one["kinds"])[-1]
    if kind == ANOTHER_START:
        return []
    more = ", ".join(changes.find_larger(one["kinds"], kind))
    words = f"more than another start does in {more}" if more else "no measure more than another start does"
    return [labels.line(dataset, f": {_name_kind(kind)} change {words}.")]


def _name_kind(kind: str) -> str:
    if not kind.startswith("landmarks_"):
        return kind.replace("_", " ")
    return f"{int(kind.removeprefix('landmarks_')):,} landmarks"


EXPERIMENT = Experiment("landmarks", 120, plan, changes.summarise, section, by_dataset=True)
