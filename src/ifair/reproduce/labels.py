"""How methods, datasets, measures and rules are called on the page, and how they are drawn."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Literal

from ifair.evaluate.statistics import Spreads
from ifair.report.blocks import Line, Number, Strong
from ifair.report.pictures import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, RED, SKY

Task = Literal["classification", "ranking"]
"""The two of the paper."""

METHODS = {
    "full": ("full data", GREY, "s"),
    "masked": ("masked data", BLACK, "D"),
    "svd": ("SVD", SKY, "v"),
    "svd-masked": ("SVD-masked", BLUE, "^"),
    "lfr": ("LFR", GREEN, "P"),
    "fair": ("FA*IR", GREEN, "P"),  # FA*IR and LFR are never in one picture
    "ifair-a": ("iFair-a", ORANGE, "X"),
    "ifair-b": ("iFair-b", RED, "o"),
    "ifair-frozen": ("iFair-b, frozen", PURPLE, "h"),
    "ifair-plus": ("iFair, ours", PURPLE, "h"),
    "original": ("original data", GREY, "."),
    "ifair": ("iFair", GREY, "."),
}
"""What a method is called, its colour and its marker."""

DATASETS = {"compas": "COMPAS", "census": "Census", "credit": "Credit", "xing": "Xing", "airbnb": "Airbnb"}
RULES = {"most_useful": "most useful", "fairest": "fairest", "balanced": "balanced"}
"""The paper calls them "max utility", "max fairness" and "optimal"."""

FAMILIES = {
    "penalty": "masked, penalty tuned",
    "components": "masked, principal components",
    "leaves": "masked, boosted trees tuned",
    "voters": "masked, nearest neighbours vote",
    "prototypes": "iFair, protected weights frozen",
    "consistent": "consistent decisions",
    "glif": "GLIF (squared)",
    "newcomers": "consistent, one at a time",
}
"""Of scores, which consistent decisions are compared with."""

MODELS = {"boosting": "gradient boosting", "neighbours": "nearest neighbours", "pairwise": "pairwise ranking"}
COLUMNS: dict[Task, tuple[str, ...]] = {
    "classification": ("AUC", "AUC_of_scores", "yNN", "EqOpp", "Parity"),
    "ranking": ("MAP", "KT", "yNN", "percent_protected"),
}
"""The measures that tables beyond the paper show of a task."""


def method(name: str) -> str:
    """A method's name in words; FA*IR's is followed by its p.

    Examples
    --------
    >>> method("svd-masked"), method("fair"), method("fair-0.5-unadjusted")
    ('SVD-masked', 'FA*IR', 'FA*IR, p = 0.5, unadjusted')
    """
    base = find_base(name)
    p, _, further = name.removeprefix(base).removeprefix("-").partition("-")
    return ", ".join([METHODS.get(base, (base,))[0], *([f"p = {p}"] if p else []), *([further] if further else [])])


def find_base(name: str) -> str:
    """The method that a key is of: ``"fair-0.5"`` is FA*IR at one p."""
    return "fair" if name.startswith("fair-") else name


def family(name: str) -> str:
    """A family of scores in words; that of a post-processing, such as ``"glif-linear"``, names the model inside."""
    kind, _, inner = name.partition("-")
    return FAMILIES[kind] + (f", {inner}" if inner else "")


def variant(name: str) -> str:
    """A variant of iFair, or a mark to beat, in words.

    Examples
    --------
    >>> variant("p-1"), variant("frozen+unprotected_utility"), variant("k-means++_starts")
    ('p = 1', 'frozen, unprotected utility', 'k-means++ starts')
    """
    alone = r"(?<!\+)\+(?!\+)"  # the two of k-means++ are part of a name
    return re.sub(r"^p-", "p = ", re.sub(alone, ", ", name)).replace("_", " ")


def dataset(name: str) -> str:
    """A dataset's name as its publishers write it."""
    return DATASETS.get(name, name)


def line(name: str, text: str) -> Line:
    """What is said of a dataset: its name, which stands out, and the rest of the sentence."""
    return Strong(dataset(name)), text


def count(n: int, noun: str) -> str:
    """``1 split``, ``3 splits``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def span(numbers: Collection[int]) -> str:
    """``3 to 5``, or ``5`` where all are the same."""
    return " to ".join(str(end) for end in sorted({min(numbers), max(numbers)}))


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


def cells(reached: Spreads, measures: Iterable[str], printed: Mapping[str, float] | None = None) -> list[Line]:
    """Measures as cells of a table, in one that has the paper's numbers beside those that were ``printed``."""
    if printed is None:
        return [Number.from_spread(reached[name], digits=digits(name)) for name in measures]
    return [Number.from_spread(reached[name], printed.get(name)) for name in measures]


def style(name: str) -> tuple[str, str]:
    """Colour and marker of a method, a grey dot for one that has none."""
    _, colour, marker = METHODS.get(find_base(name), ("", GREY, "."))
    return colour, marker
