"""Do landmarks change the conclusions? The same fits with all pairs, with landmarks, and from another start.

A fit with landmarks ends elsewhere than one with all pairs, as does a fit from another random start: what landmarks
change is to be compared with what the start changes.
"""

from dataclasses import replace
from typing import Any

from ifair.experiments.plan import Earlier, Records, grouped, source_arguments, unit
from ifair.experiments.profiles import Profile
from ifair.experiments.protocol import classification_measures, classify, learn, prepared, settings_of
from ifair.experiments.runner import Unit
from ifair.experiments.statistics import spread

SIZES = (100, 300, 1000)
MOST_TRAINING = 3000
"""Records up to which all pairs are compared, as the estimator does by itself."""
MEASURES = ("AUC", "AUC of scores", "yNN", "Parity")
RATIOS = ((0.9, 0.1), (0.5, 0.5), (0.1, 0.9))
"""Weights of iFair under which pairs count."""


def units(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset with a label and split, iFair-b at the smallest K of the grid."""
    return [
        unit(
            f"{source.name}, split {seed + 1}",
            compare_pairs,
            **source_arguments(
                replace(source, most_training=min(source.most_training or MOST_TRAINING, MOST_TRAINING))
            ),
            seed=seed,
            grid={"K": profile.grid["K"][:1], "ratios": RATIOS},
            search={**profile.search, "n_restarts": 1},
            sizes=SIZES,
        )
        for source in profile.classification
        for seed in range(profile.n_splits)
    ]


def summarise(records: Records) -> dict[str, Any]:
    """By dataset and kind of fit: the change of each measure against all pairs (its size, and with its sign), and
    the records learned from."""
    found: dict[str, Any] = {}
    for dataset, results in grouped(records, "dataset").items():
        kinds = [kind for kind in results[0]["rows"][0]["test"] if kind != "all pairs"]
        found[dataset] = {"records": results[0]["records"], "kinds": {}}
        for kind in kinds:
            changes = {
                name: [
                    row["test"][kind][name] - row["test"]["all pairs"][name]
                    for result in results
                    for row in result["rows"]
                    if kind in row["test"]
                ]
                for name in MEASURES
            }
            found[dataset]["kinds"][kind] = {
                name: {"change": spread(values), "size": spread([abs(value) for value in values])}
                for name, values in changes.items()
            }
    return found


def compare_pairs(
    dataset: str,
    options: dict[str, Any],
    most: int | None,
    most_training: int | None,
    seed: int,
    grid: dict[str, Any],
    search: dict[str, Any],
    sizes: list[int],
) -> dict[str, Any]:
    """Test measures of iFair-b with all pairs, with so many landmarks, and with all pairs from another start.

    Parameters
    ----------
    dataset, options, most, most_training, seed, grid, search
        As in :func:`ifair.experiments.classification.evaluate`.
    sizes : list of int
        Numbers of landmarks; those that are not below the number of records are left out.

    Returns
    -------
    dict
        ``records`` learned from, and ``rows``: every ``setting`` with its measures on ``test`` by kind of fit.
    """
    parts = prepared(dataset, options, most, most_training, seed)
    n_records = len(parts.train.y)
    fits: dict[str, tuple[Any, int]] = {"all pairs": ("all", seed), "another start": ("all", seed + 1_000_003)}
    fits |= {f"{size:,} landmarks": (size, seed) for size in sizes if size < n_records}
    rows = []
    for setting in settings_of("ifair-b", grid):
        measures = {}
        for kind, (pairs, start) in fits.items():
            steps = learn("ifair-b", setting, parts.train, parts.protected, {**search, "pairs": pairs}, start)
            ((decisions, scores),) = classify(
                steps.transform(parts.train.X), parts.train.y, steps.transform(parts.test.X)
            )
            measures[kind] = classification_measures(parts.test, decisions, scores)
        rows.append({"setting": setting, "test": measures})
    return {"records": n_records, "rows": rows}
