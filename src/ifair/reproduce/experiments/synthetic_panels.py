"""The synthetic study: nine panels with their boundaries. Experiment 1 of the paper.

The paper measures on the points that it learns from, a hundred of them, and so do we. Its panels show X1 and X2, and
its classifier draws one line through each: the classifier is therefore trained on these two columns of the
representation, which has learned from all three.
"""

from dataclasses import replace
from statistics import fmean
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from ifair.evaluate.candidates import make_model
from ifair.evaluate.measures import classification_measures
from ifair.evaluate.rules import choose
from ifair.evaluate.splits import Split
from ifair.evaluate.statistics import Spread, Spreads, spreads
from ifair.evaluate.training import Trained, fit_model
from ifair.report.blocks import Block, Finding, Heading, Picture, Table, Text, add_sign
from ifair.report.pictures import BLUE, ORANGE, Figure, add_legend, new_figure
from ifair.reproduce import labels
from ifair.reproduce.case import Case, prepare, train_grid
from ifair.reproduce.experiment import Earlier, Experiment, Figures, Profile, Records, Source, Unit, make_unit
from ifair.reproduce.verdicts import format_spread, judge_claim
from ifair.results import Results

METHODS = {"original": "full", "ifair": "ifair-b", "lfr": "lfr"}
"""Columns of the figure, and the representations that they show."""
LEARNED = ("ifair", "lfr")
"""Those that have prototypes."""

PLANE = ["X1", "X2"]
N_POINTS = 100
SYNTHETIC = Source("synthetic", N_POINTS, grid={"K": [2]})
"""With as many prototypes as there are columns, three, nearly every point could stay, and nothing would show."""
OTHER_SIZES = (3, 10)
"""Other K, which the paper may have had: what they change is told among the deviations."""

MEASURES = ("Acc", "yNN", "Parity", "EqOpp")
VARIANTS = {"random": "A at random", "x1": "A = 1 where X1 ≤ 3", "x2": "A = 1 where X2 ≤ 3"}
RULES = {
    "fairest": "under the fairest rule, as in the paper",
    "balanced": "under the balanced rule, with accuracy for utility",
}


FAR = 1.5
"""Points further from the middle of the data than so many times their width have axes of their own."""


class ChosenPoints(TypedDict):
    """What a rule chose on one draw: its measures, where the records are (X1, X2, in the units of the data), and the
    line a X1 + b X2 + c = 0 of the classifier, Y = 1 where it is positive."""

    setting: dict[str, Any]
    measures: dict[str, float]
    positions: list[list[float]]
    boundary: list[float]


class Panel(TypedDict):
    """The points of one draw, and what each rule chose."""

    labels: list[int]
    groups: list[int]
    chosen: dict[str, ChosenPoints]


class Drawn(TypedDict):
    """By rule the measures over all draws, the panel of the first, and by K and rule the measures with another one."""

    measures: dict[str, Spreads]
    panel: Panel
    other_sizes: dict[str, dict[str, Spreads]]


Study = dict[str, dict[str, Drawn]]
"""By variant and method."""


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every panel of the figure, for several draws of points; and what prototypes represent with other K."""
    cases = [
        profile.case(source, seed, method=method, options={"variant": variant})
        for variant in VARIANTS
        for method in METHODS
        for source in (SYNTHETIC, *(replace(SYNTHETIC, grid={"K": [k]}) for k in OTHER_SIZES))
        if source is SYNTHETIC or method in LEARNED
        for seed in range(profile.n_splits_untested)
    ]
    return [make_unit(measure_panel, one, one.options["variant"], one.method, f"K = {_size(one)}") for one in cases]


def _size(case: Case) -> int:
    (k,) = case.grid["K"]
    return int(k)


def measure_panel(case: Case) -> dict[str, Any]:
    """One panel of the figure, at the fairest and at the balanced setting of the grid.

    The option ``variant`` of the case says who is in the protected group, ``max_records`` how many points are drawn.
    Under ``fairest``, the paper's rule, the most accurate of settings equally fair is chosen; ``balanced``, with
    accuracy for utility, does not reward one label for everybody.
    """
    parts = draw_points(case.options["variant"], case)
    part, encoder = parts.train, parts.train.encoder
    tried = []
    for setting, trained in fit_points(case, parts):
        Z = map_to_plane(trained, part.X)
        model = fit_model(make_model("linear", "classification", case.seed), Z, part)
        measures = classification_measures(part, model.predict(Z), model.predict_proba(Z)[:, 1])
        tried.append((setting, measures, Z, model))
    tried.sort(key=lambda one: -one[1]["Acc"])
    chosen = {}
    for rule in RULES:
        setting, measures, Z, model = tried[choose([one[1] for one in tried], rule, utility="Acc")]
        slope = model.coef_[0] / encoder.scale_[:2]
        chosen[rule] = {
            "setting": setting,
            "measures": measures,
            "positions": (Z * encoder.scale_[:2] + encoder.mean_[:2]).round(6).tolist(),
            "boundary": [*slope.tolist(), float(model.intercept_[0] - slope @ encoder.mean_[:2])],
        }
    return {
        "settings": [{"setting": setting, "measures": measures} for setting, measures, _, _ in tried],
        "labels": part.y.tolist(),
        "groups": part.group.astype(int).tolist(),
        "chosen": chosen,
    }


def draw_points(variant: str, case: Case) -> Split:
    """All records in all parts: X1, X2 and A, each of unit variance."""
    options = {"variant": variant, "n_records": case.max_records or N_POINTS, "random_state": case.seed}
    return prepare(replace(case, options=options, max_records=None, held_out="nothing"))


def fit_points(case: Case, parts: Split) -> list[tuple[dict[str, Any], Trained]]:
    """Every setting of a column of the figure, fitted on the points."""
    return train_grid(replace(case, method=METHODS[case.method]), parts)


def map_to_plane(trained: Trained, X: Any) -> NDArray[np.float64]:
    """Where a representation puts the encoded records in the plane of X1 and X2."""
    return np.asarray(trained.represent_encoded(X), dtype=np.float64)[:, : len(PLANE)]


def summarise(records: Records) -> Study:
    """By variant and method: measures under both rules, and the panel of the first draw of points."""
    found: dict[str, dict[str, dict[int, list[Any]]]] = {}
    for record in records:
        by_method = found.setdefault(record.case.options["variant"], {})
        by_method.setdefault(record.case.method, {}).setdefault(_size(record.case), []).append(record.result)
    return {
        variant: {method: _summarise_draws(by_size) for method, by_size in by_method.items()}
        for variant, by_method in found.items()
    }


def _summarise_draws(by_size: dict[int, list[Any]]) -> Drawn:
    measures = {
        size: {rule: spreads([one["chosen"][rule]["measures"] for one in results]) for rule in RULES}
        for size, results in by_size.items()
    }
    (drawn,) = SYNTHETIC.grid["K"]
    first = by_size[drawn][0]
    return {
        "measures": measures.pop(drawn),
        "panel": {"labels": first["labels"], "groups": first["groups"], "chosen": first["chosen"]},
        "other_sizes": {str(size): by_rule for size, by_rule in measures.items()},
    }


def section(found: Study, results: Results) -> list[Block]:
    """Panels and means for both rules."""
    blocks: list[Block] = [
        Heading("Synthetic data"),
        Text(
            "A hundred points of two Gaussians in three variants that differ in nothing but who is in the "
            "protected group. As in the paper, everything is measured on the points that were learned from. Panels "
            "show the first draw; tables the mean over all draws. The fairest of all settings may be one that "
            "gives everybody the same label, which the second rule does not reward. The paper does not say how many "
            "prototypes it used here; there are two, for with three, as many as columns, nearly every point can stay "
            "where it is."
        ),
    ]
    for rule, words in RULES.items():
        rows = [
            [VARIANTS[variant], labels.method(method), *labels.cells(by["measures"][rule], MEASURES)]
            for variant, methods in found.items()
            for method, by in methods.items()
        ]
        blocks += [
            Heading(words[0].upper() + words[1:], 3),
            Picture(
                f"synthetic-{rule}",
                "Nine panels: each variant of group membership in a row, original data, iFair and LFR in the "
                "columns. As in the paper, blue is A = 0 and orange A = 1, circles are Y = 0 and plus signs Y = 1; the "
                "line is the classifier's boundary. A panel whose points are far from the data has numbers at axes of "
                "its own.",
            ),
            Table([["group", "method", *MEASURES], *rows]),
        ]
    return blocks


def draw(found: Study, results: Results) -> Figures:
    """Nine panels per rule."""
    return {f"synthetic-{rule}": _draw_panels(found, rule) for rule in RULES}


def _draw_panels(found: Study, rule: str) -> Figure:
    methods = list(next(iter(found.values())))
    figure = new_figure(7.6)
    grid = figure.subplots(len(found), len(methods), squeeze=False)
    positions = {
        (variant, method): np.asarray(by["panel"]["chosen"][rule]["positions"])
        for variant, panels in found.items()
        for method, by in panels.items()
    }
    original = next(iter(positions.values()))
    most = FAR * np.ptp(original, axis=0)
    near = {key: bool((abs(one - original.mean(axis=0)) <= most).all()) for key, one in positions.items()}
    shared = _find_limits(np.concatenate([one for key, one in positions.items() if near[key]]))
    for row, (variant, panels) in zip(grid, found.items()):
        for axes, (method, by) in zip(row, panels.items()):
            key = variant, method
            _draw_panel(axes, by["panel"], rule, *(shared if near[key] else _find_limits(positions[key])))
            if near[key]:
                axes.tick_params(labelbottom=variant == [*found][-1], labelleft=method == methods[0])
            reached = by["panel"]["chosen"][rule]["measures"]
            lines = [" ".join(f"{name} {reached[name]:.2f}" for name in two) for two in (MEASURES[:2], MEASURES[2:])]
            axes.set_title("\n".join([labels.method(method), *lines]), fontsize=8.5)
        row[0].set_ylabel(f"{VARIANTS[variant]}\n\nX2", fontsize=9)
    for axes in grid[-1]:
        axes.set_xlabel("X1", fontsize=9)
    add_legend(figure, grid[0], 5)
    return figure


def _find_limits(positions: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ends of the axes that show some points, with a margin."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    return low - 0.06 * (high - low), high + 0.06 * (high - low)


def _draw_panel(axes: Any, panel: Panel, rule: str, low: Any, high: Any) -> None:
    outcomes, groups = np.asarray(panel["labels"]), np.asarray(panel["groups"])
    positions = np.asarray(panel["chosen"][rule]["positions"])
    for group, colour in ((0, BLUE), (1, ORANGE)):
        for label, marker in ((0, "o"), (1, "+")):
            chosen = positions[(outcomes == label) & (groups == group)]
            axes.plot(
                *chosen.T, marker, color=colour, markersize=4, markeredgewidth=0.9, markerfacecolor="none", alpha=0.8,
                label=f"Y = {label}, A = {group}",
            )  # fmt: skip
    a, b, c = panel["chosen"][rule]["boundary"]
    if a or b:  # else there is one label for everybody, wherever they are
        foot = -c / (a * a + b * b) * np.array([a, b])
        axes.axline(foot, foot + np.array([-b, a]), color="black", linewidth=1.3, label="boundary")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.tick_params(labelsize=8)
    axes.locator_params(nbins=5)  # as many whatever the version of matplotlib
    axes.spines[["top", "right"]].set_visible(False)


Reached = dict[str, dict[str, Spreads]]
"""By variant and method."""


def _find_fairest(found: Study, size: str = "") -> Reached:
    """What the fairest rule reaches with prototypes, as many as are drawn or of another K."""
    return {
        variant: {
            name: (by[name]["other_sizes"][size] if size else by[name]["measures"])["fairest"] for name in LEARNED
        }
        for variant, by in found.items()
    }


def _compare_with_lfr(reached: Reached) -> dict[str, tuple[bool, list[tuple[Spread, Spread]]]]:
    """By measure whether iFair is ahead of LFR in all variants, of parity behind it, with the numbers of both."""
    pairs = {measure: [(by["ifair"][measure], by["lfr"][measure]) for by in reached.values()] for measure in MEASURES}
    return {
        measure: (all((ours["mean"] > theirs["mean"]) is (measure != "Parity") for ours, theirs in both), both)
        for measure, both in pairs.items()
    }


def describe_sizes(found: Study) -> str:
    """What other K change under the fairest rule, as means over the variants, and how much of the claim holds then."""
    drawn, said = _find_fairest(found), []
    n_before = sum(held for held, _ in _compare_with_lfr(drawn).values())
    for size in found["random"]["ifair"]["other_sizes"]:
        others, changes = _find_fairest(found, size), []
        for method in LEARNED:
            of_method = [(others[variant][method], drawn[variant][method]) for variant in found]
            by = {name: fmean(new[name]["mean"] - old[name]["mean"] for new, old in of_method) for name in MEASURES}
            changes.append(", ".join([labels.method(method), *(f"{name} {add_sign(by[name])}" for name in MEASURES)]))
        n_held = sum(held for held, _ in _compare_with_lfr(others).values())
        said.append(f"K = {size}: {'; '.join(changes)}; {n_held} of {len(MEASURES)} parts of the claim hold")
    return f"{'. '.join(said)}. With the K drawn, {n_before} hold"


def judge(found: Study, results: Results) -> list[Finding]:
    """iFair beats LFR but for parity."""
    parts = []
    for measure, (held, pairs) in _compare_with_lfr(_find_fairest(found)).items():
        compared = "; ".join(
            f"{format_spread(ours)} against {format_spread(theirs)} ({VARIANTS[variant]})"
            for variant, (ours, theirs) in zip(found, pairs)
        )
        parts.append((held, f"{measure}, iFair against LFR: {compared}"))
    return judge_claim(
        "On synthetic data iFair beats LFR on accuracy, yNN and equality of opportunity; LFR wins on parity.",
        "Under the fairest rule, as in the paper, the mean over the draws is larger in all variants; for parity that "
        "of LFR.",
        parts,
    )


EXPERIMENT = Experiment("synthetic", 10, plan, summarise, section, draw, judge)
