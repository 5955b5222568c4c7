"""Doubts about columns in words: what was done about them, and what to do."""

import shlex
from collections.abc import Collection, Iterable

import pandas as pd
from pandas.api.types import is_numeric_dtype

from ifair.data.columns import Doubt, many_categories, suspicion
from ifair.data.errors import DataError


def about_attribute(column: str, doubt: Doubt) -> str:
    """What was done about a doubtful column without a role."""
    quoted, instead = shlex.quote(column), f"{doubt.advice}; " if doubt.advice else ""
    if doubt.leave_out:
        return f"column {column!r} {doubt.reason}: left out of the attributes; {instead}--keep {quoted} keeps it"
    return f"column {column!r} {doubt.reason}: kept as an attribute; {instead}--ignore {quoted} leaves it out"


def about_protected(frame: pd.DataFrame, protected: Iterable[str], keep: Collection[str]) -> list[str]:
    """Doubts about protected columns; one that names people, and so no group, is refused unless it is to be kept."""
    told = []
    for column in protected:
        if frame[column].nunique() < 2:
            told.append(f"protected column {column!r} has one value: there is nothing to protect in it")
            continue
        doubt = suspicion(frame[column])
        if doubt is None or column in keep:
            continue
        if doubt.names_people:
            raise DataError(
                f"protected column {column!r} {doubt.reason}: it names people, not groups of them; "
                f"{doubt.advice or 'protect another column'}, or protect it all the same with --keep "
                f"{shlex.quote(column)}"
            )
        instead = f"; {doubt.advice}" if doubt.advice else "; is it the right column?"
        told.append(f"protected column {column!r} {doubt.reason}: protected all the same{instead}")
    return told


def about_target(values: pd.Series, *, is_class: bool) -> list[str]:
    """Doubts about an outcome of several values; one that nothing could be learned about is refused.

    Parameters
    ----------
    values : Series of shape (n_records,)
    is_class : bool
        Whether one of the values was named as the positive one.
    """
    doubt = suspicion(values)
    if doubt is None:
        return []
    if doubt.advice and not is_class:
        raise DataError(f"target {values.name!r} {doubt.reason}: {doubt.advice}")
    if doubt.names_people:
        raise DataError(
            f"target {values.name!r} {doubt.reason}: nothing can be learned about an outcome that no two people share; "
            "name another column"
        )
    done = "the value named as positive against all others" if is_class else "it is predicted as a number"
    return [f"target {values.name!r} {doubt.reason}: {done}, all the same; is it the outcome?"]


def about_width(
    frame: pd.DataFrame, attributes: Iterable[str], *, categorical: Collection[str], protected: Collection[str]
) -> list[str]:
    """A sentence for every attribute of very many categories, with the number of columns that they make."""
    told = []
    for column in attributes:
        is_text = not is_numeric_dtype(frame[column])
        if (is_text or column in categorical) and (many := many_categories(frame[column])):
            out = "" if column in protected else f", or leave it out with --ignore {shlex.quote(column)}"
            told.append(
                f"column {column!r} has {many} categories, which make {many} columns: kept; lump rare ones first{out}"
            )
    return told
