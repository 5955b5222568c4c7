"""``ifair inspect`` and ``ifair export``: what a file says of itself, and its way into production."""

import pytest

import ifair

from scripts import ask, list_imports, run

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


def test_inspecting_imports_nothing_heavy(classifier):
    heavy = {"numpy", "sklearn", "pandas", "skops", "pickle", "ifair.models", "ifair.encode"}
    assert not heavy & list_imports(["inspect", classifier])[0]


@pytest.mark.parametrize(("precision", "number"), [("single", "float"), ("double", "double")])
def test_an_export_is_the_graph_of_the_library_and_says_which_column_each_input_stands_for(
    classifier, tmp_path, precision, number
):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("skl2onnx")
    facts = ask("export", classifier, "--onnx", tmp_path / "model.onnx", "--precision", precision)
    model = onnx.load(tmp_path / "model.onnx")
    assert model == ifair.persist.to_onnx(ifair.load(classifier), precision=precision)
    assert facts["bytes"] == (tmp_path / "model.onnx").stat().st_size
    assert [port["name"] for port in facts["inputs"]] == [port.name for port in model.graph.input]
    assert [port["name"] for port in facts["outputs"]] == [port.name for port in model.graph.output]
    types = {port["column"]: port["type"] for port in facts["inputs"]}
    assert types == {"experience": number, "job": "string", "owns_home": number}
