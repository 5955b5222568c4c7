"""The file of results: what is in it, and its version."""

import json
from pathlib import Path
from typing import Any, TypedDict

FORMAT = "ifair-reproduce"
VERSION = 2
"""1 had phrases as keys and no format."""


class Run(TypedDict):
    """Where the numbers of an experiment, or of one of its datasets, come from."""

    profile: str
    seeds: list[int]
    units: int
    seconds: float
    sources: list[dict[str, Any]]
    grid: dict[str, Any]
    solver: dict[str, Any]
    left_out: list[str]
    environment: dict[str, str]


class Results(TypedDict):
    """The whole file. ``experiments`` holds what ``summarise`` of each gives, ``paper`` the paper's own numbers."""

    format: str
    version: int
    runs: dict[str, dict[str, Run]]
    experiments: dict[str, Any]
    paper: dict[str, Any]


def empty_results() -> Results:
    """Results of nothing, with the paper's numbers beside them, so that a page needs nothing but this file."""
    from ifair.reproduce.paper import CLASSIFICATION, RANKING, SENSITIVITY

    paper = {"classification": CLASSIFICATION, "ranking": RANKING, "sensitivity": SENSITIVITY}
    return {"format": FORMAT, "version": VERSION, "runs": {}, "experiments": {}, "paper": paper}


def read_results(path: Path) -> Results | None:
    """What a file holds; None if there is none, or none that can be read.

    Raises
    ------
    ValueError
        If the file was written by another version.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(data, dict) or (data.get("format"), data.get("version")) != (FORMAT, VERSION):
        raise ValueError(
            f"{path} holds no results of this version of ifair (format {FORMAT!r}, version {VERSION}); move it away, "
            "or choose another folder"
        )
    results: Results = data  # type: ignore[assignment]
    return results
