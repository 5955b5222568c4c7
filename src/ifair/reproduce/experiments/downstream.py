"""Beyond the paper: is a representation good for more than the model that it was tuned with?"""

from collections.abc import Mapping

from ifair.evaluate.candidates import CLASSIFIERS, REGRESSORS
from ifair.evaluate.measures import UTILITY, measure_mapped
from ifair.evaluate.statistics import Spreads, spreads
from ifair.report.blocks import Block, Bullets, Heading, Line, Table, Text, add_sign
from ifair.reproduce import labels
from ifair.reproduce.case import Case, prepare, represent, train_chosen
from ifair.reproduce.experiment import Earlier, Experiment, Profile, Records, Unit, group_results, plan_chosen
from ifair.results import Results

METHODS = ("full", "masked", "svd-masked", "ifair-b", "ifair-plus")
ABOUT = """
Beyond the paper, which calls its representation application-agnostic: every representation is tuned once, with the
paper's model (the first of each dataset; balanced on validation), and then handed to models that had no say
in it. All numbers are means over the splits on test.
""".strip()


Models = dict[str, dict[str, Spreads]]
"""By model and representation: mean and spread on test."""


def plan(profile: Profile, earlier: Earlier) -> list[Unit]:
    """Every dataset, split and representation, at the settings chosen earlier."""
    return plan_chosen(measure_models, profile, profile.sources, METHODS, earlier)


def measure_models(case: Case) -> dict[str, dict[str, float]]:
    """Every model on one representation of one split: by name its measures on test."""
    parts = prepare(case)
    mapped = represent(train_chosen(case, parts), parts)
    models = CLASSIFIERS if parts.task == "classification" else REGRESSORS
    return {name: measure_mapped(parts, mapped, model=name, seed=case.seed)[1] for name in models}


def summarise(records: Records) -> dict[str, dict[str, Models]]:
    """By task (``classification``, ``ranking``) and dataset what every model reached on every representation."""
    found: dict[str, dict[str, Models]] = {}
    for dataset, by_method in group_results(records, "dataset", "method").items():
        for method, results in by_method.items():
            # Only rankings have a MAP.
            task = "ranking" if "MAP" in results[0]["linear"] else "classification"
            for model in results[0]:
                by_model = found.setdefault(task, {}).setdefault(dataset, {}).setdefault(model, {})
                by_model[method] = spreads([result[model] for result in results])
    return found


def section(found: dict[str, dict[str, Models]], results: Results) -> list[Block]:
    """One table per task, and what it says; nothing where the experiment was not run."""
    blocks: list[Block] = []
    for task in labels.COLUMNS:
        if found.get(task):
            blocks += [
                Heading(f"{task.capitalize()}: {UTILITY[task]} / yNN", 3),
                Table(_tabulate_overview(found[task], task)),
                Bullets([_describe_change(dataset, models, task) for dataset, models in found[task].items()]),
            ]
            for dataset, models in found[task].items():
                blocks += _tabulate_details(dataset, models, task)
    return [Heading("Other models on the same representations"), Text(ABOUT), *blocks] if blocks else []


def _tabulate_overview(datasets: Mapping[str, Models], task: labels.Task) -> list[list[str]]:
    """One row per dataset and model, one column per representation."""
    utility = UTILITY[task]
    methods = list(next(iter(next(iter(datasets.values())).values())))
    rows = [["dataset", "model", *map(labels.method, methods)]]
    for dataset, models in datasets.items():
        for model, by_method in models.items():
            cells = [f"{by_method[m][utility]['mean']:.2f} / {by_method[m]['yNN']['mean']:.2f}" for m in methods]
            rows.append([labels.dataset(dataset), labels.model(model, task), *cells])
    return rows


def _describe_change(dataset: str, models: Models, task: labels.Task) -> Line:
    """What iFair-b changes against the full data, model by model."""
    better, told = 0, []
    for model, by_method in models.items():
        before, after = by_method["full"], by_method["ifair-b"]
        fairer, dearer = (after[name]["mean"] - before[name]["mean"] for name in ("yNN", UTILITY[task]))
        alike = round(after["yNN"]["mean"], 2) == 1.0
        better += round(fairer, 2) > 0 and not alike  # what rounds to nothing is no rise, nor is one answer for all
        told.append(
            f"{labels.model(model, task)} {add_sign(fairer)} (at {add_sign(dearer)} {UTILITY[task]}"
            f"{': it treats everybody alike' if alike else ''})"
        )
    said = f": iFair-b raises yNN above that of the full data for {better} of {len(told)} models: {', '.join(told)}."
    return labels.line(dataset, said)


def _tabulate_details(dataset: str, models: Models, task: labels.Task) -> list[Block]:
    measures = labels.COLUMNS[task]
    rows: list[list[Line]] = [["model", "representation", *map(labels.measure, measures)]]
    for model, by_method in models.items():
        for method, found in by_method.items():
            rows.append([labels.model(model, task), labels.method(method), *labels.cells(found, measures)])
    return [Text(f"{labels.dataset(dataset)}, mean ± standard deviation:"), Table(rows)]


EXPERIMENT = Experiment("downstream", 110, plan, summarise, section, needs=("classification", "ranking"), by_task=True)
