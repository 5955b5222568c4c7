"""The score of one newcomer through ``predict_proba`` beside the inner model's, and words for a pair of people.

    python benchmarks/newcomers.py [--quick] [--json FILE]

50,000 made-up people with fourteen numbers, six categories and a protected column, all of them the reference; the inner
model is an encoder and a logistic regression, already fitted. Processor milliseconds for one call, the mean of a
hundred, the two models in turn. The goal of the project is one millisecond beside the inner model's.
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


def milliseconds(work: Callable[[], object], times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        work()
    return 1000 * (time.process_time() - begun) / times


def main(arguments: list[str] | None = None) -> common.Rows:
    options = common.options(__doc__).parse_args(arguments)
    machine = common.Machine()
    people, y = made_up_people(3_000 if options.quick else 50_000)
    seen, row = people.drop(columns="sex"), people.iloc[[7]]
    seen_row = seen.iloc[[7]]
    inner = make_pipeline(Encoder(), LogisticRegression()).fit(seen, y)
    model = ConsistentClassifier(inner, protected=["sex"], cv="prefit").fit(people, y)
    model.predict_proba(row)
    times = 10 if options.quick else 100
    alone, whole = [], []
    for _ in range(5):
        alone.append(milliseconds(lambda: inner.predict_proba(seen_row), times // 5))
        whole.append(milliseconds(lambda: model.predict_proba(row), times // 5))
    alike, others = model.similarity_, np.arange(1, 1 + times)
    rows: common.Rows = [
        {"what": "inner model", "ms": min(alone)},
        {"what": "predict_proba", "ms": min(whole)},
        {"what": "beside the inner model", "ms": min(whole) - min(alone), "goal ms": 1.0},
        {"what": "its search", "ms": milliseconds(lambda: alike.neighbours(row, model.reference_), times)},
        {"what": "explain one pair", "ms": milliseconds(lambda: alike.explain(people, 0, 1), times)},
        {
            "what": "a pair of many",
            "ms": milliseconds(lambda: alike.explain_pairs(people, [0] * times, others), 1) / times,
        },
    ]
    return common.report("Newcomers", rows, machine, options.json)


if __name__ == "__main__":
    main()
