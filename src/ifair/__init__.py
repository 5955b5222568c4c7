"""Individually fair representations of people's records (iFair, ICDE 2019)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ifair.encode import Encoder
    from ifair.models.consistent import ConsistentClassifier, ConsistentRegressor
    from ifair.models.ifair import IFair
    from ifair.models.lfr import LFR
    from ifair.models.many import fit_many
    from ifair.persist import inspect, load, save, score
    from ifair.ranking import FAStarIR
    from ifair.similarity import Similarity

__version__ = "0.1.0"
__all__ = [
    "LFR",
    "ConsistentClassifier",
    "ConsistentRegressor",
    "Encoder",
    "FAStarIR",
    "IFair",
    "Similarity",
    "__version__",
    "fit_many",
    "inspect",
    "load",
    "save",
    "score",
]

# Where each public name lives. Loaded on first use: `ifair --help` needs neither numpy nor scikit-learn.
_HOME = {
    "ConsistentClassifier": "ifair.models.consistent",
    "ConsistentRegressor": "ifair.models.consistent",
    "Encoder": "ifair.encode",
    "FAStarIR": "ifair.ranking",
    "IFair": "ifair.models.ifair",
    "LFR": "ifair.models.lfr",
    "Similarity": "ifair.similarity",
    "fit_many": "ifair.models.many",
    "inspect": "ifair.persist",
    "load": "ifair.persist",
    "save": "ifair.persist",
    "score": "ifair.persist",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
