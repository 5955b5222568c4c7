"""What the readings and options of iFair do to utility and fairness, on the five datasets of the paper.

    IFAIR_DATA=folder python benchmarks/readings.py [--datasets credit,xing] [--splits 3] [--jobs 2]
                                                          [--json FILE] [--markdown FILE] [--from FILE]

Learns on one third of the records (at most RECORDS of them), measures on another. Datasets whose files are not there
are left out with a line. Every row of the JSON file is one fit on one split; the tables hold means over splits.
"""

import argparse
import itertools
import json
import platform
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler

from ifair.data import DataError, Dataset, load, thirds
from ifair.encode import Encoder, columns_of
from ifair.evaluate.rules import harmonic_mean
from ifair.metrics import (
    accuracy,
    adversary,
    auc,
    consistency,
    hard_auc,
    kendall_tau,
    mean_average_precision,
    mean_over_queries,
    nearest_neighbours,
)
from ifair.models.ifair import IFair
from ifair.report.blocks import markdown_table

DATASETS = ("credit", "compas", "census", "xing", "airbnb")
RANKINGS = ("xing", "airbnb")
RECORDS = 500
"""At most so many records to learn from, so that everything takes minutes."""
TEST_RECORDS = 2000
"""At most so many to measure on, for classification; queries stay whole."""
K = 10
BASE = {"n_prototypes": K, "freeze_protected": False, "init": "k-means++", "tol": 1e-3}
"""The base: what a setting has unless it says otherwise. Means over records and pairs, as IFair has them."""
MUS = (0.1, 1.0, 10.0)
TOLS = (1e-2, 1e-3, 1e-4)

SHOWN = {
    "classification": {"AUC": "AUC", "AUC of labels": "hard AUC", "yNN": "yNN", "adversary": "adversary"},
    "ranking": {"MAP": "MAP@10", "tau": "tau", "yNN": "yNN", "adversary": "adversary"},
}
"""The measures of a cell, in order, and what the page calls them."""
UTILITY = {"classification": "AUC of labels", "ranking": "MAP"}
"""What the paper balances with yNN."""
DIGITS = {"classification": 2, "ranking": 3}


# -- settings ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Setting:
    """One representation to learn, and the ways to use it; ``labels`` says in which questions it takes part."""

    labels: tuple[tuple[str, str], ...]
    options: dict[str, Any] | None = None  # of IFair; None for a baseline
    baseline: str = ""
    uses: tuple[str, ...] = ("representation",)


def reading_name(squared: bool, fairness_distance: str, reduction: str) -> str:
    """A reading by what it takes from the authors' code."""
    taken = {"squared": squared, "euclidean": fairness_distance == "euclidean", "norm": reduction == "norm"}
    parts = [name for name, is_taken in taken.items() if is_taken]
    return {0: "as printed", 3: "authors' code"}.get(len(parts), " + ".join(parts))


READINGS = {
    reading_name(*choice): dict(zip(("squared", "fairness_distance", "reduction"), choice))
    for choice in itertools.product((False, True), ("weighted", "euclidean"), ("mean", "norm"))
}


def settings_for(dataset: str) -> Iterator[Setting]:
    """Everything that is measured on a dataset."""
    for name in ("full data", "masked data", f"masked, {K - 1} principal components"):
        yield Setting((("baselines", name),), baseline=name)
    for mu, (name, reading) in itertools.product(MUS, READINGS.items()):
        if mu == 1 and name == "as printed":
            continue
        yield Setting((("readings", f"{name}, mu = {mu:g}"),), {**reading, "fairness_weight": mu})
    yield Setting(
        (
            ("readings", "as printed, mu = 1"),
            ("protected", "iFair-b (base)"),
            ("output", "representation (base)"),
            ("init", "k-means++ (base)"),
            ("tol", "0.001 (base)"),
        ),
        {},
        uses=("representation", "memberships", "memberships, standardised"),
    )
    yield Setting((("protected", "iFair-a"),), {"alpha_init": "random"})
    yield Setting((("protected", "frozen"),), {"freeze_protected": True})
    yield Setting(
        (("protected", "frozen, unprotected utility"),), {"freeze_protected": True, "utility_columns": "unprotected"}
    )
    for mu in (1.0, 10.0):
        frozen = {"freeze_protected": True, "fairness_distance": "euclidean", "fairness_weight": mu}
        yield Setting((("protected", f"frozen, euclidean, mu = {mu:g}"),), frozen)
        yield Setting(
            (("protected", f"frozen, unprotected utility, euclidean, mu = {mu:g}"),),
            {**frozen, "utility_columns": "unprotected"},
        )
    yield Setting((("init", "uniform"),), {"init": "uniform"})
    for tol in TOLS:
        if tol != 1e-3:
            yield Setting((("tol", f"{tol:g}"),), {"tol": tol, "max_iter": 5000})
    yield Setting((("tol", "0.001 and max_iter = 50"),), {"max_iter": 50})
    if dataset == "credit":
        for name, reading in READINGS.items():
            yield Setting((("readings, K = 20", f"{name}, mu = 1"),), {**reading, "n_prototypes": 20})


# -- data -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """A split, encoded: what to learn from and what to measure on."""

    dataset: str
    kind: str
    split: int
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    group: np.ndarray
    query: np.ndarray | None
    protected: np.ndarray  # mask of columns
    neighbours: np.ndarray


def prepare(dataset: Dataset, split: int) -> Task:
    """Encode a split, and find the neighbours that yNN compares."""
    rng = np.random.default_rng(split)
    ranking = dataset.query is not None
    part = thirds(dataset, split, by_query=ranking)
    train = dataset.take(_at_most(part.train, RECORDS, rng))
    test = dataset.take(part.test if ranking else _at_most(part.test, TEST_RECORDS, rng))
    if ranking:
        sizes = test.query.map(test.query.value_counts())
        test = test.take((sizes > 10).fillna(False).to_numpy(dtype=bool))
    encoder = Encoder().fit(train.frame)
    X, X_test = encoder.transform(train.frame), encoder.transform(test.frame)
    protected = np.zeros(X.shape[1], dtype=bool)
    for attribute in dataset.protected:
        protected[columns_of(attribute, X.columns)] = True
    X, X_test = X.to_numpy(), X_test.to_numpy()
    query = test.query.astype(str).to_numpy() if ranking else None
    return Task(
        dataset.name,
        "ranking" if ranking else "classification",
        split,
        X,
        train.target.to_numpy(dtype=float if ranking else int),
        X_test,
        test.target.to_numpy(dtype=float if ranking else int),
        test.group,
        query,
        protected,
        nearest_neighbours(X_test[:, ~protected], 10, query=query),
    )


def _at_most(rows: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return rows if len(rows) <= n else np.sort(rng.choice(rows, n, replace=False))


# -- measuring --------------------------------------------------------------------------------------------------------


def measure(task: Task, setting: Setting) -> list[dict[str, Any]]:
    """Learn one representation; one row for every question and use of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fit that did not converge says so in its row
        if setting.options is None:
            outputs, about = {"representation": _baseline(task, setting.baseline)}, {}
        else:
            own = {"protected": task.protected, "random_state": task.split}
            model = IFair(**{**BASE, **own, **setting.options}).fit(task.X)
            outputs = {use: _output(model, use, task) for use in setting.uses}
            about = {
                "loss": float(model.loss_),
                "utility loss": float(model.utility_loss_),
                "iterations": int(model.n_iter_),
                "converged": bool(model.converged_),
            }
        rows = []
        for use, (Z, Z_test) in outputs.items():
            values = {**_values(task, Z, Z_test), **about}
            for question, name in setting.labels if use == "representation" else (("output", use),):
                row = {"question": question, "setting": name, "dataset": task.dataset, "split": task.split}
                rows.append(row | {key: _round_value(value) for key, value in values.items()})
    return rows


def _output(model: IFair, use: str, task: Task) -> tuple[np.ndarray, np.ndarray]:
    if use == "representation":
        return model.transform(task.X), model.transform(task.X_test)
    U, U_test = model.membership(task.X), model.membership(task.X_test)
    if use == "memberships":
        return U, U_test
    scaler = StandardScaler().fit(U)
    return scaler.transform(U), scaler.transform(U_test)


def _baseline(task: Task, name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "full data":
        return task.X, task.X_test
    masked, masked_test = task.X[:, ~task.protected], task.X_test[:, ~task.protected]
    if name == "masked data":
        return masked, masked_test
    components = PCA(K - 1, svd_solver="full").fit(masked)
    return components.transform(masked), components.transform(masked_test)


def _values(task: Task, Z: np.ndarray, Z_test: np.ndarray) -> dict[str, float]:
    values = {"adversary": adversary(Z_test, sensitive_features=task.group).auc}
    if task.kind == "classification":
        model = LogisticRegression(max_iter=2000).fit(Z, task.y)
        decisions = model.predict(Z_test)
        return values | {
            "accuracy": accuracy(task.y_test, decisions),
            "AUC": auc(task.y_test, model.predict_proba(Z_test)[:, 1]),
            "AUC of labels": hard_auc(task.y_test, decisions),
            "yNN": consistency(decisions, neighbours=task.neighbours, kind="label"),
        }
    scores = LinearRegression().fit(Z, task.y).predict(Z_test)
    span = (float(task.y.min()), float(task.y.max()))
    return values | {
        "MAP": mean_average_precision(task.y_test, scores, query=task.query, k=10),
        "tau": mean_over_queries(kendall_tau, task.y_test, scores, query=task.query),
        "yNN": consistency(scores, neighbours=task.neighbours, kind="score", score_range=span, query=task.query),
    }


def _round_value(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return None if np.isnan(value) else float(f"{value:.6g}") if abs(value) > 1 else round(value, 5)


# -- tables -----------------------------------------------------------------------------------------------------------


def mean(rows: list[dict[str, Any]], measure: str) -> float:
    """Over splits; NaN where it is undefined or was not measured."""
    values = [row[measure] for row in rows if row.get(measure) is not None]
    return float(np.mean(values)) if values else float("nan")


def pick(rows: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def kind_of(dataset: str) -> str:
    return "ranking" if dataset in RANKINGS else "classification"


def harmonic(row: dict[str, Any]) -> float:
    """What the rule "balanced" goes by: harmonic mean of utility and yNN, of one split."""
    return harmonic_mean(row[UTILITY[kind_of(row["dataset"])]], row["yNN"])


def cell(rows: list[dict[str, Any]], kind: str) -> str:
    if not rows:
        return ""
    return " / ".join(_figure(mean(rows, key), DIGITS[kind]) for key in SHOWN[kind])


def _figure(value: float, digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def order_settings(rows: list[dict[str, Any]], question: str) -> list[str]:
    """Names of a question's settings, in the order of definition where it is known."""
    names = list(dict.fromkeys(row["setting"] for row in pick(rows, question=question)))
    if question.startswith("readings"):
        known = [f"{name}, mu = {mu:g}" for mu in MUS for name in READINGS]
        return [name for name in known if name in names]
    if question == "tol":
        return sorted(names, key=lambda name: -float(name.split()[0]))
    return names


TITLES = {
    "baselines": "Without iFair",
    "readings": f"Readings of the objective, K = {K}",
    "readings, K = 20": "The same with K = 20",
    "protected": "Ways to treat protected columns",
    "output": "What the predictor gets",
    "init": "First prototypes",
    "tol": "When the search stops",
}


def markdown(result: dict[str, Any]) -> str:
    """The tables of the page."""
    rows, present = result["rows"], result["settings"]["datasets"]
    lines = [_preface(result), ""]
    for question, title in TITLES.items():
        names = order_settings(rows, question)
        if not names:
            continue
        lines += [f"### {title}", ""]
        for kind in SHOWN:
            datasets = [d for d in present if kind_of(d) == kind and pick(rows, question=question, dataset=d)]
            if not datasets:
                continue
            lines += [f"{kind.capitalize()}: {' / '.join(SHOWN[kind].values())}", ""]
            body = [
                [name, *(cell(pick(rows, question=question, setting=name, dataset=d), kind) for d in datasets)]
                for name in names
            ]
            lines += [markdown_table([["setting", *map(str.capitalize, datasets)], *body]), ""]
        if question == "readings":
            lines += [*_against_paper(rows, present), "", *_balance(rows, present), ""]
        if question in ("init", "tol"):
            lines += [*_effort(rows, present, question, names), ""]
    return "\n".join(lines).rstrip() + "\n"


def _balance(rows: list[dict[str, Any]], datasets: list[str]) -> list[str]:
    """Best harmonic mean of utility and yNN over mu, for every reading and dataset."""
    body = []
    for reading in READINGS:
        figures = []
        for dataset in datasets:
            of_mu = [pick(rows, question="readings", setting=f"{reading}, mu = {mu:g}", dataset=dataset) for mu in MUS]
            best = max((np.array([harmonic(row) for row in found]) for found in of_mu if found), key=np.mean)
            figures.append(f"{best.mean():.3f} ± {best.std():.3f}")
        body.append([reading, *figures])
    for name in order_settings(rows, "baselines"):
        found = [[harmonic(row) for row in pick(rows, question="baselines", setting=name, dataset=d)] for d in datasets]
        body.append([f"*{name}*", *(f"{np.mean(values):.3f} ± {np.std(values):.3f}" for values in found)])
    text = (
        "Harmonic mean of utility (AUC of labels; MAP@10) and yNN, the paper's criterion for a balance, at the best "
        "of the three mu (chosen on the same test thirds), with the standard deviation over splits:"
    )
    return [text, "", markdown_table([["reading", *map(str.capitalize, datasets)], *body])]


def _against_paper(rows: list[dict[str, Any]], datasets: list[str]) -> list[str]:
    """Mean differences from the formulas as printed at the same mu, and on how many datasets they are gains."""
    body = []
    for mu, reading in itertools.product(MUS, READINGS):
        if reading == "as printed":
            continue
        gains: dict[str, list[float]] = {"utility": [], "yNN": [], "adversary": []}
        for dataset in datasets:
            utility = UTILITY[kind_of(dataset)]
            ours, theirs = (
                pick(rows, question="readings", setting=f"{name}, mu = {mu:g}", dataset=dataset)
                for name in ("as printed", reading)
            )
            for name, key in (("utility", utility), ("yNN", "yNN"), ("adversary", "adversary")):
                gains[name].append(mean(theirs, key) - mean(ours, key))
        figures = []
        for name, differences in gains.items():
            better = sum(d < 0 if name == "adversary" else d > 0 for d in differences)
            figures.append(f"{np.mean(differences):+.3f} ({better} of {len(differences)})")
        body.append([f"{reading}, mu = {mu:g}", *figures])
    text = (
        "Differences from the formulas as printed at the same mu, as means over datasets, and on how many datasets the "
        "other reading is the better one (utility: AUC of labels or MAP@10):"
    )
    return [text, "", markdown_table([["reading", "utility", "yNN", "adversary (lower is better)"], *body])]


def _effort(rows: list[dict[str, Any]], datasets: list[str], question: str, names: list[str]) -> list[str]:
    """Loss relative to the base's, and iterations."""
    (usual,) = (name for name in names if name.endswith("(base)"))
    body = []
    for name in names:
        figures = []
        for dataset in datasets:
            found = pick(rows, question=question, setting=name, dataset=dataset)
            usual_rows = pick(rows, question=question, setting=usual, dataset=dataset)
            ratio = np.mean([row["loss"] / other["loss"] for row, other in zip(found, usual_rows)])
            figures.append(f"{ratio:.3f} / {mean(found, 'iterations'):.0f}")
        body.append([name, *figures])
    text = "Loss as a share of the base's / iterations of the best start:"
    return [text, "", markdown_table([[question, *map(str.capitalize, datasets)], *body])]


def _preface(result: dict[str, Any]) -> str:
    settings = result["settings"]
    sizes = ", ".join(f"{name.capitalize()} {n:,} x {columns}" for name, (n, columns) in settings["sizes"].items())
    return (
        f"Means over {settings['splits']} random splits into thirds: the representation and the predictor (logistic "
        "regression, linear regression for rankings) learn on one third, the measures are taken on another. Of the "
        f"first at most {settings['records']:,} records are used, of the second at most {settings['test_records']:,} "
        f"for classification (training records x columns of the first split: {sizes}). K = {K}, means over records and "
        "pairs, k-means++ starts, tol = 0.001 and learned weights of protected columns unless said, and the categories "
        "of those records. *Adversary*: AUC of a logistic regression that predicts the protected group from "
        "what the predictor gets. yNN of rankings compares scores, as shares of the range of true training scores, "
        "within queries."
    )


# -- running ----------------------------------------------------------------------------------------------------------


def run(datasets: list[str], splits: int, jobs: int) -> dict[str, Any]:
    """Measure everything; plain data that can be written to JSON."""
    began = time.perf_counter()
    tasks = []
    for name in datasets:
        try:
            data = load(name, **({} if name == "credit" else {"download_if_missing": False}))
        except DataError:
            print(f"{name}: its files are not on this machine, left out (set IFAIR_DATA)", flush=True)
            continue
        tasks += [prepare(data, split) for split in range(splits)]
    units = [(task, setting) for task in tasks for setting in settings_for(task.dataset)]
    print(f"{len(units)} representations to learn, at most {RECORDS} records each", flush=True)
    found = Parallel(n_jobs=jobs, return_as="generator")(delayed(measure)(*unit) for unit in units)
    rows = []
    for done, ((task, _), more) in enumerate(zip(units, found), start=1):
        rows += more
        if done % 20 == 0:
            print(f"{done} of {len(units)} ({task.dataset}), {time.perf_counter() - began:.0f} s", flush=True)
    return {
        "settings": {
            "datasets": list(dict.fromkeys(task.dataset for task in tasks)),
            "splits": splits,
            "records": RECORDS,
            "test_records": TEST_RECORDS,
            "sizes": {task.dataset: list(task.X.shape) for task in tasks if task.split == 0},
        },
        "environment": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "pandas")},
        },
        "rows": rows,
    }


def to_json(result: dict[str, Any]) -> str:
    """One row per line, so that changes can be read."""
    head = {key: value for key, value in result.items() if key != "rows"}
    lines = ",\n".join(json.dumps(row) for row in result["rows"])
    return json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + lines + "\n ]\n}\n"


def main() -> None:
    """Measure, or read what was measured; print the tables and write files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default=",".join(DATASETS), help="names, separated by commas")
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write every row to this file")
    parser.add_argument("--markdown", type=Path, help="write the tables to this file")
    parser.add_argument("--from", dest="source", type=Path, help="measure nothing, take the rows of this JSON file")
    options = parser.parse_args()
    if options.source:
        result = json.loads(options.source.read_text(encoding="utf-8"))
    else:
        result = run(options.datasets.split(","), options.splits, options.jobs)
    if options.json:
        options.json.write_text(to_json(result), encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(markdown(result), encoding="utf-8")
    print(markdown(result))


if __name__ == "__main__":
    main()
