"""FA*IR on top of iFair: utility, protected people and yNN over the share that is asked for."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ifair.report.blocks import Block, Finding, Heading, Number, Picture, Table, Text, signed
from ifair.report.evaluation import names
from ifair.report.evaluation.verdicts import judged, number
from ifair.report.pictures import BLUE, GREY, RED, light_grid, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ("MAP", "% protected", "yNN")
KEPT = 0.02
"""A yNN no further below that of iFair alone than this still counts as individually fair."""


def section(results: Mapping[str, Any]) -> list[Block]:
    """The curves, and the numbers behind them."""
    found = results.get("parity")
    if not found:
        return []
    blocks: list[Block] = [
        Heading("FA*IR on top of iFair-b"),
        Text(
            "FA*IR reranks by the scores of iFair-b until a statistical test no longer rejects that protected people "
            "come at the rate p. It therefore asks for fewer than p, and it can only rank those who are there: % held "
            "is the share of queries with protected candidates enough. The paper draws these curves without printing "
            "numbers."
        ),
        Picture(
            "parity",
            "MAP, share of protected people among the first ten, and yNN for increasing p of FA*IR on the scores of "
            "iFair-b; bands are one standard deviation over the splits, dotted lines iFair-b without FA*IR.",
        ),
    ]
    for dataset, by in found.items():
        rows: list[list[Any]] = [["p", *MEASURES, "% held"]]
        for p, test in [("without", by["without"]), *((f"{row['p']:g}", row["test"]) for row in by["rows"])]:
            cells = [Number.of(test[name], digits=1 if name.startswith("%") else 2) for name in MEASURES]
            rows.append([p, *cells, Number.of(test["% held"], digits=1) if "% held" in test else ""])
        blocks += [Heading(names.dataset(dataset), 3), Table(rows)]
    return blocks


def figures(results: Mapping[str, Any]) -> dict[str, "Figure"]:
    """One panel a measure, one line a dataset."""
    found = results.get("parity")
    if not found:
        return {}
    figure = new_figure(3.2)
    for axes, measure in zip(figure.subplots(1, len(MEASURES)), MEASURES):
        light_grid(axes)
        if measure == "% protected":
            axes.plot([0, 1], [0, 100], color=GREY, linewidth=0.8, label="share p itself")
        for (dataset, by), colour, marker in zip(found.items(), (BLUE, RED), "os"):
            p = [row["p"] for row in by["rows"]]
            mean, sd = (np.asarray([row["test"][measure][key] for row in by["rows"]]) for key in ("mean", "sd"))
            axes.fill_between(p, mean - sd, mean + sd, color=colour, alpha=0.15, linewidth=0)
            axes.axhline(by["without"][measure]["mean"], color=colour, linewidth=0.9, linestyle=":")
            axes.plot(p, mean, color=colour, marker=marker, markersize=4, linewidth=1.4, label=names.dataset(dataset))
        axes.set_title(measure, fontsize=10, loc="left")
        axes.set_xlabel("p of FA*IR")
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1])
        if measure != "% protected":
            axes.set_ylim(*((0.4, 1.0) if axes.get_ylim()[0] > 0.4 else (0.0, 1.0)))
    handles, labels = figure.axes[MEASURES.index("% protected")].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return {"parity": figure}


def claims(results: Mapping[str, Any]) -> list[Finding]:
    """Any share can be reached, and individual fairness stays."""
    parts = []
    for dataset, by in (results.get("parity") or {}).items():
        without, rows = by["without"], by["rows"]
        shares = [row["test"]["% protected"]["mean"] for row in rows]
        missed = [row["p"] for row, share in zip(rows, shares) if share < 100 * row["p"]]
        rising = all(b >= a - 1e-9 for a, b in pairwise(shares))
        last = rows[-1]
        cost = {name: last["test"][name]["mean"] - without[name]["mean"] for name in ("MAP", "yNN")}
        name = names.dataset(dataset)
        parts += [
            (
                rising and shares[-1] > without["% protected"]["mean"],
                f"{name}: the share {'never falls' if rising else 'does not always rise'} with p, from "
                f"{number(without['% protected'], 1)} % without FA*IR to {number(last['test']['% protected'], 1)} % at "
                f"p = {last['p']:g}",
            ),
            (
                not missed,
                f"{name}: the share asked for is "
                + (f"missed at p = {', '.join(f'{p:g}' for p in missed)}" if missed else "reached at every p"),
            ),
            (
                cost["yNN"] >= -KEPT,
                f"{name}: at p = {last['p']:g} yNN changes by {signed(cost['yNN'])} and MAP by {signed(cost['MAP'])}",
            ),
        ]
    return judged(
        "FA*IR on top of iFair reaches whatever share of protected people is required, and keeps individual fairness.",
        "The mean share among the first ten rises with p; it is at least p at every p; and at the largest p the mean "
        f"yNN is no more than {KEPT} below that of iFair-b alone.",
        parts,
    )
