"""The datasets by name: what there is, what is known of it, and how to load it."""

from importlib import import_module
from typing import Any

from ifair.data.catalogue import CATALOGUE, Entry
from ifair.data.errors import unknown

# Each in a module of its own, loaded on use.
_LOADERS = {
    "compas": ("ifair.data.compas", "load_compas"),
    "census": ("ifair.data.census", "load_census"),
    "credit": ("ifair.data.credit", "load_credit"),
    "airbnb": ("ifair.data.airbnb", "load_airbnb"),
    "xing": ("ifair.data.xing", "load_xing"),
    "synthetic": ("ifair.data.synthetic", "make_synthetic"),
}


def dataset_names() -> list[str]:
    """Names of all datasets, in the order of the paper's table."""
    return list(_LOADERS)


def entry(name: str) -> Entry:
    """What is known of a dataset without reading it."""
    if name not in CATALOGUE:
        raise unknown("dataset", name, _LOADERS)
    return CATALOGUE[name]


def load(name: str, **options: Any) -> Any:
    """Load a dataset by name; the options are those of its loader.

    Examples
    --------
    >>> from ifair.data import load
    >>> load("credit", age_rule=(0, 25)).frame.shape
    (1000, 20)
    """
    if name not in _LOADERS:
        raise unknown("dataset", name, _LOADERS)
    module, function = _LOADERS[name]
    return getattr(import_module(module), function)(**options)
