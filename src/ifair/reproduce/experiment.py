"""What an experiment is, and which there are."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from ifair.report.blocks import Block, Finding
from ifair.reproduce import experiments
from ifair.reproduce.profiles import Profile
from ifair.reproduce.results_format import Results
from ifair.reproduce.runner import Unit
from ifair.reproduce.units import Earlier, Records

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table or figure, from the work that it takes to its place on the page.

    What was not run is left out of the page: section, figures and claims are empty then.

    Attributes
    ----------
    name : str
        On the command line and in the file of results.
    place : int
        Experiments are run and shown in this order.
    plan : callable
        From the profile, and the records of the experiments that it needs, to its units.
    summarise : callable
        From the records of its units to what is kept of them: plain data.
    section : callable
        From all results to the blocks of the page.
    draw : callable, optional
        From all results to its figures by the stem of their file; needs matplotlib.
    judge : callable, optional
        From all results to the paper's claims that its numbers speak to.
    needs : tuple of str
        Experiments that it builds on.
    packages : tuple of str
        Optional packages without which it cannot be run, by import name.
    by_dataset : bool
        Whether results are kept by dataset, so that one dataset can be run anew without the others.
    """

    name: str
    place: int
    plan: Callable[[Profile, Earlier], list[Unit]]
    summarise: Callable[[Records], Any]
    section: Callable[[Results], list[Block]]
    draw: Callable[[Results], "dict[str, Figure]"] = lambda _: {}
    judge: Callable[[Results], list[Finding]] = lambda _: []
    needs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    by_dataset: bool = False


@cache
def find_experiments() -> dict[str, Experiment]:
    """Every experiment of the folder ``experiments`` by name, in the order in which they are run and shown."""
    modules = [import_module(f"{experiments.__name__}.{module.name}") for module in iter_modules(experiments.__path__)]
    found = sorted((module.EXPERIMENT for module in modules), key=lambda experiment: experiment.place)
    return {experiment.name: experiment for experiment in found}


def add_needs(wanted: Collection[str]) -> list[str]:
    """The experiments asked for (all, if none is) and those they build on, in the order in which they are run."""
    every = find_experiments()
    names = set(wanted or every)
    for name in reversed(every):
        if name in names:
            names |= set(every[name].needs)
    return [name for name in every if name in names]
