"""The table that ``ifair demo`` prints."""

from typing import Any

import numpy as np

from ifair.report.tables import aligned

MEASURES = {
    "accuracy": "accuracy",
    "AUC": "AUC",
    "AUC of labels": "AUC (labels)",
    "yNN": "yNN",
    "flipped": "flipped",
}


def summary(results: dict[str, Any]) -> list[dict[str, Any]]:
    """One row a method: mean and standard deviation of every measure over the splits."""
    rows = []
    for method, measures in results["measures"].items():
        values = {name: (float(np.mean(measures[name])), float(np.std(measures[name], ddof=1))) for name in MEASURES}
        rows.append({"method": method, "values": values})
    return rows


def as_text(results: dict[str, Any]) -> str:
    """The table for a terminal."""
    rows = [["", *MEASURES.values()]]
    rows += [
        [row["method"], *(f"{mean:.3f} ± {spread:.3f}" for mean, spread in row["values"].values())]
        for row in summary(results)
    ]
    return aligned(rows)
