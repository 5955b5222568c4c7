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
from ifair.reproduce.case import Case, prepare
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Records, Unit, make_unit
from ifair.reproduce.experiments.ranking_task import MEASURES, measure_variants
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
    """Every split and K, where Xing is at hand: what iFair learns does not depend on the score."""
    return [
        make_unit(
            f"weights, K = {k}, split {seed + 1}",
            measure_weights,
            profile.case(source, seed, method="ifair-b", grid={**profile.grid_of(source), "K": [k]}),
        )
        for source in profile.ranking
        if source.name == "xing"
        for k in profile.grid_of(source)["K"]
        for seed in profile.seeds(source, tested=False)
    ]


def measure_weights(case: Case) -> list[dict[str, Any]]:
    """For every row of the table what the settings reach on one split.

    Returns
    -------
    list of dict
        ``weights``; ``rows`` with the measures of all settings; and ``base_rate``: % protected among the truly ten best
        of the test queries.
    """
    variants = [{"weights": weights} for weights in WEIGHTS]
    found = []
    for variant, rows in zip(variants, measure_variants(case, variants)):
        test = prepare(replace(case, options={**case.options, **variant})).test
        base_rate = _percent_at_top(test.y, test.group, test.query)
        found.append({**variant, "rows": rows, "base_rate": base_rate})
    return found


def _percent_at_top(scores: Any, group: Any, query: Any) -> float:
    ranked = np.asarray(pd.notna(query))
    return 100.0 * share_at_k(
        None, np.asarray(scores)[ranked], sensitive_features=group[ranked], query=np.asarray(query)[ranked], k=TOP
    )


def summarise(records: Records) -> list[Row]:
    """The rows of the table, at the setting of each split with the best harmonic mean of MAP and yNN on validation."""
    found: list[Row] = []
    for number, weights in enumerate(WEIGHTS):
        rows: dict[int, list[Any]] = {}
        base_rates: dict[int, float] = {}
        for record in records:
            result = record.result[number]
            rows.setdefault(record.case.seed, []).extend(result["rows"])
            base_rates[record.case.seed] = result["base_rate"]
        chosen = [choose_row(of_split, "balanced", utility="MAP")["test"] for of_split in rows.values()]
        found.append({"weights": weights, "base_rate": spread(list(base_rates.values())), "test": spreads(chosen)})
    return found if records else []


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
