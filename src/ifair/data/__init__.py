"""Where records come from: the datasets of the paper, and your own tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ifair.data.airbnb import load_airbnb
    from ifair.data.census import load_census
    from ifair.data.compas import load_compas
    from ifair.data.credit import load_credit
    from ifair.data.dataset import Dataset
    from ifair.data.errors import DataError
    from ifair.data.registry import dataset_names, load
    from ifair.data.splits import Thirds, thirds
    from ifair.data.statistics import describe, encoded_width
    from ifair.data.synthetic import make_synthetic
    from ifair.data.tables import from_table, read_table
    from ifair.data.xing import load_xing

__all__ = [
    "DataError",
    "Dataset",
    "Thirds",
    "dataset_names",
    "describe",
    "encoded_width",
    "from_table",
    "load",
    "load_airbnb",
    "load_census",
    "load_compas",
    "load_credit",
    "load_xing",
    "make_synthetic",
    "read_table",
    "thirds",
]

# Where each public name lives. Loaded on first use, so that `ifair datasets list` needs no pandas.
_HOME = {
    "DataError": "errors",
    "Dataset": "dataset",
    "Thirds": "splits",
    "dataset_names": "registry",
    "describe": "statistics",
    "encoded_width": "statistics",
    "from_table": "tables",
    "load": "registry",
    "load_airbnb": "airbnb",
    "load_census": "census",
    "load_compas": "compas",
    "load_credit": "credit",
    "load_xing": "xing",
    "make_synthetic": "synthetic",
    "read_table": "tables",
    "thirds": "splits",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"ifair.data.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
