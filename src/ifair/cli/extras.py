"""Packages that a verb needs beyond the core: asked for before any work."""

from pathlib import Path

from ifair.errors import require_extra

# Import name to the extra that brings it.
EXTRAS = {
    "jinja2": "report",
    "skops": "persist",
    "skl2onnx": "onnx",
    "onnx": "onnx",
    "optuna": "tune",
    "pyarrow": "parquet",
}


def needs(what: str, *packages: str) -> None:
    """Refuse to begin what would fail for want of packages, by import name, that one extra brings."""
    if packages:
        require_extra(what, packages, EXTRAS[packages[0]])


def needs_for_tables(*paths: Path | None) -> None:
    """The same for tables in files of these names."""
    if any(path is not None and path.suffix.lower() in (".parquet", ".pq") for path in paths):
        needs("Parquet", "pyarrow")
