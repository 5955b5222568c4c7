"""Beyond the paper: decisions smoothed over who is like whom, against every representation, on equal terms."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ifair.evaluate.fronts import collect_points, front_volume
from ifair.evaluate.judgement import find_graders
from ifair.evaluate.measures import scale_to_unit
from ifair.evaluate.splits import Part, Split
from ifair.evaluate.statistics import Comparison, Spreads, compare, spread, spreads
from ifair.graph import neighbour_graph, select, smooth
from ifair.metrics import adversary, auc, consistency, equal_opportunity, hard_auc, rank_consistency, statistical_parity
from ifair.report.blocks import Block, Bullets, Heading, Line, Picture, Table, Text
from ifair.report.pictures import add_legend, light_grid, new_figure
from ifair.reproduce import labels
from ifair.reproduce.case import Case, prepare
from ifair.reproduce.experiment import Earlier, Experiment, Figures, Profile, Unit, for_each_dataset, make_unit
from ifair.reproduce.score_families import POST, STRENGTHS, ScoreFamilies, mean_precision
from ifair.reproduce.tradeoff import find_front
from ifair.reproduce.verdicts import format_difference
from ifair.results import Results

Floats = NDArray[np.float64]
Rows = Sequence[Mapping[str, Any]]

PLANES = {
    "labels": ("AUC", "yNN"),
    "thresholds": ("AUC", "yNN"),
    "ranks": ("score_AUC", "rank_consistency"),
    "ranking": ("MAP", "yNN"),
}
REFERENCES = {"labels": (0.5, 0.5), "thresholds": (0.5, 0.5), "ranks": (0.5, 0.0)}
RATES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Shares of the validation people that thresholds select; everybody tries the same ones."""
EFFECT = STRENGTHS[3]
"""The strength at which is told what smoothing does to people."""
GRADERS = {
    "rank_consistency": "consistency of ranks",
    "rank_consistency_k5": "the same by 5 neighbours",
    "rank_consistency_k20": "the same by 20 neighbours",
    "rank_consistency_mahalanobis": "the same by Mahalanobis neighbours",
}
"""What measures are called whose names say whose neighbours judge."""
ABOUT = """
Beyond the paper, for whoever decides themselves: scores of a model on masked data, smoothed over the ten people most
like each ("consistent decisions": the exact minimiser, see the mathematics). Every family has the same eight settings
per inner model. Settings on the front on validation data are measured on test data; hypervolumes are in hundredths.
Labels: AUC of labels above 0.5 and yNN above 0.5, everybody selecting the base rate. Thresholds: the same plane, every
setting with eight thresholds. Ranks: AUC of scores above 0.5 and consistency of ranks above 0. Rankings: MAP above 0
and yNN above that of masked data. ± is the standard deviation over splits; differences have 95 % intervals that allow
for splits of one table overlapping. Of a large table iFair's prototypes are learned from 1,500 people.
""".strip()


class Lead(TypedDict):
    """Our best family, the best rival and the best GLIF in a plane, and the one against the others.

    Ratios are of mean hypervolumes, None where there is nothing to divide by.
    """

    ours: str
    rival: str
    glif: str
    ratio: float | None
    ratio_to_glif: float | None
    newcomers_to_batch: float | None
    comparisons: dict[str, Comparison]


class Effects(TypedDict, total=False):
    """What smoothing does to people: measures before and after, whom it changes, and differences; none of rankings."""

    before: Spreads
    after: Spreads
    changed: Spreads
    change: dict[str, Comparison]
    gap: dict[str, Comparison]


class Decided(TypedDict):
    """By plane and family the hypervolumes and the settings' points on test; how far ours is ahead; and effects."""

    volumes: dict[str, Spreads]
    ahead: dict[str, Lead]
    effects: Effects
    points: dict[str, dict[str, list[list[float]]]]


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset and split."""
    return [
        make_unit(measure_decisions, profile.case(source, seed, (profile.most_decided, None), method="all"))
        for source in profile.sources
        for seed in range(profile.n_splits_decided)
    ]


def measure_decisions(case: Case) -> dict[str, Any]:
    """All settings of all families on one split: measures on validation and test; and what smoothing does to people."""
    parts = prepare(case)
    families, rate = ScoreFamilies(parts, case), float(np.mean(parts.train.y))
    rows: dict[str, list[dict[str, Any]]] = {}
    for family, setting, (chosen_on, judged_on) in families:
        thresholds = np.quantile(chosen_on, [1 - share for share in RATES])
        validation = _judge_scores(parts.validation, chosen_on, rate, thresholds)
        test = _judge_scores(parts.test, judged_on, rate, thresholds)
        rows.setdefault(family, []).append({"setting": setting, "validation": validation, "test": test})
    ranking = parts.task == "ranking"
    effects = {} if ranking else _measure_effects(parts, families.inner_models["boosting"][0][1], rate)
    return {"rows": rows, "effects": effects}


def _judge_scores(part: Part, scores: Floats, rate: float, thresholds: Floats) -> dict[str, Any]:
    if part.query is not None:
        same = [consistency(scale_to_unit(scores[rows]), neighbours=near, kind="score") for rows, near in part.rankings]
        return {"MAP": mean_precision(part, scores), "yNN": float(np.mean(same))}
    chosen = select(scores, rate=rate).chosen.astype(int)
    return {
        "AUC": hard_auc(part.y, chosen),
        "yNN": consistency(chosen, neighbours=part.neighbours, kind="label"),
        "score_AUC": auc(part.y, scores),
        "rank_consistency": rank_consistency(scores, neighbours=part.neighbours),
        "thresholds": judge_thresholds(part.y, scores, thresholds, part.neighbours),
    }


def judge_thresholds(y: Floats, scores: Floats, thresholds: Floats, near: NDArray[np.intp]) -> list[dict[str, float]]:
    """AUC of labels and yNN of selecting whoever is above a threshold; of all thresholds at once, for there are many.

    Examples
    --------
    >>> judge_thresholds(np.array([0, 1, 1]), np.array([0.1, 0.4, 0.8]), np.array([0.3]), np.array([[1], [2], [1]]))
    [{'AUC': 1.0, 'yNN': 0.6666666666666667}]
    """
    chosen = scores[:, None] > thresholds
    utility = 0.5 * (1 + chosen[y == 1].mean(axis=0) - chosen[y == 0].mean(axis=0))
    unlike = (chosen[near] != chosen[:, None]).mean(axis=(0, 1))
    return [{"AUC": float(a), "yNN": float(1 - b)} for a, b in zip(utility, unlike)]


def _measure_effects(parts: Split, plain: Floats, rate: float) -> dict[str, dict[str, float]]:
    """What smoothing the scores of the test people does to groups, calibration and people, before and after."""
    test = parts.test
    after = smooth(plain, neighbour_graph(neighbours=test.neighbours), EFFECT)
    chosen = [select(scores, rate=rate, priority=plain).chosen for scores in (plain, after)]
    changed = chosen[0] != chosen[1]
    graders = find_graders(parts)
    found = {}
    for name, scores, picked in zip(("before", "after"), (plain, after), chosen):
        decisions = picked.astype(int)
        found[name] = {
            "AUC": auc(test.y, scores),
            "rank_consistency": rank_consistency(scores, neighbours=test.neighbours),
            **{f"rank_consistency_{key}": rank_consistency(scores, neighbours=near) for key, near in graders.items()},
            "parity": statistical_parity(test.y, decisions, sensitive_features=test.group),
            "equal_opportunity": equal_opportunity(test.y, decisions, sensitive_features=test.group),
            "adversary_AUC": adversary(scores[:, None], sensitive_features=test.group).auc,
            "calibration_error": calibration_error(test.y, scores),
        }
    found["changed"] = {
        "share": float(changed.mean()),
        "protected": float(changed[test.group].mean()) if test.group.any() else 0.0,
        "others": float(changed[~test.group].mean()) if (~test.group).any() else 0.0,
    }
    return found


def calibration_error(y: Floats, chances: Floats, bins: int = 10) -> float:
    """Mean difference between predicted chances and what came true, over bins of as many people each.

    Examples
    --------
    >>> calibration_error(np.array([0, 1, 0, 1]), np.array([0.5, 0.5, 0.5, 0.5]), bins=1)
    0.0
    """
    parts = np.array_split(np.argsort(chances, kind="stable"), bins)
    gaps = [len(rows) * abs(np.mean(y[rows]) - np.mean(chances[rows])) for rows in parts if len(rows)]
    return float(np.sum(gaps) / len(y))


@for_each_dataset()
def summarise(found: list[Any]) -> Decided:
    """Hypervolumes over splits, and what smoothing does to people."""
    # In the files of units the model inside stands after a comma.
    by_split = [{family.replace(", ", "-"): rows for family, rows in one["rows"].items()} for one in found]
    sample = next(iter(by_split[0].values()))[0]["test"]
    planes = ("ranking",) if "MAP" in sample else ("labels", "thresholds", "ranks")
    volumes, ahead, points = {}, {}, {}
    for plane in planes:
        measures = PLANES[plane]
        least = [REFERENCES.get(plane) or (0.0, one["penalty"][-1]["test"]["yNN"]) for one in by_split]
        by_family = {f: [_rows_of_plane(one[f], plane) for one in by_split] for f in by_split[0]}
        measured = {
            family: [100 * front_volume(rows, measures, corner) for rows, corner in zip(splits, least)]
            for family, splits in by_family.items()
        }
        volumes[plane] = {family: spread(values) for family, values in measured.items()}
        ahead[plane] = _compare_families(measured)
        points[plane] = {
            family: np.mean([collect_points(rows, "test", measures) for rows in splits], axis=0).tolist()
            for family, splits in by_family.items()
        }
    effects = [one["effects"] for one in found if one["effects"]]
    of_people = _summarise_effects(effects) if effects else {}
    return {"volumes": volumes, "ahead": ahead, "effects": of_people, "points": points}


def _rows_of_plane(rows: Rows, plane: str) -> Rows:
    """The settings with their measures; where thresholds are tuned too, every setting at every threshold."""
    if plane != "thresholds":
        return rows
    return [
        {"validation": on_validation, "test": on_test}
        for row in rows
        for on_validation, on_test in zip(row["validation"]["thresholds"], row["test"]["thresholds"])
    ]


def _summarise_effects(effects: Sequence[Mapping[str, Mapping[str, float]]]) -> Effects:
    """Means of all measures, and with intervals what changed and whether one group is changed more often."""
    before, after, changed = ([one[name] for one in effects] for name in ("before", "after", "changed"))

    def subtract(one: str, other: str, when: Sequence[Mapping[str, float]], then: Any) -> Comparison:
        return compare([row[one] for row in when], {"": [row[other] for row in then]})[""]

    return {
        "before": spreads(before),
        "after": spreads(after),
        "changed": spreads(changed),
        "change": {name: subtract(name, name, after, before) for name in after[0]},
        "gap": {"changed": subtract("protected", "others", changed, changed)},
    }


def _compare_families(measured: Mapping[str, Sequence[float]]) -> Lead:
    """Our best family (by its mean) against the best rival of each kind, split by split."""

    def best(kinds: Sequence[str]) -> str:
        return max((f for f in measured if f.partition("-")[0] in kinds), key=lambda f: float(np.mean(measured[f])))

    ours, rival = best(("consistent",)), best([f for f in labels.FAMILIES if f not in POST])
    glif, newcomers = best(("glif",)), best(("newcomers",))
    mean = {family: float(np.mean(measured[family])) for family in (ours, rival, glif, newcomers)}
    return {
        "ours": ours,
        "rival": rival,
        "glif": glif,
        "ratio": mean[ours] / mean[rival] if mean[rival] > 0 else None,
        "ratio_to_glif": mean[ours] / mean[glif] if mean[glif] > 0 else None,
        "newcomers_to_batch": mean[newcomers] / mean[ours] if mean[ours] > 0 else None,
        "comparisons": compare(measured[ours], {rival: measured[rival], glif: measured[glif]}),
    }


def section(found: dict[str, Decided], results: Results) -> list[Block]:
    """A table per plane, what it says, and what smoothing does to people."""
    blocks: list[Block] = [Heading("Consistent decisions"), Text(ABOUT)]
    for plane in PLANES:
        chosen = {dataset: one["volumes"][plane] for dataset, one in found.items() if plane in one["volumes"]}
        if chosen:
            blocks += [Heading(f"Hypervolumes: {plane}", 3), Table(_tabulate(chosen))]
            blocks.append(Bullets([_describe(dataset, found[dataset]["ahead"][plane]) for dataset in chosen]))
    blocks += [
        Picture(
            f"decisions-{dataset}",
            f"{labels.dataset(dataset)}: the settings of every family that no other of its settings beats, means over "
            "the test parts; of post-processing with the inner model whose front covers most.",
        )
        for dataset in found
    ]
    effects = {dataset: one["effects"] for dataset, one in found.items() if one["effects"]}
    if effects:
        blocks += [
            Heading("What it does to people", 3),
            Text(
                f"Boosted trees before and after smoothing with a strength of {EFFECT}, on test, means of splits, and "
                "differences with 95 % intervals. Parity, equal opportunity and changed decisions are of selecting the "
                "base rate before and after. The adversary guesses the protected group from the score (0.5 is chance). "
                "The calibration error is the mean difference between predicted chances and what came true, by tenths."
            ),
        ]
        for dataset, one in effects.items():
            blocks += [Text(f"{labels.dataset(dataset)}:"), Table(_tabulate_effects(one))]
    return blocks


def _tabulate(chosen: Mapping[str, Spreads]) -> list[list[str]]:
    rows = [["", *map(labels.dataset, chosen)]]
    for family in next(iter(chosen.values())):
        cells = [f"{by[family]['mean']:.1f} ± {by[family]['sd']:.1f}" for by in chosen.values()]
        rows.append([labels.family(family), *cells])
    return rows


def _describe(dataset: str, ahead: Lead) -> Line:
    def times(value: float | None) -> str:
        return "no number of" if value is None else f"{value:.2f}"

    by = {name: format_difference(one) for name, one in ahead["comparisons"].items()}
    return labels.line(
        dataset,
        f": {times(ahead['ratio'])} times the best rival that is no post-processing, {labels.family(ahead['rival'])} "
        f"({by[ahead['rival']]}), {times(ahead['ratio_to_glif'])} times GLIF ({by[ahead['glif']]}); one by one "
        f"{times(ahead['newcomers_to_batch'])} times a batch.",
    )


def _tabulate_effects(effects: Effects) -> list[list[str]]:
    rows = [["", "before", "after", "difference"]]
    for name, differs in effects["change"].items():
        cells = [f"{effects[when][name]['mean']:.3f}" for when in ("before", "after")]
        rows.append([GRADERS.get(name) or labels.measure(name), *cells, format_difference(differs, 3)])
    gap = f"{format_difference(effects['gap']['changed'], 3)} to others"
    words = {"share": "decisions changed", "others": "of others", "protected": "of protected people"}
    for name, text in words.items():
        rows.append([text, "", f"{effects['changed'][name]['mean']:.3f}", gap if name == "protected" else ""])
    return rows


def draw(found: dict[str, Decided], results: Results) -> Figures:
    """The fronts of every family, a picture per dataset and a panel per plane."""
    figures: Figures = {}
    for dataset, one in found.items():
        figure = new_figure(4.6, 9.0)
        panels = figure.subplots(1, len(one["points"]), squeeze=False)[0]
        for axes, (plane, points) in zip(panels, one["points"].items()):
            light_grid(axes)
            volumes = one["volumes"][plane]
            for number, kind in enumerate(labels.FAMILIES):
                family = max((f for f in points if f.partition("-")[0] == kind), key=lambda f: volumes[f]["mean"])
                front, line = find_front(np.asarray(points[family])), "o-" if kind in POST else "s--"
                axes.plot(*front.T, line, color=f"C{number}", markersize=4, linewidth=1.2, label=labels.FAMILIES[kind])
            axes.set_title(plane, fontsize=9)
            axes.set_xlabel(PLANES[plane][0].replace("_", " "))
            axes.set_ylabel(PLANES[plane][1].replace("_", " "))
        add_legend(figure, panels, 4, fontsize=8)
        figures[f"decisions-{dataset}"] = figure
    return figures


EXPERIMENT = Experiment(
    "consistent", place=130, plan=plan, summarise=summarise, section=section, draw=draw, by_dataset=True
)
