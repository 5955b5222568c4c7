"""What the defaults of IFair reach: where the search starts, when it stops, and what a large table costs.

    IFAIR_DATA=folder python benchmarks/defaults.py [--json FILE] [--records 500] [--large 43000]

Three tables. *Patience*: on up to --records records of each of the paper's datasets, K = 10, protected weights frozen,
the loss where the default `tol` stops, against where `tol=1e-8` stops (at most 3,000 iterations), from the default
start and from one k-means++ start. *Collapse*: half of COMPAS at five ratios of the weights, with the AUC of labels and
of scores of a logistic regression on the representation, for the other half; 0.5 is a representation that has lost
everything.
*Large*: processor seconds of a fit with all defaults on --large made-up records of 30 columns, and as it was before
(three k-means++ starts, `tol=1e-3`, all records from the first iteration on).
"""

import time
import warnings
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

import common
from ifair import Encoder, IFair
from ifair.data import DataError, load

DATASETS = ("credit", "compas", "census", "xing", "airbnb")
STARTS = ("auto", "k-means++")
RATIOS = (0.01, 0.1, 1.0, 10.0, 99.0)
DEFAULT_TOL = IFair().tol
LONG = 3000


class Halves:
    """Records to learn from and others to judge by, encoded, with the outcome as yes or no."""

    def __init__(self, name: str, most: int) -> None:
        dataset = load(name)
        drawn = np.random.default_rng(0).permutation(len(dataset.frame))[: 2 * most]
        learn, judge = np.sort(drawn[: len(drawn) // 2]), np.sort(drawn[len(drawn) // 2 :])
        self.protected = list(dataset.protected)
        encoder = Encoder().fit(dataset.frame.iloc[learn])
        self.learn, self.judge = (encoder.transform(dataset.frame.iloc[part]) for part in (learn, judge))
        outcome = np.asarray(dataset.target, dtype=float)
        positive = outcome > (np.median(outcome) if len(np.unique(outcome)) > 2 else 0.5)
        self.y_learn, self.y_judge = positive[learn], positive[judge]

    def fit(self, **options: Any) -> tuple[IFair, list[float]]:
        """A fitted model, and its loss after every iteration."""
        history: list[float] = []
        model = IFair(
            10,
            protected=self.protected,
            freeze_protected=True,
            random_state=0,
            callback=lambda _, loss, __: history.append(loss),
            **options,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return model.fit(self.learn), history

    def auc(self, model: IFair) -> str:
        classifier = LogisticRegression(max_iter=2000).fit(model.transform(self.learn), self.y_learn)
        judged = model.transform(self.judge)
        answers = classifier.predict(judged), classifier.decision_function(judged)
        return " / ".join(f"{roc_auc_score(self.y_judge, answer):.3f}" for answer in answers)


def patience(name: str, most: int, max_iter: int) -> common.Rows:
    halves, rows = Halves(name, most), []
    for init in STARTS:
        history = np.array(halves.fit(init=init, n_restarts=1, tol=1e-8, max_iter=max_iter)[1])
        rows.append(
            {
                "table": "patience",
                "case": f"{name}, {halves.learn.shape[0]} x {halves.learn.shape[1]}",
                "start": init,
                **{
                    f"tol={tol:g}": f"{history[at]:.2f} ({100 * (history[at] / history[-1] - 1):.1f} %, {at + 1})"
                    for tol in (1e-3, DEFAULT_TOL)
                    for at in [common.stop(history, tol)]
                },
                "tol=1e-08": f"{history[-1]:.2f} ({len(history)})",
            }
        )
    return rows


def collapse(max_iter: int) -> common.Rows:
    halves, rows = Halves("compas", len(load("compas"))), []
    for init in STARTS:
        fitted = [halves.fit(init=init, n_restarts=1, max_iter=max_iter, fairness_weight=mu)[0] for mu in RATIOS]
        aucs = {f"mu = {mu:g}": halves.auc(model) for mu, model in zip(RATIOS, fitted)}
        case = f"compas, {halves.learn.shape[0]} x {halves.learn.shape[1]}"
        rows.append({"table": "collapse", "case": case, "start": init, **aucs})
    return rows


def large(n_records: int, max_iter: int) -> common.Rows:
    X = common.made_up(n_records, 30)
    as_before = {"init": "k-means++", "tol": 1e-3}
    rows = []
    for name, options, rehearsed_from in (("before", as_before, n_records + 1), ("default", {}, 20_000)):
        began = time.process_time()
        with (
            patch("ifair.models.ifair.REHEARSED_FROM", rehearsed_from),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = IFair(protected=[0], max_iter=max_iter, random_state=0, **options).fit(X)
        seconds = time.process_time() - began
        case = f"{n_records} x 30, {name}"
        rows.append({"table": "large", "case": case, "loss": model.loss_, "seconds": seconds})
    return rows


def main(arguments: list[str] | None = None) -> common.Rows:
    sizes = {
        "records": (200, 500, "records of a dataset to learn from"),
        "large": (2000, 43_000, "made-up records of the large table"),
    }
    chosen, machine = common.begin(__doc__, arguments, **sizes)
    n_records, n_large = int(chosen.records), int(chosen.large)
    names, long, short = (("credit",), 100, 20) if chosen.quick else (DATASETS, LONG, 300)
    rows: common.Rows = []
    for name in names:
        try:
            rows += patience(name, n_records, long)
            rows += collapse(short) if name == "compas" else []
        except DataError as error:
            print(f"left out: {error}")
    rows += large(n_large, 20 if chosen.quick else 1000)
    notes = "Patience: the loss (per cent above that of tol=1e-8, iterations)."
    tables = {name: [row for row in rows if row["table"] == name] for name in ("patience", "collapse", "large")}
    for name, some in tables.items():
        if some:
            common.report(f"Defaults of IFair: {name}", some, machine, None, notes)
    if chosen.json:
        common.report("Defaults of IFair", rows, machine, chosen.json, notes)
    return rows


if __name__ == "__main__":
    main()
