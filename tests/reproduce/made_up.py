"""What tests of experiments make up: small cases, measures over splits, comparisons, records of units, results."""

from ifair.report.blocks import markdown
from ifair.reproduce.assemble import empty_results
from ifair.reproduce.case import Case
from ifair.reproduce.runner import Record

GRID = {"K": [4], "ratios": [[0.5, 0.5], [0.9, 0.1]], "lfr": [0.1, 1.0], "p": [0.3, 0.6]}
SOLVER = {"n_restarts": 1, "max_iter": 20, "tol": 1e-2}


def brief(dataset, method="", seed=0, **fields):
    """A case of so few settings and steps that a unit takes a fraction of a second; ``fields`` are further ones."""
    return Case(dataset, seed, **{"method": method, "grid": GRID, "solver": SOLVER, **fields})


def spread(mean, sd=0.01):
    return {"mean": mean, "sd": sd, "n": 5}


def spreads(**means):
    return {name: spread(mean) for name, mean in means.items()}


def compared(difference, adjusted=0.01):
    """Ours less a rival's; clearly apart unless said otherwise."""
    ends = {"low": difference - 0.01, "high": difference + 0.01}
    return {"difference": difference, **ends, "p": adjusted, "adjusted": adjusted}


def row(validation, test, **more):
    """What a setting reached: AUC and yNN, and the AUC of scores where it is told."""
    names = ("AUC", "yNN", "AUC_of_scores")
    return {"setting": {}, "validation": dict(zip(names, validation)), "test": dict(zip(names, test)), **more}


def record(dataset, seed, result, **fields):
    """A finished unit; ``fields`` are further ones of its case."""
    return Record("", Case(dataset, seed, **fields), result, 0.1, {})


def results_of(**experiments):
    """A file of results with these experiments."""
    return {**empty_results(), "experiments": experiments}


def write_page(experiment, results):
    """The section of an experiment as Markdown, with plain blanks."""
    return markdown(experiment.write_section(results)).replace("\N{NO-BREAK SPACE}", " ")
