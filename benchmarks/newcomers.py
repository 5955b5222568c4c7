"""The score of one newcomer through ``predict_proba`` beside the inner model's, and words for a pair of people.

    python benchmarks/newcomers.py [--quick] [--json FILE]

50,000 made-up people with fourteen numbers, six categories and a protected column, all of them the reference; the inner
model is an encoder and a logistic regression, already fitted. Processor milliseconds for one call: the smallest and the
median of several hundred, the two models in turn, so that each finds the caches as the other left them. The goal of the
project is one millisecond beside the inner model's.
"""

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import common
from ifair import ConsistentClassifier, Encoder


def made_up_people(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({f"number {i}": rng.normal(size=n) for i in range(14)})
    for i in range(6):
        people[f"category {i}"] = rng.choice(list("abcdefgh"), n)
    people["sex"] = rng.choice(["f", "m"], n)
    return people, (people["number 0"] + people["number 1"] + rng.normal(size=n) > 0).to_numpy().astype(int)


def milliseconds(work: Callable[[], object], times: int) -> np.ndarray:
    """Processor time of every call."""
    found = np.empty(times)
    for i in range(times):
        begun = time.process_time()
        work()
        found[i] = 1000 * (time.process_time() - begun)
    return found


def describe(what: str, found: np.ndarray) -> dict[str, object]:
    return {"what": what, "ms": float(found.min()), "median ms": float(np.median(found))}


def main(arguments: list[str] | None = None) -> common.Rows:
    options = common.options(__doc__).parse_args(arguments)
    machine = common.Machine()
    people, y = made_up_people(3_000 if options.quick else 50_000)
    seen, row = people.drop(columns="sex"), people.iloc[[7]]
    seen_row = seen.iloc[[7]]
    inner = make_pipeline(Encoder(), LogisticRegression()).fit(seen, y)
    model = ConsistentClassifier(inner, protected=["sex"], cv="prefit").fit(people, y)
    model.predict_proba(row)
    times = 10 if options.quick else 400
    pairs = [
        (milliseconds(lambda: inner.predict_proba(seen_row), 1), milliseconds(lambda: model.predict_proba(row), 1))
        for _ in range(times)
    ]
    alone, whole = np.array(pairs)[:, :, 0].T
    alike, others = model.similarity_, np.arange(1, 1 + times)
    beside = {"ms": float(whole.min() - alone.min()), "median ms": float(np.median(whole) - np.median(alone))}
    many = milliseconds(lambda: alike.explain_pairs(people, [0] * times, others), 3) / times
    rows: common.Rows = [
        describe("inner model", alone),
        describe("predict_proba", whole),
        {"what": "beside the inner model", **beside, "goal ms": 1.0},
        describe("its search", milliseconds(lambda: alike.neighbours(row, model.reference_), times)),
        describe("explain one pair", milliseconds(lambda: alike.explain(people, 0, 1), times // 5)),
        describe("a pair of many", many),
    ]
    return common.report("Newcomers", rows, machine, options.json)


if __name__ == "__main__":
    main()
