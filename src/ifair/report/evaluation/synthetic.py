"""The synthetic study: nine panels with their boundaries, and how far group membership moves a representation."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ifair.report.blocks import Block, Finding, Heading, Number, Picture, Table, Text
from ifair.report.evaluation import names
from ifair.report.evaluation.verdicts import judged, number
from ifair.report.pictures import BLUE, RED, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ("Acc", "yNN", "Parity", "EqOpp")
VARIANTS = {"random": "A at random", "x1": "A = 1 where X1 ≤ 3", "x2": "A = 1 where X2 ≤ 3"}
RULES = {
    "max fairness": "tuned for the best yNN, as in the paper",
    "optimal": "tuned for the best harmonic mean of accuracy and yNN",
}
HARDLY = 0.1
"""Of the representation's own spread: a record that moves less has hardly moved."""


def section(results: Mapping[str, Any]) -> list[Block]:
    """Panels and means for both rules, then the influence of the group."""
    found = results.get("synthetic")
    blocks: list[Block] = []
    if found:
        blocks.append(
            Text(
                "A hundred points of two Gaussians in three variants that differ in nothing but who is in the "
                "protected group. As in the paper, everything is measured on the points that were learned from. Panels "
                "show the first draw; tables the mean over all draws. The fairest of all settings may be one that "
                "gives everybody the same label, which the second rule does not reward."
            )
        )
        for rule, words in RULES.items():
            rows: list[list[Any]] = [["group", "method", *MEASURES]]
            for variant, methods in found.items():
                for method, by in methods.items():
                    cells = [Number.of(by["measures"][rule][name]) for name in MEASURES]
                    rows.append([VARIANTS.get(variant, variant), names.method(method), *cells])
            blocks += [
                Heading(words[0].upper() + words[1:], 3),
                Picture(
                    _stem(rule),
                    "Nine panels: each variant of group membership in a row, original data, iFair and LFR in the "
                    "columns. Colours are labels, open circles and crosses the groups, the line is the classifier's "
                    "boundary.",
                ),
                Table(rows),
            ]
    if results.get("influence"):
        blocks += _influence(results["influence"])
    return [Heading("Synthetic data"), *blocks] if blocks else []


def _stem(rule: str) -> str:
    return f"synthetic-{rule.replace(' ', '-')}"


def _influence(found: Mapping[str, Any]) -> list[Block]:
    columns = ("between variants", "between starts", "flip", "worst flip")
    rows: list[list[Any]] = [["method", *columns]]
    rows += [[names.method(m), *(Number.of(by[name], digits=3) for name in columns)] for m, by in found.items()]
    return [
        Heading("Does group membership move the representation?", 3),
        Text(
            "How far a record's representation moves, in units of the representation's own spread, over all settings: "
            "between the three variants; between two random starts, which would differ anyway; and when nothing but "
            "its own membership is changed (flip: mean record, worst flip: the one that moves most)."
        ),
        Table(rows),
    ]


def figures(results: Mapping[str, Any]) -> dict[str, "Figure"]:
    """Nine panels a rule."""
    found = results.get("synthetic")
    return {_stem(rule): _panels(found, rule) for rule in RULES} if found else {}


def _panels(found: Mapping[str, Any], rule: str) -> "Figure":
    methods = list(next(iter(found.values())))
    figure = new_figure(7.6)
    grid = figure.subplots(len(found), len(methods), sharex=True, sharey=True, squeeze=False)
    everything = np.concatenate(
        [by["panel"]["chosen"][rule]["positions"] for panels in found.values() for by in panels.values()]
    )
    low, high = everything.min(axis=0), everything.max(axis=0)
    low, high = low - 0.06 * (high - low), high + 0.06 * (high - low)
    for row, (variant, panels) in zip(grid, found.items()):
        for axes, (method, by) in zip(row, panels.items()):
            _panel(axes, by["panel"], rule, low, high)
            reached = by["panel"]["chosen"][rule]["measures"]
            lines = [" ".join(f"{name} {reached[name]:.2f}" for name in two) for two in (MEASURES[:2], MEASURES[2:])]
            axes.set_title("\n".join([names.method(method), *lines]), fontsize=8.5)
        row[0].set_ylabel(f"{VARIANTS.get(variant, variant)}\n\nX2", fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel("X1", fontsize=9)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    return figure


def _panel(axes: Any, panel: Mapping[str, Any], rule: str, low: Any, high: Any) -> None:
    labels, groups = np.asarray(panel["labels"]), np.asarray(panel["groups"])
    positions = np.asarray(panel["chosen"][rule]["positions"])
    for label, colour in ((0, BLUE), (1, RED)):
        for group, marker in ((0, "o"), (1, "x")):
            chosen = positions[(labels == label) & (groups == group)]
            axes.plot(
                *chosen.T, marker, color=colour, markersize=4, markeredgewidth=0.9, markerfacecolor="none", alpha=0.8,
                label=f"Y = {label}, A = {group}",
            )  # fmt: skip
    a, b, c = panel["chosen"][rule]["boundary"]
    ends = _ends(a, b, c, low, high)
    axes.plot(*ends.T, color="black", linewidth=1.3, label="boundary")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)


def _ends(a: float, b: float, c: float, low: Any, high: Any) -> Any:
    """Where the line a x + b y + c = 0 enters and leaves the box; nothing where it misses it.

    Returns
    -------
    ndarray of shape (2, 2) or (0, 2)
    """
    at_x = [(x, -(a * x + c) / b) for x in (low[0], high[0]) if b != 0]
    at_y = [(-(b * y + c) / a, y) for y in (low[1], high[1]) if a != 0]
    found = [(x, y) for x, y in at_x if low[1] <= y <= high[1]] + [(x, y) for x, y in at_y if low[0] <= x <= high[0]]
    found.sort()
    return np.asarray([found[0], found[-1]]) if len(found) > 1 else np.empty((0, 2))


def claims(results: Mapping[str, Any]) -> list[Finding]:
    """Group membership hardly matters; iFair beats LFR but for parity."""
    return [*_unmoved(results.get("influence") or {}), *_against_lfr(results.get("synthetic") or {})]


def _unmoved(found: Mapping[str, Any]) -> list[Finding]:
    if not {"ifair", "lfr"} <= set(found):
        return []
    ours, theirs = found["ifair"], found["lfr"]
    variants, starts, flip = (ours[name]["mean"] for name in ("between variants", "between starts", "flip"))
    return judged(
        "Group membership hardly moves the representation that iFair learns (synthetic data), and moves LFR's much.",
        "In units of the representation's spread, a record moves no more between the variants of group membership than "
        f"between two random starts; less than {HARDLY} when only its own membership changes; and less than with LFR.",
        [
            (variants <= starts, f"between variants {variants:.3f}, between starts {starts:.3f}"),
            (flip < HARDLY, f"flip of a record's own membership: {flip:.3f} (worst {ours['worst flip']['mean']:.3f})"),
            (
                variants < theirs["between variants"]["mean"] and flip < theirs["flip"]["mean"],
                f"LFR: between variants {theirs['between variants']['mean']:.3f}, between starts "
                f"{theirs['between starts']['mean']:.3f}, flip {theirs['flip']['mean']:.3f}",
            ),
        ],
    )


def _against_lfr(found: Mapping[str, Any]) -> list[Finding]:
    parts = []
    for measure in MEASURES if found else ():
        pairs = [[by[m]["measures"]["max fairness"][measure] for m in ("ifair", "lfr")] for by in found.values()]
        held = all((ours["mean"] > theirs["mean"]) is (measure != "Parity") for ours, theirs in pairs)
        compared = "; ".join(
            f"{number(ours)} against {number(theirs)} ({VARIANTS.get(variant, variant)})"
            for variant, (ours, theirs) in zip(found, pairs)
        )
        parts.append((held, f"{measure}, iFair against LFR: {compared}"))
    return judged(
        "On synthetic data iFair beats LFR on accuracy, yNN and equality of opportunity; LFR wins on parity.",
        "Tuned for the best yNN, as in the paper, the mean over the draws is larger in all variants; for parity that "
        "of LFR.",
        parts,
    )
