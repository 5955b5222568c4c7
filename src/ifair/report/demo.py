"""The page that ``ifair demo`` writes."""

from importlib.resources import files
from typing import Any

import jinja2
import numpy as np

from ifair.report.pictures import BLUE, GREEN, GREY, RED, new_figure, svg
from ifair.report.tables import aligned

MEASURES = {
    "accuracy": "accuracy",
    "AUC": "AUC",
    "AUC of labels": "AUC (labels)",
    "yNN": "yNN",
    "flipped": "flipped",
}

STYLES = {"full data": (GREY, "s"), "masked data": (BLUE, "D"), "iFair frozen": (GREEN, "^"), "iFair": (RED, "o")}


def summary(results: dict[str, Any]) -> list[dict[str, Any]]:
    """One row a method: mean and standard deviation of every measure over the splits."""
    rows = []
    for method, measures in results["measures"].items():
        values = {name: (float(np.mean(measures[name])), float(np.std(measures[name], ddof=1))) for name in MEASURES}
        rows.append({"method": method, "values": values})
    return rows


def as_text(results: dict[str, Any]) -> str:
    """The table for a terminal."""
    rows = [["", *MEASURES.values()]]
    rows += [
        [row["method"], *(f"{mean:.3f} ± {spread:.3f}" for mean, spread in row["values"].values())]
        for row in summary(results)
    ]
    return aligned(rows)


def page(results: dict[str, Any]) -> str:
    """The whole page, self-contained."""
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = environment.from_string(
        files("ifair.report").joinpath("templates/demo.html.jinja").read_text(encoding="utf-8")
    )
    means = {row["method"]: {name: mean for name, (mean, _) in row["values"].items()} for row in summary(results)}
    k = results["settings"]["highlighted"]
    return template.render(
        results=results,
        measures=MEASURES,
        rows=summary(results),
        full=means["full data"],
        masked=means["masked data"],
        fair=means[f"iFair, K = {k}"],
        frozen=means[f"iFair frozen, K = {k}"],
        k=k,
        weights=sorted(results["prototypes"]["weights"].items(), key=lambda item: -item[1]),
        # The picture is our own SVG, everything else is escaped.
        trade_off=jinja2.utils.markupsafe.Markup(_trade_off(results)),
    )


def _trade_off(results: dict[str, Any]) -> str:
    """Utility against individual fairness, every method a point with its spread over splits, as SVG."""
    figure = new_figure(4.6)
    axes = figure.add_subplot()
    fair = []
    for row in summary(results):
        (x, dx), (y, dy) = row["values"]["AUC"], row["values"]["yNN"]
        kind = next(kind for kind in ("iFair frozen", "iFair", row["method"]) if row["method"].startswith(kind))
        colour, marker = STYLES[kind]
        axes.errorbar(x, y, xerr=dx, yerr=dy, fmt="none", ecolor=colour, elinewidth=0.8, alpha=0.45)
        axes.plot(x, y, marker, color=colour, markersize=9)
        # Full and masked data often coincide: one label below, one above.
        offset, ha, va = ((-8, -9), "right", "top") if row["method"] == "full data" else ((8, 6), "left", "bottom")
        axes.annotate(row["method"], (x, y), offset, textcoords="offset points", fontsize=9, ha=ha, va=va)
        if kind == "iFair":
            fair.append((x, y))
    axes.plot(*zip(*fair), color=RED, linewidth=1, linestyle=":", zorder=0)
    axes.set_xlabel("utility: AUC (right is better)")
    axes.set_ylabel("individual fairness: yNN (up is better)")
    axes.grid(alpha=0.25)
    axes.margins(0.16)
    return svg(figure, "trade-off")
