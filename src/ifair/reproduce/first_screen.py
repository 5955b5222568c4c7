"""What a reader sees first: five sentences on what holds at the paper's settings, what holds for ours, what does not.

Every number and every verdict in them is computed from the results.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from ifair.report.blocks import MARGIN, Banner, Block, Bullets, Finding, Heading, Line, Number, Strong, Table
from ifair.reproduce import labels
from ifair.reproduce.experiment import JUDGED
from ifair.reproduce.experiments import classification_task
from ifair.reproduce.tradeoff import FAIRNESS, OURS, TradeOff
from ifair.reproduce.verdicts import FAILS, HOLDS, IN_PART, OPEN, format_difference
from ifair.results import Results


def summarise_page(results: Results, printed: Mapping[str, list[Number]], findings: Sequence[Finding]) -> list[Block]:
    """The first screen; of a small profile what it is good for. For the numbers see :func:`collect_printed`."""
    if not results["runs"]:
        return []
    splits = labels.span({len(run["seeds"]) for parts in results["runs"].values() for run in parts.values()})
    counted = f"{splits} random splits of each dataset."
    if small := find_small_profile(results):
        said = (
            "This shows that everything runs, on few settings, records and splits. It says nothing for or against the "
            "paper: there are no verdicts here and no p-values."
        )
        return [Banner(f"Profile: {small}", f"{counted} {said}")]
    lines = [*_tell_agreement(printed), *_tell_claims(findings), *_tell_fits(results)]
    return [Banner(f"Profile: {JUDGED}", f"{counted} Its numbers speak for or against the paper."), Bullets(lines)]


def find_small_profile(results: Results) -> str:
    """The profile of the page, which has one, if it is too small for conclusions; else nothing."""
    profiles = {run["profile"] for parts in results["runs"].values() for run in parts.values()}
    return next(iter(profiles - {JUDGED}), "")


def collect_printed(everything: Iterable[Block]) -> dict[str, list[Number]]:
    """By section the numbers of the tables that have one of the paper's beside them."""
    title, by_section = "", dict[str, list[Number]]()
    for block in everything:
        if isinstance(block, Heading) and block.level == 2:
            title = block.text
        if isinstance(block, Table):
            cells = [cell for row in block.rows for cell in row if isinstance(cell, Number) and cell.paper is not None]
            by_section.setdefault(title, []).extend(cells)
    return {title: cells for title, cells in by_section.items() if cells}


def _tell_agreement(printed: Mapping[str, list[Number]]) -> list[Line]:
    cells = [cell for found in printed.values() for cell in found]
    if not cells:
        return []
    parts = ", ".join(f"{title} {fmean(c.distance for c in found):.3f}" for title, found in printed.items())
    said = (
        f": in {sum(not cell.far for cell in cells)} of {len(cells)} comparisons ours is within {MARGIN} of what it "
        f"prints, and the mean absolute difference is {fmean(cell.distance for cell in cells):.3f} ({parts})."
    )
    return [(Strong("The paper's numbers at its own settings"), said)]


def _tell_claims(findings: Sequence[Finding]) -> list[Line]:
    if not findings:
        return []
    claims = {
        verdict: [f"“{finding.claim.rstrip('.')}”" for finding in findings if finding.verdict == verdict]
        for verdict in (HOLDS, IN_PART, FAILS, OPEN)
    }
    count = {verdict: len(found) for verdict, found in claims.items()}
    quoted = {verdict: f" ({'; '.join(found)})" if found else "" for verdict, found in claims.items()}
    said = f" {count[HOLDS]} of {len(findings)}{quoted[HOLDS]}; {count[IN_PART]} hold in part{quoted[IN_PART]}"
    said += f"; {count[OPEN]} could not be tested." if count[OPEN] else "."
    return [
        (Strong("Of the paper's claims hold"), said),
        (Strong("Not shown here"), f" are {count[FAILS]} of its claims{quoted[FAILS]}."),
    ]


def _tell_fits(results: Results) -> list[Line]:
    """Where the objective as the paper writes it collapses, and what our variant does."""
    collapsed, ours = [], []
    for dataset, summary in classification_task.EXPERIMENT.find(results).items():
        name, by = labels.dataset(dataset), summary["comparisons_of_ours"]
        told = [f"{measure} {format_difference(by[measure]['full'])}" for measure in (FAIRNESS, "AUC")]
        collapsed.append(f"{name} {_share_constant(summary, 'ifair-b')}")
        ours.append(f"{name} {', '.join(told)}, {_share_constant(summary, OURS)} degenerate")
    if not ours:
        return []
    degenerate = ": so many fits of iFair-b over its grid give all people but one in a hundred the same answer: "
    options = (
        " (means, protected weights held at 0 and their columns not reconstructed, Euclidean distances between "
        "pairs, a start along principal components), under the balanced rule, less the full data: "
    )
    return [
        (Strong("The objective as written often degenerates"), f"{degenerate}{', '.join(collapsed)}."),
        (Strong("What we would rather use"), f"{options}{'; '.join(ours)}."),
    ]


def _share_constant(summary: TradeOff, method: str) -> str:
    return f"{100 * fmean(point['constant'] for point in summary['points'][method]):.0f} %"
