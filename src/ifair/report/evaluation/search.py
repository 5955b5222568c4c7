"""The page's part about fronts: their hypervolume by method, and what a search needs to find iFair's."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ifair.report.blocks import Block, Bullets, Heading, Line, Picture, Strong, Table, Text
from ifair.report.evaluation import names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, made to be told apart by colour-blind readers, and dashes for those who print in grey.
STYLES = {
    "search": ("#D55E00", "-", "search"),
    "grid at random": ("#0072B2", "--", "grid, random order"),
    "grid in order": ("#767676", ":", "grid, its own order"),
}
REFERENCES = {
    "coin": "above a coin (yNN 0.5)",
    "full data": "above the full data's yNN",
}
LEVEL = 0.05


def section(results: Mapping[str, Any]) -> list[Block]:
    """Tables, picture and sentences; nothing where neither fronts nor searches were measured."""
    volumes = _volumes(results)
    searched = results.get("search") or {}
    if not volumes and not searched:
        return []
    blocks: list[Block] = [Heading("Fronts, and what finding them costs")]
    if volumes:
        blocks += [
            Heading("Hypervolume of every method's front", 3),
            Text(
                "The area of the plane of utility and yNN that the settings of a method cover: those on the front on "
                "validation data, measured on test data. The reference point decides what counts. Above a coin (AUC "
                "0.5 or MAP 0, and yNN 0.5) utility weighs most; above the full data's yNN only what is fairer than "
                "unchanged data counts. Mean ± standard deviation over the splits, in hundredths; in brackets the "
                "number of settings, for more settings have more chances: what a rival reaches with a random choice of "
                "as many as iFair-b has stands below. * differs from iFair-b (paired t-test, Holm, 5 %)."
            ),
            *(Table(_table(reference, volumes)) for reference in REFERENCES if _having(reference, volumes)),
            Bullets([line for dataset, summary in volumes.items() for line in _verdict(dataset, summary)]),
        ]
    if searched:
        blocks += [
            Heading("Search instead of a grid", 3),
            Text(
                "Settings of iFair-b found by a multi-objective search (Optuna) against the grid's. A grid visited in "
                "random order, averaged over many orders, is what any search has to beat. Hypervolumes are those above "
                "a coin; the share is that of the whole grid's hypervolume, mean ± standard deviation over the splits."
            ),
            Table(_shares(searched)),
            Picture("search", "Hypervolume against the number of fits, for the search and for the grid"),
            Text(
                "Band: standard deviation of the search over the splits. Horizontal line: the whole grid. Dotted: a "
                "tenth of its fits."
            ),
            Bullets([_cost(dataset, found) for dataset, found in searched.items()]),
        ]
    return blocks


def _volumes(results: Mapping[str, Any]) -> dict[str, Any]:
    summaries = {**results.get("classification", {}), **results.get("ranking", {})}
    return {dataset: found["hypervolume"] for dataset, found in summaries.items() if "hypervolume" in found}


def _having(reference: str, volumes: dict[str, Any]) -> dict[str, Any]:
    return {dataset: by[reference] for dataset, by in volumes.items() if reference in by}


def _table(reference: str, volumes: dict[str, Any]) -> list[list[str]]:
    found = _having(reference, volumes)
    methods = list(dict.fromkeys(method for summary in found.values() for method in summary["methods"]))
    rows = [[REFERENCES[reference], *map(names.dataset, found)]]
    rows += [[names.method(method), *(_cell(method, summary) for summary in found.values())] for method in methods]
    return rows


def _cell(method: str, summary: dict[str, Any]) -> str:
    if method not in summary["methods"]:
        return ""
    value = summary["methods"][method]
    clear = summary["comparisons"].get(method, {"adjusted": 1.0})["adjusted"] < LEVEL
    star = " *" if clear else ""
    return f"{100 * value['mean']:.2f} ± {100 * value['sd']:.2f}{star} ({summary['settings'][method]})"


def _verdict(dataset: str, by_reference: dict[str, Any]) -> list[Line]:
    lines = []
    for reference, summary in by_reference.items():
        rival = summary["best rival"]
        if rival is None:
            continue
        compared = summary["comparisons"][rival]
        share = compared["difference"] / summary["methods"][rival]["mean"] if summary["methods"][rival]["mean"] else 0.0
        word = "ahead of" if compared["difference"] > 0 else "behind"
        clear = "clearly" if compared["adjusted"] < LEVEL else "not clearly"
        few = summary["as few settings"].get(rival)
        same = f"; with as few settings {names.method(rival)} has {100 * few['mean']:.2f}" if few else ""
        lines.append(
            f"{REFERENCES[reference]} iFair-b is {word} the best rival, {names.method(rival)}, by {abs(share):.0%}, "
            f"{clear} (p = {compared['adjusted']:.2f} after Holm{same})"
        )
    return [(Strong(names.dataset(dataset)), f": {'; '.join(lines)}.")] if lines else []


def _shares(searched: dict[str, Any]) -> list[list[str]]:
    rows = [["", "fits", *(f"{label}, {part}" for part in ("validation", "test") for label in _labels())]]
    for dataset, found in searched.items():
        cells = []
        for part in ("validation", "test"):
            for name in STYLES:
                share = found[part]["at a tenth"][name]
                cells.append("" if share is None else f"{100 * share['mean']:.0f} ± {100 * share['sd']:.0f} %")
        rows.append([names.dataset(dataset), f"{found['fits']['tenth']} of {found['fits']['grid']}", *cells])
    return rows


def _labels() -> list[str]:
    return [label for _, _, label in STYLES.values()]


def _cost(dataset: str, found: dict[str, Any]) -> Line:
    """How many fits lead to nearly the whole grid's hypervolume, in words."""
    words = []
    for part in ("validation", "test"):
        needed = found[part]["fits to 95 %"]
        search = f"{needed['search']} fits" if needed["search"] else f"more than its {found['fits']['search']} fits"
        grid = f"{needed['grid at random']}" if needed["grid at random"] else f"more than {found['fits']['grid']}"
        words.append(f"on {part} data the search needs {search}, the grid in random order {grid}")
    return (Strong(names.dataset(dataset)), f", to 95 % of the grid's hypervolume: {'; '.join(words)}.")


def figures(results: Mapping[str, Any]) -> "dict[str, Figure]":
    """``search``: hypervolume on validation data and on test data against the number of fits, a row a dataset."""
    searched = results.get("search") or {}
    if not searched:
        return {}
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 0.6 + 2.3 * len(searched)), layout="constrained")
    panels = figure.subplots(len(searched), 2, squeeze=False)
    for row, (dataset, found) in zip(panels, searched.items()):
        for axes, part in zip(row, ("validation", "test")):
            _panel(axes, found[part], found["fits"]["tenth"])
            axes.set_title(f"{names.dataset(dataset)}, {part}", fontsize=10)
        row[0].set_ylabel("hypervolume")
    for axes in panels[-1]:
        axes.set_xlabel("fits")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=9)
    return {"search": figure}


def _panel(axes: Any, found: dict[str, Any], tenth: int) -> None:
    for name, (colour, dashes, label) in STYLES.items():
        curve = found["curves"][name]
        fits = range(1, len(curve) + 1)
        axes.plot(fits, [point["mean"] for point in curve], dashes, color=colour, label=label, linewidth=1.8)
        if name == "search":
            low, high = ([point["mean"] + sign * point["sd"] for point in curve] for sign in (-1, 1))
            axes.fill_between(fits, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.axhline(found["whole grid"]["mean"], color="#000000", linewidth=0.6)
    axes.axvline(tenth, color="#000000", linewidth=0.6, linestyle=(0, (1, 3)))
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)
