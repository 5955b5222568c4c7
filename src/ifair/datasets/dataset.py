"""Dataset: records of people, with the roles of their columns."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from ifair.datasets.about import Statistics
from ifair.errors import IfairError, check_known, name_setting

GroupRule = Mapping[str, Any] | Callable[[pd.DataFrame], Any] | Sequence[bool] | npt.NDArray[np.bool_] | pd.Series


@dataclass(frozen=True, eq=False)
class Dataset:
    """Records of people: what is known of them, the outcome, and who is protected.

    Attributes
    ----------
    name : str
        Short name, as in ``ifair datasets list``.
    frame : pandas.DataFrame of shape (n_records, n_attributes)
        The attributes with readable names and categories, the protected ones included: ``IFair`` takes their
        names. Categories have dtype ``category``, yes-or-no attributes ``bool``, all others are numbers.
    target : pandas.Series of shape (n_records,) or None
        The outcome: 0 or 1 for classification (1 is the positive class), a score for rankings. None for a
        table of yours that has none.
    protected : tuple of str
        Names of the columns of ``frame`` that must not count.
    group : ndarray of bool of shape (n_records,)
        True for members of the protected group.
    query : pandas.Series of shape (n_records,) or None
        Which ranking a record belongs to, where rankings exist. Records in no ranking hold a missing value.
    description, licence, citation, source : str
        What the records are and where they come from.
    positive, negative : str or None
        The values of the outcome that became 1 and 0, as text, where they were others; no negative where there were
        several.
    ids : pandas.Series of shape (n_records,) or None
        What names a record, where a table has a column for it; no attribute.
    weight : pandas.Series of shape (n_records,) or None
        How many people a record stands for, in whatever unit, where a table has a column for it; no attribute.

    Examples
    --------
    >>> from ifair.data import load_credit
    >>> credit = load_credit()
    >>> credit.frame.shape, credit.protected
    ((1000, 20), ('age',))
    >>> rate = credit.target[credit.group].mean()
    >>> print(f"{rate:.3f} of the {credit.group.sum()} protected people are good risks")
    0.672 of the 399 protected people are good risks
    """

    name: str
    frame: pd.DataFrame
    target: pd.Series | None
    protected: tuple[str, ...]
    group: npt.NDArray[np.bool_]
    query: pd.Series | None = None
    description: str = ""
    licence: str = ""
    citation: str = ""
    source: str = ""
    positive: str | None = None
    negative: str | None = None
    ids: pd.Series | None = None
    weight: pd.Series | None = None

    def __post_init__(self) -> None:
        n_records = len(self.frame)
        for part in ("target", "group", "query", "ids", "weight"):
            values = getattr(self, part)
            if values is not None and len(values) != n_records:
                raise IfairError(f"{part} has {len(values)} values for {n_records} records")
        for column in self.protected:
            check_known("protected column", column, self.frame.columns)

    def __repr__(self) -> str:
        rows, columns = self.frame.shape
        target = "no target" if self.target is None else f"target {self.target.name!r}"
        ranked = "" if self.query is None else f", {self.query.nunique()} queries"
        return (
            f"<Dataset {self.name}: {rows} records x {columns} attributes, {target}, "
            f"protected {list(self.protected)} ({self.group.mean():.1%} in the group){ranked}>"
        )

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def masked(self) -> pd.DataFrame:
        """The attributes without the protected ones, shape (n_records, n_attributes - n_protected)."""
        return self.frame.drop(columns=list(self.protected))

    @property
    def outcome(self) -> pd.Series:
        """The target, where there must be one: an error for a table that has none."""
        if self.target is None:
            raise IfairError(f"{self.name} has no outcome: name its column with {name_setting('target', 'COLUMN')}")
        return self.target

    @property
    def relative_weight(self) -> npt.NDArray[np.float64] | None:
        """How many of these people each one stands for, 1 on average, shape (n_records,); None where each counts once.

        Models and measures then say the same whatever the unit of the weights.
        """
        if self.weight is None:
            return None
        weights = self.weight.to_numpy(dtype=np.float64)
        return weights / weights.mean()

    def take(self, rows: npt.ArrayLike) -> "Dataset":
        """Return the records at the given positions (or of a boolean mask) as a Dataset of their own."""
        chosen = np.asarray(rows)
        if chosen.dtype == bool and len(chosen) != len(self):
            raise IfairError(f"a mask of {len(chosen)} values cannot choose among {len(self)} records")
        positions = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.intp)
        beside = {"target": self.target, "query": self.query, "ids": self.ids, "weight": self.weight}
        some: dict[str, Any] = {
            name: None if values is None else values.iloc[positions].reset_index(drop=True)
            for name, values in beside.items()
        }
        frame = self.frame.iloc[positions].reset_index(drop=True)
        return replace(self, frame=frame, group=self.group[positions], **some)

    def deliver(self, return_X_y: bool = False, as_frame: bool = True) -> Any:
        """Hand the records over in the form that scikit-learn's loaders offer.

        Parameters
        ----------
        return_X_y : bool, default=False
            Return the pair (frame, target) instead of the Dataset.
        as_frame : bool, default=True
            False gives NumPy arrays: as the pair, or as ``data`` and ``target`` of a scikit-learn ``Bunch``.

        Returns
        -------
        Dataset, sklearn.utils.Bunch, or tuple (X, y)
        """
        if as_frame:
            return (self.frame, self.target) if return_X_y else self
        X, y = self.frame.to_numpy(), None if self.target is None else self.target.to_numpy()
        if return_X_y:
            return X, y
        # scikit-learn takes seconds to import, and only this form needs it.
        from sklearn.utils import Bunch

        return Bunch(
            data=X,
            target=y,
            frame=None,
            feature_names=list(self.frame.columns),
            target_names=[] if self.target is None else [self.target.name],
            protected=self.protected,
            group=self.group,
            query=None if self.query is None else self.query.to_numpy(),
            DESCR="\n\n".join([self.description, f"Licence: {self.licence}", f"Citation: {self.citation}"]),
        )


def group_mask(frame: pd.DataFrame, rule: GroupRule) -> npt.NDArray[np.bool_]:
    """Say who belongs to the protected group, shape (n_records,).

    ``{"sex": "Female"}``: all named columns hold the value, or one of the values of a list; a callable maps the frame
    to a mask; or the mask itself.
    """
    if isinstance(rule, Mapping):
        if not rule:
            raise IfairError("a group rule must name at least one column")
        mask = np.ones(len(frame), dtype=bool)
        for column, wanted in rule.items():
            check_known("column", column, frame.columns)
            values = wanted if isinstance(wanted, Collection) and not isinstance(wanted, str) else [wanted]
            present = sorted(frame[column].dropna().unique().tolist(), key=str)
            for value in values:
                check_known("value", value, present, f" in column {column!r}")
            mask &= frame[column].isin(list(values)).to_numpy()
        return mask
    mask = np.asarray(rule(frame) if callable(rule) else rule)
    if mask.shape != (len(frame),) or mask.dtype != bool:
        raise IfairError(
            f"a group mask must hold one bool for each of the {len(frame)} records; "
            f"got shape {mask.shape} and dtype {mask.dtype}"
        )
    return mask


def encoded_width(frame: pd.DataFrame) -> int:
    """Number of columns after encoding: one per number or boolean, one per category seen (missing is none).

    This is what ``ifair.Encoder(missing="ignore")`` gives, without doing it.
    """
    return sum(
        int(frame[name].nunique()) if isinstance(frame[name].dtype, pd.CategoricalDtype) else 1 for name in frame
    )


def describe(dataset: Dataset, counts_protected: bool = False) -> Statistics:
    """Measure what the paper's table of datasets prints.

    Parameters
    ----------
    dataset : Dataset
    counts_protected : bool, default=False
        Whether the protected columns count among those after encoding.
    """
    rates: dict[str, float] = {}
    if dataset.query is None and dataset.target is not None:
        rates["rate_protected"] = float(dataset.target[dataset.group].mean())
        rates["rate_other"] = float(dataset.target[~dataset.group].mean())
    return Statistics(
        rows=len(dataset),
        columns=encoded_width(dataset.frame if counts_protected else dataset.masked),
        share=float(dataset.group.mean()),
        queries=None if dataset.query is None else int(dataset.query.nunique()),
        **rates,
    )
