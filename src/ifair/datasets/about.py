"""What is known of a dataset without reading it: provenance, the paper's figures, ours, and the files behind them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Statistics:
    """The figures of a dataset: records, columns after encoding, share of the protected group, base rates.

    ``None`` where the paper prints nothing, or where there is no positive class.
    """

    rows: int
    columns: int
    share: float | None = None
    rate_protected: float | None = None
    rate_other: float | None = None
    queries: int | None = None


@dataclass(frozen=True, slots=True)
class About:
    """Facts about a dataset that need no file to be read."""

    name: str  # to load it by
    place: int  # in lists, as in the paper's table
    title: str  # to print
    description: str
    licence: str
    citation: str
    source: str
    task: str  # classification or ranking
    outcome: str  # what the target says
    group: str  # who is protected in the paper's setting
    reached: Statistics  # what the loader gives by default; the tests hold the loaders to it
    paper: Statistics  # what the paper prints
    counts_protected: bool = False  # whether "columns" includes the protected attribute
    deviations: tuple[str, ...] = ()  # why ours differ from the paper's

    @property
    def provenance(self) -> dict[str, Any]:
        """The texts that every Dataset carries."""
        return {field: getattr(self, field) for field in ("name", "description", "licence", "citation", "source")}


@dataclass(frozen=True, slots=True)
class Origin:
    """One place on the network that holds a file, alone or as a member of a zip archive."""

    url: str
    member: str | None = None


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that a dataset is read from, by its place under the data folder, with forward slashes.

    A ``.gz`` file is hashed, and measured, by its content, which no version of zlib changes. Origins are where to
    download it, in order of preference. A file that is not published itself is made from published ``parts``:
    ``assemble`` makes its content from theirs.
    """

    path: str
    sha256: str
    size: int
    origins: tuple[Origin, ...] = ()
    parts: tuple["DataFile", ...] = ()
    assemble: Callable[[Sequence[bytes]], bytes] | None = None

    @property
    def name(self) -> str:
        """The name without its folder."""
        return self.path.rpartition("/")[2]
