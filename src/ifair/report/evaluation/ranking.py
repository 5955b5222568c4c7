"""Ranking: the paper's table for Xing and Airbnb, MAP against yNN, and what it claims from them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ifair.report.blocks import Block, Finding, Heading, Number, Table, Text, signed
from ifair.report.evaluation import names, tradeoff
from ifair.report.evaluation.classification import comparisons
from ifair.report.evaluation.verdicts import clearly_above, judged, number, p_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURES = ("MAP", "KT", "yNN", "% protected")
NOTHING = 0.01
"""A yNN no further above another than this is no gain."""


def section(results: Mapping[str, Any]) -> list[Block]:
    """For every dataset picture, table and paired comparisons."""
    found = results.get("ranking")
    if not found:
        return []
    blocks: list[Block] = [Heading("Ranking")]
    for dataset, summary in found.items():
        blocks += [
            Heading(names.dataset(dataset), 3),
            tradeoff.picture(dataset, "MAP"),
            Text(
                "Tuned for the best harmonic mean of MAP and yNN. FA*IR is shown at the paper's values of p; the "
                "picture has them all."
            ),
            table(results, dataset),
            Text(
                "iFair-b less each rival, both tuned for the best harmonic mean; p-values are adjusted after Holm for "
                "all rivals, FA*IR at every p among them."
            ),
            comparisons(summary, MEASURES, [m for m in _shown(results, dataset) if m != "ifair-b"]),
        ]
    return blocks


def figures(results: Mapping[str, Any]) -> dict[str, "Figure"]:
    """One picture a dataset."""
    drawn = {}
    for dataset, summary in (results.get("ranking") or {}).items():
        printed = results["paper"]["ranking"].get(dataset, {})
        points = [(method, row["MAP"], row["yNN"]) for method, row in printed.items()]
        drawn[f"tradeoff-{dataset}"] = tradeoff.draw(summary, "MAP", points)
    return drawn


def table(results: Mapping[str, Any], dataset: str) -> Table:
    """The paper's table for one dataset; FA*IR only where the paper has it, or at every p where it has none."""
    methods = results["ranking"][dataset]["rules"]["optimal"]
    printed = results["paper"]["ranking"].get(dataset, {})
    rows: list[list[Any]] = [["method", *MEASURES]]
    for method in _shown(results, dataset):
        cells = [Number.of(methods[method]["test"][m], printed.get(method, {}).get(m)) for m in MEASURES]
        rows.append([names.method(method), *cells])
    return Table(rows)


def _shown(results: Mapping[str, Any], dataset: str) -> list[str]:
    methods = results["ranking"][dataset]["rules"]["optimal"]
    printed = results["paper"]["ranking"].get(dataset, {})
    known = any(m.startswith("fair,") and m in printed for m in methods)
    return [m for m in methods if m in printed or not (known and m.startswith("fair,"))]


def claims(results: Mapping[str, Any]) -> list[Finding]:
    """What the paper concludes from its rankings."""
    found = results.get("ranking") or {}
    slack = _slack(results["paper"]["ranking"])
    return [
        *judged(
            "Of all rankings iFair's are the fairest to individuals, those of full and masked data the most useful.",
            "Tuned for the best harmonic mean, no other method of the paper has a higher mean yNN than iFair-b, which "
            "is clearly above the full data; and neither iFair-b nor SVD has a higher mean MAP than full or masked "
            "data.",
            [part for dataset, summary in found.items() for part in _extremes(dataset, summary)],
        ),
        *judged(
            "iFair clearly beats both variants of SVD on individual fairness at comparable utility.",
            "Tuned for the best harmonic mean, yNN of iFair-b is clearly above that of SVD; and its mean MAP is no "
            f"further below than in the paper's own table, {slack:.2f}.",
            [
                _against(dataset, summary, rival, slack)
                for dataset, summary in found.items()
                for rival in ("svd", "svd-masked")
            ],
        ),
        *judged(
            "FA*IR puts the most protected people into the top ten, and gains nothing in individual fairness.",
            "The largest mean share of protected people is that of FA*IR at some p; and at no p is its mean yNN more "
            f"than {NOTHING} above that of masked data, which it reranks.",
            [_reranked(dataset, summary) for dataset, summary in found.items()],
        ),
    ]


def _slack(printed: Mapping[str, Any]) -> float:
    """How far below SVD the paper's iFair-b stands where the paper calls their utility comparable."""
    return max(by[svd]["MAP"] - by["ifair-b"]["MAP"] for by in printed.values() for svd in ("svd", "svd-masked"))


def _extremes(dataset: str, summary: Mapping[str, Any]) -> list[tuple[bool, str]]:
    tests = {method: found["test"] for method, found in summary["rules"]["optimal"].items()}
    # Frozen weights are ours, not the paper's.
    others = [m for m in tests if not m.startswith("ifair")]
    fairest = max(others, key=lambda m: tests[m]["yNN"]["mean"])
    compared = summary["comparisons"]["optimal"]["yNN"]["full"]
    useful = max(tests[m]["MAP"]["mean"] for m in ("full", "masked"))
    learned = max(("svd", "svd-masked", "ifair-b"), key=lambda m: tests[m]["MAP"]["mean"])
    ours = tests["ifair-b"]["yNN"]
    return [
        (
            ours["mean"] >= tests[fairest]["yNN"]["mean"] and clearly_above(compared),
            f"{names.dataset(dataset)}: yNN {number(ours, 3)}, best other method ({names.method(fairest)}) "
            f"{number(tests[fairest]['yNN'], 3)}; against the full data {signed(compared['difference'], 3)}, "
            f"{p_value(compared['adjusted'])}",
        ),
        (
            useful >= tests[learned]["MAP"]["mean"],
            f"{names.dataset(dataset)}: MAP of full or masked data {useful:.2f}, of the best of SVD and iFair "
            f"({names.method(learned)}) {number(tests[learned]['MAP'])}",
        ),
    ]


def _against(dataset: str, summary: Mapping[str, Any], rival: str, slack: float) -> tuple[bool, str]:
    by, compared = summary["rules"]["optimal"], summary["comparisons"]["optimal"]
    ours, theirs, fairer, dearer = (
        by["ifair-b"]["test"],
        by[rival]["test"],
        compared["yNN"][rival],
        compared["MAP"][rival],
    )
    line = (
        f"{names.dataset(dataset)}, {names.method(rival)}: yNN {number(ours['yNN'], 3)} against "
        f"{number(theirs['yNN'], 3)} ({signed(fairer['difference'], 3)}, {p_value(fairer['adjusted'])}); MAP "
        f"{number(ours['MAP'])} against {number(theirs['MAP'])} ({signed(dearer['difference'])}, "
        f"{p_value(dearer['adjusted'])})"
    )
    # Half of the last printed digit: the paper's margin is a difference of rounded numbers.
    return clearly_above(fairer) and dearer["difference"] >= -slack - 0.005, line


def _reranked(dataset: str, summary: Mapping[str, Any]) -> tuple[bool, str]:
    tests = {method: found["test"] for method, found in summary["rules"]["optimal"].items()}
    fair = [m for m in tests if m.startswith("fair,")]
    most = max(tests, key=lambda m: tests[m]["% protected"]["mean"])
    top = max(fair, key=lambda m: tests[m]["yNN"]["mean"])
    gain = tests[top]["yNN"]["mean"] - tests["masked"]["yNN"]["mean"]
    line = (
        f"{names.dataset(dataset)}: most protected people with {names.method(most)} "
        f"({number(tests[most]['% protected'], 1)} %; iFair-b {number(tests['ifair-b']['% protected'], 1)} %); best "
        f"yNN of FA*IR {number(tests[top]['yNN'], 3)}, {signed(gain, 3)} against masked data"
    )
    return most in fair and gain <= NOTHING, line
