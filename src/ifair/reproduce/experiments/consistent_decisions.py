"""Beyond the paper: decisions smoothed over who is like whom, against every representation, on equal terms.

Every family of methods tries the same number of settings. They are chosen on validation data and measured on test data
in two planes that no constant decision wins: labels (AUC of labels and yNN, everybody selecting the same share of
people) and ranks (AUC of scores and consistency of ranks).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from ifair.evaluate.candidates import EUCLIDEAN, Candidate
from ifair.evaluate.fronts import front_volume
from ifair.evaluate.judgement import find_graders
from ifair.evaluate.measures import scale_to_unit
from ifair.evaluate.splits import Part, Split
from ifair.evaluate.statistics import Spread, compare, spread, spreads
from ifair.evaluate.training import fit_representation
from ifair.graph import NeighbourIndex, neighbour_graph, newcomer_scores, select, smooth
from ifair.metrics import (
    auc,
    average_precision_at_k,
    consistency,
    hard_auc,
    rank_consistency,
    statistical_parity,
)
from ifair.report.blocks import Block, Bullets, Heading, Line, Strong, Table, Text
from ifair.reproduce import labels
from ifair.reproduce.case import Case, prepare
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Records, Unit, make_unit
from ifair.results import Results

Floats = NDArray[np.float64]

NEIGHBOURS = 10
FOLDS = 5
STRENGTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
SQUARED_STRENGTHS = (0.05, 0.15, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Squares of differences below 1 are smaller than the differences: the same effect takes more strength."""
PENALTIES = (3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 1.0, 10.0)
"""C of logistic regression; its inverse is the penalty of the linear regression of rankings."""
COMPONENTS = (2, 3, 5, 8, 12, 20, 30, 50)
VOTERS = (5, 10, 20, 40, 60, 90, 130, 200)
LEAVES = (2, 3, 4, 6, 8, 12, 16, 31)
PROTOTYPES = tuple((k, share) for k in (5, 10, 20, 30) for share in (0.1, 0.9))
POST = ("consistent", "glif", "newcomers")
"""Post-processing: total variation of a batch, its squared sibling (Petersen et al. 2021), and people one at a time."""
INNER = ("linear", "boosting", "mean")
PLANES = {"labels": ("AUC", "yNN"), "ranks": ("score_AUC", "rank_consistency"), "ranking": ("MAP", "yNN")}
REFERENCES = {"labels": (0.5, 0.5), "ranks": (0.5, 0.0)}
FAMILIES = {
    "penalty": "masked, penalty tuned",
    "components": "masked, principal components",
    "leaves": "masked, boosted trees tuned",
    "voters": "masked, nearest neighbours vote",
    "prototypes": "iFair, protected weights frozen",
    "consistent": "consistent decisions",
    "glif": "GLIF (squared)",
    "newcomers": "consistent, one at a time",
}
ABOUT = """
Beyond the paper, for whoever decides themselves: scores of a model on masked data, smoothed over the ten people most
like each ("consistent decisions": the exact minimiser, see the mathematics). Every family has the same eight settings
per inner model. Settings on the front on validation data are measured on test data; hypervolumes are in hundredths.
Labels: AUC of labels above 0.5 and yNN above 0.5, everybody selecting the base rate. Ranks: AUC of scores above 0.5 and
consistency of ranks above 0. Rankings: MAP above 0 and yNN above that of masked data.
""".strip()


class Volumes(TypedDict):
    """One dataset: by plane and family the hypervolume over splits; how far ours is ahead of the best rival."""

    volumes: dict[str, dict[str, Spread]]
    ahead: dict[str, dict[str, Any]]
    effects: dict[str, dict[str, Spread]]


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset and split."""
    return [
        make_unit(f"{source.name}, split {seed + 1}", measure_families, profile.small_case(source, seed, method="all"))
        for source in (*profile.classification, *profile.ranking)
        for seed in profile.seeds(source, tested=False)
    ]


def measure_families(case: Case) -> dict[str, Any]:
    """All settings of all families on one split: measures on validation and test; and what smoothing does to people."""
    parts = prepare(case)
    judge = _judge_ranking if parts.task == "ranking" else _judge_scores
    rate = float(np.mean(parts.train.y)) if parts.task == "classification" else 0.0
    rows: dict[str, list[dict[str, Any]]] = {}
    for family, setting, held_out in _score_all(parts, case):
        found = {name: judge(part, scores, rate) for name, part, scores in _name_parts(parts, held_out)}
        rows.setdefault(family, []).append({"setting": setting, **found})
    effects = {} if parts.task == "ranking" else _measure_effects(parts, case, rate)
    return {"rows": rows, "effects": effects}


Scored = tuple[str, dict[str, Any], Sequence[Floats]]
"""The family, the setting, and the scores of the validation and of the test people."""


def _score_all(parts: Split, case: Case) -> Iterator[Scored]:
    train, held_out = parts.train, (parts.validation, parts.test)
    fits = _fit_classifier if parts.task == "classification" else _fit_regressor
    linear = [fits(_linear(parts.task, C), train.may_count, train.y) for C in PENALTIES]
    for C, score in zip(PENALTIES, linear):
        yield "penalty", {"C": C}, [score(part.may_count) for part in held_out]
    for k in COMPONENTS:
        svd = TruncatedSVD(min(k, train.may_count.shape[1]), random_state=case.seed).fit(train.may_count)
        score = fits(_linear(parts.task, 1.0), svd.transform(train.may_count), train.y)
        yield "components", {"K": k}, [score(svd.transform(part.may_count)) for part in held_out]
    trees = [fits(_make_booster(parts.task, case.seed, leaves), train.may_count, train.y) for leaves in LEAVES]
    for leaves, score in zip(LEAVES, trees):
        yield "leaves", {"leaves": leaves}, [score(part.may_count) for part in held_out]
    for k in VOTERS:
        kind = KNeighborsClassifier if parts.task == "classification" else KNeighborsRegressor
        score = fits(kind(min(k, len(train) - 1)), train.may_count, train.y)
        yield "voters", {"k": k}, [score(part.may_count) for part in held_out]
    for k, share in PROTOTYPES:
        candidate = Candidate("ifair-frozen", {"K": k, "lambda": 1 - share, "mu": share, **EUCLIDEAN})
        steps = fit_representation(candidate, train, case.seed, case.engine_solver(parts))
        score = fits(_linear(parts.task, 1.0), np.asarray(steps.transform(train.X)), train.y)
        scores = [score(np.asarray(steps.transform(part.X))) for part in held_out]
        yield "prototypes", {"K": k, "share": share}, scores
    yield from _score_smoothed(parts, case, fits, linear)


def _score_smoothed(parts: Split, case: Case, fits: Any, linear: Sequence[Callable[[Any], Floats]]) -> Iterator[Scored]:
    """Every post-processing of every inner model at every strength."""
    held_out = (parts.validation, parts.test)
    graphs = [neighbour_graph(neighbours=part.neighbours) for part in held_out]
    index = NeighbourIndex(parts.train.may_count)
    nearest = [index.nearest(part.may_count, NEIGHBOURS)[0] for part in held_out]
    own = neighbour_graph(parts.train.may_count, NEIGHBOURS, query=parts.train.query)
    for name, plain, out_of_fold in _inner_models(parts, case, fits, linear):
        for strength in SQUARED_STRENGTHS:
            smoothed = [smooth(p, W, strength, "squared") for p, W in zip(plain, graphs)]
            yield f"glif, {name}", {"inner": name, "strength": strength}, smoothed
        for strength in STRENGTHS:
            setting = {"inner": name, "strength": strength}
            yield f"consistent, {name}", setting, [smooth(p, W, strength) for p, W in zip(plain, graphs)]
            reference = smooth(out_of_fold, own, strength)
            one_by_one: list[Any] = [newcomer_scores(p, reference[near], strength) for p, near in zip(plain, nearest)]
            yield f"newcomers, {name}", setting, one_by_one


def _inner_models(
    parts: Split, case: Case, fits: Any, linear: Sequence[Callable[[Any], Floats]]
) -> Iterator[tuple[str, list[Floats], Floats]]:
    """Name, scores of the held-out parts, and out-of-fold scores of the training people; rankings in units of 1."""
    train, held_out = parts.train, (parts.validation, parts.test)
    best = int(np.argmax([_utility(parts.validation, score(parts.validation.may_count)) for score in linear]))
    makers = {
        "linear": lambda: _linear(parts.task, PENALTIES[best]),
        "boosting": lambda: _make_booster(parts.task, case.seed, LEAVES[-1]),
    }
    width = np.ptp(train.y) or 1.0 if parts.task == "ranking" else 1.0
    scored: dict[str, tuple[list[Floats], Floats]] = {}
    for name, make in makers.items():
        score = fits(make(), train.may_count, train.y)
        method = "predict_proba" if parts.task == "classification" else "predict"
        held = cross_val_predict(make(), train.may_count, train.y, cv=FOLDS, method=method)
        out_of_fold = held[:, 1] if held.ndim == 2 else held
        scored[name] = [score(part.may_count) / width for part in held_out], out_of_fold / width
    means = [np.mean(both, axis=0) for both in zip(*(plain for plain, _ in scored.values()))]
    scored["mean"] = means, np.mean([held for _, held in scored.values()], axis=0)
    for name in INNER:
        yield name, *scored[name]


def _measure_effects(parts: Split, case: Case, rate: float) -> dict[str, dict[str, float]]:
    """What smoothing the better inner model does to groups, calibration and people, before and after, on test."""
    train, test = parts.train, parts.test
    model = _make_booster(parts.task, case.seed, LEAVES[-1]).fit(train.may_count, train.y)
    plain = model.predict_proba(test.may_count)[:, 1]
    graph = neighbour_graph(neighbours=test.neighbours)
    after = smooth(plain, graph, STRENGTHS[3])
    chosen = [select(scores, rate=rate, priority=plain).chosen for scores in (plain, after)]
    changed = chosen[0] != chosen[1]
    graders = find_graders(parts)
    found = {}
    for name, scores, picked in zip(("before", "after"), (plain, after), chosen):
        found[name] = {
            "AUC": auc(test.y, scores),
            "rank_consistency": rank_consistency(scores, neighbours=test.neighbours),
            **{f"rank_consistency_{key}": rank_consistency(scores, neighbours=near) for key, near in graders.items()},
            "parity": statistical_parity(test.y, picked.astype(int), sensitive_features=test.group),
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


def _judge_scores(part: Part, scores: Floats, rate: float) -> dict[str, float]:
    chosen = select(scores, rate=rate).chosen.astype(int)
    return {
        "AUC": hard_auc(part.y, chosen),
        "yNN": consistency(chosen, neighbours=part.neighbours, kind="label"),
        "score_AUC": auc(part.y, scores),
        "rank_consistency": rank_consistency(scores, neighbours=part.neighbours),
    }


def _judge_ranking(part: Part, scores: Floats, rate: float) -> dict[str, float]:
    queries = [
        (
            average_precision_at_k(part.y[rows], scores[rows], k=10),
            consistency(scale_to_unit(scores[rows]), neighbours=near, kind="score"),
        )
        for rows, near in part.rankings
    ]
    return dict(zip(("MAP", "yNN"), np.mean(queries, axis=0).tolist()))


def summarise(records: Records) -> dict[str, Volumes]:
    """Hypervolumes by dataset, plane and family; ours against the best that is no post-processing."""
    by_dataset: dict[str, list[Any]] = {}
    for record in records:
        by_dataset.setdefault(record.case.dataset, []).append(record.result)
    return {dataset: _summarise_dataset(found) for dataset, found in by_dataset.items()}


def _summarise_dataset(found: list[Any]) -> Volumes:
    sample = next(iter(found[0]["rows"].values()))[0]["test"]
    planes = ("ranking",) if "MAP" in sample else ("labels", "ranks")
    volumes: dict[str, dict[str, Spread]] = {}
    ahead: dict[str, dict[str, Any]] = {}
    for plane in planes:
        measured: dict[str, list[float]] = {}
        for one in found:
            least = REFERENCES.get(plane) or (0.0, one["rows"]["penalty"][-1]["test"]["yNN"])
            for family, rows in one["rows"].items():
                measured.setdefault(family, []).append(100 * front_volume(rows, PLANES[plane], least))
        volumes[plane] = {family: spread(values) for family, values in measured.items()}
        ahead[plane] = _compare_families(measured)
    effects = {name: spreads([one["effects"][name] for one in found if one["effects"]]) for name in found[0]["effects"]}
    return {"volumes": volumes, "ahead": ahead, "effects": effects}


def _compare_families(measured: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Our best family (by its mean) against the best rival of each kind, split by split."""

    def best(kinds: Sequence[str]) -> str:
        return max((f for f in measured if f.partition(",")[0] in kinds), key=lambda f: float(np.mean(measured[f])))

    ours, rival = best(("consistent",)), best([f for f in FAMILIES if f not in POST])
    glif, newcomers = best(("glif",)), best(("newcomers",))
    mean = {family: float(np.mean(measured[family])) for family in (ours, rival, glif, newcomers)}
    tests = compare(measured[ours], {rival: measured[rival], glif: measured[glif]})
    return {
        "ours": ours,
        "rival": rival,
        "glif": glif,
        "ratio": mean[ours] / mean[rival] if mean[rival] > 0 else None,
        "ratio_to_glif": mean[ours] / mean[glif] if mean[glif] > 0 else None,
        "newcomers_to_batch": mean[newcomers] / mean[ours] if mean[ours] > 0 else None,
        "comparisons": tests,
    }


def section(found: dict[str, Volumes], results: Results) -> list[Block]:
    """A table per plane, what it says, and what smoothing does to people."""
    blocks: list[Block] = [Heading("Consistent decisions"), Text(ABOUT)]
    for plane in PLANES:
        chosen = {dataset: one["volumes"][plane] for dataset, one in found.items() if plane in one["volumes"]}
        if chosen:
            blocks += [Heading(f"Hypervolumes: {plane}", 3), Table(_tabulate(chosen))]
            blocks.append(Bullets([_describe(dataset, found[dataset]["ahead"][plane]) for dataset in chosen]))
    effects = {dataset: one["effects"] for dataset, one in found.items() if one["effects"]}
    if effects:
        blocks += [
            Heading("What it does to people", 3),
            Text(
                f"Boosted trees before and after smoothing with a strength of {STRENGTHS[3]}, on test, means of splits."
            ),
            Table(_tabulate_effects(effects)),
        ]
    return blocks


def _tabulate(chosen: Mapping[str, Mapping[str, Spread]]) -> list[list[str]]:
    families = list(dict.fromkeys(family for by in chosen.values() for family in by))
    rows = [["", *map(labels.dataset, chosen)]]
    for family in families:
        kind, _, inner = family.partition(", ")
        name = FAMILIES[kind] + (f", {inner}" if inner else "")
        cells = [f"{by[family]['mean']:.1f} ± {by[family]['sd']:.1f}" for by in chosen.values() if family in by]
        rows.append([name, *cells])
    return rows


def _describe(dataset: str, ahead: Mapping[str, Any]) -> Line:
    def times(value: float | None) -> str:
        return "no number of" if value is None else f"{value:.2f}"

    return (
        Strong(labels.dataset(dataset)),
        f": {times(ahead['ratio'])} times the best rival that is no post-processing ({ahead['rival']}), "
        f"{times(ahead['ratio_to_glif'])} times GLIF; one by one {times(ahead['newcomers_to_batch'])} times a batch.",
    )


def _tabulate_effects(effects: Mapping[str, Any]) -> list[list[str]]:
    rows = [["", *(f"{labels.dataset(d)}, {when}" for d in effects for when in ("before", "after"))]]
    for name in next(iter(effects.values()))["before"]:
        cells = [f"{one[when][name]['mean']:.3f}" for one in effects.values() for when in ("before", "after")]
        rows.append([name.replace("_", " "), *cells])
    for name in ("share", "protected", "others"):
        words = "decisions changed" if name == "share" else f"decisions changed, {name}"
        rows.append([words, *(c for one in effects.values() for c in ("", f"{one['changed'][name]['mean']:.3f}"))])
    return rows


def _name_parts(parts: Split, scores: Sequence[Floats]) -> Iterator[tuple[str, Part, Floats]]:
    yield from zip(("validation", "test"), (parts.validation, parts.test), scores)


def _utility(part: Part, scores: Floats) -> float:
    return auc(part.y, scores) if part.query is None else _judge_ranking(part, scores, 0.0)["MAP"]


def _linear(task: str, C: float) -> Any:
    return LogisticRegression(C=C, max_iter=2000) if task == "classification" else Ridge(1.0 / C)


def _make_booster(task: str, seed: int, leaves: int) -> Any:
    kind = HistGradientBoostingClassifier if task == "classification" else HistGradientBoostingRegressor
    return kind(max_leaf_nodes=leaves, max_iter=100, learning_rate=0.06, random_state=seed)


def _fit_classifier(model: Any, X: Any, y: Any) -> Callable[[Any], Floats]:
    model.fit(X, y)
    return lambda Z: model.predict_proba(Z)[:, 1]


def _fit_regressor(model: Any, X: Any, y: Any) -> Callable[[Any], Floats]:
    model.fit(X, y)
    return lambda Z: np.asarray(model.predict(Z), dtype=np.float64)


EXPERIMENT = Experiment("consistent", place=130, plan=plan, summarise=summarise, section=section, by_dataset=True)
