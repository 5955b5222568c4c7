"""The datasets by name: every module of ``ifair.datasets.catalogue`` is one, found by being there."""

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from ifair.datasets import catalogue
from ifair.datasets.about import About, DataFile
from ifair.errors import check_known

HEADER = ("dataset", "records", "columns", "protected", "base rate, protected", "base rate, others", "queries")
FORMATS = {
    "rows": (",", ","),
    "columns": (",", ","),
    "share": (".1%", ".1%"),
    "rate_protected": (".3f", ".2f"),
    "rate_other": (".3f", ".2f"),
    "queries": (",", ","),
}
"""How the figures of a dataset are written, ours and the paper's."""


@cache
def _modules() -> dict[str, ModuleType]:
    """The modules of the catalogue by the names of their datasets, in the order of the paper's table."""
    found = [import_module(f"{catalogue.__name__}.{info.name}") for info in iter_modules(catalogue.__path__)]
    return {module.ABOUT.name: module for module in sorted(found, key=lambda module: module.ABOUT.place)}


def _find_module(name: str) -> ModuleType:
    check_known("dataset", name, _modules())
    return _modules()[name]


def dataset_names() -> list[str]:
    """Names of all datasets, in the order of the paper's table."""
    return list(_modules())


def find_about(name: str) -> About:
    """What is known of a dataset without reading it."""
    return _find_module(name).ABOUT


def find_files(name: str) -> tuple[DataFile, ...]:
    """The files of a dataset, in the order they are read; none where it is part of the package, or generated."""
    return getattr(_find_module(name), "FILES", ())


def find_embedded(name: str) -> Path | None:
    """The file of a dataset that is part of the package, or None."""
    return getattr(_find_module(name), "EMBEDDED", None)


def load(name: str, **options: Any) -> Any:
    """Load a dataset by name.

    Parameters
    ----------
    name : str
        One of :func:`dataset_names`.
    **options
        Those of its loader, such as ``age_rule`` of :func:`load_credit`, and those that all loaders of files share:

        ``protected`` : str or sequence of str
            Names of the protected columns; the paper's, or the columns of ``group`` where it names some.
        ``group`` : mapping, callable or array of bool
            Another protected group than the paper's: ``{"sex": "Male"}``, a function of the frame, or a mask.
        ``return_X_y``, ``as_frame`` : bool
            As in scikit-learn's loaders, see :meth:`Dataset.deliver`.
        ``download_if_missing`` : bool
            False raises DataError where a file is not on this machine.

    Returns
    -------
    Dataset
        Or what ``return_X_y`` and ``as_frame`` ask for.

    Examples
    --------
    >>> from ifair.data import load
    >>> load("credit", age_rule=(0, 25)).frame.shape
    (1000, 20)
    """
    module = _find_module(name)
    loader = getattr(module, f"load_{name}", None) or getattr(module, f"make_{name}")
    return loader(**options)


def figures(about: About) -> list[str]:
    """The figures of a dataset, each followed by the paper's in brackets where it prints one."""
    found = []
    for name, (ours, papers) in FORMATS.items():
        mine, theirs = getattr(about.reached, name), getattr(about.paper, name)
        printed = "" if theirs is None else f" ({theirs:{papers}})"
        found.append("-" if mine is None else f"{mine:{ours}}{printed}")
    return found


def markdown_table() -> str:
    """The table of the documentation and, below it, every deviation from the paper explained."""
    abouts = [module.ABOUT for module in _modules().values()]
    lines = ["| " + " | ".join(HEADER) + " |", "|" + " --- |" * len(HEADER)]
    lines += [f"| `{about.name}` | " + " | ".join(figures(about)) + " |" for about in abouts]
    for about in abouts:
        lines += [
            "",
            f"**{about.title}** (`{about.name}`): protected: {about.group}; outcome: {about.outcome}.",
            "",
            *(f"- {deviation}" for deviation in about.deviations),
        ]
    return "\n".join(lines) + "\n"
