"""Ranking on Xing and Airbnb: linear regression on every representation, and FA*IR.

Experiment 3 of the paper: its table, MAP against yNN, and what it claims from them. Whole queries are held out, so that
every ranking is of all its candidates, and of people and jobs that no model has seen. What else the paper may have done
is measured in ``ranking_readings``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ifair.evaluate.candidates import Candidate, make_model
from ifair.evaluate.measures import paper_measures
from ifair.evaluate.splits import Split
from ifair.evaluate.statistics import Spreads, spreads
from ifair.evaluate.training import Outcome, Trained, train_many
from ifair.report.blocks import Block, Finding, Heading, Table, Text, add_sign
from ifair.reproduce import labels, tradeoff
from ifair.reproduce.case import Case, measure_fit, prepare, train_grid
from ifair.reproduce.experiment import Earlier, Experiment, Figures, Profile, Records, Unit, plan_grid, rows_by_split
from ifair.reproduce.tradeoff import OURS, TradeOff
from ifair.reproduce.verdicts import Part, format_difference, format_spread, is_clearly_above, judge_claim
from ifair.results import Results

METHODS = ("chance", "full", "masked", "svd", "svd-masked", "fair", "ifair-b", OURS)
"""``"chance"`` gives everybody the same score; ``"fair"`` is FA*IR on the scores of masked data."""

MEASURES = ("MAP", "KT", "yNN", "percent_protected")
COLUMNS = ("MAP", "KT", "yNN", "yNN_of_all", "percent_protected")
UNADJUSTED = (0.5, 0.6, 0.9)
"""The paper's p, at which FA*IR is also run with its significance uncorrected for testing many prefixes."""

NOTHING = 0.01
"""A yNN no further above another than this is no gain."""


class RankingTradeOff(TradeOff):
    """One dataset, with what chance reaches: a score that is the same for everybody."""

    chance: Spreads


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every method and split of the datasets with queries."""
    return plan_grid(measure_rankings, profile, profile.ranking, METHODS)


def measure_rankings(case: Case) -> list[dict[str, Any]]:
    """All settings of a method on one split."""
    return measure_variants(case, [prepare(case)])[0]


def prepare_variants(case: Case, variants: Sequence[Mapping[str, Any]]) -> list[Split]:
    """The split of a case with options of the loader changed that change neither records nor attributes."""
    options = [{**case.options, **variant} for variant in variants]
    first, *others = [prepare(replace(case, options=changed), drawn_by=options[0]) for changed in options]
    return [first, *(_share_encoding(first, other) for other in others)]


def _share_encoding(first: Split, other: Split) -> Split:
    """A split of the same encoded records, so that they need not be encoded again."""
    parts = {id(theirs): replace(ours, records=theirs.records) for ours, theirs in zip(first, other)}
    train, validation, test = (parts[id(part)] for part in other)
    return replace(first, train=train, validation=validation, test=test)


def measure_variants(case: Case, variants: Sequence[Split]) -> list[list[dict[str, Any]]]:
    """For every variant of a split, the same records with other scores or queries, the rows of a method's settings.

    Representations are learned without scores and queries, hence once; the ranker is trained for every variant.
    """
    if case.method == "chance":
        return [[_measure_chance(parts)] for parts in variants]
    found: list[list[dict[str, Any]]] = [[] for _ in variants]
    for setting, trained in _train_all(case, variants[0]):
        for rows, parts in zip(found, variants):
            same = trained
            if parts is not variants[0]:
                same = trained.with_model(make_model("linear", parts.task, case.seed), parts.train)
            rows.append({"setting": setting, **measure_fit(same, parts)})
    return found


def _train_all(case: Case, parts: Split) -> Iterator[tuple[dict[str, Any], Trained]]:
    if case.method != "fair":
        yield from train_grid(case, parts)
        return
    masked = train_many([Candidate("masked")], parts, case.seed, case.solver)[0]
    adjusted: list[dict[str, Any]] = [{"p": p} for p in case.grid["p"]]
    for setting in (*adjusted, *({**one, "adjust": False} for one in adjusted if one["p"] in UNADJUSTED)):
        yield setting, masked.with_post(name="fa-star-ir", **setting)


def _measure_chance(parts: Split) -> dict[str, Any]:
    """What a score that is the same for everybody reaches, and the number of ``queries``."""
    row: dict[str, Any] = {"setting": {}, "converged": True}
    for name, part in (("validation", parts.validation), ("test", parts.test)):
        alike = np.zeros(len(part))
        row[name] = {**paper_measures(part, Outcome(alike, alike)), "queries": float(len(part.rankings))}
    return row


def summarise(records: Records) -> dict[str, RankingTradeOff]:
    """By dataset: the choices of the three rules, comparisons, all points of the plot, and what chance reaches."""
    found: dict[str, RankingTradeOff] = {}
    for dataset, by_method in rows_by_split(records).items():
        by_split, chance = name_methods(by_method)
        found[dataset] = {**tradeoff.summarise_splits(by_split, utility="MAP"), "chance": chance}
    return found


def name_methods(by_method: Mapping[str, Mapping[int, Sequence[Any]]]) -> tuple[dict[str, list[Any]], Spreads]:
    """Method and split: the rows of all settings, and what chance reaches.

    Every p of FA*IR is a method of its own, as in the paper.
    """
    named: dict[str, list[Any]] = {}
    for method, by_seed in by_method.items():
        if method != "fair":
            named[method] = list(by_seed.values())
            continue
        for rows in zip(*by_seed.values()):
            setting = rows[0]["setting"]
            named[f"fair-{setting['p']}" + "-unadjusted" * ("adjust" in setting)] = [[row] for row in rows]
    return named, spreads([rows[0]["test"] for rows in named.pop("chance")])


def section(found: dict[str, RankingTradeOff], results: Results) -> list[Block]:
    """For every dataset picture, table and paired comparisons."""
    blocks: list[Block] = [
        Heading("Ranking"),
        Text(
            "Learned from a third of the queries, tuned on another under the balanced rule, measured "
            "on the last. On Xing the job search is no attribute here: nobody who is judged has one that was seen "
            "before. yNN compares people with the ten nearest of their query, scores brought to 0..1 within it; yNN "
            "of all with the ten nearest of all, on one scale. Chance gives everybody the same score: that is what MAP "
            "is worth where rankings are short. FA*IR is shown at the paper's values of p, with its significance "
            "corrected for testing all prefixes of a ranking at once, and uncorrected; the picture has every p."
        ),
    ]
    for dataset, summary in found.items():
        methods, chance = list_methods(results, dataset), summary["chance"]
        blocks += [
            Heading(labels.dataset(dataset), 3),
            tradeoff.describe_picture(dataset, "MAP"),
            Text(
                f"{chance['queries']['mean']:.0f} queries are judged. Chance reaches a MAP of "
                f"{format_spread(chance['MAP'])}, and has {format_spread(chance['percent_protected'], 1)} % protected "
                "people among the first ten."
            ),
            tabulate(results, dataset, [m for m in methods if m != OURS]),
            Text("What is not in the paper:"),
            tabulate(results, dataset, [OURS]),
            *tradeoff.compare_methods(summary, COLUMNS, methods, more=" for all rivals, FA*IR at every p among them"),
            *tradeoff.describe_collapse(summary),
        ]
    return blocks


def draw(found: dict[str, RankingTradeOff], results: Results) -> Figures:
    """One picture per dataset."""
    drawn = {}
    for dataset, summary in found.items():
        printed = results["paper"]["ranking"].get(dataset, {})
        points = [(method, row["MAP"], row["yNN"]) for method, row in printed.items()]
        drawn[f"tradeoff-{dataset}"] = tradeoff.draw_tradeoff(summary, "MAP", points)
    return drawn


def tabulate(results: Results, dataset: str, methods: Sequence[str] = ()) -> Table:
    """The paper's table for one dataset, of these methods or of all that belong there."""
    found = EXPERIMENT.find(results)[dataset]["rules"]["balanced"]
    rows = [
        [labels.method(method), *labels.cells(found[method]["test"], COLUMNS, find_printed(results, dataset, method))]
        for method in methods or list_methods(results, dataset)
    ]
    return Table([["method", *map(labels.measure, COLUMNS)], *rows])


def find_printed(results: Results, dataset: str, method: str) -> dict[str, float]:
    """The paper's numbers for a method; it does not say whether FA*IR's significance was corrected."""
    return results["paper"]["ranking"].get(dataset, {}).get(method.removesuffix("-unadjusted"), {})


def list_methods(results: Results, dataset: str) -> list[str]:
    """The methods of the table; FA*IR only where the paper has it."""
    methods = EXPERIMENT.find(results)[dataset]["rules"]["balanced"]
    return [m for m in methods if not m.startswith("fair-") or find_printed(results, dataset, m)]


def judge(found: dict[str, RankingTradeOff], results: Results) -> list[Finding]:
    """What the paper concludes from its rankings."""
    printed = results["paper"]["ranking"].values()
    # How far below SVD the paper's iFair-b stands where the paper calls their utility comparable.
    slack = max(by[svd]["MAP"] - by["ifair-b"]["MAP"] for by in printed for svd in ("svd", "svd-masked"))
    return [
        *judge_claim(
            "Of all rankings iFair's are the fairest to individuals, those of full and masked data the most useful.",
            "Under the balanced rule, no other method of the paper has a higher mean yNN than iFair-b, which "
            "is clearly above the full data; and neither iFair-b nor SVD has a higher mean MAP than full or masked "
            "data.",
            [part for dataset, summary in found.items() for part in _judge_extremes(dataset, summary)],
        ),
        *judge_claim(
            "iFair clearly beats both variants of SVD on individual fairness at comparable utility.",
            "Under the balanced rule, yNN of iFair-b is clearly above that of SVD; and its mean MAP is no "
            f"further below than in the paper's own table, {slack:.2f}.",
            [
                # Half of the last printed digit: the paper's margin is a difference of rounded numbers.
                tradeoff.compare_with(dataset, summary, rival, "MAP", slack=slack + 0.005, digits=3)
                for dataset, summary in found.items()
                for rival in ("svd", "svd-masked")
            ],
        ),
        *judge_claim(
            "FA*IR puts the most protected people into the top ten, and gains nothing in individual fairness.",
            "The largest mean share of protected people is that of FA*IR at some p; and at no p is its mean yNN more "
            f"than {NOTHING} above that of masked data, which it reranks.",
            [_judge_reranking(dataset, summary) for dataset, summary in found.items()],
        ),
    ]


def _judge_extremes(dataset: str, summary: TradeOff) -> list[Part]:
    tests = {method: found["test"] for method, found in summary["rules"]["balanced"].items()}
    others = [m for m in tests if not m.startswith("ifair")]
    fairest = max(others, key=lambda m: tests[m]["yNN"]["mean"])
    compared = summary["comparisons"]["balanced"]["yNN"]["full"]
    useful = max(tests[m]["MAP"]["mean"] for m in ("full", "masked"))
    learned = max(("svd", "svd-masked", "ifair-b"), key=lambda m: tests[m]["MAP"]["mean"])
    ours = tests["ifair-b"]["yNN"]
    return [
        (
            ours["mean"] >= tests[fairest]["yNN"]["mean"] and is_clearly_above(compared),
            f"{labels.dataset(dataset)}: yNN {format_spread(ours, 3)}, best other method ({labels.method(fairest)}) "
            f"{format_spread(tests[fairest]['yNN'], 3)}; against the full data {format_difference(compared, 3)}",
        ),
        (
            useful >= tests[learned]["MAP"]["mean"],
            f"{labels.dataset(dataset)}: MAP of full or masked data {useful:.2f}, of the best of SVD and iFair "
            f"({labels.method(learned)}) {format_spread(tests[learned]['MAP'])}",
        ),
    ]


def _judge_reranking(dataset: str, summary: TradeOff) -> tuple[bool, str]:
    tests = {method: found["test"] for method, found in summary["rules"]["balanced"].items()}
    fair = [m for m in tests if m.startswith("fair-")]
    most = max((m for m in tests if m != OURS), key=lambda m: tests[m]["percent_protected"]["mean"])
    top = max(fair, key=lambda m: tests[m]["yNN"]["mean"])
    gain = tests[top]["yNN"]["mean"] - tests["masked"]["yNN"]["mean"]
    shares = [format_spread(tests[method]["percent_protected"], 1) for method in (most, "ifair-b")]
    line = (
        f"{labels.dataset(dataset)}: most protected people with {labels.method(most)} "
        f"({shares[0]} %; iFair-b {shares[1]} %); best yNN of FA*IR {format_spread(tests[top]['yNN'], 3)}, "
        f"{add_sign(gain, 3)} against masked data"
    )
    return most in fair and gain <= NOTHING, line


EXPERIMENT = Experiment("ranking", 40, plan, summarise, section, draw, judge, by_dataset=True)
