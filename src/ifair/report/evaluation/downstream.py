"""The part of the page about models other than the paper's on the same representations."""

from collections.abc import Mapping
from typing import Any

from ifair.report.blocks import Block, Bullets, Heading, Line, Number, Strong, Table, Text, signed
from ifair.report.evaluation import names

CLASSIFIED = ("AUC", "AUC of scores", "yNN", "EqOpp", "Parity")
RANKED = ("MAP", "KT", "yNN", "% protected")
ABOUT = """
Beyond the paper, which calls its representation application-agnostic: every representation is tuned once, with the
paper's model (the first of each dataset; best harmonic mean on validation), and then handed to models that had no say
in it. All numbers are means over the splits on test.
""".strip()


def section(results: Mapping[str, Any]) -> list[Block]:
    """One table a task, and what it says; nothing where the experiment was not run."""
    found = results.get("downstream") or {}
    blocks: list[Block] = []
    for task, utility, measures in (("classification", "AUC", CLASSIFIED), ("ranking", "MAP", RANKED)):
        if found.get(task):
            blocks += [
                Heading(f"{task.capitalize()}: {utility} / yNN", 3),
                Table(_overview(found[task], utility)),
                Bullets(_kept(found[task], utility)),
                *(block for dataset, models in found[task].items() for block in _details(dataset, models, measures)),
            ]
    return [Heading("Other models on the same representations"), Text(ABOUT), *blocks] if blocks else []


def _overview(datasets: Mapping[str, Any], utility: str) -> list[list[str]]:
    """One row a dataset and model, one column a representation."""
    methods = list(next(iter(next(iter(datasets.values())).values())))
    rows = [["dataset", "model", *map(names.method, methods)]]
    for dataset, models in datasets.items():
        for model, by_method in models.items():
            cells = [f"{by_method[m][utility]['mean']:.2f} / {by_method[m]['yNN']['mean']:.2f}" for m in methods]
            rows.append([names.dataset(dataset), model, *cells])
    return rows


def _kept(datasets: Mapping[str, Any], utility: str) -> list[Line]:
    """What iFair-b changes against the full data, model by model."""
    lines: list[Line] = []
    for dataset, models in datasets.items():
        changes = []
        for model, by_method in models.items():
            if {"full", "ifair-b"} <= set(by_method):
                before, after = by_method["full"], by_method["ifair-b"]
                fairer = after["yNN"]["mean"] - before["yNN"]["mean"]
                dearer = after[utility]["mean"] - before[utility]["mean"]
                changes.append((fairer, f"{model} {signed(fairer)} (at {signed(dearer)} {utility})"))
        if changes:
            better = sum(fairer > 0 for fairer, _ in changes)
            told = ", ".join(words for _, words in changes)
            lines.append(
                (
                    Strong(names.dataset(dataset)),
                    f": iFair-b raises yNN above that of the full data for {better} of {len(changes)} models: {told}.",
                )
            )
    return lines


def _details(dataset: str, models: Mapping[str, Any], measures: tuple[str, ...]) -> list[Block]:
    rows: list[list[Line]] = [["model", "representation", *measures]]
    for model, by_method in models.items():
        for method, found in by_method.items():
            cells = [Number.of(found[name], digits=1 if name.startswith("%") else 2) for name in measures]
            rows.append([model, names.method(method), *cells])
    return [Text(f"{names.dataset(dataset)}, mean ± standard deviation:"), Table(rows)]
