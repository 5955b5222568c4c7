"""The score of one newcomer through ``predict_proba`` beside the inner model's, and words for a pair of people.

    python benchmarks/newcomers.py [--quick] [--json FILE]

The reference: 50,000 made-up people with fourteen numbers, six categories and a protected column, as a table and, the
categories as numbers, as an array; and Census whole but for the newcomers, with its gaps (from ``$IFAIR_DATA``; left
out where that is not set). The inner model, an encoder and a logistic regression, or the latter alone for the array, is
already fitted. Processor milliseconds for one call: the smallest and the median of several hundred newcomers, none of
them in the reference, the two models in turn, so that each finds the caches as the other left them. The goal of the
project is one millisecond beside the inner model's.
"""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import common
from ifair import ConsistentClassifier, Encoder
from ifair.data import load_census


def made_up_people(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({f"number {i}": rng.normal(size=n) for i in range(14)})
    for i in range(6):
        people[f"category {i}"] = rng.choice(list("abcdefgh"), n)
    people["sex"] = rng.choice(["f", "m"], n)
    return people, (people["number 0"] + people["number 1"] + rng.normal(size=n) > 0).to_numpy().astype(int)


def as_array(people: pd.DataFrame) -> np.ndarray:
    return people.apply(lambda column: column if column.dtype == float else pd.factorize(column)[0]).to_numpy(float)


def processor_ms(work: Callable[..., object], *arguments: Any) -> float:
    return 1000 * common.time_work(lambda: work(*arguments))[0].cpu


def describe(what: str, found: Any) -> dict[str, object]:
    return {"what": what, "ms": float(np.min(found)), "median ms": float(np.median(found))}


def take(table: Any, rows: Any) -> Any:
    return table.iloc[rows] if isinstance(table, pd.DataFrame) else table[rows]


def score_newcomers(
    name: str, people: Any, seen: Any, y: np.ndarray, inner: Any, protected: list[Any], times: int
) -> tuple[ConsistentClassifier, common.Rows]:
    """The fitted model, and rows of the table: the first people are newcomers, all others the reference."""
    inner = inner.fit(take(seen, slice(times, None)), y[times:])
    model = ConsistentClassifier(inner, protected=protected, cv="prefit")
    model.fit(take(people, slice(times, None)), y[times:])
    rows = [(take(seen, [i]), take(people, [i])) for i in range(times)]
    model.predict_proba(rows[0][1])  # what is prepared once is not counted
    pairs = [(processor_ms(inner.predict_proba, own), processor_ms(model.predict_proba, row)) for own, row in rows]
    alone, whole = np.array(pairs).T
    beside = {"ms": whole.min() - alone.min(), "median ms": np.median(whole) - np.median(alone)}
    return model, [
        describe(f"{name}: inner model", alone),
        describe(f"{name}: predict_proba", whole),
        {"what": f"{name}: beside the inner model", **beside, "goal ms": 1.0},
    ]


def main(arguments: list[str] | None = None) -> common.Rows:
    options = common.options(__doc__).parse_args(arguments)
    machine = common.Machine()
    times = 10 if options.quick else 400
    people, y = made_up_people(times + (3_000 if options.quick else 50_000))
    pipeline = make_pipeline(Encoder(), LogisticRegression(max_iter=1000))
    model, rows = score_newcomers("table", people, people.drop(columns="sex"), y, pipeline, ["sex"], times)
    alike, row, others = model.similarity_, people.iloc[[7]], np.arange(1, 1 + times)
    array = as_array(people)
    rows += score_newcomers("array", array, array[:, :-1], y, LogisticRegression(), [20], times)[1]
    if os.environ.get("IFAIR_DATA"):
        census = load_census()
        known = slice(3_000 if options.quick else None)
        frame, answer, protected = census.frame[known], census.target.to_numpy()[known], list(census.protected)
        seen = frame.drop(columns=protected)
        rows += score_newcomers("Census", frame, seen, answer, pipeline, protected, times)[1]
    many = [processor_ms(alike.explain_pairs, people, [0] * times, others) / times for _ in range(3)]
    rows += [
        describe("table: search", [processor_ms(alike.neighbours, row, model.reference_) for _ in range(times)]),
        describe("explain one pair", [processor_ms(alike.explain, people, 0, 1) for _ in range(times // 5)]),
        describe("a pair of many", many),
    ]
    return common.report("Newcomers", rows, machine, options.json)


if __name__ == "__main__":
    main()
