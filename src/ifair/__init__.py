"""Individually fair representations of people's records (iFair, ICDE 2019)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ifair.encode import Encoder as Encoder
    from ifair.models.consistent import ConsistentClassifier as ConsistentClassifier
    from ifair.models.consistent import ConsistentRegressor as ConsistentRegressor
    from ifair.models.ifair import IFair as IFair
    from ifair.models.lfr import LFR as LFR
    from ifair.models.many import fit_many as fit_many
    from ifair.persist import inspect as inspect
    from ifair.persist import load as load
    from ifair.persist import save as save
    from ifair.persist import score as score
    from ifair.ranking import FAStarIR as FAStarIR
    from ifair.similarity import Similarity as Similarity

__version__ = "0.1.0"
# Where each public name lives. Loaded on first use: `ifair --help` needs neither numpy nor scikit-learn.
_HOME = {
    "ConsistentClassifier": "models.consistent",
    "ConsistentRegressor": "models.consistent",
    "Encoder": "encode",
    "FAStarIR": "ranking",
    "IFair": "models.ifair",
    "LFR": "models.lfr",
    "Similarity": "similarity",
    "fit_many": "models.many",
    "inspect": "persist",
    "load": "persist",
    "save": "persist",
    "score": "persist",
}

__all__ = ["__version__", *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"ifair.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
