"""Classification: utility against individual fairness, the paper's table, and what it claims from both."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ifair.pareto import pareto_front
from ifair.report.blocks import Block, Finding, Heading, Number, Strong, Table, Text, signed
from ifair.report.evaluation import names, tradeoff
from ifair.report.evaluation.verdicts import clearly_above, judged, number, p_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ("Acc", "AUC", "EqOpp", "Parity", "yNN")
CHANCE = 0.5
ON_PAR = 0.02
"""An AUC no further below another than this counts as on a par with it."""
GAIN = 0.10
"""The paper speaks of group fairness improving by more than ten percentage points."""
REFERENCES = {"coin": "a coin", "full data": "the full data's yNN"}
"""Points that hypervolumes are measured from."""
PAPERS = ("full", "masked", "svd", "svd-masked", "lfr", "ifair-a", "ifair-b")
"""The methods that the paper compares."""


def section(results: Mapping[str, Any]) -> list[Block]:
    """For every dataset picture, table and paired comparisons."""
    found = results.get("classification")
    if not found:
        return []
    blocks: list[Block] = [Heading("Classification")]
    for dataset, summary in found.items():
        blocks += [
            Heading(names.dataset(dataset), 3),
            tradeoff.picture(dataset, "AUC"),
            table(results, dataset),
            Text("iFair-b less each rival, both tuned for the best harmonic mean; p-values are adjusted after Holm."),
            comparisons(summary, ("AUC", "yNN")),
        ]
    return blocks


def figures(results: Mapping[str, Any]) -> dict[str, "Figure"]:
    """One picture a dataset."""
    drawn = {}
    for dataset, summary in (results.get("classification") or {}).items():
        points = [
            (method, by[dataset]["AUC"], by[dataset]["yNN"])
            for methods in results["paper"]["classification"].values()
            for method, by in methods.items()
            if dataset in by
        ]
        # One setting may win under two rules.
        drawn[f"tradeoff-{dataset}"] = tradeoff.draw(summary, "AUC", list(dict.fromkeys(points)))
    return drawn


def table(results: Mapping[str, Any], dataset: str) -> Table:
    """The paper's table for one dataset: methods without settings first, the others under each of the three rules."""
    summary, paper = results["classification"][dataset], results["paper"]["classification"]
    rows: list[list[Any]] = [["method", *MEASURES]]

    def add(title: str, rule: str, methods: Iterable[str], printed: Mapping[str, Any]) -> None:
        rows.append([Strong(title), *("" for _ in MEASURES)])
        for method in methods:
            by, test = printed.get(method, {}).get(dataset, {}), summary["rules"][rule][method]["test"]
            rows.append([names.method(method), *(Number.of(test[measure], by.get(measure)) for measure in MEASURES)])

    fixed = [method for method, points in summary["points"].items() if not points[0]["setting"]]
    add("untuned", "optimal", fixed, paper["baseline"])
    for rule, methods in summary["rules"].items():
        add(names.RULES[rule], rule, [method for method in methods if method not in fixed], paper[rule])
    return Table(rows)


def comparisons(summary: Mapping[str, Any], measures: Iterable[str], rivals: Collection[str] | None = None) -> Table:
    """Differences between iFair-b and every rival, or only some of them, with their p-values."""
    compared = {m: summary["comparisons"]["optimal"][m] for m in measures if m in summary["comparisons"]["optimal"]}
    rows = [["iFair-b less", *compared]]
    for rival in rivals or next(iter(compared.values())):
        cells = [by[rival] for by in compared.values()]
        rows.append([names.method(rival), *(f"{signed(c['difference'])}, {p_value(c['adjusted'])}" for c in cells)])
    return Table(rows)


def claims(results: Mapping[str, Any]) -> list[Finding]:
    """What the paper concludes from its classification study."""
    found = results.get("classification") or {}
    return [
        *judged(
            "iFair treats similar people more alike than the full data do, at a small loss of utility.",
            "Tuned for the best harmonic mean, yNN of iFair-b is clearly above that of the full data, and its mean AUC "
            "no further below than in the paper's own table.",
            [
                _against(dataset, summary, "full", par=_lost(results["paper"]["classification"], dataset))
                for dataset, summary in found.items()
            ],
        ),
        *judged(
            "Masking protected attributes or SVD leaves much unfairness in the data that iFair takes away.",
            "Tuned for the best harmonic mean, yNN of iFair-b is clearly above that of the rival.",
            [
                _against(dataset, summary, rival, par=None)
                for dataset, summary in found.items()
                for rival in ("masked", "svd", "svd-masked")
            ],
        ),
        *judged(
            "iFair beats LFR on individual fairness, with utility on a par or better.",
            "Tuned for the best harmonic mean, yNN of iFair-b is clearly above that of LFR, and its mean AUC no more "
            f"than {ON_PAR} below.",
            [_against(dataset, summary, "lfr", par=ON_PAR) for dataset, summary in found.items()],
        ),
        *judged(
            "iFair-b is the overall winner: on the Pareto front of all methods on every dataset.",
            "Of the settings of all methods in the paper some of iFair-b's are on the joint front with an AUC above "
            f"{CHANCE + ON_PAR}, and where hypervolumes were measured, its front covers more of the plane than that of "
            "any other.",
            [_winner(dataset, summary) for dataset, summary in found.items()],
        ),
        *judged(
            "Group fairness improves as well, by more than ten percentage points, although it is no goal of iFair.",
            f"Tuned for the best harmonic mean, the mean of iFair-b is more than {GAIN:.2f} above that of the full "
            "data.",
            [_grouped(dataset, summary, name) for dataset, summary in found.items() for name in ("Parity", "EqOpp")],
        ),
    ]


def _lost(paper: Mapping[str, Any], dataset: str) -> float | None:
    """How much AUC iFair-b loses against the full data in the paper, with the rounding of both numbers."""
    full, fair = paper["baseline"]["full"].get(dataset), paper["optimal"]["ifair-b"].get(dataset)
    return full["AUC"] - fair["AUC"] + 0.01 if full and fair else None


def _against(dataset: str, summary: Mapping[str, Any], rival: str, par: float | None) -> tuple[bool, str]:
    by, compared = summary["rules"]["optimal"], summary["comparisons"]["optimal"]
    ours, theirs, fairer, dearer = (
        by["ifair-b"]["test"],
        by[rival]["test"],
        compared["yNN"][rival],
        compared["AUC"][rival],
    )
    line = (
        f"{names.dataset(dataset)}, {names.method(rival)}: yNN {number(ours['yNN'])} against {number(theirs['yNN'])} "
        f"({signed(fairer['difference'])}, {p_value(fairer['adjusted'])}); AUC {number(ours['AUC'])} against "
        f"{number(theirs['AUC'])} ({signed(dearer['difference'])}, {p_value(dearer['adjusted'])})"
    )
    return clearly_above(fairer) and (par is None or dearer["difference"] >= -par), line


def _winner(dataset: str, summary: Mapping[str, Any]) -> tuple[bool, str]:
    points = {m: p for m, p in tradeoff.series(summary, "AUC").items() if m in PAPERS}
    everything = np.concatenate(list(points.values()))
    owners = np.repeat(list(points), [len(p) for p in points.values()])
    telling = pareto_front(everything) & (everything[:, 0] > CHANCE + ON_PAR)
    mine = int((owners[telling] == "ifair-b").sum())
    line = f"{names.dataset(dataset)}: {mine} of the {int(telling.sum())} settings on the joint front are iFair-b's"
    ahead = [mine > 0]
    for reference, by in summary.get("hypervolume", {}).items():
        covered = {m: value["mean"] for m, value in by["methods"].items() if m in PAPERS}
        best = max((m for m in covered if m != "ifair-b"), key=lambda m: covered[m])
        ahead.append(covered["ifair-b"] > covered[best])
        line += (
            f"; above {REFERENCES.get(reference, reference)} its front covers {100 * covered['ifair-b']:.2f} "
            f"hundredths, that of {names.method(best)} {100 * covered[best]:.2f} "
            f"({p_value(by['comparisons'][best]['adjusted'])})"
        )
    return all(ahead), line


def _grouped(dataset: str, summary: Mapping[str, Any], measure: str) -> tuple[bool, str]:
    by = summary["rules"]["optimal"]
    ours, full = (by[method]["test"][measure] for method in ("ifair-b", "full"))
    gained = ours["mean"] - full["mean"]
    line = f"{names.dataset(dataset)}, {measure}: {number(ours)} against {number(full)} ({signed(gained)})"
    return gained > GAIN, line
