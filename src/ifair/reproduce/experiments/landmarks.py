"""Beyond the paper: do landmarks change the conclusions? The same fits with all pairs, and from another start."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ifair.evaluate.candidates import list_settings
from ifair.report.blocks import Block, Bullets, Heading, Line, Table, Text
from ifair.reproduce import labels
from ifair.reproduce.case import Case, measure_fit, prepare, train_setting
from ifair.reproduce.changes import ANOTHER_START, Changes, find_larger, summarise_changes, tabulate_changes
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Unit, for_each_dataset, make_unit
from ifair.results import Results

SIZES = (100, 300, 1000)
MAX_TRAINING = 3000
"""Records up to which all pairs are compared, as the estimator does by itself."""
RATIOS = ((0.9, 0.1), (0.5, 0.5), (0.1, 0.9))
"""Weights of iFair under which pairs count."""


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset with a label and split, iFair-b at the smallest K of the grid."""
    return [
        make_unit(
            compare_pairs,
            profile.case(
                source,
                seed,
                (None, MAX_TRAINING),
                method="ifair-b",
                grid={"K": profile.grid["K"][:1], "ratios": RATIOS, "landmarks": SIZES},
                solver={**profile.solver, "n_restarts": 1},
            ),
        )
        for source in profile.classification
        for seed in profile.seeds(source, tested=False)
    ]


def compare_pairs(case: Case) -> dict[str, Any]:
    """Test measures with all pairs, with so many ``landmarks`` (of the grid), and with all pairs from another start.

    Numbers of landmarks that are not below the number of records are left out. Every row has a ``setting`` with its
    measures on ``test`` by kind of fit.
    """
    parts = prepare(case)
    n_records = len(parts.train.y)
    fits = {"all_pairs": _with_pairs(case, "all"), ANOTHER_START: _with_pairs(case, "all", case.seed + 1_000_003)}
    fits |= {f"landmarks_{size}": _with_pairs(case, size) for size in case.grid["landmarks"] if size < n_records}
    rows = []
    for setting in list_settings("ifair-b", case.grid):
        test = {kind: measure_fit(train_setting(one, parts, setting), parts)["test"] for kind, one in fits.items()}
        rows.append({"setting": setting, "test": test})
    return {"records": n_records, "rows": rows}


def _with_pairs(case: Case, pairs: str | int, seed: int | None = None) -> Case:
    return replace(case, solver={**case.solver, "pairs": pairs}, seed=case.seed if seed is None else seed)


@for_each_dataset()
def summarise(results: Sequence[Mapping[str, Any]]) -> Changes:
    """What :func:`summarise_changes` says, against all pairs."""
    return summarise_changes(results, "all_pairs")


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
        Table(tabulate_changes(found, _name_kind)),
        Bullets([line for dataset, one in found.items() for line in _describe_change(dataset, one)]),
    ]


def _describe_change(dataset: str, one: Changes) -> list[Line]:
    """Is the change by the most landmarks larger than that by another start?"""
    kind = list(one["kinds"])[-1]
    if kind == ANOTHER_START:
        return []
    more = ", ".join(find_larger(one["kinds"], kind))
    words = f"more than another start does in {more}" if more else "no measure more than another start does"
    return [labels.line(dataset, f": {_name_kind(kind)} change {words}.")]


def _name_kind(kind: str) -> str:
    if not kind.startswith("landmarks_"):
        return kind.replace("_", " ")
    return f"{int(kind.removeprefix('landmarks_')):,} landmarks"


EXPERIMENT = Experiment("landmarks", 120, plan, summarise, section, by_dataset=True)
