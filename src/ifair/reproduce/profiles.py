"""How much of the paper's evaluation is run: a taste, an evening, or all of it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ifair.models.ifair import IFair
from ifair.reproduce.case import Case
from ifair.reproduce.tradeoff import OURS

COEFFICIENTS = (0.0, 0.05, 0.1, 1.0, 10.0, 100.0)
"""The paper's grid of mixture coefficients."""

DIMENSIONS = (10, 20, 30)
"""The paper's grid of K."""

FEW_RATIOS = [(1.0, 0.0), (0.99, 0.01), (0.9, 0.1), (0.5, 0.5), (0.1, 0.9), (0.01, 0.99)]
TARGETS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
"""Shares p that FA*IR aims at; the paper's tables have 0.5, 0.6 and 0.9."""

NEW_JOBS = {"job_attribute": False}
"""Options of Xing where whole queries are held out: no job search that is judged was seen before."""

Limits = tuple[int | None, int | None]
"""Records of all, and to learn from, at most; None for no limit."""

FEW_COLUMNS = (2, 3, 5)
"""K for Xing without job searches: of its six columns ten prototypes or components lose next to nothing."""


def ratios(coefficients: tuple[float, ...] = COEFFICIENTS) -> list[tuple[float, float]]:
    """The distinct problems among all (lambda, mu) of a grid, as (lambda, mu), fairness weighing ever more.

    Multiplying both weights by one factor changes the loss and not where it is smallest: of the paper's 35 pairs
    (both 0 is none) only 17 differ.
    """
    shares = {round(mu / (lam + mu), 12) for lam in coefficients for mu in coefficients if lam + mu > 0}
    return [(1.0 - share, share) for share in sorted(shares)]


@dataclass(frozen=True, slots=True)
class Source:
    """A dataset of the registry, perhaps with at most so many of its records.

    Of these a third is learned from and a third measured, which tests and intervals take for granted.
    """

    name: str
    max_records: int | None = None
    options: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, Any] = field(default_factory=dict)  # what is tried here in place of what the profile tries
    landmarks: int | None = None  # records that iFair compares every record with, where all pairs would take too long
    n_splits: int | None = None  # fewer splits than the profile has, where fits take too long; None for no limit


@dataclass(frozen=True, slots=True)
class Profile:
    """Settings of all experiments."""

    n_splits: int  # random splits into thirds for the paper's tables, where methods are compared by tests
    n_splits_untested: int  # splits for everything that is printed without tests
    n_splits_decided: int  # splits for consistent decisions, of every dataset
    most_decided: int | None  # records of every dataset, for consistent decisions; None for all
    classification: tuple[Source, ...]
    ranking: tuple[Source, ...]
    grid: dict[str, Any]  # K, ratios of iFair's weights, lfr coefficients, p of FA*IR
    solver: dict[str, Any]

    def seeds(self, source: Source, *, tested: bool = True) -> range:
        """The splits of a dataset: as many as tests need, or fewer for what is printed without."""
        most = self.n_splits if tested else self.n_splits_untested
        return range(min(most, source.n_splits or most))

    def splits(self, sources: Sequence[Source], *, tested: bool = False) -> list[tuple[Source, int]]:
        """All splits of some datasets, dataset by dataset."""
        return [(source, seed) for source in sources for seed in self.seeds(source, tested=tested)]

    def limit_splits(self, most: int) -> "Profile":
        """The profile with at most so many splits."""
        names = ("n_splits", "n_splits_untested", "n_splits_decided")
        return replace(self, **{name: min(most, getattr(self, name)) for name in names})

    @property
    def tasks(self) -> dict[str, tuple[Source, ...]]:
        """The datasets of both experiments that try every setting, by its name."""
        return {"classification": self.classification, "ranking": self.ranking}

    @property
    def sources(self) -> tuple[Source, ...]:
        return (*self.classification, *self.ranking)

    @property
    def datasets(self) -> list[str]:
        return [source.name for source in self.sources]

    def grid_of(self, source: Source) -> dict[str, Any]:
        """What is tried on a dataset."""
        return {**self.grid, **source.grid}

    def case(self, source: Source, seed: int, most: Limits = (None, None), **changes: Any) -> Case:
        """A split of a dataset, or of a part of it with at ``most`` so many records of all, and to learn from.

        It has the grid and the solver of the profile; ``changes`` are fields of the case.
        """
        solver, method = dict(self.solver), changes.get("method", "")
        if source.landmarks and method.startswith("ifair"):
            solver["pairs"] = source.landmarks
        if method == "lfr":
            solver["init"] = "uniform"  # as the paper starts every method
        if method == OURS:
            longest = IFair().max_iter  # what we would use searches no longer
            solver["max_iter"] = min(solver.get("max_iter", longest), longest)
        records = min(filter(None, (source.max_records, most[0])), default=None)
        case = Case(source.name, seed, source.options, records, most[1], grid=self.grid_of(source), solver=solver)
        return replace(case, **changes)

    def only(self, names: Collection[str]) -> "Profile":
        """The profile with no datasets but those of these names."""
        kept: Any = {task: tuple(s for s in sources if s.name in names) for task, sources in self.tasks.items()}
        return replace(self, **kept)


PROFILES = {
    # Small enough for every change: German Credit is part of the package, Xing only where its files are.
    "smoke": Profile(
        n_splits=2,
        n_splits_untested=2,
        n_splits_decided=2,
        most_decided=900,
        classification=(Source("credit"),),
        ranking=(Source("xing", max_records=500, options=NEW_JOBS, grid={"K": [3]}),),
        grid={"K": [10], "ratios": [FEW_RATIOS[i] for i in (0, 3, 5)], "lfr": [0.05, 1.0], "p": [0.5, 0.9]},
        solver={"n_restarts": 1, "max_iter": 100, "tol": 0.01},
    ),
    "quick": Profile(
        n_splits=5,
        n_splits_untested=3,
        n_splits_decided=3,
        most_decided=3000,
        classification=(
            Source("compas", max_records=3000),
            Source("census", max_records=4500),
            Source("credit"),
        ),
        ranking=(
            Source("xing", options=NEW_JOBS, grid={"K": list(FEW_COLUMNS)}),
            Source("airbnb", max_records=3000),
        ),
        grid={"K": [10, 20], "ratios": FEW_RATIOS, "lfr": [0.05, 1.0, 100.0], "p": TARGETS},
        solver={"n_restarts": 1, "max_iter": 300, "tol": 0.003},
    ),
    "full": Profile(
        n_splits=20,
        n_splits_untested=5,
        n_splits_decided=10,
        most_decided=None,
        # All pairs of a third of Census are 265 million, and an evaluation of them takes 1.4 s on two cores.
        classification=(Source("compas"), Source("census", landmarks=1000, n_splits=3), Source("credit")),
        ranking=(
            Source("xing", options=NEW_JOBS, grid={"K": [*FEW_COLUMNS, *DIMENSIONS]}),
            Source("airbnb", n_splits=3),
        ),
        grid={"K": list(DIMENSIONS), "ratios": ratios(), "lfr": list(COEFFICIENTS), "p": TARGETS},
        solver={"n_restarts": 3, "max_iter": 3000, "tol": 0.0001},
    ),
}
