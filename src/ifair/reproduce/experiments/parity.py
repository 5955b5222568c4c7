"""FA*IR on top of iFair, to enforce parity: utility, protected people and yNN over the share that is asked for.

Experiment 6 of the paper.
"""

from itertools import pairwise
from typing import Any, TypedDict

import numpy as np

from ifair.evaluate.measures import paper_measures
from ifair.evaluate.statistics import Spreads, spreads
from ifair.evaluate.training import Trained
from ifair.report.blocks import Block, Finding, Heading, Line, Picture, Table, Text, add_sign
from ifair.report.pictures import BLUE, GREY, RED, add_legend, light_grid, new_figure
from ifair.reproduce import labels
from ifair.reproduce.case import Case, prepare, train_chosen
from ifair.reproduce.experiment import Earlier, Experiment, Figures, Profile, Unit, for_each_dataset, plan_chosen
from ifair.reproduce.verdicts import format_spread, judge_claim
from ifair.results import Results

MEASURES = ("MAP", "percent_protected", "yNN")
KEPT = 0.02
"""A yNN no further below that of iFair alone than this still counts as individually fair."""


class CurvePoint(TypedDict):
    """What a share ``p`` that is asked for leads to."""

    p: float
    test: Spreads


class Curve(TypedDict):
    """Measures ``without`` FA*IR, and of every share that is asked for."""

    without: Spreads
    rows: list[CurvePoint]


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """A curve for every dataset with queries and split."""
    return plan_chosen(enforce_parity, profile, profile.ranking, ("ifair-b",), earlier)


def enforce_parity(case: Case) -> dict[str, Any]:
    """A curve of the figure on one split: measures on test ``without`` FA*IR, and as ``rows`` those for every ``p``."""
    parts = prepare(case)
    trained = train_chosen(case, parts)

    def measure_test(candidate: Trained) -> dict[str, float]:
        return paper_measures(parts.test, candidate.outcome(parts.test))

    return {
        "without": measure_test(trained),
        "rows": [{"p": p, "test": measure_test(trained.with_post(name="fa-star-ir", p=p))} for p in case.grid["p"]],
    }


@for_each_dataset()
def summarise(results: list[Any]) -> Curve:
    """The curve over all splits."""
    by_p = zip(*(result["rows"] for result in results))
    rows: list[CurvePoint] = [{"p": rows[0]["p"], "test": spreads([row["test"] for row in rows])} for rows in by_p]
    return {"without": spreads([result["without"] for result in results]), "rows": rows}


def section(found: dict[str, Curve], results: Results) -> list[Block]:
    """The curves, and the numbers behind them."""
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
        rows: list[list[Line]] = [["p", *map(labels.measure, (*MEASURES, "percent_held"))]]
        rows.append(["without", *labels.cells(by["without"], MEASURES), ""])
        rows += [[f"{row['p']:g}", *labels.cells(row["test"], (*MEASURES, "percent_held"))] for row in by["rows"]]
        blocks += [Heading(labels.dataset(dataset), 3), Table(rows)]
    return blocks


def draw(found: dict[str, Curve], results: Results) -> Figures:
    """One panel per measure, one line per dataset."""
    figure = new_figure(3.2)
    for axes, measure in zip(figure.subplots(1, len(MEASURES)), MEASURES):
        light_grid(axes)
        if measure == "percent_protected":
            axes.plot([0, 1], [0, 100], color=GREY, linewidth=0.8, label="share p itself")
        for (dataset, by), colour, marker in zip(found.items(), (BLUE, RED), "os"):
            p = [row["p"] for row in by["rows"]]
            mean, sd = (np.asarray([row["test"][measure][key] for row in by["rows"]]) for key in ("mean", "sd"))
            axes.fill_between(p, mean - sd, mean + sd, color=colour, alpha=0.15, linewidth=0)
            axes.axhline(by["without"][measure]["mean"], color=colour, linewidth=0.9, linestyle=":")
            axes.plot(p, mean, color=colour, marker=marker, markersize=4, linewidth=1.4, label=labels.dataset(dataset))
        axes.set_title(labels.measure(measure), fontsize=10, loc="left")
        axes.set_xlabel("p of FA*IR")
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1])
        if measure != "percent_protected":
            axes.set_ylim(*((0.4, 1.0) if axes.get_ylim()[0] > 0.4 else (0.0, 1.0)))
    add_legend(figure, [figure.axes[MEASURES.index("percent_protected")]], 3)
    return {"parity": figure}


def judge(found: dict[str, Curve], results: Results) -> list[Finding]:
    """Any share can be reached, and individual fairness stays."""
    parts = []
    for dataset, by in found.items():
        without, rows = by["without"], by["rows"]
        shares = [row["test"]["percent_protected"]["mean"] for row in rows]
        missed = [row["p"] for row, share in zip(rows, shares) if share < 100 * row["p"]]
        rising = all(b >= a - 1e-9 for a, b in pairwise(shares))
        last = rows[-1]
        cost = {name: last["test"][name]["mean"] - without[name]["mean"] for name in ("MAP", "yNN")}
        name = labels.dataset(dataset)
        first, most = (format_spread(test["percent_protected"], 1) for test in (without, last["test"]))
        told = f"{'never falls' if rising else 'does not always rise'} with p, from {first} % without FA*IR to {most} %"
        reached = f"missed at p = {', '.join(f'{p:g}' for p in missed)}" if missed else "reached at every p"
        costs = f"yNN changes by {add_sign(cost['yNN'])} and MAP by {add_sign(cost['MAP'])}"
        splits = labels.count(without["percent_protected"]["n"], "split")
        above = shares[-1] > without["percent_protected"]["mean"]
        parts += [
            (rising and above, f"{name}, the first {splits}: the share {told} at p = {last['p']:g}"),
            (not missed, f"{name}: the share asked for is {reached}"),
            (cost["yNN"] >= -KEPT, f"{name}: at p = {last['p']:g} {costs}"),
        ]
    return judge_claim(
        "FA*IR on top of iFair reaches whatever share of protected people is required, and keeps individual fairness.",
        "The mean share among the first ten rises with p; it is at least p at every p; and at the largest p the mean "
        f"yNN is no more than {KEPT} below that of iFair-b alone.",
        parts,
    )


EXPERIMENT = Experiment("parity", 70, plan, summarise, section, draw, judge, needs=("ranking",), by_dataset=True)
