"""What is known of every dataset: provenance, the paper's statistics, and why ours differ."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Entry:
    """Facts about a dataset that need no file to be read.

    Attributes
    ----------
    title, description, licence, citation, source : str
        What it is, under which terms, whom to cite, where it comes from.
    """

    title: str
    description: str
    licence: str
    citation: str
    source: str

    @property
    def about(self) -> dict[str, Any]:
        """The four texts that every Dataset carries."""
        return {name: getattr(self, name) for name in ("description", "licence", "citation", "source")}


CATALOGUE = {
    "credit": Entry(
        title="German Credit",
        description="1,000 applicants for a loan at a German bank, 1973-1975; the outcome: good or bad risk.",
        licence="CC BY 4.0 (UCI Machine Learning Repository)",
        citation="Hofmann, H. (1994). Statlog (German Credit Data). UCI Machine Learning Repository. "
        "doi:10.24432/C5NC77",
        source="https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data",
    ),
}
