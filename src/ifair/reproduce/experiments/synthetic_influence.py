"""The synthetic study's claim: group membership hardly moves the iFair representation of the points."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ifair.metrics import flip_test
from ifair.report.blocks import Block, Finding, Heading, Table, Text
from ifair.reproduce import labels
from ifair.reproduce.case import Case
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Records, Unit, group_results, make_unit
from ifair.reproduce.experiments import synthetic_panels
from ifair.reproduce.experiments.synthetic_panels import SYNTHETIC, VARIANTS, draw_points, fit_points, map_to_plane
from ifair.reproduce.verdicts import judge_claim
from ifair.results import Results

COLLAPSED = 1e-3
"""Below this spread (that of the data is 1.4) all records have become one point, and distances say nothing."""

MEASURES = ("between_variants", "between_starts", "flip", "worst_flip")
HARDLY = 0.1
"""Of the representation's own spread: a record that moves less has hardly moved."""


class Quartiles(TypedDict):
    """Of so many settings and draws."""

    low: float
    median: float
    high: float
    n: int


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Both methods, for several draws of points."""
    return [
        make_unit(measure_influence, profile.case(SYNTHETIC, seed, method=method), method)
        for method in ("ifair", "lfr")
        for seed in range(profile.n_splits_untested)
    ]


def measure_influence(case: Case) -> list[dict[str, Any]]:
    """How far group membership moves the representation of a record, in X1 and X2, for every setting.

    The same setting, points and starts on each of the three variants, so that nothing but the group differs; nothing is
    aligned, for all representations live in the plane of the data. Distances are in units of the representation's own
    spread (root mean squared distance from its centre, mean of the variants): ``between_variants``, that between a
    record's two representations, mean over records and pairs of variants; ``between_starts``, the same between two
    random starts on the random variant, what would differ anyway; ``flip`` (mean) and ``worst_flip``, those that a
    record moves when only its A is changed and the model stays, over all variants. All are None where the
    representation has collapsed to a point. ``spread`` is in the encoded units of the data.
    """
    drawn = {variant: draw_points(variant, case) for variant in VARIANTS}
    another = replace(case, seed=case.seed + 1_000_003)
    fitted = {variant: fit_points(case, parts) for variant, parts in drawn.items()}
    rows = []
    for i, (setting, again) in enumerate(fit_points(another, drawn["random"])):
        models = {variant: fits[i][1] for variant, fits in fitted.items()}
        planes = {variant: map_to_plane(models[variant], parts.train.X) for variant, parts in drawn.items()}
        spread = float(np.mean([np.sqrt(np.var(Z, axis=0).sum()) for Z in planes.values()]))
        flips: list[Any] = [
            flip_test(parts.train.X, protected=["A"], transform=partial(map_to_plane, models[variant])).representation
            for variant, parts in drawn.items()
        ]
        moved = {
            "between_variants": float(
                np.mean([_mean_distance(planes[a], planes[b]) for a, b in combinations(VARIANTS, 2)])
            ),
            "between_starts": _mean_distance(planes["random"], map_to_plane(again, drawn["random"].train.X)),
            "flip": float(np.mean([flip.mean for flip in flips])),
            "worst_flip": max(flip.worst for flip in flips),
        }
        relative: Mapping[str, float | None] = {
            what: None if spread < COLLAPSED else distance / spread for what, distance in moved.items()
        }
        rows.append({"setting": setting, **relative, "spread": spread})
    return rows


def _mean_distance(Z: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return float(np.linalg.norm(Z - other, axis=1).mean())


def summarise(records: Records) -> dict[str, dict[str, Quartiles]]:
    """By method: medians and quartiles over settings and draws, without those in which all has become one point.

    Single settings that have shrunk nearly to a point do not move these.
    """
    found: dict[str, dict[str, Quartiles]] = {}
    for method, results in group_results(records, "method").items():
        rows = [row for some in results for row in some if row["flip"] is not None]
        found[method] = {}
        for name in MEASURES:
            low, median, high = np.quantile([row[name] for row in rows], (0.25, 0.5, 0.75)).tolist()
            found[method][name] = {"low": low, "median": median, "high": high, "n": len(rows)}
    return found


def _format_quartiles(found: Quartiles) -> str:
    return f"{found['median']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def section(found: dict[str, dict[str, Quartiles]], results: Results) -> list[Block]:
    """How far the group moves a record, beside what a random start does."""
    rows: list[list[Any]] = [["method", *(name.replace("_", " ") for name in MEASURES)]]
    rows += [[labels.method(m), *(_format_quartiles(by[name]) for name in MEASURES)] for m, by in found.items()]
    title: list[Block] = [] if synthetic_panels.EXPERIMENT.find(results) else [Heading("Synthetic data")]
    return [
        *title,
        Heading("Does group membership move the representation?", 3),
        Text(
            "How far a record's representation moves, in units of the representation's own spread, over all settings: "
            "between the three variants; between two random starts, which would differ anyway; and when nothing but "
            "its own membership is changed (flip: mean record, worst flip: the one that moves most). Medians over "
            "settings and draws, and quartiles: of a representation that has shrunk nearly to a point the unit is so "
            "small that a single one would decide a mean."
        ),
        Table(rows),
    ]


def judge(found: dict[str, dict[str, Quartiles]], results: Results) -> list[Finding]:
    """Group membership hardly matters."""
    ours, theirs = found["ifair"], found["lfr"]
    variants, starts, flip = (ours[name]["median"] for name in ("between_variants", "between_starts", "flip"))
    rival = theirs["between_variants"]["median"], theirs["flip"]["median"]
    return judge_claim(
        "Group membership hardly moves the representation that iFair learns (synthetic data), and moves LFR's much.",
        "In units of the representation's spread, in the median of settings and draws, a record moves no more between "
        f"the variants of group membership than between two random starts; less than {HARDLY} when only its own "
        "membership changes; and less than with LFR.",
        [
            (variants <= starts, f"between variants {variants:.3f}, between starts {starts:.3f}"),
            (flip < HARDLY, f"flip of a record's own membership: {flip:.3f}, worst {ours['worst_flip']['median']:.3f}"),
            (
                variants < rival[0] and flip < rival[1],
                f"LFR: between variants {rival[0]:.3f}, between starts {theirs['between_starts']['median']:.3f}, "
                f"flip {rival[1]:.3f}",
            ),
        ],
    )


EXPERIMENT = Experiment("influence", 20, plan, summarise, section, judge=judge)
