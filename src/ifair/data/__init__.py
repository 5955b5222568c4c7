"""Where records come from: the datasets of the paper, and your own tables."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ifair.data.credit import load_credit
    from ifair.data.dataset import Dataset
    from ifair.data.errors import DataError

__all__ = ["DataError", "Dataset", "load_credit"]

# Where each public name lives. Loaded on first use, so that `ifair datasets list` needs no pandas.
_HOME = {
    "DataError": "ifair.data.errors",
    "Dataset": "ifair.data.dataset",
    "load_credit": "ifair.data.credit",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
