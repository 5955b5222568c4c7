"""The file of results of ``ifair reproduce``, typed."""

from typing import Any, Literal, TypedDict

from ifair.reproduce.paper import CLASSIFICATION, RANKING, SENSITIVITY
from ifair.results import Format


class Source(TypedDict):
    """A dataset, and how far it was cut down."""

    name: str
    max_records: int | None
    max_training: int | None
    options: dict[str, Any]


class Run(TypedDict):
    """Where the numbers of an experiment, or of one of its datasets, come from."""

    profile: str
    seeds: list[int]
    units: int
    seconds: float
    sources: list[Source]
    grid: dict[str, Any]
    solver: dict[str, Any]
    left_out: list[str]
    environment: dict[str, str]


class Results(TypedDict):
    """The whole file. ``experiments`` holds what ``summarise`` of each gives, ``paper`` the paper's own numbers."""

    format: Literal["ifair-reproduce"]
    version: Literal[2]
    runs: dict[str, dict[str, Run]]
    experiments: dict[str, Any]
    paper: dict[str, Any]


REPRODUCTION = Format(Results, "ifair reproduce")


def empty_results() -> Results:
    """Results of nothing, with the paper's numbers beside them, so that a page needs nothing but this file."""
    paper = {"classification": CLASSIFICATION, "ranking": RANKING, "sensitivity": SENSITIVITY}
    return {"format": "ifair-reproduce", "version": 2, "runs": {}, "experiments": {}, "paper": paper}
