"""What to know about a table before any verdict on it, such as groups that nobody judged."""

from typing import Any

from ifair.datasets.dataset import Dataset
from ifair.evaluate.splits import SHOWN_VALUES, Split, find_unjudged
from ifair.results import Caution

UNJUDGED = "groups not judged"
"""The tag of that caution."""


def list_table_cautions(dataset: Dataset, parts: Split) -> list[Caution]:
    """What holds for every point alike."""
    found = [_describe_unjudged(dataset, name) for name in find_unjudged(dataset, parts.test.encoder.categorical)]
    return [{"tag": tag, "text": text} for tag, text in found]


def _describe_unjudged(dataset: Dataset, name: str) -> tuple[str, str]:
    values: Any = dataset.frame[name].nunique()
    return UNJUDGED, (
        f"Groups of “{name}” are not judged: it has {values:,} values that are no measure, and gaps are measured "
        f"between at most {SHOWN_VALUES} groups. No gap shown here is about them; lump its values to have them judged."
    )
