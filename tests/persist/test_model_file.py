"""Saving, loading and inspecting models."""

import decimal
import functools
import json
import sys
from importlib import import_module
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pytest
from archives import change_manifest
from hypothesis import given, settings
from quiet import fit_quietly
from refusals import must_raise
from sklearn import __version__ as sklearn_version
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.fixes import parse_version

import ifair
from ifair.models.masking import Masked
from ifair.persist import ModelFileError, ModelFileWarning
from ifair.persist.manifest import FORMAT
from ifair.persist.trust import VETTED

pytest.importorskip("skops.io")

FILES = Path(__file__).parent / "files"


def again(model, tmp_path):
    """The model after a journey through a file."""
    ifair.save(model, tmp_path / "m.ifair")
    return ifair.load(tmp_path / "m.ifair")


FAIR = {
    "n_prototypes": st.integers(1, 5),
    "p": st.sampled_from([1.0, 1.5, 2, 2.0, np.float64(3.0)]),
    "squared": st.booleans(),
    "output": st.sampled_from(["representation", "membership", "nearest"]),
    "freeze_protected": st.booleans(),
    "random_state": st.integers(0, 2**32 - 1),
}
ENCODER = {
    "missing": st.sampled_from(["flag", "impute", "ignore"]),
    "scale": st.sampled_from(["unit-variance", "numeric", "none"]),
    "min_frequency": st.sampled_from([None, 45, 0.4]),
}


@settings(max_examples=12, deadline=None)
@given(st.fixed_dictionaries(ENCODER), st.fixed_dictionaries(FAIR), st.sampled_from(["pandas", "polars"]))
def test_random_pipelines_transform_bit_by_bit_as_before(people, tmp_path_factory, encoder, fair, kind):
    model = make_pipeline(
        ifair.Encoder(**encoder), ifair.IFair(protected="sex", pairs=20, n_restarts=1, max_iter=2, **fair)
    )
    table = people if kind == "pandas" else pl.from_dict(people.replace({np.nan: None}).to_dict("list"))
    fit_quietly(model, table)
    loaded = again(model, tmp_path_factory.mktemp("files"))
    before, after = np.asarray(model.transform(table)), np.asarray(loaded.transform(table))
    assert before.dtype == after.dtype
    assert before.tobytes() == after.tobytes()
    assert loaded[-1].get_params() == model[-1].get_params()
    decoded, expected = (one[0].decode(one[-1].prototypes_) for one in (loaded, model))
    assert decoded.equals(expected)


def test_lfr_comes_back_as_transformer_and_classifier(tmp_path, people):
    X = ifair.Encoder().fit_transform(people)
    y = np.where(people["height"] > 170, "good", "bad")
    model = ifair.LFR(3, max_iter=5, n_restarts=1, random_state=0)
    with config_context(enable_metadata_routing=True):
        model.set_fit_request(sensitive_features=True)
    fit_quietly(model, X, y, sensitive_features=people["sex"])
    loaded = again(model, tmp_path)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(loaded.transform(X), model.transform(X))
    assert loaded.group_labels_ == ["female", "male"]
    assert model.get_metadata_routing().fit.requests["sensitive_features"] is True


def test_rankings_and_functions_of_numpy_come_back(tmp_path):
    ranking = ifair.FAStarIR(k=4, p=0.5, alpha=0.1, protected="f")
    assert again(ranking, tmp_path).get_params() == ranking.get_params()
    logged = make_pipeline(FunctionTransformer(np.log1p), StandardScaler()).fit([[1.0], [3.0]])
    assert np.array_equal(again(logged, tmp_path).transform([[2.0]]), logged.transform([[2.0]]))


@pytest.mark.parametrize(
    ("middle", "last"),
    [
        (Masked(["sex"]), LinearRegression()),
        (Masked(["sex"]), CalibratedClassifierCV(LogisticRegression(), cv=2)),
        (Masked(["sex"]), make_pipeline(StandardScaler(), LogisticRegression())),
        ("passthrough", LogisticRegression()),
    ],
    ids=["regression", "calibrated", "nested pipeline", "a step that does nothing"],
)
def test_other_steps_come_back(tmp_path, people, middle, last):
    model = Pipeline([("encode", ifair.Encoder()), ("middle", middle), ("decide", last)]).fit(
        people, people["owns home"]
    )
    assert np.array_equal(again(model, tmp_path).predict(people), model.predict(people))
    if middle == "passthrough":
        nothing = {"name": "middle", "type": "passthrough", "parameters": {}}
        assert ifair.inspect(tmp_path / "m.ifair")["steps"][1] == nothing


def test_categories_of_every_kind_come_back(tmp_path):
    bands = pd.cut(pd.Series([1, 5, 9, 3]), [0, 2, 6, 10])
    table = pd.DataFrame(
        {
            "band": bands,
            "code": [1, 2, 1, 3],
            "size": pd.Categorical(["S", "L", "S", "M"], categories=["S", "M", "L"], ordered=True),
            "price": pd.Series([decimal.Decimal("1.5"), decimal.Decimal(2)] * 2, dtype=object),
        }
    )
    model = ifair.Encoder(categorical=["code", "price"]).fit(table)
    loaded = again(model, tmp_path)
    assert loaded.transform(table).equals(model.transform(table))
    decoded = loaded.decode(loaded.transform(table))
    assert decoded.equals(model.decode(model.transform(table)))
    assert decoded["size"].cat.categories.tolist() == ["S", "M", "L"]


def protect_last(table):
    return [table.shape[1] - 1]


@pytest.mark.parametrize(
    ("parameter", "value", "shown"),
    [
        ("fair__protected", protect_last, "protect_last"),
        ("fair__callback", lambda *_: None, "lambda"),
        ("fair__callback", functools.partial(print, end=""), "partial"),
        ("fair__callback", [].append, "append"),
        ("fair__init", [[protect_last]], "protect_last"),
    ],
)
def test_functions_among_the_parameters_are_named_and_nothing_is_written(pipeline, tmp_path, parameter, value, shown):
    model, path = clone(pipeline).set_params(**{parameter: value}), tmp_path / "m.ifair"
    message = rf"^{path}: parameter '{parameter}' holds the function '.*{shown}.*set_params"
    must_raise(ModelFileError, message, ifair.save, model, path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "about", "message"),
    [
        (ifair.IFair(), {}, "not fitted"),
        ({"a": 1}, {}, "no estimator"),
        (ifair.IFair, {}, "functions|estimator|get_params|type"),
        (ifair.FAStarIR(), {"data": {"mean": float("nan")}}, r"about\['data'\]\['mean'\] is nan"),
        (ifair.FAStarIR(), {"rows": [1, {2}]}, r"about\['rows'\]\[1\] is a set"),
        (ifair.FAStarIR(), {"a": {1: 2}}, r"about\['a'\] has the key 1"),
    ],
)
def test_what_is_no_fitted_estimator_is_not_saved_and_what_json_cannot_hold_is_named(tmp_path, model, about, message):
    must_raise((ModelFileError, TypeError), message, ifair.save, model, tmp_path / "m.ifair", about=about)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_named(pipeline, tmp_path):
    nowhere = tmp_path / "nowhere" / "m.ifair"
    must_raise(FileNotFoundError, "nowhere does not exist; create it", ifair.save, pipeline, nowhere)


def test_inspect_tells_versions_steps_and_parameters(pipeline, model_file):
    facts = ifair.inspect(model_file)
    assert facts["format"] == 1
    assert facts["ifair"] == ifair.__version__
    assert facts["about"] == {"roles": {"protected": ["sex"]}}
    assert facts["packages"].keys() == {"python", "numpy", "scipy", "scikit-learn", "pandas", "skops"}
    assert facts["packages"]["numpy"] == np.__version__
    assert [step["name"] for step in facts["steps"]] == ["encode", "fair", "decide"]
    assert facts["steps"][1]["type"] == "ifair.models.ifair.IFair"
    # IFair's parameters are all plain data here: they read as they are.
    assert facts["steps"][1]["parameters"] == pipeline["fair"].get_params()
    assert facts["steps"][2]["parameters"].keys() == pipeline["decide"].get_params().keys()
    assert json.loads(json.dumps(facts)) == facts


def test_inspect_describes_arrays_numbers_and_estimators_within(tmp_path):
    def only_step(model):
        ifair.save(fit_quietly(model, X, X[:, 0] > 0), tmp_path / "m.ifair")
        (step,) = ifair.inspect(tmp_path / "m.ifair")["steps"]
        return step["name"], step["parameters"]

    X = np.random.default_rng(0).normal(size=(30, 2))
    model = ifair.IFair(2, init=X[:2], p=np.float64(2.0), tol=np.float32(0.5), random_state=np.random.RandomState(0))
    name, found = only_step(model)
    assert (name, found["p"], found["tol"], found["init"]) == ("IFair", 2.0, 0.5, "array of <f8, shape (2, 2)")
    assert "RandomState" in found["random_state"]
    _, found = only_step(CalibratedClassifierCV(LogisticRegression(C=3.0), cv=2))
    assert found["estimator"]["parameters"]["C"] == 3.0


@pytest.mark.filterwarnings("ignore::ifair.persist.ModelFileWarning")
@pytest.mark.parametrize("number", range(1, FORMAT + 1))
def test_files_of_every_format_can_still_be_read(number):
    path = FILES / f"format{number}.ifair"
    written_with = ifair.inspect(path)["packages"]["scikit-learn"]
    if parse_version(sklearn_version) < parse_version(written_with):
        pytest.skip(f"written with scikit-learn {written_with}: older releases may lack what it uses")
    expected = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    model, records = ifair.load(path), pd.DataFrame(expected["records"])
    np.testing.assert_allclose(model.predict_proba(records)[:, 1], expected["probabilities"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(model[:-1].transform(records), expected["representation"], rtol=0, atol=1e-10)
    assert ifair.inspect(path)["about"] == {"data": "German Credit"}


@pytest.mark.parametrize("name", sorted(name for name in VETTED if name.startswith("ifair.")))
def test_types_of_ours_that_are_vetted_exist(name):
    module, _, kind = name.rpartition(".")
    assert isinstance(getattr(import_module(module), kind), type)


def test_another_scikit_learn_is_warned_of(model_file):
    change_manifest(model_file, packages={"scikit-learn": "0.24.1"})
    with pytest.warns(ModelFileWarning, match=r"written with scikit-learn 0\.24\.1.*save the model anew"):
        ifair.load(model_file)


def test_without_skops_the_extra_is_named(pipeline, model_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops", None)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    for use in (lambda: ifair.load(model_file), lambda: ifair.save(pipeline, model_file)):
        must_raise(ImportError, r"pip install 'ifair\[persist\]'", use)
    assert ifair.inspect(model_file)["format"] == 1
