"""How much the weights of Xing's deserved score matter: experiment 4 of the paper, and its claim that they do not."""

from collections.abc import Iterable
from itertools import groupby, product
from operator import itemgetter
from typing import Any, TypedDict

from ifair.evaluate.measures import ranking_measures
from ifair.evaluate.rules import choose_row
from ifair.evaluate.statistics import Spread, Spreads, spread, spreads
from ifair.report.blocks import Block, Finding, Heading, Table, Text
from ifair.reproduce import labels
from ifair.reproduce.case import Case
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Records, Unit, group_results, make_unit, share_grid
from ifair.reproduce.experiments.ranking_readings import HELD_OUT, NOTHING, QUERIES, list_cases
from ifair.reproduce.experiments.ranking_task import MEASURES, measure_variants, prepare_variants
from ifair.reproduce.paper import SENSITIVITY
from ifair.reproduce.verdicts import judge_claim
from ifair.results import Results

WEIGHTS = [row["weights"] for row in SENSITIVITY]
"""Work, education and views: the rows of the paper's table."""


class Row(TypedDict):
    """A row of the table: what was ``held_out``, the weights, % protected among the truly best, and the measures."""

    held_out: str
    weights: list[float]
    base_rate: Spread
    test: Spreads


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every split, where Xing is at hand: what iFair learns does not depend on the score."""
    return [
        make_unit(measure_weights, one, "weights", HELD_OUT[case.held_out], *named)
        for source, case in list_cases(profile.only(["xing"]), (NOTHING, QUERIES))
        for named, one in share_grid(source, case)
    ]


def measure_weights(case: Case) -> list[dict[str, Any]]:
    """For every row of the table what the settings reach on one split (``rows``), and the ``base_rate``.

    That is the percentage of protected people among the truly ten best of the test queries.
    """
    variants = [{"weights": weights} for weights in WEIGHTS]
    splits = prepare_variants(case, variants)
    return [
        {**variant, "rows": rows, "base_rate": ranking_measures(parts.test, parts.test.y)["percent_protected"]}
        for variant, parts, rows in zip(variants, splits, measure_variants(case, splits))
    ]


def summarise(records: Records) -> list[Row]:
    """The rows of the table, at the setting of each split that is balanced on validation."""
    found: list[Row] = []
    by_kind = group_results(records, "held_out", "seed")
    for (held_out, by_seed), (number, weights) in product(by_kind.items(), enumerate(WEIGHTS)):
        parts = [[result[number] for result in results] for results in by_seed.values()]
        rows = [[row for part in of_split for row in part["rows"]] for of_split in parts]
        chosen = [choose_row(of_split, "balanced", utility="MAP")["test"] for of_split in rows]
        base_rate = spread([of_split[0]["base_rate"] for of_split in parts])
        found.append({"held_out": held_out, "weights": weights, "base_rate": base_rate, "test": spreads(chosen)})
    return found


def section(found: list[Row], results: Results) -> list[Block]:
    """One row for every choice of weights."""
    blocks: list[Block] = [
        Heading("Weights of the score on Xing"),
        Text(
            "iFair-b under the balanced rule. Base rate: % protected among the truly ten best. The paper seems "
            "to have measured the records that it learned from, as the first table does; the second is of people of "
            "job searches that were not learned from."
        ),
    ]
    for held_out, rows in groupby(found, itemgetter("held_out")):
        blocks += [Text(f"{HELD_OUT[held_out].capitalize()}:"), _tabulate(rows, results)]
    return blocks


def _tabulate(found: Iterable[Row], results: Results) -> Table:
    """The paper's table."""
    printed = {tuple(row["weights"]): row for row in results["paper"]["sensitivity"]}
    rows: list[list[Any]] = [["work, education, views", "base rate", *map(labels.measure, MEASURES)]]
    for row in found:
        reached = {"base_rate": row["base_rate"], **row["test"]}
        cells = labels.cells(reached, ("base_rate", *MEASURES), printed.get(tuple(row["weights"]), {}))
        rows.append([", ".join(f"{weight:g}" for weight in row["weights"]), *cells])
    return Table(rows)


def judge(found: list[Row], results: Results) -> list[Finding]:
    """The weights have no significant effect, measured as the paper seems to have done."""
    first = [row for row in found if row["held_out"] == found[0]["held_out"]]
    parts = []
    for measure in MEASURES:
        ours = [row["test"][measure]["mean"] for row in first]
        theirs = [row[measure] for row in results["paper"]["sensitivity"]]
        width, limit = max(ours) - min(ours), max(theirs) - min(theirs)
        line = f"{labels.measure(measure)}: from {min(ours):.2f} to {max(ours):.2f} over the rows"
        # Half of the last printed digit at either end.
        parts.append((width <= limit + 0.01, f"{line}, a range of {width:.2f}; in the paper {limit:.2f}"))
    return judge_claim(
        "The choice of weights in Xing's score has no significant effect.",
        "The means of a measure differ between the rows of the table no more than in the paper's own table, whose last "
        "digits are rounded: by 0.01 more at most.",
        parts,
    )


EXPERIMENT = Experiment("sensitivity", 50, plan, summarise, section, judge=judge)
