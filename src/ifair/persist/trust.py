"""What may be in a model file: types that are only data, and no functions of the user."""

import types
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from ifair.errors import ModelFileError

# Beside what skops trusts (scikit-learn's estimators, NumPy's and SciPy's arrays, plain Python data). Each was looked
# at: rebuilding it stores values and runs nothing that the file could choose.
VETTED = frozenset(
    {
        "ifair.encode.attribute.Attribute",
        "ifair.encode.encoder.Encoder",
        "ifair.models.consistent.ConsistentClassifier",
        "ifair.models.consistent.ConsistentRegressor",
        "ifair.models.ifair.IFair",
        "ifair.models.lfr.LFR",
        "ifair.models.masking.Masked",
        "ifair.ranking.fa_star_ir.FAStarIR",
        "ifair.similarity.similarity.Similarity",
        "numpy.dtype",
        "pandas.Interval",
        "pandas._libs.interval.Interval",
        "decimal.Decimal",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
    }
)
_SAVED_BY_NAME = ("numpy.", "scipy.", "sklearn.")


def find_unvetted(untrusted: Iterable[str], trusted: Iterable[str | type]) -> list[str]:
    """The types that neither we nor the user vouch for."""
    if isinstance(trusted, str | type):
        trusted = [trusted]
    names = {name if isinstance(name, str) else f"{name.__module__}.{name.__qualname__}" for name in trusted}
    return sorted(set(untrusted) - VETTED - names)


def check_savable(model: Any) -> None:
    """Refuse a model with functions among its parameters: a file holds data, and code would have to be trusted."""
    if not hasattr(model, "get_params"):
        raise ModelFileError(
            f"a {type(model).__name__} is no estimator; save a fitted scikit-learn estimator or Pipeline"
        )
    for name, value in model.get_params(deep=True).items():
        for function in _find_functions(value):
            called = getattr(function, "__name__", type(function).__name__)
            raise ModelFileError(
                f"parameter {name!r} holds the function {called!r}, and functions cannot be saved; fitting is over, so "
                f"replace it by data first, for instance model.set_params({name}=None)"
            )


def check_fitted(model: Any, refuse: type[Exception], what: str) -> None:
    """Refuse a model that has learned nothing yet, in words about what was to be done with it."""
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise refuse(f"this {type(model).__name__} is not fitted: fit it before {what}") from error


def _find_functions(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _find_functions(item)
    elif isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType | partial):
        # A function of the libraries themselves is saved as its name.
        by_name = not isinstance(value, partial) and getattr(value, "__self__", None) is None
        if not (by_name and str(value.__module__).startswith(_SAVED_BY_NAME)):
            yield value
    elif callable(value) and not isinstance(value, type) and not hasattr(value, "get_params"):
        # NumPy's functions are no functions to Python; they too are saved by name.
        yield from () if str(type(value).__module__).startswith("numpy") else (value,)
