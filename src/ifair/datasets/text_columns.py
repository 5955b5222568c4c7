"""Columns of published text files: read as text, then parsed to numbers and categories.

Nothing is checked here: a file comes this far if its checksum says that it is the published one, or with the package.
"""

import io
from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd


def read_columns(content: bytes, wanted: Collection[str], **options: Any) -> pd.DataFrame:
    """The wanted columns of a table, their cells as they stand; further options are those of pandas.

    All others go no further: this is where personal data stays behind. Of columns with the same name the first counts.
    """
    return pd.read_csv(io.BytesIO(content), usecols=list(wanted), dtype=object, keep_default_na=False, **options)


def parse_numbers(texts: pd.Series) -> pd.Series:
    """A column of text as numbers: whole ones where all are, NaN where a cell is empty."""
    parsed = pd.to_numeric(texts, errors="coerce").astype("float64")
    return parsed.astype("int64") if (parsed == parsed.round()).all() else parsed


def parse_categories(texts: pd.Series, known: Collection[str]) -> pd.Series:
    """A column of text as those of the known categories that occur, in their order; all other cells are missing.

    A mapping as ``known`` also translates: from its keys, as in the file, to its values.
    """
    present = set(texts)
    kept = [text for text in known if text in present]
    codes = pd.Index(kept, dtype=object).get_indexer(pd.Index(texts))  # -1 where missing
    names = [str(known[text]) for text in kept] if isinstance(known, Mapping) else kept
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(names)))


def parse_attributes(table: pd.DataFrame, known: Mapping[str, Collection[str] | None]) -> pd.DataFrame:
    """Columns of numbers (None) and of known categories, side by side."""
    return pd.DataFrame(
        {
            name: parse_numbers(table[name]) if held is None else parse_categories(table[name], held)
            for name, held in known.items()
        }
    )
