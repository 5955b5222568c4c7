"""Which option of iFair helps: a table of variants and datasets, what it says in words, and a picture."""

from typing import Any

from ifair.report.tables import markdown_table

LEVEL = 0.05
"""Differences are called clear where the p-value after Holm is below this."""

BASE = "paper"
MARKS = ("masked", "svd-masked", "masked, scaled")

# Okabe and Ito's colours, which colour-blind people can tell apart.
_ORANGE, _BLUE, _GREEN, _VERMILION, _GREY = "#E69F00", "#0072B2", "#009E73", "#D55E00", "#555555"
_LINES = {"masked": (_ORANGE, "--"), "svd-masked": (_GREEN, "-."), "masked, scaled": (_VERMILION, ":")}


def section(results: dict[str, Any]) -> list[str]:
    """The section as blocks of Markdown; none where the experiment was not run.

    Parameters
    ----------
    results : dict
        Whole results; ``options`` holds what ``ifair.experiments.options.summarise`` made.
    """
    found = results.get("options")
    if not found:
        return []
    return [
        "## Options beyond the paper",
        "Hypervolume / harmonic mean on test, for settings chosen on validation: iFair-b as in the paper, with one or "
        "more options changed, and below it the marks to beat, among them masked data multiplied by a factor of at "
        f"most 1. ▲ and ▼: clearly above or below the paper's iFair-b (paired t-tests over the splits, after Holm, at "
        f"{LEVEL:.0%}); {_splits(found)} splits. The best of each column is bold.",
        markdown_table(table(found)),
        *_skipped(found),
        "![Hypervolume of every variant of iFair on every dataset, next to masked data and their principal "
        "components](figures/options.svg)",
        "\n".join(f"- {line}" for line in findings(found)),
    ]


def _splits(found: dict[str, Any]) -> int:
    return int(next(iter(found.values()))["variants"][BASE]["hypervolume"]["n"])


def names(found: dict[str, Any]) -> list[str]:
    """All variants that were tried on some dataset, the marks last."""
    every = list(dict.fromkeys(name for one in found.values() for name in one["variants"]))
    return [name for name in every if name not in MARKS] + [name for name in MARKS if name in every]


def table(found: dict[str, Any]) -> list[list[str]]:
    """Variants down, datasets across; each cell hypervolume / harmonic mean."""
    rows = [["variant", *found]]
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
                text = f"**{text}**" if round(value, digits) == best[dataset][measure] else text
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


def _skipped(found: dict[str, Any]) -> list[str]:
    lines = [f"{name} on {dataset}: {why}" for dataset, one in found.items() for name, why in one["skipped"].items()]
    return [f"Left out, for an order p other than 2 is slow: {'; '.join(lines)}."] if lines else []


def findings(found: dict[str, Any]) -> list[str]:
    """What the numbers say, a sentence each."""
    return [*_gaps(found), *_variants(found), *_scaling(found), *_leaks(found)]


def _gaps(found: dict[str, Any]) -> list[str]:
    lines = []
    for dataset, one in found.items():
        mean = {name: values["hypervolume"]["mean"] for name, values in one["variants"].items()}
        ours = {name: value for name, value in mean.items() if name not in MARKS}
        rivals = {name: value for name, value in mean.items() if name in MARKS}
        top, rival = max(ours, key=ours.__getitem__), max(rivals, key=rivals.__getitem__)
        verdict = "which no mark beats" if ours[top] >= rivals[rival] else "still below the best mark"
        marks = ", ".join(f"{name} {value:.3f}" for name, value in rivals.items())
        lines.append(
            f"**{dataset}**: hypervolume {mean[BASE]:.3f} with the paper's options against {marks}. The best variant "
            f"is *{top}* with {ours[top]:.3f}, {verdict}."
        )
    return lines


def _variants(found: dict[str, Any]) -> list[str]:
    lines = []
    for name in names(found):
        tried = [dataset for dataset, one in found.items() if name in one["variants"]]
        if name == BASE or name in MARKS:
            continue
        above = [d for d in tried if _mean(found[d], name) > _mean(found[d], BASE)]
        better = [d for d in tried if clear(found[d], "hypervolume", name) > 0]
        worse = [d for d in tried if clear(found[d], "hypervolume", name) < 0]
        lines.append(
            f"*{name}*: mean hypervolume above the paper's options on {len(above)} of {len(tried)} datasets; clearly "
            f"above on {_listed(better)}, clearly below on {_listed(worse)}."
        )
    return lines


def _scaling(found: dict[str, Any]) -> list[str]:
    lines = []
    for dataset, one in found.items():
        masked, scaled = one["variants"].get("masked"), one["variants"].get("masked, scaled")
        if masked is None or scaled is None:
            continue
        lines.append(
            f"**{dataset}**: multiplying masked data by a factor changes hypervolume from "
            f"{masked['hypervolume']['mean']:.3f} to {scaled['hypervolume']['mean']:.3f}, and at the best harmonic "
            f"mean yNN from {masked['yNN']['mean']:.2f} to {scaled['yNN']['mean']:.2f}, AUC from "
            f"{masked['AUC']['mean']:.2f} to {scaled['AUC']['mean']:.2f} and AUC of scores from "
            f"{masked['AUC of scores']['mean']:.2f} to {scaled['AUC of scores']['mean']:.2f}. This much a penalty of "
            "the classifier does without any representation."
        )
    return lines


def _leaks(found: dict[str, Any]) -> list[str]:
    lines = []
    for dataset, one in found.items():
        leak = {name: values["adversary"]["mean"] for name, values in one["variants"].items() if name not in MARKS}
        least = min(leak, key=leak.__getitem__)
        lines.append(
            f"**{dataset}**: an adversary tells the group with an AUC of {leak[BASE]:.2f} from the paper's iFair-b, "
            f"{one['variants']['masked']['adversary']['mean']:.2f} from masked data, and {leak[least]:.2f} from the "
            f"variant that shows least, *{least}*."
        )
    return lines


def _mean(one: dict[str, Any], name: str) -> float:
    return float(one["variants"][name]["hypervolume"]["mean"])


def _listed(datasets: list[str]) -> str:
    return ", ".join(datasets) if datasets else "none"


def figures(results: dict[str, Any]) -> dict[str, Any]:
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
        panel.set_title(dataset, fontsize=10)
        panel.tick_params(labelsize=8)
        panel.grid(axis="y", alpha=0.3)
        panel.locator_params(axis="x", nbins=3)
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
