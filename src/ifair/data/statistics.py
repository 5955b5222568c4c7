"""The figures by which a dataset is compared with the paper's table."""

import pandas as pd

from ifair.data.catalogue import Statistics
from ifair.data.dataset import Dataset


def encoded_width(frame: pd.DataFrame) -> int:
    """Number of columns after encoding: one a number or boolean, one a category seen (missing is none).

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
    binary = dataset.query is None
    return Statistics(
        rows=len(dataset),
        columns=encoded_width(dataset.frame if counts_protected else dataset.masked),
        share=float(dataset.group.mean()),
        rate_protected=float(dataset.target[dataset.group].mean()) if binary else None,
        rate_other=float(dataset.target[~dataset.group].mean()) if binary else None,
        queries=None if dataset.query is None else int(dataset.query.nunique()),
    )
