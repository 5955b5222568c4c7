"""Utility against individual fairness: what rules choose, how methods compare, their fronts, and all settings drawn."""

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from ifair.evaluate.fronts import Volumes, hypervolumes, pareto_front
from ifair.evaluate.rules import RULES, choose_row
from ifair.evaluate.statistics import Comparison, Spreads, compare, spread, spreads
from ifair.plain_data import Number
from ifair.report.blocks import Block, Bullets, Heading, Line, Picture, Table, Text
from ifair.report.pictures import Figure, light_grid, new_figure
from ifair.reproduce import labels
from ifair.reproduce.verdicts import format_difference, format_spread, is_clear, is_clearly_above

FAIRNESS = "yNN"
OURS = "ifair-plus"
"""The variant of iFair that we would rather use than the paper's."""
REFERENCES = {"coin": "above a coin (yNN 0.5)", "full_data": "above the full data's yNN"}
"""Points that hypervolumes are measured from."""

Rows = Sequence[Mapping[str, Any]]


class Choice(TypedDict):
    """What a rule chose of a method on validation data: a setting for every split, what they reached on test, over the
    splits and split by split (files of an earlier version lack that), and of rivals the AUC of ``adversaries`` that
    guess the group."""

    settings: list[dict[str, Any]]
    test: Spreads
    by_split: NotRequired[list[dict[str, float]]]
    adversaries: NotRequired[Spreads]


Chosen = dict[str, dict[str, Choice]]
"""By rule and method."""


class Point(TypedDict):
    """A setting, with the means over the splits on test; of learned representations also the share of splits on which
    the fit ended at a ``constant`` and on which it ``converged``, and the median ``protected_weight``: see
    :func:`ifair.reproduce.case.describe_fit`."""

    setting: dict[str, Any]
    test: dict[str, float]
    constant: NotRequired[float]
    converged: NotRequired[float]
    protected_weight: NotRequired[Number]


class TradeOff(TypedDict):
    """One dataset: choices by rule and method; the paper's iFair-b against each rival by rule, measure and rival; our
    own variant likewise under the rule "balanced"; all points by method; hypervolumes of fronts, see
    :func:`ifair.evaluate.fronts.hypervolumes`."""

    rules: Chosen
    comparisons: dict[str, dict[str, dict[str, Comparison]]]
    comparisons_of_ours: dict[str, dict[str, Comparison]]
    points: dict[str, list[Point]]
    hypervolume: dict[str, Volumes]


def summarise_splits(by_split: Mapping[str, Sequence[Rows]], *, utility: str) -> TradeOff:
    """Choose a setting on the validation part of every split, and report what it reached on the test part.

    Of every method and split there are the rows of all settings, each with ``setting``, ``validation`` and ``test``.
    Rules weigh ``utility`` against yNN, and iFair-b is compared with all other methods.
    """
    chosen = choose_rows(by_split, utility)
    tests = {rule: {m: [row["test"] for row in rows] for m, rows in by.items()} for rule, by in chosen.items()}
    return {
        "rules": describe_choices(chosen),
        "comparisons": {rule: compare_rows(by_method, "ifair-b") for rule, by_method in tests.items()},
        "points": {method: average_points(splits) for method, splits in by_split.items()},
        "hypervolume": hypervolumes(_pool_methods(by_split), utility=utility, fairness=FAIRNESS),
        "comparisons_of_ours": compare_rows(tests["balanced"], OURS),
    }


def choose_rows(by_split: Mapping[str, Sequence[Rows]], utility: str) -> dict[str, dict[str, list[Any]]]:
    """By rule and method the row that is chosen on every split."""
    return {
        rule: {m: [choose_row(rows, rule, utility=utility) for rows in splits] for m, splits in by_split.items()}
        for rule in RULES
    }


def describe_choices(chosen: Mapping[str, Mapping[str, Rows]]) -> Chosen:
    """What was chosen, by rule and method, and what it reached."""
    found: Chosen = {rule: {} for rule in chosen}
    for rule, by_method in chosen.items():
        for method, rows in by_method.items():
            choice = found[rule][method] = {
                "settings": [row["setting"] for row in rows],
                "test": spreads([row["test"] for row in rows]),
                "by_split": [row["test"] for row in rows],
            }
            if "adversaries" in rows[0]:
                choice["adversaries"] = spreads([row["adversaries"] for row in rows])
    return found


def limit_choices(chosen: Chosen, methods: Collection[str], n_splits: int) -> dict[str, dict[str, Spreads]]:
    """By rule and method what was reached on so many first splits; without methods that were measured on fewer."""
    return {
        rule: {
            name: spreads(by_method[name]["by_split"][:n_splits])
            for name in methods
            if name in by_method and len(by_method[name].get("by_split", ())) >= n_splits
        }
        for rule, by_method in chosen.items()
    }


def _pool_methods(by_split: Mapping[str, Sequence[Rows]]) -> dict[str, list[list[Mapping[str, Any]]]]:
    """By method and split the rows of all settings, every p of FA*IR among those of FA*IR."""
    pooled: dict[str, list[list[Mapping[str, Any]]]] = {}
    for name, splits in by_split.items():
        known = pooled.setdefault(labels.find_base(name), [[] for _ in splits])
        for rows, more in zip(known, splits):
            rows.extend(more)
    return pooled


def compare_rows(reached: Mapping[str, Rows], ours: str) -> dict[str, dict[str, Comparison]]:
    """By measure and rival, what ours reached on every split less what the rival did."""
    return {
        measure: compare(
            [row[measure] for row in reached[ours]],
            {method: [row[measure] for row in rows] for method, rows in reached.items() if method != ours},
        )
        for measure in reached[ours][0]
    }


def average_points(splits: Sequence[Rows]) -> list[Point]:
    """Every setting, with means over the splits."""
    points = []
    for rows in zip(*splits):
        test = {name: spread([row["test"][name] for row in rows])["mean"] for name in rows[0]["test"]}
        point: Point = {"setting": rows[0]["setting"], "test": test}
        learned = [row["learned"] for row in rows if "protected_weight" in row.get("learned", {})]
        if learned:
            point["constant"] = float(np.mean([one["constant"] for one in learned]))
            point["converged"] = float(np.mean([row["converged"] for row in rows]))
            weights = [one["protected_weight"] for one in learned]
            # JSON has no infinity: weights of nothing but protected columns are None.
            point["protected_weight"] = float(np.median([np.inf if one is None else one for one in weights]))
        points.append(point)
    return points


def compare_methods(
    summary: TradeOff, measures: Sequence[str], methods: Collection[str], more: str = ""
) -> list[Block]:
    """Differences between iFair-b and each of the methods, and between our variant and them."""

    def tabulate(ours: str, compared: Mapping[str, Mapping[str, Comparison]]) -> Table:
        rows = [
            [labels.method(rival), *(format_difference(compared[name][rival]) for name in measures)]
            for rival in methods
            if rival != ours
        ]
        return Table([[f"{labels.method(ours)} less", *map(labels.measure, measures)], *rows])

    return [
        Text(
            "iFair-b less each rival, and below it ours less each rival, all under the balanced rule: mean "
            "difference, 95 % interval and, with splits enough, the p-value of the corrected resampled t-test after "
            f"Holm{more}."
        ),
        tabulate("ifair-b", summary["comparisons"]["balanced"]),
        tabulate(OURS, summary["comparisons_of_ours"]),
    ]


def compare_with(
    dataset: str, summary: TradeOff, rival: str, utility: str, *, slack: float | None, digits: int = 2
) -> tuple[bool | None, str]:
    """Whether iFair-b is clearly fairer than a rival, at most so much less useful, and the numbers in a line.

    None where there were too few splits for a test.
    """
    by, compared = summary["rules"]["balanced"], summary["comparisons"]["balanced"]
    fairer, dearer = compared[FAIRNESS][rival], compared[utility][rival]

    def describe(measure: str, digits: int) -> str:
        ours, theirs = (format_spread(by[method]["test"][measure], digits) for method in ("ifair-b", rival))
        return f"{measure} {ours} against {theirs} ({format_difference(compared[measure][rival], digits)})"

    line = f"{labels.dataset(dataset)}, {labels.method(rival)}: {describe(FAIRNESS, digits)}; {describe(utility, 2)}"
    clear = is_clearly_above(fairer)
    return clear and (slack is None or dearer["difference"] >= -slack), line


def list_points(summary: TradeOff, utility: str) -> dict[str, NDArray[np.float64]]:
    """By method its settings as points (utility, yNN), means over the test parts, shape (n_settings, 2).

    All p of FA*IR are one method.
    """
    found: dict[str, list[list[float]]] = {}
    for method, points in summary["points"].items():
        place = found.setdefault(labels.find_base(method), [])
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
        "paper's numbers. Methods have from one setting to hundreds, and who has more reaches further: the "
        "hypervolumes below compare as many with as many.",
    )


def draw_tradeoff(summary: TradeOff, utility: str, printed: Sequence[tuple[str, float, float]]) -> Figure:
    """The picture of one dataset; the paper's own numbers (method, utility, yNN) are ``printed``, and drawn hollow."""
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


def describe_volumes(summaries: Mapping[str, TradeOff]) -> list[Block]:
    """Tables and sentences about all datasets; nothing where there are none."""
    if not summaries:
        return []
    volumes = {dataset: found["hypervolume"] for dataset, found in summaries.items()}
    blocks: list[Block] = [
        Heading("Hypervolume of every method's front", 3),
        Text(
            "The area of the plane of utility and yNN that the settings of a method cover: those on the front on "
            "validation data, measured on test data. The reference point decides what counts. Above a coin (AUC "
            "0.5 or MAP 0, and yNN 0.5) utility weighs most; above the full data's yNN only what is fairer than "
            "unchanged data counts. Who has more settings has more chances: tables give the mean over the splits, in "
            "hundredths, for so many settings of each method drawn at random. * differs from iFair-b at the number of "
            "settings that both have (corrected resampled t-test, Holm, 5 %): where a method has a single one, from a "
            "single one of iFair-b drawn at random, which on COMPAS and Census is mostly a constant. Below the tables "
            "all settings of iFair-b stand against the best rival that has as many, or fewer."
        ),
    ]
    for (reference, words), (dataset, by) in product(REFERENCES.items(), volumes.items()):
        blocks += [Text(f"{labels.dataset(dataset)}, {words}:"), Table(_tabulate_volumes(by[reference]))]
    return [*blocks, Bullets([_compare_with_best(dataset, by) for dataset, by in volumes.items()])]


def compare_areas(found: Volumes) -> dict[str, float]:
    """The area under the front of all settings of iFair-b, and of every rival with as many, or with all that it has."""
    whole = list(found["by_settings"]["ifair-b"].values())[-1]["mean"]
    areas = {"ifair-b": whole}
    for rival, n in found["compared_at"].items():
        known = found["by_settings"][rival].get(str(n))
        areas[rival] = whole - found["comparisons"][rival]["difference"] if known is None else known["mean"]
    return areas


def _tabulate_volumes(found: Volumes) -> list[list[str]]:
    """One row per method, one column for every number of settings that several methods have or one ends at."""
    sizes = sorted({int(size) for by in found["by_settings"].values() for size in by})
    rows, compared = [["settings", *map(str, sizes)]], compare_areas(found)
    for method, by in found["by_settings"].items():
        star = " *" if method in found["comparisons"] and is_clear(found["comparisons"][method]) else ""
        areas = {size: one["mean"] for size, one in by.items()}
        if method in found["compared_at"]:
            areas.setdefault(str(found["compared_at"][method]), compared[method])
        cells = [f"{100 * areas[str(size)]:.2f}" if str(size) in areas else "" for size in sizes]
        rows.append([labels.method(method) + star, *cells])
    return rows


def _compare_with_best(dataset: str, by_reference: Mapping[str, Volumes]) -> Line:
    lines = []
    for reference, found in by_reference.items():
        areas = {method: 100 * area for method, area in compare_areas(found).items()}
        ours = areas.pop("ifair-b")
        if not areas:
            continue
        best = max(areas, key=areas.__getitem__)
        n, word = int(list(found["by_settings"]["ifair-b"])[-1]), "more" if ours > areas[best] else "less"
        settings = labels.count(found["compared_at"][best], "setting")
        lines.append(
            f"{REFERENCES[reference]} all {n} settings of iFair-b cover {ours:.2f}, {word} than {labels.method(best)} "
            f"with {settings} does, {areas[best]:.2f}"
        )
    return labels.line(dataset, f": {'; '.join(lines)}.")


def describe_collapse(summary: TradeOff) -> list[Block]:
    """Which settings of learned representations ended at a constant, and what protected columns weigh."""
    rows = [["method", "constant", "converged", "protected weights against others: median, largest"]]
    for method, points in summary["points"].items():
        learned = [point for point in points if "constant" in point]
        if learned:
            weights = [point["protected_weight"] for point in learned]
            known = [np.inf if weight is None else weight for weight in weights]
            shares = [100 * np.mean([point[name] for point in learned]) for name in ("constant", "converged")]
            shown = [f"{share:.0f} %" for share in shares]
            rows.append([labels.method(method), *shown, f"{np.median(known):.2g}, {max(known):.2g}"])
    return [
        Text(
            "Fits that end at a constant, one answer for all but one person in a hundred: the share of all settings "
            "and splits. Such a fit is as consistent as can be and useless. Converged are fits whose loss hardly fell "
            "any more before the most iterations that a search may take. The last column is the mean weight of "
            "protected columns divided by that of the others, the median and the largest over the settings."
        ),
        Table(rows),
    ]


def draw_collapse(summaries: Mapping[str, TradeOff]) -> Figure:
    """Where in the grid fits end at a constant: a panel for every dataset and variant of iFair, K down, lambda : mu
    across."""
    methods = dict.fromkeys(method for summary in summaries.values() for method in summary["points"])
    variants = [method for method in methods if method.startswith("ifair")]
    figure = new_figure(0.9 + 1.25 * len(summaries), 9.0)
    panels = figure.subplots(len(summaries), len(variants), squeeze=False)
    for row, (dataset, summary) in zip(panels, summaries.items()):
        for axes, method in zip(row, variants):
            points = [point for point in summary["points"].get(method, []) if "constant" in point]
            sizes = sorted({point["setting"]["K"] for point in points})
            weights = sorted({point["setting"]["mu"] for point in points})
            shares = np.full((len(sizes), len(weights)), np.nan)
            for point in points:
                setting = point["setting"]
                shares[sizes.index(setting["K"]), weights.index(setting["mu"])] = point["constant"]
            image = axes.imshow(shares, vmin=0.0, vmax=1.0, cmap="magma_r", aspect="auto")
            axes.set_title(f"{labels.dataset(dataset)}, {labels.method(method)}", fontsize=9)
            axes.set_yticks(range(len(sizes)), [f"K = {size}" for size in sizes], fontsize=7)
            few = range(0, len(weights), max(1, len(weights) // 4))
            ratios = ["0 : 1" if mu >= 1.0 else f"1 : {mu / (1.0 - mu):.3g}" for mu in (weights[i] for i in few)]
            axes.set_xticks(list(few), ratios, fontsize=7)
    figure.colorbar(image, ax=panels, label="share of splits", shrink=0.8)
    figure.supxlabel("lambda : mu, from utility alone to fairness alone", fontsize=9)
    return figure
