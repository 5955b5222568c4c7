"""What a reader sees first: five sentences on what holds at the paper's settings, what holds for ours, what does not.

Every number and every verdict in them is computed from the results.
"""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from ifair.report.blocks import (
    MARGIN,
    Banner,
    Block,
    Bullets,
    Finding,
    Heading,
    Line,
    Number,
    Strong,
    Table,
    add_sign,
    plain,
)
from ifair.reproduce import labels
from ifair.reproduce.experiment import JUDGED
from ifair.reproduce.experiments import classification_task, ifair_readings
from ifair.reproduce.tradeoff import FAIRNESS, OURS, TradeOff
from ifair.reproduce.verdicts import FAILS, HOLDS, IN_PART, OPEN, is_clear
from ifair.results import Results

Printed = dict[str, dict[str, list[Number]]]
"""By section and measure the numbers of ours that have one of the paper's beside them."""

FAIREST = f", the {labels.RULES['fairest']} settings"
"""Added to a section's name: such settings are mostly fits that ended at a constant, in the paper as here."""


def summarise_page(results: Results, printed: Printed, findings: Sequence[Finding]) -> list[Block]:
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


def collect_printed(everything: Iterable[Block]) -> Printed:
    """The numbers of the tables that the paper prints too."""
    title, found = "", Printed()
    for block in everything:
        if isinstance(block, Heading) and block.level == 2:
            title = block.text
        if isinstance(block, Table):
            header, part = [plain(cell) for cell in block.rows[0]], title
            for row in block.rows[1:]:
                if isinstance(row[0], Strong):
                    part = title + FAIREST * (row[0].text == labels.RULES["fairest"])
                for measure, cell in zip(header, row):
                    if isinstance(cell, Number) and cell.paper is not None:
                        found.setdefault(part, {}).setdefault(measure, []).append(cell)
    return found


def count_near(cells: Sequence[Number]) -> str:
    """How many of our numbers are near the paper's: ``12 of 30``."""
    return f"{sum(not cell.far for cell in cells)} of {len(cells)}"


def _tell_agreement(printed: Printed) -> list[Line]:
    if not printed:
        return []
    parts = [
        f"{title} {count_near([cell for cells in by.values() for cell in cells])}"
        f" ({', '.join(f'{measure} {count_near(cells)}' for measure, cells in by.items())})"
        for title, by in printed.items()
    ]
    return [(Strong("The paper's numbers"), f": ours are within {MARGIN} of what it prints in: {'; '.join(parts)}.")]


def _tell_claims(findings: Sequence[Finding]) -> list[Line]:
    if not findings:
        return []
    claims = {
        verdict: [f"“{finding.claim.rstrip('.')}”" for finding in findings if finding.verdict == verdict]
        for verdict in (HOLDS, IN_PART, FAILS, OPEN)
    }
    count = {verdict: len(found) for verdict, found in claims.items()}
    quoted = {verdict: f" ({'; '.join(found)})" if found else "" for verdict, found in claims.items()}
    said = f": {count[HOLDS]} of {len(findings)}{quoted[HOLDS]}; {count[IN_PART]} hold in part{quoted[IN_PART]}"
    said += f"; {count[OPEN]} could not be tested." if count[OPEN] else "."
    return [
        (Strong("Claims of the paper that hold"), said),
        (Strong("Claims that these runs do not show"), f": {count[FAILS]}{quoted[FAILS]}."),
    ]


def _tell_fits(results: Results) -> list[Line]:
    """Where the objective as the paper writes it collapses, how it was chosen, and what our variant does."""
    found = classification_task.EXPERIMENT.find(results)
    if not found:
        return []
    collapsed, alone = [], []
    for dataset, summary in found.items():
        chosen = summary["rules"]["balanced"]["ifair-b"]["settings"]
        collapsed.append(f"{labels.dataset(dataset)} {_share_constant(summary, 'ifair-b')}")
        alone.append(f"{labels.dataset(dataset)} {sum(one['mu'] == 0 for one in chosen)} of {len(chosen)}")
    degenerate = (
        f": so many fits of iFair-b over its grid give all people but one in a hundred the same answer: "
        f"{', '.join(collapsed)}; and the balanced rule chose mu = 0, reconstruction without any fairness loss, on so "
        f"many splits: {', '.join(alone)}.{_tell_longer(results)}"
    )
    options = (
        " (means, protected weights held at 0 and their columns not reconstructed, Euclidean distances between "
        f"pairs, a start along principal components), under the balanced rule: {'; '.join(_tell_ours(found))}."
    )
    return [
        (Strong("The objective as written often degenerates"), degenerate),
        (Strong("What we would rather use"), options),
    ]


def _tell_longer(results: Results) -> str:
    """What ending the searches later changes, if that was measured: on the dataset where it is most."""
    kinds = {dataset: by["ifair-b"]["kinds"] for dataset, by in ifair_readings.EXPERIMENT.find(results).items()}
    found = {dataset: by[ifair_readings.LONGER][FAIRNESS]["change"]["mean"] for dataset, by in kinds.items()}
    if not found:
        return ""
    most = max(found, key=lambda dataset: abs(found[dataset]))
    return (
        " Searches also ended early: going on until the loss falls by a tenth as much changes the same fits, most on "
        f"{labels.dataset(most)} ({FAIRNESS} {add_sign(found[most], 3)}; see the deviations)."
    )


def _tell_ours(found: Mapping[str, TradeOff]) -> list[str]:
    """Our variant against what is simpler: the differences on every dataset, and which of them are clear."""
    said, clear = [], []
    for rival in ("full", "masked", "svd-masked"):
        by_measure = []
        for measure in (FAIRNESS, "AUC"):
            compared = {dataset: summary["comparisons_of_ours"][measure][rival] for dataset, summary in found.items()}
            differences = [f"{labels.dataset(one)} {add_sign(by['difference'])}" for one, by in compared.items()]
            by_measure.append(f"{measure} {', '.join(differences)}")
            told = [labels.dataset(dataset) for dataset, by in compared.items() if is_clear(by)]
            clear += [f"{measure} less {labels.method(rival)} on {name}" for name in told]
        said.append(f"less {labels.method(rival)} {'; '.join(by_measure)}")
    degenerate = [f"{labels.dataset(dataset)} {_share_constant(summary, OURS)}" for dataset, summary in found.items()]
    decided = f"clear by the tests, where there were splits enough, is of these: {', '.join(clear) or 'nothing'}"
    return [*said, decided, f"degenerate fits: {', '.join(degenerate)}"]


def _share_constant(summary: TradeOff, method: str) -> str:
    return f"{100 * fmean(point['constant'] for point in summary['points'][method]):.0f} %"
