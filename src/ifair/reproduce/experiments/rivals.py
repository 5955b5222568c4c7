"""Beyond the paper: rivals from other packages, measured like everything else.

A rival whose package is not installed is left out, and the summary says so.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any, TypedDict

import numpy as np

from ifair.evaluate.measures import UTILITY, guess_group, measure_mapped, paper_measures
from ifair.evaluate.splits import Split
from ifair.evaluate.statistics import Spread, Spreads
from ifair.evaluate.training import Outcome, decide
from ifair.report.blocks import Block, Bullets, Heading, Line, Table, Text, add_sign
from ifair.reproduce import labels, rival_models
from ifair.reproduce.case import Case, prepare
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Records, Unit, group_results, make_unit
from ifair.reproduce.experiments import classification_task, obfuscation, ranking_task
from ifair.reproduce.experiments.obfuscation import ADVERSARIES, Attacked
from ifair.reproduce.rival_models import HINT, PACKAGES, is_installed
from ifair.reproduce.tradeoff import Chosen, Point, average_points, choose_rows, describe_choices, limit_choices
from ifair.results import Results

RHO = (5.0, 20.0, 1.0, 50.0, 0.0, 100.0)
"""SenSeI's weights of fairness; a profile with few settings takes the first."""

HIDDEN = (0, 100)
"""Units of its hidden layer: none, as the others' logistic regression, or as many as its authors have."""

ALPHA = (0.5, 1.0)
"""How much of the correlation is removed."""

STEPS_PER_UPDATE = 9
"""Steps that iFair may take for one of SenSeI, which is of 100 people."""

SENSEI = {"batch": 100, "lr": 0.005, "steps": 20, "step": 0.05}
NAMES = {"sensei": "SenSeI", "correlation-remover": "CorrelationRemover"}
BESIDE = ("full", "masked", "svd-masked", "ifair-b", "ifair-plus")
"""The methods of this library that stand beside the rivals."""

ABOUT = """
Beyond the paper: inFairness's SenSeI (an individually fair classifier, not a representation; linear, or with one hidden
layer of 100 units, chosen on validation like its weight of fairness) and fairlearn's CorrelationRemover (protected
columns and what is linear in them taken out, wholly or by half, as validation chooses; then logistic or linear
regression). Tables, splits (the first few of each dataset, for our methods beside them too), encoding, measures and
rules of choice are those of the other methods. SenSeI learns by steps of 100 people each: in the full profile a ninth
as many as iFair may take of all people. The adversary's AUC is how well a logistic regression, and after the slash
gradient-boosted trees, tell the group from a representation: 0.5 is chance, and far below it the group is told, too,
only the other way round; SenSeI has no representation to attack. What the CorrelationRemover leaves of a column of two
values is another pair of values in each group: taken out wholly, nothing to a linear model, but trees can read the
group off it.
""".strip()


class Beside(TypedDict):
    """One dataset: what rules choose of the rivals, and all their settings."""

    rules: Chosen
    points: dict[str, list[Point]]


class Rivals(TypedDict):
    """By dataset of each task, and by rival that was left out what to do to have it."""

    classification: dict[str, Beside]
    ranking: dict[str, Beside]
    left_out: dict[str, str]


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every classification dataset, split and rival, and every ranking with the CorrelationRemover.

    SenSeI gets no more settings than iFair has in the profile.
    """
    sensei: dict[str, Any] = {
        "method": "sensei",
        "grid": {
            "rho": sorted(RHO[: len(profile.grid["ratios"])]),
            "eps": [0.1],
            "hidden": list(HIDDEN[: len(profile.grid["K"])]),
        },
        # Enough on 300 records; on all of them it may learn as much longer as iFair may.
        "solver": {**SENSEI, "updates": max(100, profile.solver["max_iter"] // STEPS_PER_UPDATE)},
    }
    remover: dict[str, Any] = {"method": "correlation-remover", "grid": {"alpha": list(ALPHA)}, "solver": {}}
    units = []
    for task, sources in profile.tasks.items():
        rivals = (sensei, remover) if task == "classification" else (remover,)
        for source, seed in profile.splits(sources):
            units += [make_unit(measure_rival, profile.case(source, seed, **one), one["method"]) for one in rivals]
    return units


def measure_rival(case: Case) -> list[dict[str, Any]]:
    """All settings of one rival on one split, every combination of the values in the grid: rows as of other methods.

    Those of the CorrelationRemover have ``adversaries`` too, by name the AUC on test with which the group is told from
    its output.
    """
    parts = prepare(case)
    measure = _measure_sensei if case.method == "sensei" else _measure_remover
    return [measure(case, parts, dict(zip(case.grid, values))) for values in product(*case.grid.values())]


def _measure_sensei(case: Case, parts: Split, setting: dict[str, Any]) -> dict[str, Any]:
    train = parts.train
    score = rival_models.train_sensei(train.X.to_numpy(), train.y, train.hidden, setting, case.solver, case.seed)
    row: dict[str, Any] = {"setting": setting}
    for name, part in (("validation", parts.validation), ("test", parts.test)):
        scores = score(part.X.to_numpy())
        row[name] = paper_measures(part, Outcome(scores, decide(scores, parts.task)))
    return row


def _measure_remover(case: Case, parts: Split, setting: dict[str, Any]) -> dict[str, Any]:
    matrices = [part.X.to_numpy() for part in parts]
    remover = rival_models.make_correlation_remover(setting["alpha"], parts.train.hidden).fit(matrices[0])
    mapped = [np.asarray(remover.transform(matrix)) for matrix in matrices]
    validation, test = measure_mapped(parts, mapped)
    adversaries = {name: guess_group(parts, mapped[0], mapped[2], name, case.seed)["AUC"] for name in ADVERSARIES}
    return {"setting": setting, "validation": validation, "test": test, "adversaries": adversaries}


def summarise(records: Records) -> Rivals:
    """What the three rules choose of every rival, on test, and how well the group is told."""
    found: dict[labels.Task, dict[str, Beside]] = {"classification": {}, "ranking": {}}
    for dataset, by_rival in group_results(records, "dataset", "method").items():
        # Only rankings have a MAP.
        task: labels.Task = "ranking" if "MAP" in next(iter(by_rival.values()))[0][0]["test"] else "classification"
        found[task][dataset] = {
            "rules": describe_choices(choose_rows(by_rival, UTILITY[task])),
            "points": {rival: average_points(splits) for rival, splits in by_rival.items()},
        }
    ran = {record.case.method for record in records}
    left_out = {rival: hint for rival, hint in list_missing().items() if rival not in ran}
    return {"classification": found["classification"], "ranking": found["ranking"], "left_out": left_out}


def list_missing() -> dict[str, str]:
    """The rivals whose packages are not installed, and how to install them."""
    return {rival: HINT for rival in PACKAGES if not is_installed(rival)}


def section(found: Rivals, results: Results) -> list[Block]:
    """The rivals beside our methods; nothing where the experiment was not run."""
    if not any(found.values()):
        return []
    missing = [
        Text(f"{NAMES[rival]} was left out, for its package was not installed: {hint}.")
        for rival, hint in found["left_out"].items()
    ]
    attacked = obfuscation.EXPERIMENT.find(results)
    lines, tables = list[Line](), list[Block]()
    for task, measures in labels.COLUMNS.items():
        for dataset, one in found[task].items():
            ours = _find_ours(results, task, dataset, one["rules"])
            if task == "classification" and (reached := ours.get("balanced", {}).get("ifair-b")):
                balanced = one["rules"]["balanced"].items()
                lines += [_compare_in_words(dataset, reached, rival, theirs["test"]) for rival, theirs in balanced]
            tables += [Heading(labels.dataset(dataset), 3), _tabulate(one, ours, attacked.get(dataset, {}), measures)]
    return [Heading("Outside rivals"), Text(ABOUT), *missing, *([Bullets(lines)] if lines else []), *tables]


def _find_ours(results: Results, task: labels.Task, dataset: str, rules: Chosen) -> dict[str, dict[str, Spreads]]:
    """By rule and method what ours reached on the splits that the rivals were measured on, which are the first ones."""
    grids: Any = classification_task if task == "classification" else ranking_task
    summary = grids.EXPERIMENT.find(results).get(dataset)
    n_splits = min(len(choice["settings"]) for by_rival in rules.values() for choice in by_rival.values())
    return limit_choices(summary["rules"], BESIDE, n_splits) if summary else {}


def _tabulate(
    one: Beside,
    ours: Mapping[str, Mapping[str, Spreads]],
    attacked: Mapping[str, Attacked],
    measures: tuple[str, ...],
) -> Table:
    """Our methods and the rivals under every rule; adversaries attacked our settings of the balanced one."""
    rows: list[list[Line]] = [["rule", "method", *map(labels.measure, measures), "adversary's AUC"]]

    def add(rule: str, name: str, reached: Spreads, guesses: Mapping[str, Spread]) -> None:
        told = " / ".join(f"{auc['mean']:.2f}" for auc in guesses.values())
        rows.append(
            [labels.RULES[rule], NAMES.get(name) or labels.method(name), *labels.cells(reached, measures), told]
        )

    for rule, rivals in one["rules"].items():
        for name, reached in ours.get(rule, {}).items():
            known = attacked.get(name) if rule == "balanced" else None
            add(rule, name, reached, {by: known[by]["AUC"] for by in ADVERSARIES} if known else {})
        for name, chosen in rivals.items():
            add(rule, name, chosen["test"], chosen.get("adversaries", {}))
    return Table(rows)


def _compare_in_words(dataset: str, ours: Spreads, rival: str, theirs: Spreads) -> Line:
    useful, fair = (ours[m]["mean"] - theirs[m]["mean"] for m in ("AUC", "yNN"))
    said = f"iFair-b less {NAMES[rival]} is {add_sign(useful)} in AUC and {add_sign(fair)} in yNN"
    return labels.line(dataset, f", under the balanced rule: {said}; {_name_winner(useful, fair)}, untested.")


def _name_winner(utility: float, fairness: float) -> str:
    """Who is ahead in the means; differences below half a hundredth are none."""
    signs = {1 if gap > 0.005 else -1 if gap < -0.005 else 0 for gap in (utility, fairness)}
    if signs == {0}:
        return "they are level"
    if -1 not in signs:
        return "iFair-b is ahead"
    return "a trade" if 1 in signs else "the rival is ahead"


EXPERIMENT = Experiment("rivals", 90, plan, summarise, section, left_out=list_missing, by_task=True)
