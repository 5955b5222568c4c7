"""Individually fair representations of people's records (iFair, ICDE 2019)."""

from typing import TYPE_CHECKING

from ifair.lazy_names import load_on_first_use

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

__getattr__, __dir__ = load_on_first_use(__name__, _HOME, __all__)
