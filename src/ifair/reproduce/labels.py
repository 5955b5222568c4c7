"""How methods, datasets, measures and rules are called on the page, and how they are drawn."""

from ifair.report.blocks import Line, Strong
from ifair.report.pictures import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY

METHODS = {
    "full": "full data",
    "masked": "masked data",
    "svd": "SVD",
    "svd-masked": "SVD-masked",
    "lfr": "LFR",
    "fair": "FA*IR",
    "ifair-a": "iFair-a",
    "ifair-b": "iFair-b",
    "ifair-frozen": "iFair-b, frozen",
    "ifair-plus": "iFair, ours",
    "original": "original data",
    "ifair": "iFair",
}
DATASETS = {"compas": "COMPAS", "census": "Census", "credit": "Credit", "xing": "Xing", "airbnb": "Airbnb"}
RULES = {"most_useful": "most useful", "fairest": "fairest", "balanced": "balanced"}
"""The paper calls them "max utility", "max fairness" and "optimal"."""

MODELS = {"boosting": "gradient boosting", "neighbours": "nearest neighbours", "pairwise": "pairwise ranking"}
COLUMNS = {
    "classification": ("AUC", "AUC_of_scores", "yNN", "EqOpp", "Parity"),
    "ranking": ("MAP", "KT", "yNN", "percent_protected"),
}
"""The measures that tables beyond the paper show of a task."""

STYLES = {
    "full": (GREY, "s"),
    "masked": (BLACK, "D"),
    "svd": (SKY, "v"),
    "svd-masked": (BLUE, "^"),
    "lfr": (GREEN, "P"),
    "fair": (GREEN, "P"),  # FA*IR and LFR are never in one picture
    "ifair-a": (ORANGE, "X"),
    "ifair-b": (RED, "o"),
    "ifair-frozen": (PURPLE, "h"),
    "ifair-plus": (PURPLE, "h"),
}
"""Colour and marker of a method."""


def method(name: str) -> str:
    """A method's name in words; FA*IR's is followed by its p."""
    first, comma, rest = name.partition(",")
    return METHODS.get(first, first) + comma + rest


def dataset(name: str) -> str:
    """A dataset's name as its publishers write it."""
    return DATASETS.get(name, name)


def line(name: str, text: str) -> Line:
    """What is said of a dataset: its name, which stands out, and the rest of the sentence."""
    return Strong(dataset(name)), text


def count(n: int, noun: str) -> str:
    """``1 split``, ``3 splits``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def model(name: str, task: str) -> str:
    """A model's name in words; the linear one is the paper's for the task."""
    linear = "logistic regression" if task == "classification" else "linear regression"
    return linear if name == "linear" else MODELS.get(name, name)


def measure(name: str) -> str:
    """A measure's name in words, such as ``AUC of scores`` or ``% protected``."""
    return name.replace("percent_", "% ").replace("_", " ")


def digits(name: str) -> int:
    """Decimals of a measure that has no number of the paper's beside it: percentages need fewer."""
    return 1 if name.startswith("percent_") else 2


def style(name: str) -> tuple[str, str]:
    """Colour and marker of a method, a grey dot for one that has none."""
    return STYLES.get(name.partition(",")[0], (GREY, "."))
