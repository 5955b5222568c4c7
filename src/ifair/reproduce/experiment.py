"""What an experiment is, which there are, and what they share: plans of units, and how their records are read."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Generic, TypeVar, get_type_hints

from ifair.evaluate.measures import UTILITY
from ifair.evaluate.rules import choose_row
from ifair.plain_data import check_schema
from ifair.report.blocks import Block, Finding
from ifair.report.pictures import Figure
from ifair.reproduce import experiments
from ifair.reproduce.case import Case
from ifair.reproduce.profiles import Profile, Source
from ifair.reproduce.runner import Record, Unit
from ifair.results import Results

Figures = dict[str, Figure]
"""By the stem of their file; need matplotlib."""

JUDGED = "full"
"""The profile whose numbers speak for or against the paper; smaller ones show that everything runs."""

Records = Sequence[Record]

Earlier = Mapping[str, Records]
"""Records of the experiments that were run before, by the experiment's name."""


Kept = TypeVar("Kept")
One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Experiment(Generic[Kept]):
    """A table or figure, from the work that it takes to its place on the page."""

    name: str  # on the command line and in the file of results
    place: int  # experiments are run and shown in this order
    plan: Callable[[Profile, Earlier], list[Unit]]  # from the profile, and the records of what it needs, to its units
    summarise: Callable[[Records], Kept]  # from the records of its units to what is kept of them: plain data
    section: Callable[[Kept, Results], list[Block]]  # from its own results and those of all to the blocks of the page
    draw: Callable[[Kept, Results], Figures] = lambda *_: {}  # from the same to its figures; needs matplotlib
    judge: Callable[[Kept, Results], list[Finding]] = lambda *_: []  # from the same to the paper's claims, judged
    needs: tuple[str, ...] = ()  # experiments whose records its plan is made from
    reads: tuple[str, ...] = ()  # experiments whose records it summarises besides its own
    packages: tuple[str, ...] = ()  # optional ones without which it cannot be run, by import name
    left_out: Callable[[], Mapping[str, str]] = dict  # methods that cannot be run here, and what to do about it
    by_dataset: bool = False  # whether results are kept by dataset, so that one can be run anew without the others
    by_task: bool = False  # whether they are kept by dataset within each of the paper's two tasks
    shows: tuple[str, ...] = ()  # other experiments whose results its section has something to say about

    @property
    def kept(self) -> Any:
        """The type of what is kept."""
        return get_type_hints(self.summarise).get("return", Any)

    @property
    def tells_datasets_apart(self) -> bool:
        """Whether what is kept, and how long it took, is known of every dataset by itself."""
        return self.by_dataset or self.by_task

    def plan_here(self, profile: Profile, earlier: Earlier) -> list[Unit]:
        """Its units but for those of methods that cannot be run here."""
        absent = self.left_out()
        return [unit for unit in self.plan(profile, earlier) if unit.case.method not in absent]

    def find(self, results: Results) -> Kept:
        """What is kept of it in the results; empty where it was not run."""
        kept: Any = results["experiments"].get(self.name) or {}
        return kept

    def write_section(self, results: Results) -> list[Block]:
        """The blocks of the page; none where nothing was run."""
        was_run = any(results["experiments"].get(name) for name in (self.name, *self.shows))
        return self.section(self.find(results), results) if was_run else []

    def draw_figures(self, results: Results) -> Figures:
        """The figures by the stem of their file; none where it was not run."""
        found = self.find(results)
        return self.draw(found, results) if found else {}

    def judge_claims(self, results: Results) -> list[Finding]:
        """The paper's claims; none where it was not run, or with a profile too small to judge them."""
        found = self.find(results)
        small = any(run["profile"] != JUDGED for run in results["runs"].get(self.name, {}).values())
        return self.judge(found, results) if found and not small else []


@cache
def find_experiments() -> dict[str, Experiment[Any]]:
    """Every experiment of the folder ``experiments`` by name, in the order in which they are run and shown."""
    modules = [import_module(f"{experiments.__name__}.{module.name}") for module in iter_modules(experiments.__path__)]
    found = sorted((module.EXPERIMENT for module in modules), key=lambda experiment: experiment.place)
    return {experiment.name: experiment for experiment in found}


def check_kept(results: Results, name: str) -> None:
    """Refuse results in which an experiment keeps something else than its type says."""
    for experiment in find_experiments().values():
        if found := experiment.find(results):
            check_schema(found, experiment.kept, f"{name}.experiments.{experiment.name}")


def add_needs(wanted: Collection[str]) -> list[str]:
    """The experiments asked for (all, if none is) and those they build on, in the order in which they are run."""
    every = find_experiments()
    names = set(wanted or every)
    for name in reversed(every):
        if name in names:
            names |= {*every[name].needs, *every[name].reads}
    return [name for name in every if name in names]


def list_waves(names: Sequence[str]) -> list[list[str]]:
    """Experiments that can be run at the same time, and after them those that build on them, and so on."""
    every, waves, left = find_experiments(), [], list(names)
    while left:
        waves.append([name for name in left if not set(every[name].needs) & set(left)])
        left = [name for name in left if name not in waves[-1]]
    return waves


def make_unit(function: Callable[[Case], Any], case: Case, *words: str) -> Unit:
    """A unit that calls a function of a module with a case; the words tell it from others of the same split."""
    label = ", ".join((case.dataset, *words, f"split {case.seed + 1}"))
    return Unit(label, f"{function.__module__}:{function.__name__}", case)


def plan_grid(
    function: Callable[[Case], Any], profile: Profile, sources: Sequence[Source], methods: Sequence[str]
) -> list[Unit]:
    """Every setting of every method on every split."""
    return [
        make_unit(function, one, method, *named)
        for source, seed in profile.splits(sources, tested=True)
        for method in methods
        for named, one in share_grid(source, profile.case(source, seed, method=method))
    ]


def share_grid(source: Source, case: Case) -> list[tuple[tuple[str, ...], Case]]:
    """Parts of a case that a unit each works on, with what they are called.

    A whole grid is fitted at once. There is a unit for each K of LFR, which has settings enough to fill a device, and
    where fits take so long that splits are few: without a GPU a grid would be hours in which nothing is kept.
    """
    if case.method == "lfr" or (source.n_splits is not None and case.method.startswith("ifair")):
        return [((f"K = {k}",), replace(case, grid={**case.grid, "K": [k]})) for k in case.grid["K"]]
    return [((), case)]


def plan_chosen(
    function: Callable[[Case], Any],
    profile: Profile,
    sources: Sequence[Source],
    methods: Sequence[str],
    earlier: Earlier,
) -> list[Unit]:
    """A unit for every dataset, method and one of the first splits, at the setting that was chosen earlier.

    Before anything was run (a plan that is only printed) the settings are not known and None.
    """
    settings = choose_settings(earlier)
    return [
        make_unit(
            function,
            profile.case(source, seed, method=method, setting=settings.get((source.name, method, seed))),
            method,
        )
        for source, seed in profile.splits(sources)
        for method in methods
    ]


def rows_by_split(records: Records) -> dict[str, dict[str, dict[int, list[Any]]]]:
    """Dataset, method, seed: the rows of all settings, whichever units they were in; none where there was no unit."""
    rows: dict[str, dict[str, dict[int, list[Any]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for record in records:
        rows[record.case.dataset][record.case.method][record.case.seed] += record.result
    return rows


def choose_settings(earlier: Earlier) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Dataset, method and seed: the balanced setting on validation, in the experiments that tried them all."""
    return {
        (dataset, method, seed): dict(choose_row(rows, "balanced", utility=utility)["setting"])
        for experiment, utility in UTILITY.items()  # the two that try every setting
        for dataset, by_method in rows_by_split(earlier.get(experiment, ())).items()
        for method, by_seed in by_method.items()
        for seed, rows in by_seed.items()
    }


def group_results(records: Records, *fields: str) -> dict[Any, Any]:
    """Results of records as a nested dict by these fields of their cases, in lists at the bottom.

    Examples
    --------
    >>> records = [Record(f"split {seed}", Case("credit", seed), seed, 0.1, {}) for seed in (0, 1)]
    >>> group_results(records, "dataset")
    {'credit': [0, 1]}
    """
    if not fields:
        return [record.result for record in records]  # type: ignore[return-value]
    parts: dict[Any, list[Record]] = defaultdict(list)
    for record in records:
        parts[getattr(record.case, fields[0])].append(record)
    return {value: group_results(part, *fields[1:]) for value, part in parts.items()}


def for_each_dataset(*fields: str) -> Callable[[Callable[[Any], One]], Callable[[Records], dict[str, One]]]:
    """Make a summary of one dataset, from its results by these fields of their cases, one of all datasets by name."""

    def decorate(summarise: Callable[[Any], One]) -> Callable[[Records], dict[str, One]]:
        def summarise_all(records: Records) -> dict[str, One]:
            by_dataset = group_results(records, "dataset", *fields)
            return {dataset: summarise(found) for dataset, found in by_dataset.items()}

        one: Any = get_type_hints(summarise).get("return", Any)
        summarise_all.__annotations__["return"] = dict[str, one]
        return summarise_all

    return decorate
