"""The numbers printed in the paper (Lahoti, Gummadi, Weikum, ICDE 2019), table by table, as plain data.

Names are those of this package: rules and measures of ``ifair.evaluate``, representations of
``ifair.models.representations``, datasets of the registry. Its plots (trade-offs, synthetic panels, adversary, FA*IR on
top of iFair) are drawings whose numbers are not printed anywhere.
"""

from typing import Any


def _ranking_line(*figures: float) -> dict[str, float]:
    return dict(zip(("MAP", "KT", "yNN", "percent_protected"), figures, strict=True))


CLASSIFICATION: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
"""Comparison for the classification task: by tuning rule (``baseline`` has none), method, dataset and measure."""

# Of each dataset Acc, AUC, EqOpp, Parity and yNN.
_TABLE = """
                      Compas                     Census                     Credit
baseline     full     0.66 0.65 0.70 0.72 0.84   0.84 0.77 0.90 0.81 0.90   0.74 0.66 0.82 0.81 0.78
most_useful  lfr      0.60 0.59 0.60 0.62 0.79   0.81 0.77 0.81 0.75 0.90   0.71 0.64 0.78 0.77 0.77
most_useful  ifair-a  0.60 0.58 0.91 0.91 0.87   0.78 0.63 0.96 0.91 0.91   0.69 0.61 0.84 0.86 0.74
most_useful  ifair-b  0.59 0.58 0.84 0.84 0.88   0.78 0.65 0.78 0.85 0.93   0.73 0.59 0.97 0.98 0.85
fairest      lfr      0.54 0.51 0.99 0.99 0.97   0.76 0.51 1.00 0.99 1.00   0.72 0.51 0.99 0.98 0.98
fairest      ifair-a  0.56 0.53 0.97 0.99 0.95   0.76 0.51 0.95 1.00 0.99   0.73 0.53 0.99 0.98 0.97
fairest      ifair-b  0.55 0.52 0.98 1.00 0.97   0.76 0.52 0.98 0.99 0.99   0.72 0.51 0.99 1.00 0.99
balanced     lfr      0.59 0.57 0.72 0.77 0.88   0.78 0.76 0.94 0.74 0.92   0.71 0.64 0.78 0.77 0.77
balanced     ifair-a  0.60 0.58 0.91 0.91 0.87   0.77 0.63 0.93 0.90 0.92   0.73 0.57 0.94 0.94 0.90
balanced     ifair-b  0.59 0.58 0.83 0.84 0.89   0.78 0.65 0.78 0.85 0.93   0.73 0.59 0.97 0.98 0.85
"""
for _rule, _method, *_figures in map(str.split, _TABLE.strip().splitlines()[1:]):
    CLASSIFICATION.setdefault(_rule, {})[_method] = {
        name: dict(zip(("Acc", "AUC", "EqOpp", "Parity", "yNN"), map(float, _figures[5 * i : 5 * i + 5]), strict=True))
        for i, name in enumerate(("compas", "census", "credit"))
    }

RANKING: dict[str, dict[str, dict[str, float]]] = {
    "xing": {
        "full": _ranking_line(1.00, 1.00, 0.93, 32.50),
        "masked": _ranking_line(1.00, 1.00, 0.93, 32.68),
        "svd": _ranking_line(0.74, 0.59, 0.81, 31.79),
        "svd-masked": _ranking_line(0.67, 0.50, 0.78, 32.86),
        "fair-0.5": _ranking_line(0.93, 0.94, 0.92, 38.21),
        "fair-0.9": _ranking_line(0.78, 0.78, 0.85, 48.57),
        "ifair-b": _ranking_line(0.76, 0.57, 1.00, 31.07),
    },
    "airbnb": {
        "full": _ranking_line(0.68, 0.53, 0.72, 47.44),
        "masked": _ranking_line(0.67, 0.53, 0.72, 47.44),
        "svd": _ranking_line(0.66, 0.49, 0.73, 48.37),
        "svd-masked": _ranking_line(0.66, 0.49, 0.73, 48.37),
        "fair-0.5": _ranking_line(0.67, 0.52, 0.72, 48.60),
        "fair-0.6": _ranking_line(0.65, 0.51, 0.73, 51.16),
        "ifair-b": _ranking_line(0.60, 0.45, 0.80, 49.07),
    },
}
"""Results for the ranking task, under the balanced rule: by dataset, method and measure."""

SENSITIVITY: list[dict[str, Any]] = [
    {"weights": [0.00, 0.50, 1.00], "base_rate": 33.57, **_ranking_line(0.76, 0.58, 1.00, 31.07)},
    {"weights": [0.25, 0.75, 0.00], "base_rate": 33.57, **_ranking_line(0.83, 0.69, 0.95, 35.54)},
    {"weights": [0.50, 1.00, 0.25], "base_rate": 32.68, **_ranking_line(0.74, 0.56, 1.00, 31.07)},
    {"weights": [0.75, 0.00, 0.50], "base_rate": 32.68, **_ranking_line(0.75, 0.55, 1.00, 31.07)},
    {"weights": [0.75, 0.25, 0.00], "base_rate": 31.25, **_ranking_line(0.84, 0.74, 0.96, 33.57)},
    {"weights": [1.00, 0.25, 0.75], "base_rate": 32.86, **_ranking_line(0.75, 0.56, 1.00, 31.07)},
    {"weights": [1.00, 1.00, 1.00], "base_rate": 32.68, **_ranking_line(0.76, 0.57, 1.00, 31.07)},
]
"""Sensitivity of iFair to the weights of work, education and views in Xing's score."""
