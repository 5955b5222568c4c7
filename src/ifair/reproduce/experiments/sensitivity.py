"""How much the weights of Xing's deserved score matter: experiment 4 of the paper, and its claim that they do not."""

from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from ifair.evaluate.measures import TOP
from ifair.evaluate.rules import choose_row
from ifair.evaluate.statistics import Spread, spread, spreads
from ifair.metrics import share_at_k
from ifair.report.blocks import Block, Finding, Heading, Number, Table, Text
from ifair.reproduce import labels
from ifair.reproduce.case import Case, load_subset, measure_grid, prepare
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Records, Unit, make_unit
from ifair.reproduce.experiments.ranking_task import MEASURES
from ifair.reproduce.paper import SENSITIVITY
from ifair.reproduce.verdicts import judge_claim
from ifair.results import Results

WEIGHTS = [row["weights"] for row in SENSITIVITY]
"""Work, education and views: the rows of the paper's table."""


class Row(TypedDict):
    """A row of the table."""

    weights: list[float]
    base_rate: Spread
    test: dict[str, Spread]


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every row of the table and split, where Xing is at hand."""
    return [
        make_unit(
            f"weights {weights}, split {seed + 1}",
            measure_weights,
            profile.case(source, seed, method="ifair-b", options={**source.options, "weights": weights}),
        )
        for source in profile.ranking
        if source.name == "xing"
        for weights in WEIGHTS
        for seed in profile.seeds(source, tested=False)
    ]


def measure_weights(case: Case) -> dict[str, Any]:
    """One row of the table on one split, at the setting with the best harmonic mean of MAP and yNN on validation.

    Returns
    -------
    dict
        The chosen ``setting``, its measures on ``validation`` and ``test``, and ``base_rate``: % protected among the
        truly ten best of the test queries (``test``) and of all queries (``all``).
    """
    chosen = choose_row(measure_grid(case), "balanced", utility="MAP")
    test = prepare(case).test
    everybody = load_subset(replace(case, max_records=None))
    return {
        **chosen,
        "base_rate": {
            "test": _percent_at_top(test.y, test.group, test.query),
            "all": _percent_at_top(everybody.target, everybody.group, everybody.query),
        },
    }


def _percent_at_top(scores: Any, group: Any, query: Any) -> float:
    ranked = np.asarray(pd.notna(query))
    return 100.0 * share_at_k(
        None, np.asarray(scores)[ranked], sensitive_features=group[ranked], query=np.asarray(query)[ranked], k=TOP
    )


def summarise(records: Records) -> list[Row]:
    """The rows of the table."""
    by_weights: dict[tuple[float, ...], list[Any]] = {}
    for record in records:
        by_weights.setdefault(tuple(record.case.options["weights"]), []).append(record.result)
    return [
        {
            "weights": list(weights),
            "base_rate": spread([result["base_rate"]["test"] for result in results]),
            "test": spreads([result["test"] for result in results]),
        }
        for weights, results in by_weights.items()
    ]


def section(found: Any, results: Results) -> list[Block]:
    """One row for every choice of weights."""
    return [
        Heading("Weights of the score on Xing"),
        Text(
            "iFair-b, tuned for the best harmonic mean of MAP and yNN. Base rate: % protected among the truly ten best."
        ),
        _tabulate(found, results),
    ]


def _tabulate(found: Any, results: Results) -> Table:
    """The paper's table."""
    printed = {tuple(row["weights"]): row for row in results["paper"]["sensitivity"]}
    rows: list[list[Any]] = [["work, education, views", "base rate", *map(labels.measure, MEASURES)]]
    for row in found:
        paper = printed.get(tuple(row["weights"]), {})
        cells = [Number.of(row["base_rate"], paper.get("base_rate"))]
        cells += [Number.of(row["test"][measure], paper.get(measure)) for measure in MEASURES]
        rows.append([", ".join(f"{weight:g}" for weight in row["weights"]), *cells])
    return Table(rows)


def judge(found: Any, results: Results) -> list[Finding]:
    """The weights have no significant effect."""
    if len(found) < 2:
        return []
    parts = []
    for measure in MEASURES:
        ours = [row["test"][measure]["mean"] for row in found]
        theirs = [row[measure] for row in results["paper"]["sensitivity"]]
        spread = sum(row["test"][measure]["sd"] for row in found) / len(found)
        width, limit = max(ours) - min(ours), max(theirs) - min(theirs)
        # Half of the last printed digit at either end.
        parts.append(
            (
                width <= limit + 0.01,
                f"{labels.measure(measure)}: from {min(ours):.2f} to {max(ours):.2f} over the rows, a range of "
                f"{width:.2f}; in the paper {limit:.2f}. Within a row the splits differ by {spread:.2f} "
                "(mean standard deviation).",
            )
        )
    return judge_claim(
        "The choice of weights in Xing's score has no significant effect.",
        "The means of a measure differ between the rows of the table no more than in the paper's own table.",
        parts,
    )


EXPERIMENT = Experiment("sensitivity", 50, plan, summarise, section, judge=judge)
