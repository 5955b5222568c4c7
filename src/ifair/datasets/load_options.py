"""What all loaders have in common: their shared options, and the way from records to a Dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ifair.datasets.about import About, DataFile
from ifair.datasets.local_files import read_file

if TYPE_CHECKING:
    import pandas as pd

    from ifair.datasets.dataset import GroupRule


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """The options that every loader takes besides its own, as :func:`ifair.data.load` explains them."""

    protected: Sequence[str] | str | None = None
    group: GroupRule | None = None
    return_X_y: bool = False
    as_frame: bool = True
    download_if_missing: bool = True

    def read(self, file: DataFile) -> bytes:
        """The checked content of a file."""
        return read_file(file, self.download_if_missing)

    def deliver(
        self,
        about: About,
        frame: pd.DataFrame,
        target: pd.Series,
        *,
        protected: str,
        group: GroupRule,
        query: pd.Series | None = None,
    ) -> Any:
        """The records in the form asked for; ``protected`` and ``group`` are the paper's, unless others are named.

        A caller who names another group by its columns protects those, unless the option ``protected`` says otherwise.
        """
        from ifair.datasets.dataset import Dataset, group_mask

        chosen: Sequence[str] | str = protected
        if self.protected is not None:
            chosen = self.protected
        elif isinstance(self.group, Mapping):
            chosen = list(self.group)
        dataset = Dataset(
            frame=frame,
            target=target,
            protected=(chosen,) if isinstance(chosen, str) else tuple(chosen),
            group=group_mask(frame, group if self.group is None else self.group),
            query=query,
            **about.provenance,
        )
        return dataset.deliver(self.return_X_y, self.as_frame)
