"""The whole page: what was run, what holds and what does not, every section, and the deviations."""

from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean

from ifair.errors import install_hint
from ifair.evaluate.statistics import LEAST_SPLITS
from ifair.report import blocks
from ifair.report.blocks import MARGIN, Block, Bullets, Code, Finding, Heading, Number, Strong, Table, Text
from ifair.reproduce import labels
from ifair.reproduce.deviations import describe_deviations
from ifair.reproduce.experiment import JUDGED, Figures, find_experiments
from ifair.reproduce.experiments import classification_task, ranking_task
from ifair.reproduce.first_screen import Printed, collect_printed, count_near, find_small_profile, summarise_page
from ifair.reproduce.profiles import PROFILES
from ifair.reproduce.runner import RunError, write_text
from ifair.reproduce.verdicts import FAILS, HOLDS, IN_PART, NO, OPEN, UNTESTED, YES
from ifair.results import Results, Source

VERSIONS = ("ifair", "python", "numpy", "scipy", "scikit-learn")

REASONS = (
    "The fairness loss with learned weights has an optimum that needs no fairness: weights that shrink with the "
    "distances they measure make it as small as one likes (the page about the mathematics has the argument). What mu "
    "does then depends on where the search starts and ends, and of the paper's grid for classification most fits with "
    "any weight on fairness end at a constant. With unweighted distances, as ours has them, none does.",
    "The utility loss covers the protected columns too: prototypes that follow them lower it, and the representation "
    "then tells the group, even where their weights in the distance are small. Frozen weights stop this by "
    "construction.",
    "yNN of labels rewards every shrinkage: whoever gives more people the same answer is more consistent. "
    "Multiplying masked data by a factor below 1 before a penalised classifier does so without any "
    "representation, and is among the marks to beat below.",
    "From uniform random starts the search often ends at poorer points than from records drawn by k-means++, or from "
    "principal components, which SVD has from the beginning: see the options beyond the paper.",
    "Representations are tuned with a linear model. What a nonlinear model makes of them is another matter: see "
    "the other models below.",
    "Scores of a ranking are scaled within its query, where somebody always has 0 and somebody 1: a yNN near 1 "
    "with a useful order, as the paper prints for Xing, is out of reach under this reading; across queries it is "
    "easy.",
)
"""Arguments, not results: each is measured in a section of the page or proved in the documentation."""


def write_page(folder: Path, results: Results, stem: str = "results", *, alone: bool = True) -> list[str]:
    """Write ``stem.md``, ``figures/*.svg`` and, to be read alone, ``stem.html`` into a folder that exists.

    Without the extra ``report`` only the first. Returns lines on what there is now, and how to get the rest.
    """
    write_text(folder / f"{stem}.md", format_markdown(results))
    written = [f"Page: {(folder / f'{stem}.md').resolve()}"]
    missing = [name for name in ("matplotlib", "jinja2") if find_spec(name) is None]
    if missing:
        return [*written, f"pictures and HTML need {' and '.join(missing)}: {install_hint('report')}"]

    from ifair.report.html import html
    from ifair.report.pictures import svg

    drawn = {name: svg(figure, name) for name, figure in draw_figures(results).items()}
    try:
        (folder / "figures").mkdir(exist_ok=True)
    except OSError as error:
        raise RunError(f"cannot make the folder {folder / 'figures'}: {error.strerror}") from error
    for name, drawing in drawn.items():
        write_text(folder / "figures" / f"{name}.svg", drawing)
    if not alone:
        return written
    write_text(folder / f"{stem}.html", html(list_blocks(results), drawn))
    return [*written, f"With pictures: {(folder / f'{stem}.html').resolve()}"]


def list_blocks(results: Results) -> list[Block]:
    """Every block of the page; tables of a small profile say so."""
    sections = [block for experiment in find_experiments().values() for block in experiment.write_section(results)]
    findings, printed = judge_claims(results), collect_printed(sections)
    page: list[Block] = [
        Heading("The paper's evaluation, redone", 1),
        *summarise_page(results, printed, findings),
        *_introduce(results),
        Heading("What holds and what does not"),
        *_describe_findings(findings, printed),
        *((Heading("Why"), Bullets(REASONS)) if findings else ()),
        *sections,
        *describe_deviations(results),
        *_tabulate_runs(results),
    ]
    return [mark_table(block, results) if isinstance(block, Table) else block for block in page]


def format_markdown(results: Results) -> str:
    """The page as Markdown; pictures are files in the folder ``figures`` beside it."""
    return blocks.markdown(list_blocks(results))


def draw_figures(results: Results) -> Figures:
    """Every picture of the page by the stem of its file; needs matplotlib."""
    drawn = [experiment.draw_figures(results) for experiment in find_experiments().values()]
    return {stem: figure for figures in drawn for stem, figure in figures.items()}


def judge_claims(results: Results) -> list[Finding]:
    """The paper's claims, in the order of the sections, each judged by our numbers."""
    return [finding for experiment in find_experiments().values() for finding in experiment.judge_claims(results)]


def format_text(results: Results) -> str:
    """The main tables and the verdicts for a terminal."""
    parts = []
    for title, module in (("classification", classification_task), ("ranking", ranking_task)):
        for dataset in module.EXPERIMENT.find(results):
            table = mark_table(module.tabulate(results, dataset), results)
            parts.append(f"{labels.dataset(dataset)}, {title}\n{blocks.plain_table(table)}")
    verdicts = [[finding.verdict, finding.claim] for finding in judge_claims(results)]
    if verdicts:
        parts.append(blocks.plain_table(Table(verdicts)))
    return "\n\n".join(parts)


def mark_table(table: Table, results: Results) -> Table:
    """A table with the name of a profile too small for conclusions in its first cell."""
    small = find_small_profile(results)
    if not small:
        return table
    first, *others = table.rows[0]
    named = (*blocks.inlines(first), f"{' ' if blocks.plain(first) else ''}[{small} profile]")
    return Table([[named, *others], *table.rows[1:]])


def _introduce(results: Results) -> list[Block]:
    runs = [run for parts in results["runs"].values() for run in parts.values()]
    left_out = sorted({line for run in runs for line in run["left_out"]})
    return [
        Text(
            (
                "Written by ",
                Code("ifair reproduce"),
                ": random splits into thirds; settings chosen on validation, everything reported on test, but for "
                "synthetic data and where a table says that nothing was held out. ",
                "The table at the end tells the profile, the time and the machine of every experiment."
                if results["runs"]
                else "The results do not tell with which profile and on what machine they were found.",
                *(f" Left out: {line}." for line in left_out),
            )
        ),
        Text(
            (
                "How to read the tables: ",
                Number(0.60, 0.02, paper=0.59),
                " says that the paper prints 0.59, that ours is 0.60 on average with a standard deviation of 0.02 over "
                "the splits, and how far they are apart. The difference is ",
                Strong("bold"),
                f" where it is larger than {MARGIN} before rounding (five points of a percentage): up to that the two "
                "count as equivalent, however much splits differ. Where only ours is given, the paper prints no "
                "number. Utility, yNN, EqOpp and Parity are the better the higher; of % protected there is no best.",
            )
        ),
        Text(
            "Settings are chosen by three rules: the most useful, the fairest, and the balanced one, with the best "
            "harmonic mean of utility and yNN; the paper calls them max utility, max fairness and optimal."
        ),
    ]


def _describe_findings(found: list[Finding], printed: Printed) -> list[Block]:
    counts = Counter(finding.verdict for finding in found)
    if not found:
        return [Text("Nothing was run, or not enough, that a claim of the paper could be judged by.")]
    rows = [[finding.claim, finding.verdict, _count_parts(finding)] for finding in found]
    return [
        Text(
            f"Of {len(found)} claims of the paper, in our words: hold here {counts[HOLDS]}, hold in part "
            f"{counts[IN_PART]}, not shown {counts[FAILS]}, not tested {counts[OPEN]}. Each verdict is computed by the "
            "rule that stands with its numbers: a claim holds if all of its parts do, and in part if some do. Clearly "
            "above or below "
            "means by the corrected resampled t-test (Nadeau and Bengio), which allows for splits of one table "
            "overlapping (as many records to test on as to learn from), p-values adjusted after Holm for all rivals, "
            "at 5 %. With fewer than "
            f"{LEAST_SPLITS} splits nothing is "
            "tested, and the part, marked with a dash, decides nothing. Not shown is less than shown to be false: see "
            "the numbers of each part. Intervals are not adjusted for several rivals, as p-values are, so that one may "
            "exclude 0 where p is above 0.05."
        ),
        Table([["claim", "verdict", "parts that hold"], *rows]),
        *_tabulate_agreement(printed),
        Heading("The numbers behind each verdict", 3),
        *found,
    ]


def _count_parts(finding: Finding) -> str:
    """How many parts of a claim hold, of those that were tested, and how many were not."""
    marks = Counter(blocks.inlines(line)[0] for line in finding.evidence)
    untested = f", {marks[UNTESTED]} not tested" if marks[UNTESTED] else ""
    return f"{marks[YES]} of {marks[YES] + marks[NO]}{untested}"


def _tabulate_agreement(printed: Printed) -> list[Block]:
    """How near the paper's numbers are to ours, section by section and measure by measure."""
    rows = [
        [title, measure, count_near(cells), f"{fmean(cell.distance for cell in cells):.3f}"]
        for title, by in printed.items()
        for measure, cells in by.items()
    ]
    if not rows:
        return []
    return [
        Text(
            "The paper's numbers and ours, percentages as hundredths; a number that is compared with two readings of "
            "ours counts twice:"
        ),
        Table([["section", "measure", f"within {MARGIN}", "mean absolute difference"], *rows]),
    ]


def _tabulate_runs(results: Results) -> list[Block]:
    """Where every number comes from: one row for every experiment and dataset."""
    if not results["runs"]:
        return []
    rows = [["experiment", "data", "profile", "splits", "units", "minutes of all units", "machine"]]
    versions: dict[str, set[str]] = {name: set() for name in VERSIONS}
    for experiment, parts in results["runs"].items():
        for part, run in parts.items():
            minutes, counts = f"{run['seconds'] / 60:.1f}", [str(len(run["seeds"])), str(run["units"])]
            machine = run["environment"]["machine"]
            rows.append([experiment, _describe_source(part, run["sources"]), run["profile"], *counts, minutes, machine])
            for name, found in versions.items():
                found.update(run["environment"][name].split(" and "))
    used = [f"{name} {' and '.join(sorted(found))}" for name, found in versions.items()]
    return [
        Heading("Profiles, time and machines"),
        Table(rows),
        Text(f"Versions: {', '.join(used)}."),
        *_tell_missing(results),
    ]


def _tell_missing(results: Results) -> list[Block]:
    """What the full profile has and its results lack: experiments, and datasets of the paper's two tasks."""
    if find_small_profile(results):
        return []
    missing = [f"the experiment {name}" for name in find_experiments() if name not in results["runs"]]
    missing += [
        f"{task} on {labels.dataset(source.name)}"
        for task, planned in PROFILES[JUDGED].tasks.items()
        for source in planned
        if source.name not in results["runs"].get(task, {})
    ]
    return [Text(f"Not run so far of this profile: {'; '.join(missing)}.")] if missing else []


def _describe_source(part: str, sources: list[Source]) -> str:
    """A dataset, and how far it was cut down."""
    cut = next((one for one in sources if part in ("all", one["name"]) and one["max_records"]), None)
    if cut is None:
        return labels.dataset(part)
    learned = f", {cut['max_training']:,} to learn from" if cut["max_training"] else ""
    return f"{labels.dataset(part)} (at most {cut['max_records']:,} records{learned}, drawn at random)"
