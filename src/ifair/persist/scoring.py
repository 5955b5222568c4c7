"""One record in, one decision out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ifair.errors import IfairError, nearest_name


def score(model: Any, record: Any) -> Any:
    """What a fitted model says about one person.

    Parameters
    ----------
    model : fitted estimator or Pipeline
        One fitted on a table with named columns, as :func:`ifair.load` returns it.
    record : mapping, pandas Series, table of one row, or (for a model fitted on an array) sequence of numbers
        The person's attributes by name, in any order; None where a value is missing. Names that the model does not
        know and names that are left out are refused: a mistyped name would otherwise pass for a missing value.

    Returns
    -------
    float or ndarray of shape (n_features_out,)
        The probability of the positive class (the second of ``classes_``) from a classifier of two classes, or its
        decision function where it gives no probabilities; the prediction of a regressor; the representation from a
        transformer.

    Examples
    --------
    >>> import pandas as pd, ifair
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> people = pd.DataFrame({"age": [20, 30, 40, 50], "job": ["none", "clerk", "clerk", "none"]})
    >>> model = make_pipeline(ifair.Encoder(), LogisticRegression()).fit(people, [0, 0, 1, 1])
    >>> round(ifair.score(model, {"job": "clerk", "age": 45}), 3)
    0.699
    >>> ifair.score(model, {"job": "clerk", "aeg": 45})
    Traceback (most recent call last):
        ...
    ifair.errors.IfairError: the record has 'aeg', which the model does not know; did you mean 'age'?
    """
    if isinstance(model, str | Path):
        raise TypeError(f"score takes a model, not the name of a file: model = ifair.load({str(model)!r}) first")
    from sklearn.base import is_classifier, is_regressor

    row = _make_row(model, record)
    if is_classifier(model):
        if len(model.classes_) != 2:
            raise IfairError(f"score is for two classes, the model has {len(model.classes_)}: use its predict_proba")
        if hasattr(model, "predict_proba"):
            return float(model.predict_proba(row)[0, 1])
        return float(model.decision_function(row)[0])
    if is_regressor(model):
        return float(model.predict(row).ravel()[0])
    if hasattr(model, "transform"):
        import numpy as np

        return np.asarray(model.transform(row))[0]
    raise TypeError(f"a {type(model).__name__} neither predicts nor transforms, so there is no score")


def _make_row(model: Any, record: Any) -> Any:
    """The record as the table of one row that the model was fitted for."""
    import numpy as np
    import pandas as pd

    if not hasattr(model, "n_features_in_"):
        raise IfairError(f"this {type(model).__name__} is not fitted: fit or load a model first")
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        row = np.asarray(record)
        row = row.reshape(1, -1) if row.ndim == 1 else row
        if row.ndim != 2 or row.shape != (1, model.n_features_in_):
            raise IfairError(f"the model was fitted on an array: pass one record of {model.n_features_in_} numbers")
        return row
    values = _read_attributes(record)
    needless = getattr(model, "needless_columns", [])
    _check_names(list(values), list(names), needless)
    # Column by column, so that each keeps a type of its own.
    return pd.DataFrame({name: [values[name]] for name in names if name not in needless or name in values})


def _read_attributes(record: Any) -> Mapping[Any, Any]:
    """The record's values by name."""
    import pandas as pd

    if isinstance(record, Mapping):
        return record
    if isinstance(record, pd.Series):
        return dict(zip(record.index, record.array))
    if hasattr(record, "columns"):
        if len(record) != 1:
            raise IfairError(f"score takes one record, the table has {len(record)}: use the model's own methods")
        if isinstance(record, pd.DataFrame):
            return {name: record[name].iloc[0] for name in record.columns}
        return dict(zip(record.columns, record.row(0)))  # polars
    raise TypeError(
        f"the record is a {type(record).__name__}, and the model was fitted on named columns: pass a mapping of names "
        "to values"
    )


def _check_names(given: Sequence[Any], known: Sequence[str], needless: Sequence[str]) -> None:
    absent = [name for name in known if name not in set(given)]
    for name in given:
        if name not in set(known):
            # A name that is absent is the likelier meaning.
            near = nearest_name(name, absent) or nearest_name(name, known)
            hint = f"did you mean {near!r}?" if near else f"its attributes are {', '.join(map(repr, known))}"
            raise IfairError(f"the record has {name!r}, which the model does not know; {hint}")
    absent = [name for name in absent if name not in needless]
    if absent:
        raise IfairError(
            f"the record lacks {', '.join(map(repr, absent))}; pass every attribute, with None where a value is missing"
        )
