"""Can an adversary tell the protected group from a representation? Experiment 5 of the paper: bars, table, claim."""

from typing import Any, Literal, TypedDict

import numpy as np

from ifair.evaluate.measures import guess_group
from ifair.evaluate.statistics import Spread, Spreads, spread, spreads
from ifair.report.blocks import Block, Finding, Heading, Number, Picture, Table, Text, add_sign
from ifair.report.pictures import BLACK, GREY, add_legend, light_grid, new_figure
from ifair.reproduce import labels
from ifair.reproduce.case import Case, prepare, represent, train_chosen
from ifair.reproduce.experiment import Earlier, Experiment, Figures, Profile, Unit, for_each_dataset, plan_chosen
from ifair.reproduce.verdicts import format_spread, judge_claim
from ifair.results import Results

Adversary = Literal["logistic", "boosting"]

METHODS = ("masked", "lfr", "ifair-b", "ifair-plus")
ADVERSARIES: dict[Adversary, str] = {"logistic": "logistic regression", "boosting": "gradient boosting"}
"""The paper's adversary, and a stronger one that also finds what is not linear."""
JUDGED: dict[Adversary, str] = {"logistic": "accuracy", "boosting": "AUC"}
"""The measures that the claim is judged by."""
SUBSTANTIAL = 0.02
"""A reduction by less than this is none worth the name."""


class Attacked(TypedDict):
    """A method: the share of the larger group, and what each adversary reached."""

    majority: Spread
    logistic: Spreads
    boosting: Spreads


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset, split and method; LFR needs a label of two classes and is left out of rankings."""
    unlabelled = [method for method in METHODS if method != "lfr"]
    return [
        *plan_chosen(attack, profile, profile.classification, METHODS, earlier),
        *plan_chosen(attack, profile, profile.ranking, unlabelled, earlier),
    ]


def attack(case: Case) -> dict[str, Any]:
    """Train adversaries on the training third, as one method represents it, and try them on the test third.

    Returns ``majority``, the share of the larger group on test, which an accuracy is to be compared with, and
    ``adversaries``, by name the ``accuracy`` and the ``AUC`` (1/2: nothing is given away) on test.
    """
    parts = prepare(case)
    seen, _, unseen = represent(train_chosen(case, parts), parts)
    share = float(parts.test.group.mean())
    guesses = {name: guess_group(parts, seen, unseen, name, case.seed) for name in ADVERSARIES}
    return {"majority": max(share, 1.0 - share), "adversaries": guesses}


@for_each_dataset("method")
def summarise(by_method: dict[str, list[Any]]) -> dict[str, Attacked]:
    """By method: the majority's share, and what each adversary reached."""
    return {
        method: {
            "majority": spread([result["majority"] for result in results]),
            "logistic": spreads([result["adversaries"]["logistic"] for result in results]),
            "boosting": spreads([result["adversaries"]["boosting"] for result in results]),
        }
        for method, results in by_method.items()
    }


def section(found: dict[str, dict[str, Attacked]], results: Results) -> list[Block]:
    """Accuracy and AUC of the adversaries on every dataset and representation."""
    columns = [(name, measure) for name in ADVERSARIES for measure in ("accuracy", "AUC")]
    rows: list[list[Any]] = [
        ["dataset", "method", "majority", *(f"{ADVERSARIES[name]}: {measure}" for name, measure in columns)]
    ]
    for dataset, methods in found.items():
        label = labels.dataset(dataset)
        for method, by in methods.items():
            cells = [
                Number.from_spread(by["majority"]),
                *(Number.from_spread(by[name][measure]) for name, measure in columns),
            ]
            rows.append([label, labels.method(method), *cells])
            label = ""
    return [
        Heading("What an adversary can still recover"),
        Text(
            "An adversary learns on the training part to tell the protected group from the representation, and is "
            "tried on the test part. The paper's adversary is a logistic regression, measured by its accuracy; its "
            "numbers are drawn, not printed. Accuracy means little where one group is large: whoever always names the "
            "larger group reaches the majority without knowing anything. An AUC of 0.5 gives nothing away."
        ),
        Picture(
            "adversary",
            "Accuracy of two adversaries on every dataset, a bar for each representation, with standard deviations "
            "over the splits; black lines mark the share of the larger group. Lower is better. LFR does not rank.",
        ),
        Table(rows),
    ]


def draw(found: dict[str, dict[str, Attacked]], results: Results) -> Figures:
    """Grouped bars, one panel per adversary."""
    figure = new_figure(5.2)
    panels = figure.subplots(len(ADVERSARIES), 1, sharex=True, sharey=True)
    methods = list(dict.fromkeys(method for by in found.values() for method in by))
    width = 0.8 / len(methods)
    lowest = min(by["majority"]["mean"] for group in found.values() for by in group.values())
    for axes, (adversary, title) in zip(panels, ADVERSARIES.items()):
        light_grid(axes)
        for i, method in enumerate(methods):
            places = [j for j, by in enumerate(found.values()) if method in by]
            values = [by[method][adversary]["accuracy"] for by in found.values() if method in by]
            axes.bar(
                np.asarray(places) + (i - (len(methods) - 1) / 2) * width,
                [value["mean"] for value in values],
                0.92 * width,
                yerr=[value["sd"] for value in values],
                # Deviations and the line of the majority are black: masked data, black elsewhere, are grey here.
                color=GREY if method == "masked" else labels.style(method)[0],
                error_kw={"elinewidth": 0.8, "ecolor": "#444444"},
                label=labels.method(method),
            )
        for j, by in enumerate(found.values()):
            majority = next(iter(by.values()))["majority"]["mean"]
            ends, level = [j - 0.45, j + 0.45], [majority, majority]
            # White around black, for the line crosses bars.
            axes.plot(ends, level, color="white", linewidth=3.2)
            axes.plot(ends, level, color=BLACK, linewidth=1.6, label="majority" if j == 0 else None)
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_ylabel("accuracy")
        # Bars that start at a half exaggerate, bars that start at zero hide: half of all is what guessing gets.
        axes.set_ylim(min(0.5, lowest), 1.0)
    panels[-1].set_xticks(range(len(found)), [labels.dataset(name) for name in found])
    add_legend(figure, panels, 5)
    return {"adversary": figure}


def judge(found: dict[str, dict[str, Attacked]], results: Results) -> list[Finding]:
    """iFair hides what masking reveals."""
    parts = []
    for dataset, by in found.items():
        for adversary, measure in JUDGED.items():
            ours, masked = (by[method][adversary][measure] for method in ("ifair-b", "masked"))
            saved = masked["mean"] - ours["mean"]
            others = "".join(
                f"; {labels.method(method)} {format_spread(by[method][adversary][measure])}"
                for method in ("lfr", "ifair-plus")
                if method in by
            )
            majority = f"; majority {by['ifair-b']['majority']['mean']:.2f}" if measure == "accuracy" else ""
            line = (
                f"{labels.dataset(dataset)}, {ADVERSARIES[adversary]}, {measure}: iFair-b {format_spread(ours)} "
                f"against {format_spread(masked)} for masked data ({add_sign(-saved, 3)}){others}{majority}"
            )
            parts.append((saved >= SUBSTANTIAL, line))
    return judge_claim(
        "iFair hides the protected group from an adversary on all datasets, where masked data give it away.",
        "The mean accuracy of the paper's adversary, logistic regression, and the mean AUC of a stronger one, gradient "
        f"boosting, are at least {SUBSTANTIAL} lower on iFair-b than on masked data.",
        parts,
    )


EXPERIMENT = Experiment(
    "obfuscation", 60, plan, summarise, section, draw, judge, needs=("classification", "ranking"), by_dataset=True
)
