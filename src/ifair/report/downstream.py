"""The part of the page about models other than the paper's on the same representations."""

from collections.abc import Mapping
from typing import Any

from ifair.report.tables import markdown_table

CLASSIFIED = ("AUC", "AUC of scores", "yNN", "EqOpp", "Parity")
RANKED = ("MAP", "KT", "yNN", "% protected")
ABOUT = """
Beyond the paper, which calls its representation application-agnostic: every representation is tuned once, with the
paper's model (the first of each dataset; best harmonic mean on validation), and then handed to models that had no say
in it. All numbers are means over the splits on test.
""".strip()


def section(results: Mapping[str, Any]) -> list[str]:
    """Markdown blocks; none where the experiment was not run."""
    found = results.get("downstream") or {}
    blocks = []
    for task, utility, measures in (("classification", "AUC", CLASSIFIED), ("ranking", "MAP", RANKED)):
        if found.get(task):
            blocks += [
                f"### {task.capitalize()}: {utility} / yNN",
                _overview(found[task], utility),
                _kept(found[task], utility),
                *(block for dataset, models in found[task].items() for block in _details(dataset, models, measures)),
            ]
    return ["## Other models on the same representations", ABOUT, *blocks] if blocks else []


def _overview(datasets: Mapping[str, Any], utility: str) -> str:
    """One row a dataset and model, one column a representation."""
    methods = list(next(iter(next(iter(datasets.values())).values())))
    rows = [["dataset", "model", *methods]]
    for dataset, models in datasets.items():
        for model, by_method in models.items():
            cells = [f"{by_method[m][utility]['mean']:.2f} / {by_method[m]['yNN']['mean']:.2f}" for m in methods]
            rows.append([dataset, model, *cells])
    return markdown_table(rows)


def _kept(datasets: Mapping[str, Any], utility: str) -> str:
    """What iFair-b changes against the full data, model by model."""
    lines = []
    for dataset, models in datasets.items():
        changes = []
        for model, by_method in models.items():
            if {"full", "ifair-b"} <= set(by_method):
                before, after = by_method["full"], by_method["ifair-b"]
                fairer = after["yNN"]["mean"] - before["yNN"]["mean"]
                dearer = after[utility]["mean"] - before[utility]["mean"]
                changes.append((fairer, f"{model} {fairer:+.2f} (at {dearer:+.2f} {utility})"))
        if changes:
            better = sum(fairer > 0 for fairer, _ in changes)
            told = ", ".join(words for _, words in changes)
            lines.append(
                f"- **{dataset}**: iFair-b raises yNN above that of the full data for {better} of {len(changes)} "
                f"models: {told}."
            )
    return "\n".join(lines)


def _details(dataset: str, models: Mapping[str, Any], measures: tuple[str, ...]) -> list[str]:
    rows = [["model", "representation", *measures]]
    for model, by_method in models.items():
        for method, found in by_method.items():
            figures = (f"{found[name]['mean']:.2f} ± {found[name]['sd']:.2f}" for name in measures)
            rows.append([model, method, *figures])
    return [f"{dataset}, mean ± standard deviation:", markdown_table(rows)]
