"""The page's tables of hypervolumes: how much of the plane of utility and fairness the front of every method covers."""

from typing import Any

from ifair.report.blocks import Block, Bullets, Heading, Line, Strong, Table, Text
from ifair.reproduce import labels
from ifair.reproduce.results_format import Results
from ifair.reproduce.verdicts import LEVEL

REFERENCES = {
    "coin": "above a coin (yNN 0.5)",
    "full_data": "above the full data's yNN",
}


def describe_volumes(results: Results) -> list[Block]:
    """Tables and sentences about all datasets; nothing where no front was measured."""
    summaries = {**results["experiments"].get("classification", {}), **results["experiments"].get("ranking", {})}
    volumes = {dataset: found["hypervolume"] for dataset, found in summaries.items() if "hypervolume" in found}
    if not volumes:
        return []
    return [
        Heading("Hypervolume of every method's front", 3),
        Text(
            "The area of the plane of utility and yNN that the settings of a method cover: those on the front on "
            "validation data, measured on test data. The reference point decides what counts. Above a coin (AUC "
            "0.5 or MAP 0, and yNN 0.5) utility weighs most; above the full data's yNN only what is fairer than "
            "unchanged data counts. Mean ± standard deviation over the splits, in hundredths; in brackets the "
            "number of settings, for more settings have more chances: what a rival reaches with a random choice of "
            "as many as iFair-b has stands below. * differs from iFair-b (paired t-test, Holm, 5 %)."
        ),
        *(
            Table(_tabulate_volumes(reference, volumes))
            for reference in REFERENCES
            if _select_reference(reference, volumes)
        ),
        Bullets([line for dataset, summary in volumes.items() for line in _compare_with_best(dataset, summary)]),
    ]


def _select_reference(reference: str, volumes: dict[str, Any]) -> dict[str, Any]:
    return {dataset: by[reference] for dataset, by in volumes.items() if reference in by}


def _tabulate_volumes(reference: str, volumes: dict[str, Any]) -> list[list[str]]:
    found = _select_reference(reference, volumes)
    methods = list(dict.fromkeys(method for summary in found.values() for method in summary["methods"]))
    rows = [[REFERENCES[reference], *map(labels.dataset, found)]]
    rows += [
        [labels.method(method), *(_format_volume(method, summary) for summary in found.values())] for method in methods
    ]
    return rows


def _format_volume(method: str, summary: dict[str, Any]) -> str:
    if method not in summary["methods"]:
        return ""
    value = summary["methods"][method]
    clear = summary["comparisons"].get(method, {"adjusted": 1.0})["adjusted"] < LEVEL
    star = " *" if clear else ""
    return f"{100 * value['mean']:.2f} ± {100 * value['sd']:.2f}{star} ({summary['settings'][method]})"


def _compare_with_best(dataset: str, by_reference: dict[str, Any]) -> list[Line]:
    lines = []
    for reference, summary in by_reference.items():
        rival = summary["best_rival"]
        if rival is None:
            continue
        compared = summary["comparisons"][rival]
        share = compared["difference"] / summary["methods"][rival]["mean"] if summary["methods"][rival]["mean"] else 0.0
        word = "ahead of" if compared["difference"] > 0 else "behind"
        clear = "clearly" if compared["adjusted"] < LEVEL else "not clearly"
        few = summary["as_few_settings"].get(rival)
        same = f"; with as few settings {labels.method(rival)} has {100 * few['mean']:.2f}" if few else ""
        lines.append(
            f"{REFERENCES[reference]} iFair-b is {word} the best rival, {labels.method(rival)}, by {abs(share):.0%}, "
            f"{clear} (p = {compared['adjusted']:.2f} after Holm{same})"
        )
    return [(Strong(labels.dataset(dataset)), f": {'; '.join(lines)}.")] if lines else []
