"""Individually fair representations of people's records (iFair, ICDE 2019)."""

from typing import TYPE_CHECKING

from ifair.lazy_names import load_on_first_use

if TYPE_CHECKING:
    from ifair.encode import Encoder as Encoder
    from ifair.models.consistent import (
        ConsistentClassifier as ConsistentClassifier,
    )
    from ifair.models.consistent import (
        ConsistentRegressor as ConsistentRegressor,
    )
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
__getattr__, __dir__ = load_on_first_use(__name__, _HOME, __all__)
