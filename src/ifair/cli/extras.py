"""Packages that a verb needs beyond the core: asked for before any work."""

from importlib.util import find_spec
from pathlib import Path

import click

from ifair.errors import install_hint

# Import name to what pip calls it, and the extra that brings it.
PACKAGES = {
    "jinja2": ("jinja2", "report"),
    "vl_convert": ("vl-convert-python", "report"),
    "skops": ("skops", "persist"),
    "skl2onnx": ("skl2onnx", "onnx"),
    "onnx": ("onnx", "onnx"),
    "optuna": ("optuna", "tune"),
    "pyarrow": ("pyarrow", "parquet"),
}


def needs(what: str, *packages: str) -> None:
    """Refuse to begin what would fail for want of a package.

    Parameters
    ----------
    what : str
        What needs them, as the subject of a sentence.
    *packages : str
        Import names.
    """
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        names = " and ".join(PACKAGES[name][0] for name in missing)
        extras = ",".join(dict.fromkeys(PACKAGES[name][1] for name in missing))
        raise click.ClickException(f"{what} needs {names}: {install_hint(extras)}")


def needs_for_tables(*paths: Path | None) -> None:
    """The same for tables in files of these names."""
    if any(path is not None and path.suffix.lower() in (".parquet", ".pq") for path in paths):
        needs("Parquet", "pyarrow")
