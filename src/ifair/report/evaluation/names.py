"""How methods, datasets and rules are called on the page, and how they are drawn."""

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
    "original": "original data",
    "ifair": "iFair",
}
DATASETS = {"compas": "COMPAS", "census": "Census", "credit": "Credit", "xing": "Xing", "airbnb": "Airbnb"}
RULES = {"max utility": "max utility", "max fairness": "max fairness", "optimal": "best harmonic mean"}

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
}
"""Colour and marker of a method."""


def method(name: str) -> str:
    """A method's name in words; FA*IR's is followed by its p."""
    first, comma, rest = name.partition(",")
    return METHODS.get(first, first) + comma + rest


def dataset(name: str) -> str:
    """A dataset's name as its publishers write it."""
    return DATASETS.get(name, name)


def style(name: str) -> tuple[str, str]:
    """Colour and marker of a method, a grey dot for one that has none."""
    return STYLES.get(name.partition(",")[0], (GREY, "."))
