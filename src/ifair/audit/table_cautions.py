"""What to know about a table before any verdict on it, such as groups that nobody judged."""

from collections.abc import Mapping

import numpy as np
from pandas.api.types import is_numeric_dtype

from ifair.datasets.dataset import Dataset
from ifair.evaluate.number_bins import order_labels
from ifair.evaluate.splits import FEWEST_IN_BIN, SHOWN_VALUES, Split, find_unjudged, name_groups
from ifair.results import Caution
from ifair.tables.telling_columns import find_copies

UNJUDGED = "groups not judged"
"""The tag of that caution."""


TELLS_TARGET = "tells the outcome"
FEW_IN_GROUP = "few people in a group"
FEWEST = 30
"""People of a group, in order to find a threshold of its own."""

NAMED_GROUPS = 6


def list_table_cautions(
    parts: Split, told_by: Mapping[str, str], parity: tuple[str, str] | None = None
) -> list[Caution]:
    """What holds for every point alike; ``told_by`` is of :func:`find_telling`.

    Groups of the column of a parity have thresholds of their own.
    """
    found = [(TELLS_TARGET, f"{said[0].upper()}{said[1:]}.") for said in told_by.values()]
    judged = parts.test.records
    found += [_describe_unjudged(judged, name) for name in find_unjudged(judged, parts.test.encoder.categorical)]
    if parity is not None:
        found += _describe_few(parts, parity[1])
    return [{"tag": tag, "text": text} for tag, text in found]


def find_telling(dataset: Dataset) -> dict[str, str]:
    """By attribute, in words, how it tells the outcome (nearly) by itself, as one does that is only known after it."""
    target = str(dataset.outcome.name)
    frame = dataset.masked.assign(**{target: dataset.outcome.to_numpy()})
    return dict(find_copies(frame, [name for name in dataset.masked.columns if name != target], (), target))


def _describe_unjudged(judged: Dataset, name: str) -> tuple[str, str]:
    column = judged.frame[name]
    values, known = int(column.nunique()), int(column.notna().sum())
    if is_numeric_dtype(column) and known < 2 * FEWEST_IN_BIN:
        return UNJUDGED, (
            f"Groups of “{name}” are not judged: the people judged, {known:,} with a value of it, are too few to be "
            "cut into groups. No gap shown here is about them."
        )
    return UNJUDGED, (
        f"Groups of “{name}” are not judged: the people judged have {values:,} values of it that are no measure, and "
        f"gaps are measured between at most {SHOWN_VALUES} groups. No gap shown here is about them; lump its values to "
        "have them judged."
    )


def _describe_few(parts: Split, column: str) -> list[tuple[str, str]]:
    """That groups have few of the people by whom their thresholds are found, or nobody, if some have."""
    known, judged = (name_groups(part.records.frame, column) for part in (parts.validation, parts.test))
    people = {group: int((known == group).sum()) for group in order_labels(np.r_[known, judged])}
    few = [f"“{group}” ({n})" for group, n in people.items() if n < FEWEST]
    if not few:
        return []
    more = f" and {len(few) - NAMED_GROUPS} more" if len(few) > NAMED_GROUPS else ""
    return [
        (
            FEW_IN_GROUP,
            f"Thresholds of the groups of “{column}” are found on the {len(known):,} people of the validation part, "
            f"and fewer than {FEWEST} of these are in {', '.join(few[:NAMED_GROUPS])}{more}: a threshold of so few "
            "means little, and what such a group gets from it on other people may be far from the rate aimed at.",
        )
    ]
