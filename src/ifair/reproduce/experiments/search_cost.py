"""Beyond the paper: fronts, and what finding them costs: iFair's settings by a multi-objective search or by a grid.

The question is how many fits a front costs. The search tries a quarter as many settings as the grid has (at least
eight), of a space around the grid; the grid is what classification and ranking have already measured. After every fit
stands the hypervolume of the front so far, for the search, for the grid in its own order, and for the grid in random
order, on average: what one gets by stopping a grid early, and by trying settings of it at random.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from ifair.evaluate.fronts import COIN, volume_curves
from ifair.evaluate.measures import UTILITY
from ifair.evaluate.search import search
from ifair.evaluate.space import Integer, Share, Space
from ifair.evaluate.statistics import Spread, spread
from ifair.report.blocks import Block, Bullets, Heading, Line, Picture, Table, Text
from ifair.report.pictures import BLACK, BLUE, GREY, RED, add_legend, new_figure
from ifair.reproduce import labels
from ifair.reproduce.case import Case, measure_fit, prepare, train_setting
from ifair.reproduce.experiment import Earlier, Experiment, Figures, Records, make_unit, rows_by_split
from ifair.reproduce.experiments import classification_task, ranking_task
from ifair.reproduce.profiles import Profile
from ifair.reproduce.runner import Unit
from ifair.reproduce.tradeoff import FAIRNESS, describe_volumes
from ifair.results import Results

METHOD = "ifair-b"

SPACE: Space = {"K": Integer(5, 40), "share": Share(0.0005, 0.9995)}
"""Prototypes, and mu / (lambda + mu): a little wider than the paper's grid in K, and with every ratio in between."""

START: tuple[dict[str, Any], ...] = ({"K": 30, "share": 0.0005}, {"K": 10, "share": 0.01}, {"K": 20, "share": 0.99})
"""Tried first, from the paper's grid or near it: for utility many prototypes, few to even out, mostly fairness."""

ORDERS = 100
"""Random orders of the grid to average over."""

ENOUGH = 0.95
"""The share of the whole grid's hypervolume for which fits are counted."""

PARTS: tuple[Literal["validation", "test"], ...] = ("validation", "test")

STYLES = {
    "search": (RED, "-", "search"),
    "grid_at_random": (BLUE, "--", "grid, random order"),
    "grid_in_order": (GREY, ":", "grid, its own order"),
}
"""Colour, dashes (for those who print in grey) and name of a curve."""


class Fits(TypedDict):
    """How many settings the grid has, a tenth of it, and the search."""

    grid: int
    tenth: int
    search: int


class Reached(TypedDict):
    """On one part, by name of the curve: hypervolumes after every number of fits; the share of the whole grid's that a
    tenth of the fits reaches; and the fits to 95 % of it, on average over splits, or None."""

    curves: dict[str, list[Spread]]
    whole_grid: Spread
    at_a_tenth: dict[str, Spread | None]
    fits_to_95_percent: dict[str, int | None]


class SearchCost(TypedDict):
    """Hypervolumes above the ``reference`` against the number of fits, over the splits."""

    utility: str
    reference: dict[str, float]
    fits: Fits
    validation: Reached
    test: Reached


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """One search for every dataset and split."""
    n_grid = len(profile.grid["K"]) * len(profile.grid["ratios"])
    n_trials = max(min(8, n_grid), ceil(n_grid / 4))
    cases = [
        profile.case(source, seed, method=METHOD, grid={"n_trials": n_trials})
        for source, seed in profile.splits(profile.sources)
    ]
    return [make_unit(explore, case) for case in cases]


def _shorten(row: Mapping[str, Any], utility: str) -> dict[str, Any]:
    """A row with the two measures that matter here."""
    parts: dict[str, Any] = {part: {name: row[part][name] for name in (utility, FAIRNESS)} for part in PARTS}
    return {"setting": row["setting"], **parts}


def explore(case: Case) -> list[dict[str, Any]]:
    """Rows of ``n_trials`` settings of iFair-b on one split, in the order in which the search tried them."""
    parts = prepare(case)
    utility = UTILITY[parts.task]

    def objective(setting: dict[str, Any]) -> dict[str, Any]:
        letters = {"K": setting["K"], "lambda": 1.0 - setting["share"], "mu": setting["share"]}
        return _shorten({"setting": letters, **measure_fit(train_setting(case, parts, letters), parts)}, utility)

    how: Any = {"measures": (utility, FAIRNESS), "start": START, "seed": case.seed}
    trials = search(lambda settings: map(objective, settings), SPACE, n_trials=case.grid["n_trials"], **how)
    return [trial.result for trial in trials]


def summarise(records: Records) -> dict[str, SearchCost]:
    """By dataset hypervolumes against the number of fits, over the splits, beside what the grid has found on them."""
    searches = [record for record in records if "n_trials" in record.case.grid]
    grids = rows_by_split([record for record in records if "n_trials" not in record.case.grid])
    found = defaultdict(list)
    for case, rows in ((record.case, record.result) for record in searches):
        found[case.dataset].append({"search": rows, "grid": grids[case.dataset][METHOD][case.seed]})
    return {dataset: _compare_curves(splits) for dataset, splits in found.items()}


def _compare_curves(found: Sequence[Mapping[str, Any]]) -> SearchCost:
    utility = next(name for name in found[0]["search"][0]["test"] if name != FAIRNESS)
    reference = {utility: COIN[utility], FAIRNESS: COIN[FAIRNESS]}
    traced = [_trace_curves(result, reference) for result in found]
    curves = {name: np.array([one[name] for one in traced]) for name in STYLES}
    n_grid = len(found[0]["grid"])
    tenth = ceil(n_grid / 10)
    return {
        "utility": utility,
        "reference": reference,
        "fits": {"grid": n_grid, "tenth": tenth, "search": len(found[0]["search"])},
        "validation": _summarise_part({name: both[:, 0] for name, both in curves.items()}, tenth),
        "test": _summarise_part({name: both[:, 1] for name, both in curves.items()}, tenth),
    }


def _trace_curves(result: Mapping[str, Any], reference: Mapping[str, float]) -> dict[str, Any]:
    """Of one split the three curves, each on validation and on test."""
    measures, corner, rows = list(reference), list(reference.values()), result["grid"]
    rng = np.random.default_rng(20190408)
    orders = [volume_curves([rows[i] for i in rng.permutation(len(rows))], measures, corner) for _ in range(ORDERS)]
    return {
        "search": volume_curves(result["search"], measures, corner),
        "grid_at_random": np.mean(orders, axis=0),
        "grid_in_order": volume_curves(rows, measures, corner),
    }


def _summarise_part(curves: Mapping[str, NDArray[np.float64]], tenth: int) -> Reached:
    """Of the three curves on one part, shape (n_splits, n_fits)."""
    whole = curves["grid_in_order"][:, -1]
    # A grid that beats the reference point nowhere has nothing to take a share of.
    counted = whole > 0
    return {
        "curves": {name: [spread(column) for column in found.T] for name, found in curves.items()},
        "whole_grid": spread(whole.tolist()),
        "at_a_tenth": {
            name: spread(found[counted, tenth - 1] / whole[counted]) if counted.any() else None
            for name, found in curves.items()
        },
        "fits_to_95_percent": {
            name: next((n for n, mean in enumerate(found.mean(axis=0), start=1) if mean >= ENOUGH * whole.mean()), None)
            for name, found in curves.items()
        },
    }


def section(found: dict[str, SearchCost], results: Results) -> list[Block]:
    """Tables, picture and sentences; nothing where neither fronts nor searches were measured."""
    blocks = describe_volumes({**classification_task.EXPERIMENT.find(results), **ranking_task.EXPERIMENT.find(results)})
    if found:
        blocks += [
            Heading("Search instead of a grid", 3),
            Text(
                "Settings of iFair-b found by a multi-objective search (Optuna) against the grid's. A grid visited in "
                "random order, averaged over many orders, is what any search has to beat. Hypervolumes are those above "
                "a coin; the share is that of the whole grid's hypervolume, mean ± standard deviation over the splits. "
                "The search never weighs fairness with nothing, with which the grid begins."
            ),
            Table(_tabulate_shares(found)),
            Picture("search", "Hypervolume against the number of fits, for the search and for the grid"),
            Text(
                "Band: standard deviation of the search over the splits. Horizontal line: the whole grid. Dotted: a "
                "tenth of its fits."
            ),
            Bullets([_describe_cost(dataset, cost) for dataset, cost in found.items()]),
        ]
    return [Heading("Fronts, and what finding them costs"), *blocks] if blocks else []


def _tabulate_shares(searched: dict[str, SearchCost]) -> list[list[str]]:
    rows = [["", "fits", *(f"{name}, {part}" for part in PARTS for _, _, name in STYLES.values())]]
    for dataset, found in searched.items():
        cells = []
        for part in PARTS:
            for name in STYLES:
                share = found[part]["at_a_tenth"][name]
                cells.append("" if share is None else f"{100 * share['mean']:.0f} ± {100 * share['sd']:.0f} %")
        rows.append([labels.dataset(dataset), f"{found['fits']['tenth']} of {found['fits']['grid']}", *cells])
    return rows


def _describe_cost(dataset: str, found: SearchCost) -> Line:
    """How many fits lead to nearly the whole grid's hypervolume, in words."""
    words = []
    for part in PARTS:
        needed = found[part]["fits_to_95_percent"]
        at_most = labels.count(found["fits"]["search"], "fit")
        search = labels.count(needed["search"], "fit") if needed["search"] else f"more than its {at_most}"
        grid = f"{needed['grid_at_random']}" if needed["grid_at_random"] else f"more than {found['fits']['grid']}"
        words.append(f"on {part} data the search needs {search}, the grid in random order {grid}")
    return labels.line(dataset, f", to 95 % of the grid's hypervolume: {'; '.join(words)}.")


def draw(found: dict[str, SearchCost], results: Results) -> Figures:
    """``search``: hypervolume on validation data and on test data against the number of fits, one row per dataset."""
    figure = new_figure(0.6 + 2.3 * len(found))
    panels = figure.subplots(len(found), 2, squeeze=False)
    for row, (dataset, cost) in zip(panels, found.items()):
        for axes, part in zip(row, PARTS):
            _draw_panel(axes, cost[part], cost["fits"]["tenth"])
            axes.set_title(f"{labels.dataset(dataset)}, {part}", fontsize=10)
        row[0].set_ylabel("hypervolume")
    for axes in panels[-1]:
        axes.set_xlabel("fits")
    add_legend(figure, panels[0], 3, side="upper")
    return {"search": figure}


def _draw_panel(axes: Any, found: Reached, tenth: int) -> None:
    for name, (colour, dashes, label) in STYLES.items():
        curve = found["curves"][name]
        fits = range(1, len(curve) + 1)
        axes.plot(fits, [point["mean"] for point in curve], dashes, color=colour, label=label, linewidth=1.8)
        if name == "search":
            low, high = ([point["mean"] + sign * point["sd"] for point in curve] for sign in (-1, 1))
            axes.fill_between(fits, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.axhline(found["whole_grid"]["mean"], color=BLACK, linewidth=0.6)
    axes.axvline(tenth, color=BLACK, linewidth=0.6, linestyle=(0, (1, 3)))
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)


TASKS = ("classification", "ranking")

EXPERIMENT = Experiment(
    "search", 80, plan, summarise, section, draw, reads=TASKS, packages=("optuna",), by_dataset=True, shows=TASKS
)
