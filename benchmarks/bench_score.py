"""One record at a time and many at once: the pipeline, the same after a model file, and the same as ONNX.

    python benchmarks/bench_score.py [--json FILE] [--records 10000]

German Credit: 20 attributes, 14 of them text, encoded in 67 columns; IFair with 10 prototypes, logistic regression. All
give the same probabilities, which is checked. One record is scored from a dict; for ONNX the dict is made
into arrays within the time. ONNX runs on one thread.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

import common
import ifair
from ifair.data import load_credit
from ifair.persist import to_onnx

CALLS = 50  # of one record, within a round
DTYPE = {"single": np.float32, "double": np.float64}
CLOSE = {"single": 1e-5, "double": 1e-10}


def fit_model() -> tuple[Pipeline, pd.DataFrame]:
    dataset = load_credit()
    steps = [
        ("encode", ifair.Encoder()),
        ("fair", ifair.IFair(10, protected=list(dataset.protected), random_state=0)),
        ("decide", LogisticRegression(max_iter=1000)),
    ]
    frame = dataset.frame.astype({name: object for name, kind in dataset.frame.dtypes.items() if kind == "category"})
    return Pipeline(steps).fit(frame, dataset.target), frame


class Session:
    """An ONNX graph that takes a table, or a dict for one record."""

    def __init__(self, content: bytes, precision: str) -> None:
        one_thread = onnxruntime.SessionOptions()
        one_thread.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(content, one_thread)
        self._dtypes = {
            node.name: object if node.type == "tensor(string)" else DTYPE[precision]
            for node in self._session.get_inputs()
        }

    def score(self, record: dict[str, Any]) -> float:
        return float(self._run({name: np.array([[record[name]]], dtype=t) for name, t in self._dtypes.items()})[0])

    def scores(self, frame: pd.DataFrame) -> np.ndarray:
        return self._run({name: frame[[name]].to_numpy(dtype=t) for name, t in self._dtypes.items()})

    def _run(self, feed: dict[str, np.ndarray]) -> np.ndarray:
        return self._session.run(["probabilities"], feed)[0][:, 1]


def main(arguments: list[str] | None = None) -> common.Rows:
    chosen, machine = common.begin(__doc__, arguments, records=(2000, 10_000, "in a batch"))
    n_records = chosen.records
    model, people = fit_model()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.ifair"
        ifair.save(model, path)
        loaded = ifair.load(path)
        kilobytes = {"model file": path.stat().st_size / 1024}
        opening = common.best_times({"model file": lambda: ifair.load(path)}, rounds=5)
    graphs = {precision: to_onnx(model, precision=precision).SerializeToString() for precision in DTYPE}
    sessions = {precision: Session(content, precision) for precision, content in graphs.items()}

    many = people.iloc[np.resize(np.arange(len(people)), n_records)].reset_index(drop=True)
    record = people.iloc[0].to_dict()
    one: dict[str, Callable[[], Any]] = {
        "pipeline": lambda: ifair.score(model, record),
        "model file": lambda: ifair.score(loaded, record),
    }
    batch: dict[str, Callable[[], Any]] = {
        "pipeline": lambda: model.predict_proba(many)[:, 1],
        "model file": lambda: loaded.predict_proba(many)[:, 1],
    }
    close = {"pipeline": 0.0, "model file": 0.0}
    for precision, session in sessions.items():
        name = f"ONNX, {precision}"
        one[name] = lambda session=session: session.score(record)
        batch[name] = lambda session=session: session.scores(many)
        close[name] = CLOSE[precision]
        kilobytes[name] = len(graphs[precision]) / 1024
        opening |= common.best_times({name: lambda p=precision: Session(graphs[p], p)}, rounds=5)
    expected = batch["pipeline"]()
    for name in one:
        np.testing.assert_allclose(batch[name](), expected, rtol=0, atol=close[name])
        np.testing.assert_allclose(one[name](), expected[0], rtol=0, atol=max(close[name], 1e-12))

    single = common.best_times(
        {name: lambda w=work: [w() for _ in range(CALLS)] for name, work in one.items()}, rounds=5
    )
    whole = common.best_times(batch, rounds=5)
    rows: common.Rows = [
        {
            "what": name,
            "one record, ms": 1000 * single[name].wall / CALLS,
            "CPU ms": 1000 * single[name].cpu / CALLS,
            "batch, records/s": n_records / whole[name].wall,
            "per CPU s": n_records / whole[name].cpu,
            "to open, ms": 1000 * opening[name].wall if name in opening else None,
            "KB": kilobytes.get(name),
        }
        for name in one
    ]
    title = f"Scores of German Credit, 20 attributes; batches of {n_records:,}"
    notes = f"Best of 5 rounds taken in turns, one record {CALLS} times per round. All agree: ONNX to 1e-5 and 1e-10."
    return common.report(title, rows, machine, chosen.json, notes)


if __name__ == "__main__":
    main()
