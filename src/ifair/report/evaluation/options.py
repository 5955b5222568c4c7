"""Which option of iFair helps: a table of variants and datasets, what it says in words, and a picture."""

from collections.abc import Mapping
from typing import Any

from ifair.report.blocks import Block, Bullets, Heading, Line, Picture, Strong, Table, Text
from ifair.report.evaluation import names as named

LEVEL = 0.05
"""Differences are called clear where the p-value after Holm is below this."""

BASE = "paper"
MARKS = ("masked", "svd-masked", "masked, scaled")

# Okabe and Ito's colours, which colour-blind people can tell apart.
_ORANGE, _BLUE, _GREEN, _VERMILION, _GREY = "#E69F00", "#0072B2", "#009E73", "#D55E00", "#555555"
_LINES = {"masked": (_ORANGE, "--"), "svd-masked": (_GREEN, "-."), "masked, scaled": (_VERMILION, ":")}


def section(results: Mapping[str, Any]) -> list[Block]:
    """The table, the picture and the findings; nothing where the experiment was not run.

    Parameters
    ----------
    results : dict
        Whole results; ``options`` holds what ``ifair.experiments.options.summarise`` made.
    """
    found = results.get("options")
    if not found:
        return []
    return [
        Heading("Options beyond the paper"),
        Text(
            "Hypervolume / harmonic mean on test, for settings chosen on validation: iFair-b as in the paper, with one "
            "or more options changed, and below it the marks to beat, among them masked data multiplied by a factor of "
            "at most 1. ▲ and ▼: clearly above or below the paper's iFair-b (paired t-tests over the splits, after "
            f"Holm, at {LEVEL:.0%}); {_splits(found)} splits. The best of each column has a star."
        ),
        Table(table(found)),
        *_skipped(found),
        Picture(
            "options",
            "Hypervolume of every variant of iFair on every dataset, next to masked data and their principal "
            "components",
        ),
        Bullets(findings(found)),
    ]


def _splits(found: dict[str, Any]) -> int:
    return int(next(iter(found.values()))["variants"][BASE]["hypervolume"]["n"])


def names(found: dict[str, Any]) -> list[str]:
    """All variants that were tried on some dataset, the marks last."""
    every = list(dict.fromkeys(name for one in found.values() for name in one["variants"]))
    return [name for name in every if name not in MARKS] + [name for name in MARKS if name in every]


def table(found: dict[str, Any]) -> list[list[str]]:
    """Variants down, datasets across; each cell hypervolume / harmonic mean."""
    rows = [["variant", *map(named.dataset, found)]]
    best = {
        dataset: {
            measure: max(round(values[measure]["mean"], digits) for values in one["variants"].values())
            for measure, digits in (("hypervolume", 3), ("harmonic mean", 2))
        }
        for dataset, one in found.items()
    }
    for name in names(found):
        cells = []
        for dataset, one in found.items():
            if name not in one["variants"]:
                cells.append("")
                continue
            parts = []
            for measure, digits in (("hypervolume", 3), ("harmonic mean", 2)):
                value = one["variants"][name][measure]["mean"]
                text = f"{value:.{digits}f}"
                text = f"{text}*" if round(value, digits) == best[dataset][measure] else text
                parts.append(text + {1: " ▲", -1: " ▼", 0: ""}[clear(one, measure, name)])
            cells.append(" / ".join(parts))
        rows.append([name, *cells])
    return rows


def clear(one: dict[str, Any], measure: str, name: str) -> int:
    """1 where a variant is clearly above the paper's iFair-b, -1 where clearly below, else 0."""
    compared = one["against paper"][measure].get(name)
    if compared is None or compared["adjusted"] >= LEVEL:
        return 0
    # The difference is the paper's less the other's.
    return 1 if compared["difference"] < 0 else -1


def _skipped(found: dict[str, Any]) -> list[Block]:
    reasons: dict[str, list[str]] = {}
    for dataset, one in found.items():
        for name, why in one["skipped"].items():
            reasons.setdefault(f"{named.dataset(dataset)} ({why})", []).append(name)
    lines = [f"{' and '.join(names)} on {where}" for where, names in reasons.items()]
    return [Text(f"Left out, for an order p other than 2 is slow: {'; '.join(lines)}.")] if lines else []


def findings(found: dict[str, Any]) -> list[Line]:
    """What the numbers say, a sentence each."""
    return [*_gaps(found), *_variants(found), *_scaling(found), *_leaks(found)]


def _gaps(found: dict[str, Any]) -> list[Line]:
    lines: list[Line] = []
    for dataset, one in found.items():
        mean = {name: values["hypervolume"]["mean"] for name, values in one["variants"].items()}
        ours = {name: value for name, value in mean.items() if name not in MARKS}
        rivals = {name: value for name, value in mean.items() if name in MARKS}
        top, rival = max(ours, key=ours.__getitem__), max(rivals, key=rivals.__getitem__)
        verdict = "which no mark beats" if ours[top] >= rivals[rival] else "still below the best mark"
        marks = ", ".join(f"{name} {value:.3f}" for name, value in rivals.items())
        lines.append(
            (
                Strong(named.dataset(dataset)),
                f": hypervolume {mean[BASE]:.3f} with the paper's options against {marks}. The best variant is "
                f"“{top}” with {ours[top]:.3f}, {verdict}.",
            )
        )
    return lines


def _variants(found: dict[str, Any]) -> list[Line]:
    rated = []
    for name in names(found):
        tried = {dataset: one for dataset, one in found.items() if name in one["variants"]}
        if name == BASE or name in MARKS:
            continue
        above = [dataset for dataset, one in tried.items() if _mean(one, name) > _mean(one, BASE)]
        better = [dataset for dataset, one in tried.items() if clear(one, "hypervolume", name) > 0]
        worse = [dataset for dataset, one in tried.items() if clear(one, "hypervolume", name) < 0]
        ahead = sum(one["ahead"][name] for one in tried.values())
        splits = sum(one["variants"][name]["hypervolume"]["n"] for one in tried.values())
        line = (
            f"“{name}”: more hypervolume than the paper's options on {ahead} of {splits} splits, in the mean on "
            f"{len(above)} of {len(tried)} datasets; clearly more on {_listed(better)}, clearly less on "
            f"{_listed(worse)}."
        )
        rated.append((ahead / splits, line))
    return [line for _, line in sorted(rated, key=lambda pair: -pair[0])]


def _scaling(found: dict[str, Any]) -> list[Line]:
    lines: list[Line] = []
    for dataset, one in found.items():
        masked, scaled = one["variants"].get("masked"), one["variants"].get("masked, scaled")
        if masked is None or scaled is None:
            continue
        lines.append(
            (
                Strong(named.dataset(dataset)),
                ": multiplying masked data by a factor changes hypervolume from "
                f"{masked['hypervolume']['mean']:.3f} to {scaled['hypervolume']['mean']:.3f}, and at the best harmonic "
                f"mean yNN from {masked['yNN']['mean']:.2f} to {scaled['yNN']['mean']:.2f}, AUC from "
                f"{masked['AUC']['mean']:.2f} to {scaled['AUC']['mean']:.2f} and AUC of scores from "
                f"{masked['AUC of scores']['mean']:.2f} to {scaled['AUC of scores']['mean']:.2f}. This much a penalty "
                "of the classifier does without any representation.",
            )
        )
    return lines


def _leaks(found: dict[str, Any]) -> list[Line]:
    lines: list[Line] = []
    for dataset, one in found.items():
        leak = {name: values["adversary"]["mean"] for name, values in one["variants"].items() if name not in MARKS}
        least = min(leak, key=leak.__getitem__)
        lines.append(
            (
                Strong(named.dataset(dataset)),
                f": an adversary tells the group with an AUC of {leak[BASE]:.2f} from the paper's iFair-b, "
                f"{one['variants']['masked']['adversary']['mean']:.2f} from masked data, and {leak[least]:.2f} from "
                f"the variant that shows least, “{least}”.",
            )
        )
    return lines


def _mean(one: dict[str, Any], name: str) -> float:
    return float(one["variants"][name]["hypervolume"]["mean"])


def _listed(datasets: list[str]) -> str:
    return ", ".join(map(named.dataset, datasets)) or "none"


def figures(results: Mapping[str, Any]) -> dict[str, Any]:
    """One panel a dataset: hypervolume of every variant with its standard deviation; lines mark the rivals."""
    found = results.get("options")
    if not found:
        return {}
    from matplotlib.figure import Figure

    shown = [name for name in names(found) if name not in MARKS][::-1]
    figure = Figure(figsize=(9.0, 1.2 + 0.27 * len(shown)), layout="constrained")
    panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for panel, (dataset, one) in zip(panels, found.items()):
        for height, name in enumerate(shown):
            if name in one["variants"]:
                value = one["variants"][name]["hypervolume"]
                colour = _BLUE if name != BASE else _GREY
                panel.errorbar(value["mean"], height, xerr=value["sd"], fmt="o", ms=4, lw=1, color=colour)
        for name, (colour, style) in _LINES.items():
            if name in one["variants"]:
                panel.axvline(_mean(one, name), color=colour, linestyle=style, linewidth=1.3, label=name)
        panel.set_title(named.dataset(dataset), fontsize=10)
        panel.tick_params(labelsize=8)
        panel.grid(axis="y", alpha=0.3)
        panel.locator_params(axis="x", nbins=2)
    panels[0].set_yticks(range(len(shown)), shown)
    handles, labels = panels[0].get_legend_handles_labels()
    for panel in panels[1:]:
        for handle, label in zip(*panel.get_legend_handles_labels()):
            if label not in labels:
                handles.append(handle)
                labels.append(label)
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize=8, frameon=False)
    figure.supxlabel("hypervolume on test (mean and standard deviation over splits)", fontsize=9)
    return {"options": figure}
