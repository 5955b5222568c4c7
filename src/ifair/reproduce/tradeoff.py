"""Utility against individual fairness: what rules choose, how methods compare, their fronts, and all settings drawn."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ifair.evaluate.fronts import hypervolumes, pareto_front
from ifair.evaluate.rules import RULES, choose_row
from ifair.evaluate.statistics import Comparison, Spread, compare, spread, spreads
from ifair.report.blocks import Block, Bullets, Heading, Line, Picture, Strong, Table, Text, add_sign
from ifair.report.pictures import light_grid, new_figure
from ifair.reproduce import labels
from ifair.reproduce.verdicts import LEVEL, format_p, format_spread, is_clearly_above
from ifair.results import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAIRNESS = "yNN"
REFERENCES = {"coin": "above a coin (yNN 0.5)", "full_data": "above the full data's yNN"}
"""Points that hypervolumes are measured from."""

Rows = Sequence[Mapping[str, Any]]


class Choice(TypedDict):
    """What a rule chose of a method on validation data: a setting for every split, and what they reached on test."""

    settings: list[dict[str, Any]]
    test: dict[str, Spread]


class Point(TypedDict):
    """A setting, with the means over the splits on test."""

    setting: dict[str, Any]
    test: dict[str, float]


class TradeOff(TypedDict):
    """One dataset: choices by rule and method; ours against each rival by rule, measure and rival; all points by
    method; hypervolumes of fronts, see :func:`ifair.evaluate.fronts.hypervolumes`."""

    rules: dict[str, dict[str, Choice]]
    comparisons: dict[str, dict[str, dict[str, Comparison]]]
    points: dict[str, list[Point]]
    hypervolume: dict[str, Any]


def summarise_splits(by_split: Mapping[str, Sequence[Rows]], *, utility: str, ours: str = "ifair-b") -> TradeOff:
    """Choose a setting on the validation part of every split, and report what it reached on the test part.

    Parameters
    ----------
    by_split : mapping from methods to sequences of rows
        For every method and split the rows of all settings, each with ``setting``, ``validation`` and ``test``.
    utility : str
        The measure that the rules weigh against yNN.
    ours : str
        The method that is compared with all others.
    """
    rules: dict[str, dict[str, Choice]] = {}
    comparisons: dict[str, Any] = {}
    for rule in RULES:
        chosen = {
            method: [choose_row(rows, rule, utility=utility, fairness=FAIRNESS) for rows in splits]
            for method, splits in by_split.items()
        }
        rules[rule] = {
            method: {"settings": [row["setting"] for row in rows], "test": spreads([row["test"] for row in rows])}
            for method, rows in chosen.items()
        }
        comparisons[rule] = {
            measure: compare(
                [row["test"][measure] for row in chosen[ours]],
                {m: [row["test"][measure] for row in rows] for m, rows in chosen.items() if m != ours},
            )
            for measure in chosen[ours][0]["test"]
        }
    return {
        "rules": rules,
        "comparisons": comparisons,
        "points": {method: _average_points(splits) for method, splits in by_split.items()},
        "hypervolume": hypervolumes(by_split, utility=utility, fairness=FAIRNESS, ours=ours),
    }


def _average_points(splits: Sequence[Rows]) -> list[Point]:
    return [
        {
            "setting": rows[0]["setting"],
            "test": {name: spread([row["test"][name] for row in rows])["mean"] for name in rows[0]["test"]},
        }
        for rows in zip(*splits)
    ]


def compare_table(summary: TradeOff, measures: Iterable[str], rivals: Collection[str] | None = None) -> Table:
    """Differences between iFair-b and every rival, or only some of them, with their p-values."""
    balanced = summary["comparisons"]["balanced"]
    compared = {measure: balanced[measure] for measure in measures if measure in balanced}
    rows = [["iFair-b less", *map(labels.measure, compared)]]
    for rival in rivals or next(iter(compared.values())):
        cells = [by[rival] for by in compared.values()]
        rows.append([labels.method(rival), *(f"{add_sign(c['difference'])}, {format_p(c['adjusted'])}" for c in cells)])
    return Table(rows)


def compare_with(
    dataset: str, summary: TradeOff, rival: str, utility: str, *, slack: float | None, digits: int = 2
) -> tuple[bool, str]:
    """Whether iFair-b is clearly fairer than a rival, at most so much less useful, and the numbers in a line."""
    by, compared = summary["rules"]["balanced"], summary["comparisons"]["balanced"]
    fairer, dearer = compared[FAIRNESS][rival], compared[utility][rival]

    def describe(measure: str, digits: int) -> str:
        ours, theirs = (format_spread(by[method]["test"][measure], digits) for method in ("ifair-b", rival))
        difference = compared[measure][rival]
        return (
            f"{measure} {ours} against {theirs} ({add_sign(difference['difference'], digits)}, "
            f"{format_p(difference['adjusted'])})"
        )

    line = f"{labels.dataset(dataset)}, {labels.method(rival)}: {describe(FAIRNESS, digits)}; {describe(utility, 2)}"
    return is_clearly_above(fairer) and (slack is None or dearer["difference"] >= -slack), line


def list_points(summary: TradeOff, utility: str) -> dict[str, NDArray[np.float64]]:
    """For every method its settings as points (utility, yNN), means over the test parts; all p of FA*IR are one method.

    Returns
    -------
    dict of ndarray of shape (n_settings, 2)
    """
    found: dict[str, list[list[float]]] = {}
    for method, points in summary["points"].items():
        place = found.setdefault("fair" if method.startswith("fair,") else method, [])
        place += [[point["test"][utility], point["test"][FAIRNESS]] for point in points]
    return {method: np.asarray(points, dtype=np.float64).reshape(-1, 2) for method, points in found.items()}


def find_front(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The points that no other beats, from the fairest to the most useful."""
    best = points[pareto_front(points)]
    return best[np.argsort(best[:, 0], kind="stable")]


def describe_picture(dataset: str, utility: str) -> Picture:
    """Where the picture of a dataset stands on the page, in words."""
    return Picture(
        f"tradeoff-{dataset}",
        f"{labels.dataset(dataset)}: {utility} against yNN for every setting of every method, means over the test "
        "parts. Dashed lines join the settings that no other setting of the method beats; hollow markers are the "
        "paper's numbers.",
    )


def draw_tradeoff(summary: TradeOff, utility: str, printed: Sequence[tuple[str, float, float]]) -> "Figure":
    """The picture of one dataset.

    Parameters
    ----------
    utility : str
        The measure of the horizontal axis.
    printed : sequence of (method, utility, yNN)
        The paper's own numbers, drawn hollow.
    """
    figure = new_figure(5.0)
    axes = figure.add_subplot()
    light_grid(axes)
    found = list_points(summary, utility)
    for order, (method, points) in enumerate(found.items()):
        colour, marker = labels.style(method)
        best, single = find_front(points), len(points) == 1
        # Every dot stays small and pale but the front's: there may be hundreds.
        axes.plot(*points.T, marker, color=colour, markersize=3.5, alpha=0.35, markeredgewidth=0, zorder=2)
        axes.plot(
            *best.T,
            color=colour,
            marker=marker,
            markersize=9 if single else 5.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
            linestyle="none" if single else "--",
            linewidth=1.2,
            zorder=4 + order / 10,
            label=labels.method(method),
        )
    for method, x, y in printed:
        colour, marker = labels.style(method)
        axes.plot(x, y, marker, color="none", markeredgecolor=colour, markersize=11, markeredgewidth=1.6, zorder=3)
    if printed:
        axes.plot([], [], "o", color="none", markeredgecolor="black", markersize=9, label="printed in the paper")
    axes.set_xlabel(f"utility: {utility} (right is better)")
    axes.set_ylabel(f"individual fairness: {FAIRNESS} (up is better)")
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=8.5)
    return figure


def describe_volumes(results: Results) -> list[Block]:
    """Tables and sentences about all datasets; nothing where no front was measured."""
    summaries = {**results["experiments"].get("classification", {}), **results["experiments"].get("ranking", {})}
    volumes = {dataset: found["hypervolume"] for dataset, found in summaries.items() if "hypervolume" in found}
    if not volumes:
        return []
    return [
        Heading("Hypervolume of every method's front", 3),
        Text(
            "The area of the plane of utility and yNN that the settings of a method cover: those on the front on "
            "validation data, measured on test data. The reference point decides what counts. Above a coin (AUC "
            "0.5 or MAP 0, and yNN 0.5) utility weighs most; above the full data's yNN only what is fairer than "
            "unchanged data counts. Mean ± standard deviation over the splits, in hundredths; in brackets the "
            "number of settings, for more settings have more chances: what a rival reaches with a random choice of "
            "as many as iFair-b has stands below. * differs from iFair-b (paired t-test, Holm, 5 %)."
        ),
        *(Table(rows) for reference in REFERENCES if len(rows := _tabulate_volumes(reference, volumes)) > 1),
        Bullets([line for dataset, summary in volumes.items() for line in _compare_with_best(dataset, summary)]),
    ]


def _tabulate_volumes(reference: str, volumes: dict[str, Any]) -> list[list[str]]:
    found = {dataset: by[reference] for dataset, by in volumes.items() if reference in by}
    methods = list(dict.fromkeys(method for summary in found.values() for method in summary["methods"]))
    rows = [[REFERENCES[reference], *map(labels.dataset, found)]]
    rows += [
        [labels.method(method), *(_format_volume(method, summary) for summary in found.values())] for method in methods
    ]
    return rows


def _format_volume(method: str, summary: dict[str, Any]) -> str:
    if method not in summary["methods"]:
        return ""
    value = summary["methods"][method]
    clear = summary["comparisons"].get(method, {"adjusted": 1.0})["adjusted"] < LEVEL
    star = " *" if clear else ""
    return f"{100 * value['mean']:.2f} ± {100 * value['sd']:.2f}{star} ({summary['settings'][method]})"


def _compare_with_best(dataset: str, by_reference: dict[str, Any]) -> list[Line]:
    lines = []
    for reference, summary in by_reference.items():
        rival = summary["best_rival"]
        if rival is None:
            continue
        compared = summary["comparisons"][rival]
        share = compared["difference"] / summary["methods"][rival]["mean"] if summary["methods"][rival]["mean"] else 0.0
        word = "ahead of" if compared["difference"] > 0 else "behind"
        clear = "clearly" if compared["adjusted"] < LEVEL else "not clearly"
        few = summary["as_few_settings"].get(rival)
        same = f"; with as few settings {labels.method(rival)} has {100 * few['mean']:.2f}" if few else ""
        lines.append(
            f"{REFERENCES[reference]} iFair-b is {word} the best rival, {labels.method(rival)}, by {abs(share):.0%}, "
            f"{clear} (p = {compared['adjusted']:.2f} after Holm{same})"
        )
    return [(Strong(labels.dataset(dataset)), f": {'; '.join(lines)}.")] if lines else []
