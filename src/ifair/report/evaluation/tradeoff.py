"""Utility against individual fairness: every setting of every method, the fronts, and what the paper printed."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ifair.pareto import pareto_front
from ifair.report.blocks import Picture
from ifair.report.evaluation import names
from ifair.report.pictures import light_grid, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAIRNESS = "yNN"
Points = dict[str, NDArray[np.float64]]


def series(summary: Mapping[str, Any], utility: str) -> Points:
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


def front(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The points that no other beats, from the fairest to the most useful."""
    best = points[pareto_front(points)]
    return best[np.argsort(best[:, 0], kind="stable")]


def picture(dataset: str, utility: str) -> Picture:
    """Where the picture of a dataset stands on the page, in words."""
    return Picture(
        f"tradeoff-{dataset}",
        f"{names.dataset(dataset)}: {utility} against yNN for every setting of every method, means over the test "
        "parts. Dashed lines join the settings that no other setting of the method beats; hollow markers are the "
        "paper's numbers.",
    )


def draw(summary: Mapping[str, Any], utility: str, printed: Sequence[tuple[str, float, float]]) -> "Figure":
    """The picture of one dataset.

    Parameters
    ----------
    summary : mapping
        ``points``: by method the settings, with ``test`` measures.
    utility : str
        The measure of the horizontal axis.
    printed : sequence of (method, utility, yNN)
        The paper's own numbers, drawn hollow.
    """
    figure = new_figure(5.0)
    axes = figure.add_subplot()
    light_grid(axes)
    found = series(summary, utility)
    for order, (method, points) in enumerate(found.items()):
        colour, marker = names.style(method)
        best, single = front(points), len(points) == 1
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
            label=names.method(method),
        )
    for method, x, y in printed:
        colour, marker = names.style(method)
        axes.plot(x, y, marker, color="none", markeredgecolor=colour, markersize=11, markeredgewidth=1.6, zorder=3)
    if printed:
        axes.plot([], [], "o", color="none", markeredgecolor="black", markersize=9, label="printed in the paper")
    axes.set_xlabel(f"utility: {utility} (right is better)")
    axes.set_ylabel(f"individual fairness: {FAIRNESS} (up is better)")
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=8.5)
    return figure
