"""``ifair inspect`` and ``ifair export``: what a file says of itself, and its way into production."""

import numpy as np
import pytest

import ifair

from scripts import ask, do, list_imports, run

pytest.importorskip("skops")


def test_words_name_roles_steps_and_versions_and_json_is_what_the_library_says(classifier):
    text = run("inspect", classifier).stdout
    for part in (
        "protected: sex, age",
        "target: hired",
        "ifair.encode.encoder.Encoder",
        "n_prototypes: 3",
        "scikit-learn",
    ):
        assert part in text
    assert ask("inspect", classifier) == ifair.inspect(classifier)


def test_inspecting_imports_no_estimator(classifier):
    heavy = {"sklearn.linear_model", "ifair.models.ifair", "ifair.encode"}
    assert not heavy & list_imports(["inspect", classifier])[0]


def test_json_of_an_export_says_which_column_each_input_stands_for(classifier, tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("skl2onnx")
    facts = ask("export", classifier, "--onnx", tmp_path / "model.onnx")
    graph = onnx.load(tmp_path / "model.onnx").graph
    assert facts["bytes"] == (tmp_path / "model.onnx").stat().st_size
    assert [port["name"] for port in facts["inputs"]] == [port.name for port in graph.input]
    assert [port["name"] for port in facts["outputs"]] == [port.name for port in graph.output]
    types = {port["column"]: port["type"] for port in facts["inputs"]}
    assert types == {"experience": "float", "job": "string", "owns_home": "float"}


def test_the_exported_model_runs_in_onnxruntime(classifier, applicants, tmp_path):
    pytest.importorskip("skl2onnx")
    runtime = pytest.importorskip("onnxruntime")
    do("export", classifier, "--onnx", tmp_path / "model.onnx", "--precision", "double")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    model = ifair.load(classifier)
    people = applicants[model["encode"].attributes_]
    feeds = {}
    for entry in session.get_inputs():
        column = people[entry.name]
        kind = np.str_ if "string" in entry.type else np.float64 if "double" in entry.type else np.float32
        feeds[entry.name] = column.to_numpy().astype(kind).reshape(-1, 1)
        if kind is np.str_:
            feeds[entry.name] = feeds[entry.name].astype(object)
    answers = session.run(None, feeds)
    np.testing.assert_array_equal(np.asarray(answers[0]).ravel(), model.predict(people))
