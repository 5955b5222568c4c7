"""Beyond the paper: what our reading of iFair and SVD changes. The same fits with one thing at a time changed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ifair.evaluate.splits import Split
from ifair.evaluate.training import Trained
from ifair.models.ifair import SINGLE_PRECISION_FROM, IFair
from ifair.models.prototypes import Task
from ifair.models.starts import NEAR_ZERO, first_parameters
from ifair.report.blocks import Block, Bullets, Heading, Table, Text
from ifair.reproduce import changes, labels
from ifair.reproduce.case import Case, prepare, train_grid
from ifair.reproduce.changes import ANOTHER_START, Changes
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Unit, for_each_dataset, make_unit
from ifair.reproduce.profiles import ratios
from ifair.results import Results

SIZES = (100, 300, 1000)
MAX_TRAINING = 3000
"""Records up to which all pairs are compared, as the estimator does by itself."""
RATIOS = ratios()[1:4]
"""The paper's smallest weights of fairness but 0: pairs count, and fewer fits end at a constant than at larger ones."""
BASE, LONGER, NOT_CENTRED = "as_in_the_tables", "searched_longer", "not_centred"
EVERY_START = "every_start_to_its_end"
FURTHER = 10
"""So many times less a loss must fall, in so many times as many iterations at most, for a longer search to end."""
METHODS = ("ifair-b", "svd-masked")
DOUBLE = "in_double_precision"


class NearerZero(IFair):
    """iFair whose protected weights begin a hundred times nearer to zero."""

    factor = 0.01

    def _task(self, *args: Any, **kwargs: Any) -> Task:
        task = super()._task(*args, **kwargs)
        factors = np.where(task.protected, self.factor, 1.0)
        return task._replace(starts=[replace(start, alpha=factors * start.alpha) for start in task.starts])


class FurtherFromZero(NearerZero):
    """iFair whose protected weights begin at a hundred times as much."""

    factor = 100.0


def name_first_weight(model: type[NearerZero]) -> str:
    """The kind of fit by a model with another first weight of protected columns."""
    return f"protected_from_{NEAR_ZERO * model.factor:g}"


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset with a label and split, both methods at the middle K of the grid."""
    sizes = profile.grid["K"]
    grid = {"K": [sizes[len(sizes) // 2]], "ratios": RATIOS, "landmarks": SIZES}
    return [
        make_unit(compare_kinds, profile.case(source, seed, (None, MAX_TRAINING), method=method, grid=grid), method)
        for source, seed in profile.splits(profile.classification)
        for method in METHODS
    ]


def compare_kinds(case: Case) -> dict[str, Any]:
    """What ``changes.measure_kinds`` says of fits as in the tables, but of all pairs; and of others.

    Those are from other starts, with so many ``landmarks`` (of the grid, if below the records), with a search that goes
    on for longer, with pairs in double precision where they are not anyway, of columns that are not centred, with other
    first weights of protected columns, and with searches that all go on to their end; of SVD those that are not
    centred. The settings of a kind are fitted at once.
    """
    parts = prepare(case)
    every = replace(case, solver={**case.solver, "pairs": "all"})
    kinds: dict[str, tuple[Case, Split]] = {BASE: (every, parts)}
    if case.method.startswith("ifair"):
        solver = every.solver
        longer = {"tol": solver["tol"] / FURTHER, "max_iter": solver["max_iter"] * FURTHER}
        kinds[ANOTHER_START] = replace(every, seed=case.seed + 1_000_003), parts
        kinds[LONGER] = replace(every, solver={**solver, **longer}), parts
        for size in case.grid["landmarks"]:
            if size < len(parts.train):
                kinds[f"landmarks_{size}"] = replace(case, solver={**solver, "pairs": size}), parts
        if len(parts.train) >= SINGLE_PRECISION_FROM:
            kinds[DOUBLE] = replace(every, solver={**solver, "precision": "double"}), parts
    kinds[NOT_CENTRED] = every, _move_back(parts)
    fits = {kind: (there, train_grid(one, there)) for kind, (one, there) in kinds.items()}
    if case.method.startswith("ifair"):
        for other in (NearerZero, FurtherFromZero):
            fits[name_first_weight(other)] = parts, train_grid(every, parts, partial(_turn_into, other))
        fits[EVERY_START] = parts, _train_every_start(every, parts)
    return changes.measure_kinds(fits)


def _turn_into(kind: type[IFair], model: IFair) -> IFair:
    return kind(**model.get_params())


def _train_every_start(case: Case, parts: Split) -> list[tuple[dict[str, Any], Trained]]:
    """The best of all starts, each of which goes on to its end: the same starts as those of the tables."""
    random_state, (k,) = np.random.RandomState(case.seed), case.grid["K"]
    hidden = parts.train.X.columns.isin(parts.train.X.columns[parts.train.hidden])
    by_start = []
    for _ in range(case.solver["n_restarts"]):
        start = first_parameters(
            parts.train.X.to_numpy(), k, "uniform", "masked", hidden, np.zeros_like(hidden), random_state
        )
        given = {"n_restarts": 1, "init": start.prototypes, "alpha_init": start.alpha}
        by_start.append(train_grid(replace(case, solver={**case.solver, **given}), parts))
    return [min(of_setting, key=lambda one: one[1].representation.loss_) for of_setting in zip(*by_start)]


def _move_back(parts: Split) -> Split:
    """The parts with columns scaled to unit variance, and their zero where the table has it."""
    encoder = parts.train.encoder
    zero = encoder.mean_ / encoder.scale_
    train, validation, test = (replace(part, X=part.X + zero) for part in parts)
    return replace(parts, train=train, validation=validation, test=test)


@for_each_dataset("method")
def summarise(by_method: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Changes]:
    """By method what kinds of fit change."""
    return {method: changes.summarise_kinds(results) for method, results in by_method.items()}


def section(found: dict[str, dict[str, Changes]], results: Results) -> list[Block]:
    """What changes, beside what another start changes."""
    blocks: list[Block] = [
        Heading("Other readings of iFair and SVD"),
        Text(
            "The same fits with one thing changed. Of iFair-b at the paper's three smallest weights of fairness but 0: "
            "other random starts; a search that ends when the loss falls by less than a tenth as much; three searches "
            "that all go on to their end, where the tables leave two of them after 100 iterations; pairs of every "
            "record and so many landmarks in place of all pairs; pairs in double precision, where single is the "
            "default; columns that are scaled but not centred; protected weights that begin at other numbers than "
            f"{NEAR_ZERO:g}. Of SVD-masked only the columns. The change of each measure on test, as its mean, and "
            "after the slash the mean of its size, to be compared with what other starts change."
        ),
    ]
    for method in METHODS:
        of_method = {dataset: by[method] for dataset, by in found.items()}
        blocks += [Text(f"{labels.method(method)}:"), Table(changes.tabulate_changes(of_method, _name_kind))]
        if ANOTHER_START in next(iter(of_method.values()))["kinds"]:
            blocks.append(Bullets([changes.describe_larger(*one, _name_kind) for one in of_method.items()]))
    return blocks


def _name_kind(kind: str) -> str:
    if not kind.startswith("landmarks_"):
        return labels.variant(kind)
    return f"{int(kind.removeprefix('landmarks_')):,} landmarks"


EXPERIMENT = Experiment("ifair", 120, plan, summarise, section, by_dataset=True)
