"""Do the weights of Xing's score matter? The paper's table, and its claim that they do not."""

from collections.abc import Mapping
from typing import Any

from ifair.report.blocks import Block, Finding, Heading, Number, Table, Text
from ifair.report.evaluation.ranking import MEASURES
from ifair.report.evaluation.verdicts import judged


def section(results: Mapping[str, Any]) -> list[Block]:
    """One row for every choice of weights."""
    if not results.get("sensitivity"):
        return []
    return [
        Heading("Weights of the score on Xing"),
        Text(
            "iFair-b, tuned for the best harmonic mean of MAP and yNN. Base rate: % protected among the truly ten best."
        ),
        table(results),
    ]


def table(results: Mapping[str, Any]) -> Table:
    """The paper's table."""
    printed = {tuple(row["weights"]): row for row in results["paper"]["sensitivity"]}
    rows: list[list[Any]] = [["work, education, views", "base rate", *MEASURES]]
    for row in results["sensitivity"]:
        paper = printed.get(tuple(row["weights"]), {})
        cells = [Number.of(row["base rate"], paper.get("base rate"))]
        cells += [Number.of(row["test"][measure], paper.get(measure)) for measure in MEASURES]
        rows.append([", ".join(f"{weight:g}" for weight in row["weights"]), *cells])
    return Table(rows)


def claims(results: Mapping[str, Any]) -> list[Finding]:
    """The weights have no significant effect."""
    rows = results.get("sensitivity") or []
    if len(rows) < 2:
        return []
    parts = []
    for measure in MEASURES:
        ours = [row["test"][measure]["mean"] for row in rows]
        theirs = [row[measure] for row in results["paper"]["sensitivity"]]
        spread = sum(row["test"][measure]["sd"] for row in rows) / len(rows)
        width, limit = max(ours) - min(ours), max(theirs) - min(theirs)
        # Half of the last printed digit at either end.
        parts.append(
            (
                width <= limit + 0.01,
                f"{measure}: from {min(ours):.2f} to {max(ours):.2f} over the rows, a range of {width:.2f}; in the "
                f"paper {limit:.2f}. Within a row the splits differ by {spread:.2f} (mean standard deviation).",
            )
        )
    return judged(
        "The choice of weights in Xing's score has no significant effect.",
        "The means of a measure differ between the rows of the table no more than in the paper's own table.",
        parts,
    )
