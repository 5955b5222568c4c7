"""Beyond the paper: what our reading of LFR changes. The same fits with one thing at a time as others read it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import logit
from sklearn.utils import check_random_state

from ifair.evaluate.splits import Part, Split
from ifair.evaluate.training import Trained
from ifair.models.lfr import LFR
from ifair.models.prototypes import Task
from ifair.report.blocks import Block, Bullets, Heading, Table, Text
from ifair.reproduce import changes, labels
from ifair.reproduce.case import Case, prepare, train_grid
from ifair.reproduce.changes import ANOTHER_START, Changes
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Unit, for_each_dataset, make_unit
from ifair.results import Results

WEIGHTS = ((1.0, 10.0, 0.1), (100.0, 10.0, 0.1), (10.0, 0.1, 0.05), (1.0, 0.05, 10.0))
"""A_x, A_y and A_z of the paper's grid, from mostly labels to mostly parity."""

MAX_TRAINING = 3000


class KinkedLFR(LFR):
    """LFR that minimises what it reports: parity, which must have a weight, without rounding its kink."""

    def _task(self, *args: Any, **kwargs: Any) -> Task:
        task = super()._task(*args, **kwargs)
        assert task.reported is not None
        return task._replace(objective=task.reported)


class RandomChancesLFR(LFR):
    """LFR whose chances of the positive label begin at random, uniform in (0, 1), like its prototypes."""

    def _task(self, *args: Any, **kwargs: Any) -> Task:
        task, draw = super()._task(*args, **kwargs), check_random_state(self.random_state)
        starts = [
            replace(start, extra={**start.extra, "log_odds": logit(draw.uniform(size=self.n_prototypes))})
            for start in task.starts
        ]
        return task._replace(starts=starts)


def find_telling(part: Part) -> str:
    """The encoded column whose positive values are those of the protected group."""
    return next(name for name in part.X.columns[part.hidden] if np.array_equal(part.X[name] > 0.0, part.group))


BASE = "as_in_the_tables"

KINDS: dict[str, Callable[[LFR, Part], LFR]] = {
    BASE: lambda model, _: model,
    ANOTHER_START: lambda model, _: model.set_params(random_state=model.random_state + 1_000_003),
    "summed_columns": lambda model, part: model.set_params(
        reconstruct_weight=model.reconstruct_weight * part.X.shape[1]
    ),
    "kinked_parity": lambda model, _: KinkedLFR(**model.get_params()),
    "random_first_chances": lambda model, _: RandomChancesLFR(**model.get_params()),
    "k-means++_starts": lambda model, _: model.set_params(init="k-means++"),
    "weights_per_group": lambda model, part: model.set_params(
        attribute_weights="per group", protected=[find_telling(part)]
    ),
}
"""By name what is changed of LFR as it is in the tables."""


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset with a label and split, LFR at the smallest K of the grid."""
    grid = {"K": profile.grid["K"][:1], "weights": WEIGHTS}
    return [
        make_unit(compare_kinds, profile.case(source, seed, (None, MAX_TRAINING), method="lfr", grid=grid))
        for source, seed in profile.splits(profile.classification)
    ]


def compare_kinds(case: Case) -> dict[str, Any]:
    """What ``changes.measure_kinds`` says of every kind."""
    parts = prepare(case)
    names = ("K", "A_x", "A_y", "A_z")
    settings = [dict(zip(names, (k, *weights))) for k in case.grid["K"] for weights in case.grid["weights"]]
    return changes.measure_kinds({kind: (parts, train_kind(kind, case, parts, settings)) for kind in KINDS})


def train_kind(
    kind: str, case: Case, parts: Split, settings: Sequence[dict[str, Any]]
) -> list[tuple[dict[str, Any], Trained]]:
    """LFR changed in this way, trained at all settings at once."""
    return train_grid(case, parts, lambda model: KINDS[kind](model, parts.train), settings)


def section(found: dict[str, Changes], results: Results) -> list[Block]:
    """What changes where LFR is read otherwise, beside what another start changes."""
    return [
        Heading("Other readings of LFR"),
        Text(
            "The same fits of LFR with one thing changed: squared errors summed over columns, a parity whose kink is "
            "not rounded, chances of the label that begin at random, prototypes that start from records drawn by "
            "k-means++, attribute weights of each group's own, and another random start. "
            f"Of {len(WEIGHTS)} settings of the grid, from mostly labels to mostly parity, the change of each measure "
            "on test at the same weights, as its mean, and after the slash the mean of its size. The tables choose "
            "among many weights on validation instead."
        ),
        Table(changes.tabulate_changes(found, labels.variant)),
        Bullets([changes.describe_larger(dataset, one, labels.variant) for dataset, one in found.items()]),
    ]


@for_each_dataset()
def summarise(results: Sequence[Mapping[str, Any]]) -> Changes:
    """What kinds of fit change."""
    return changes.summarise_kinds(results)


EXPERIMENT = Experiment("lfr", 125, plan, summarise, section, by_dataset=True)
