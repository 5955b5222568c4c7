"""Beyond the paper: which option of iFair closes the gap to the rivals that do better?

Every variant is iFair-b with something changed, run over the same small grid on the same splits as the paper's own and
as the marks to beat: masked data, their principal components, and masked data merely multiplied by a factor below 1.
The last is there because a penalised classifier on smaller numbers gives more people the same answer, which the
consistency of labels rewards: what a representation reaches beyond that is its own merit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from ifair.datasets.registry import find_about
from ifair.experiments.outcomes import group_told, measured, utility_of
from ifair.experiments.plan import Earlier, Records, source_arguments, unit
from ifair.experiments.profiles import Profile, Source
from ifair.experiments.protocol import (
    Split,
    best,
    learn,
    prepared,
    settings_of,
)
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import compare, spreads
from ifair.tune import harmonic_mean, hypervolume, pareto_front

BASE = "paper"

_BLIND = {"freeze_protected": True, "utility_columns": "unprotected"}

VARIANTS: dict[str, dict[str, Any]] = {
    BASE: {},
    "small K": {"K": [5, 3, 2]},
    "p = 1": {"p": 1.0, "pairs": 30},
    "p = 3": {"p": 3.0, "pairs": 30},
    "uniform starts": {"init": "uniform"},
    "5 restarts": {"n_restarts": 5},
    "squared softmax": {"squared": True},
    "memberships": {"output": "membership"},
    "memberships, unit variance": {"output": "membership", "unit variance": True},
    "frozen": {"freeze_protected": True},
    "frozen, unprotected utility": _BLIND,
    "euclidean": {"fairness_distance": "euclidean"},
    "euclidean, frozen, unprotected utility": {"fairness_distance": "euclidean", **_BLIND},
    "principal start": {"init": "principal"},
    "principal start, frozen, unprotected utility": {"init": "principal", **_BLIND},
    "principal start, euclidean, frozen, unprotected utility": {
        "init": "principal",
        "fairness_distance": "euclidean",
        **_BLIND,
    },
}
"""By name what is changed of iFair-b. ``K`` is changed in the grid, which keeps its size; ``unit variance`` scales the
columns of the representation, as the encoder does those of the data."""

MARKS = ("masked", "svd-masked", "masked, scaled")
"""The marks to beat."""

OF_SCALE = ("masked, scaled", "memberships, unit variance")
"""What differs in scale alone. Rankings leave it out: linear regression has no penalty and does not notice."""

SCALES = [1.0, 0.3, 0.1, 0.03]
"""Factors of the last mark: to a classifier with an L2 penalty like penalties 1, 11, 100 and 1,111 times as strong."""

TASTE = (BASE, "small K", "frozen", "principal start, frozen, unprotected utility", *MARKS)
"""All that a profile with a single K tries."""

RATIOS = [[0.9, 0.1], [0.1, 0.9]]
"""Weights of utility and fairness: mostly the one, mostly the other."""

MOST, MOST_TRAINING, MOST_ITERATIONS = 2400, 300, 60
"""Limits on records, records to learn from and iterations that let many variants be tried, the same for all."""

MOST_CELLS = 10_000
"""Records x columns up to which an order p other than 2 is tried: it costs some fifty times more a pair."""


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset, split, variant and mark; those of one split in a row, for they share its preparation."""
    dimensions = profile.grid["K"][:2]
    grid = {"K": dimensions, "ratios": RATIOS}
    search = {**profile.search, "max_iter": min(profile.search["max_iter"], MOST_ITERATIONS)}
    taste = len(profile.grid["K"]) == 1
    sources = profile.classification if taste else (*profile.classification, *profile.ranking)
    return [
        unit(
            f"{source.name}, {variant}, split {seed + 1}",
            evaluate,
            **source_arguments(
                replace(
                    source,
                    most=min(source.most or MOST, MOST),
                    most_training=min(source.most_training or MOST_TRAINING, MOST_TRAINING),
                )
            ),
            seed=seed,
            variant=variant,
            grid=grid,
            search=search,
        )
        for source in sources
        for seed in range(profile.n_splits)
        for variant in (TASTE if taste else (*VARIANTS, *MARKS))
        if _applies(variant, source)
    ]


def _applies(variant: str, source: Source) -> bool:
    return variant not in OF_SCALE or find_about(source.name).task != "ranking"


def evaluate(
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    variant: str,
    grid: dict[str, Any],
    search: dict[str, Any],
) -> dict[str, Any]:
    """All settings of one variant on one split, and how well an adversary does on the best of them.

    Parameters
    ----------
    dataset, options, most, most_training, seed, grid, search
        As in :func:`ifair.experiments.classification.evaluate`, or for a dataset with queries as in
        :func:`ifair.experiments.ranking.evaluate`.
    variant : str
        One of ``VARIANTS`` or ``MARKS``.

    Returns
    -------
    dict
        ``rows``, for each setting the measures on validation and test; ``adversary``, the AUC on test of gradient
        boosting that tells the group from the setting with the best harmonic mean on validation. Or ``skipped``, the
        reason why nothing was tried.
    """
    parts = prepared(dataset, options, most, most_training, seed)
    cells = parts.train.X.size
    if VARIANTS.get(variant, {}).get("p", 2.0) != 2.0 and cells > MOST_CELLS:
        return {"skipped": f"{cells:,} cells to learn from, more than {MOST_CELLS:,}"}
    rows, seen = [], []
    for setting, mapped in representations(parts, variant, grid, search, seed):
        validation, test = measured(parts, mapped)
        rows.append({"setting": setting, "validation": validation, "test": test})
        seen.append(mapped)
    chosen = rows.index(best(rows, "optimal", utility=utility_of(parts.train)))  # type: ignore[arg-type]
    return {"rows": rows, "adversary": group_told(parts, seen[chosen][0], seen[chosen][2], "boosting", seed)}


def representations(
    parts: Split, variant: str, grid: Mapping[str, Any], search: Mapping[str, Any], seed: int
) -> Iterator[tuple[dict[str, Any], list[NDArray[np.float64]]]]:
    """Every setting of a variant, with the train, validation and test parts as it represents them."""
    three = (parts.train, parts.validation, parts.test)
    if variant == "masked, scaled":
        for factor in SCALES:
            yield {"scale": factor}, [factor * part.may_count for part in three]
        return
    method = variant if variant in MARKS else "ifair-b"
    changes = dict(VARIANTS.get(variant, {}))
    dimensions = changes.pop("K", grid["K"])[: len(grid["K"])]
    unit_variance = changes.pop("unit variance", False)
    for setting in settings_of(method, {**grid, "K": dimensions}):
        steps = learn(method, setting, parts.train, parts.protected, {**search, **changes}, seed)
        mapped = [np.asarray(steps.transform(part.X)) for part in three]
        if unit_variance:
            scaler = StandardScaler().fit(mapped[0])
            mapped = [scaler.transform(Z) for Z in mapped]
        yield setting, mapped


def summarise(records: Records) -> dict[str, Any]:
    """By dataset: what every variant reached over the splits, and how it compares with the paper's iFair-b.

    Returns
    -------
    dict
        By dataset ``utility`` (the name of the measure), ``variants``, by name mean and spread of ``hypervolume``,
        ``harmonic mean``, utility, yNN, score AUC or tau, and ``adversary``; ``against paper``, for hypervolume and
        harmonic mean the difference of the paper's less each other's, with p-values after Holm; ``ahead``, by variant
        the number of splits with more hypervolume than the paper's; ``skipped``, by variant the reason.
    """
    found: dict[str, dict[str, dict[int, Any]]] = {}
    for record in records:
        arguments = record["arguments"]
        by_variant = found.setdefault(arguments["dataset"], {})
        by_variant.setdefault(arguments["variant"], {})[arguments["seed"]] = record["result"]
    return {dataset: _summary(by_variant) for dataset, by_variant in found.items()}


def _summary(by_variant: Mapping[str, Mapping[int, Any]]) -> dict[str, Any]:
    skipped = {
        variant: result["skipped"]
        for variant, by_seed in by_variant.items()
        for result in by_seed.values()
        if "skipped" in result
    }
    reached = {
        variant: [outcome(by_seed[seed]) for seed in sorted(by_seed)]
        for variant, by_seed in by_variant.items()
        if variant not in skipped
    }
    against = {
        measure: compare(
            [row[measure] for row in reached[BASE]],
            {name: [row[measure] for row in rows] for name, rows in reached.items() if name != BASE},
        )
        for measure in ("hypervolume", "harmonic mean")
    }
    paper = [row["hypervolume"] for row in reached[BASE]]
    return {
        "utility": "MAP" if "MAP" in reached[BASE][0] else "AUC",
        "variants": {name: spreads(rows) for name, rows in reached.items()},
        "against paper": against,
        "ahead": {
            name: sum(row["hypervolume"] > base for row, base in zip(rows, paper)) for name, rows in reached.items()
        },
        "skipped": skipped,
    }


def outcome(result: Mapping[str, Any]) -> dict[str, float]:
    """One split of one variant in a few numbers, all on test, with the settings chosen on validation.

    Hypervolume is that of the settings on the validation front, above yNN 0.5 and AUC 0.5 (MAP 0), what guessing gets.
    """
    rows = result["rows"]
    utility, further = ("MAP", "KT") if "MAP" in rows[0]["test"] else ("AUC", "AUC of scores")
    validation, test = (
        np.array([[row[part][utility], row[part]["yNN"]] for row in rows]) for part in ("validation", "test")
    )
    chosen = best(rows, "optimal", utility=utility)["test"]
    return {
        "hypervolume": hypervolume(test[pareto_front(validation)], [0.0 if utility == "MAP" else 0.5, 0.5]),
        "harmonic mean": harmonic_mean(chosen[utility], chosen["yNN"]),
        utility: chosen[utility],
        "yNN": chosen["yNN"],
        further: chosen[further],
        "adversary": result["adversary"],
    }
