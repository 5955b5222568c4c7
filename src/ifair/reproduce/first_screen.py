"""What a reader sees first: five sentences on what holds at the paper's settings, what holds for ours, what does not.

Every number and every verdict in them is computed from the results.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from ifair.errors import join_words
from ifair.evaluate.measures import UTILITY
from ifair.evaluate.statistics import Comparison
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
    Text,
    add_sign,
    plain,
)
from ifair.reproduce import labels
from ifair.reproduce.changes import ANOTHER_START
from ifair.reproduce.experiment import JUDGED
from ifair.reproduce.experiments import classification_task, ifair_readings, obfuscation, ranking_task
from ifair.reproduce.experiments.obfuscation import Attacked
from ifair.reproduce.tradeoff import FAIRNESS, OURS, REFERENCES, TradeOff
from ifair.reproduce.verdicts import FAILS, HOLDS, IN_PART, OPEN, is_clear
from ifair.results import Results

Printed = dict[str, dict[str, list[Number]]]
"""By section and measure the numbers of ours that have one of the paper's beside them."""

TABLES = {
    "Classification": "about classification",
    "Ranking": "about ranking",
    "Weights of the score on Xing": "about the weights of Xing's score",
}
"""What is said of the sections that the first screen counts."""

GLOSSARY = (
    "iFair-b is the paper's variant that begins with protected weights near zero. yNN tells, from 0 to 1, how alike "
    "people are treated who are alike in everything unprotected; AUC is that of labels. A change is called clear where "
    "the test over the splits says so."
)

VERBS = {
    HOLDS: ("holds", "hold"),
    IN_PART: ("holds in part", "hold in part"),
    FAILS: ("is not shown", "are not shown"),
    OPEN: ("was not tested", "were not tested"),
}
"""What one claim does, and several do."""

OURS_IS = "means, protected weights held at 0, Euclidean distances between pairs, a start along principal components"

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
        return [Banner(f"Profile: {small}.", f"{counted} {said}")]
    found, attacked = classification_task.EXPERIMENT.find(results), obfuscation.EXPERIMENT.find(results)
    lines = [
        *_tell_agreement(printed),
        *_tell_claims(findings, found),
        *_tell_collapse(found),
        *_tell_masking(found, attacked),
        *_tell_ours(found, attacked),
    ]
    banner = Banner(f"Profile: {JUDGED}.", f"{counted} Its numbers speak for or against the paper.")
    return [banner, Bullets(lines), *_tell_reservation(results), Text(GLOSSARY)]


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
    """How many of the paper's numbers come out, but for those of settings that give everybody the same answer."""
    counts = [
        f"{count_near([cell for cells in by.values() for cell in cells])} {table}"
        for title, table in TABLES.items()
        if (by := printed.get(title))
    ]
    if not counts:
        return []
    ranked = printed.get("Ranking", {}).get(FAIRNESS)
    fair = f" ({FAIRNESS} of rankings: {count_near(ranked)})" if ranked else ""
    aside = f"the paper's {labels.RULES['fairest']} settings, mostly one answer for everybody, are left out"
    twice = "a number beside two readings of ours counts twice"
    said = f": within {MARGIN} of ours are {join_words(counts)}{fair}; {twice}, and {aside}."
    return [(Strong("The paper's numbers"), said)]


def _tell_claims(findings: Sequence[Finding], found: Mapping[str, TradeOff]) -> list[Line]:
    """How many claims hold at the paper's own settings, and what iFair-b gains against the full data."""
    if not findings:
        return []
    counts = Counter(finding.verdict for finding in findings)
    told = [f"{n} {one if n == 1 else many}" for verdict, (one, many) in VERBS.items() if (n := counts[verdict])]
    compared = {dataset: summary["comparisons"]["balanced"] for dataset, summary in found.items()}
    gains = f"; {_tell_gain('iFair-b', 'full', compared)}" if found else ""
    said = f" at its own settings: of {len(findings)}, {join_words(told)}{gains}."
    return [(Strong("The paper's claims"), said)]


def _tell_collapse(found: Mapping[str, TradeOff]) -> list[Line]:
    """Where the objective as the paper writes it collapses, and how often validation chose to go without it."""
    if not found:
        return []
    shares, alone = [], []
    for dataset, summary in found.items():
        fair = [point for point in summary["points"]["ifair-b"] if point["setting"]["mu"] > 0]
        shares.append(f"{100 * fmean(point['constant'] for point in fair):.0f} % ({labels.dataset(dataset)})")
        chosen = summary["rules"]["balanced"]["ifair-b"]["settings"]
        alone.append(f"{sum(one['mu'] == 0 for one in chosen)} of {len(chosen)}")
    said = (
        f": with any weight on fairness {join_words(shares)} of iFair-b's fits give nearly everybody the same answer, "
        f"and validation chose no fairness at all on {join_words(alone)} splits."
    )
    return [(Strong("Its objective degenerates"), said)]


def _tell_masking(found: Mapping[str, TradeOff], attacked: Mapping[str, Mapping[str, Attacked]]) -> list[Line]:
    """What merely deleting the protected columns does against iFair-b: area covered, and what an adversary finds."""
    said = []
    if found:
        n = max(len(summary["points"]["ifair-b"]) for summary in found.values())
        where = [f"{_find_larger(found, reference)} {words}" for reference, words in REFERENCES.items()]
        plane = f"more of the plane of AUC and {FAIRNESS} than all {n} settings of iFair-b do"
        said.append(f"covers {plane}: {join_words(where)}")
    told = [by for by in attacked.values() if {"masked", "ifair-b"} <= set(by)]
    if told:
        worse = sum(_adversary(by, "ifair-b") > _adversary(by, "masked") for by in told)
        said.append(
            f"boosted trees recover the group better from iFair-b than from what it leaves on {worse} of {len(told)} "
            "datasets"
        )
    return [(Strong("Merely deleting the protected columns"), f" {'; '.join(said)}.")] if said else []


def _find_larger(found: Mapping[str, TradeOff], reference: str) -> str:
    """On which datasets masked data cover a larger area of the plane than the whole grid of iFair-b."""
    larger = []
    for dataset, summary in found.items():
        by = summary["hypervolume"][reference]["by_settings"]
        masked, ours = (list(by[method].values())[-1]["mean"] for method in ("masked", "ifair-b"))
        if masked > ours:
            larger.append(labels.dataset(dataset))
    return f"on {join_words(larger)}" if larger else "nowhere"


def _tell_ours(found: Mapping[str, TradeOff], attacked: Mapping[str, Mapping[str, Attacked]]) -> list[Line]:
    """What our variant does about it, and what it gains against deletion."""
    if not found:
        return []
    constant = max(fmean(point["constant"] for point in one["points"][OURS]) for one in found.values())
    often = f"in at most {100 * constant:.0f} % of fits" if constant >= 0.005 else "nowhere"
    told = [by for by in attacked.values() if {"masked", OURS} <= set(by)]
    more = max((_adversary(by, OURS) - _adversary(by, "masked") for by in told), default=None)
    hidden = "" if more is None else " and gives the group away to boosted trees no more than deletion does"
    if more is not None and more >= 0.005:
        hidden = f" and lets boosted trees recover the group by up to {add_sign(more)} AUC better than deletion does"
    compared = {dataset: summary["comparisons_of_ours"] for dataset, summary in found.items()}
    said = f" ({OURS_IS}) degenerates {often}{hidden}; {_tell_gain('it', 'masked', compared)}."
    return [(Strong("What we would rather use"), said)]


def _tell_gain(who: str, rival: str, compared: Mapping[str, Mapping[str, Mapping[str, Comparison]]]) -> str:
    """The range over datasets of differences from a rival in fairness and utility, where the first is clear, and where
    splits were too few to tell."""
    fair, useful = (
        " to ".join(dict.fromkeys(add_sign(end) for end in (min(gaps), max(gaps))))
        for gaps in ([by[measure][rival]["difference"] for by in compared.values()] for measure in (FAIRNESS, "AUC"))
    )
    clear = [labels.dataset(name) for name, by in compared.items() if is_clear(by[FAIRNESS][rival])]
    words = f"clear on {join_words(clear)}" if clear else "clear nowhere"
    if untested := [labels.dataset(name) for name, by in compared.items() if by[FAIRNESS][rival]["adjusted"] is None]:
        words += f" (not tested on {join_words(untested)})"
    return f"against {labels.method(rival)} {who} changes {FAIRNESS} by {fair}, {words}, and AUC by {useful}"


def _adversary(attacked: Mapping[str, Attacked], method: str) -> float:
    return attacked[method]["boosting"]["AUC"]["mean"]


def _tell_reservation(results: Results) -> list[Block]:
    """How many searches came to their end, and, if that was measured, what ending them later changes: where it is most,
    and beside another start."""
    found = {
        (dataset, measure): [by["ifair-b"]["kinds"][kind][measure] for kind in (ifair_readings.LONGER, ANOTHER_START)]
        for dataset, by in ifair_readings.EXPERIMENT.find(results).items()
        for measure in (UTILITY["classification"], FAIRNESS)
    }
    tasks = [one for task in (classification_task, ranking_task) for one in task.EXPERIMENT.find(results).values()]
    if not found or not tasks:
        return []
    most = max(found, key=lambda where: found[where][0]["size"]["mean"])
    longer, start = found[most]
    dataset, measure = most
    ended = {
        method: labels.span(
            {round(100 * fmean(point["converged"] for point in one["points"][method])) for one in tasks}
        )
        for method in ("ifair-b", OURS)
    }
    apart = ", depending on the dataset" if len(tasks) > 1 else ""
    return [
        Text(
            f"One reservation: not every search came to its end. {ended['ifair-b']} % of those of iFair-b ended "
            f"because the loss hardly fell any more, and {ended[OURS]} % of those of ours{apart}; the others were cut "
            "off. With a tolerance ten times stricter the classification by iFair-b changes most on "
            f"{labels.dataset(dataset)}: {labels.measure(measure)} by {longer['size']['mean']:.3f} on average, up or "
            f"down ({add_sign(longer['change']['mean'], 3)} with signs), where another start changes it by "
            f"{start['size']['mean']:.3f} (see the deviations)."
        )
    ]
