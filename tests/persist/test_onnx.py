"""ONNX graphs compute what the estimators do."""

import sys

import numpy as np
import pandas as pd
import pytest
from quiet import fit_quietly, quietly
from refusals import must_raise
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import ifair
from ifair.models.masking import Masked
from ifair.persist import ConversionError, onnx_inputs, to_onnx

pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")
helper = pytest.importorskip("onnx.helper")

CLOSE = {"single": 1e-5, "double": 1e-10}
DTYPE = {"single": np.float32, "double": np.float64}
N = 2_000
OPTIONS = [
    {},
    {"squared": True},
    *({"p": p} for p in (1.0, 1.5, 60.0)),
    *({"p": p, "squared": True} for p in (1.0, 3.0)),
    *({"output": output} for output in ("membership", "nearest")),
    {"output": "nearest", "p": 3.0, "freeze_protected": True},
    {"freeze_protected": True},
]

pytestmark = quietly


@pytest.fixture(params=["single", "double"])
def precision(request):
    return request.param


def evaluate(model, table, precision):
    """What onnxruntime says, by name of output."""
    session = onnxruntime.InferenceSession(to_onnx(model, precision=precision).SerializeToString())
    names = [node.name for node in session.get_inputs()]
    if names == ["X"]:
        feed = {"X": np.asarray(table).astype(DTYPE[precision])}
    else:
        texts = {node.name for node in session.get_inputs() if node.type == "tensor(string)"}
        feed = {}
        for name, stands_for in onnx_inputs(session).items():
            column = table[stands_for]
            values = column.fillna("").astype(object) if name in texts else column.astype(DTYPE[precision])
            feed[name] = values.to_numpy().reshape(-1, 1)
    outputs = [node.name for node in session.get_outputs()]
    return dict(zip(outputs, session.run(None, feed)))


def assert_close(result, expected, precision):
    assert result.dtype == DTYPE[precision]
    np.testing.assert_allclose(result, expected, rtol=CLOSE[precision], atol=CLOSE[precision])


def assert_decides_alike(model, table, precision):
    result, chances = evaluate(model, table, precision), model.predict_proba(table)
    assert_close(result["probabilities"], chances, precision)
    clear = np.abs(chances[:, 1] - 0.5) > 1e-5
    assert np.array_equal(result["label"][clear], model.predict(table)[clear])


def records(columns=8):
    """Numbers that single precision holds exactly: rounding the input is not the graph's error."""
    X = np.random.default_rng(0).normal(size=(N, columns)) * np.linspace(0.5, 2, columns)
    return X.astype(np.float32).astype(np.float64)


def learned(**options):
    usual = {"protected": [7], "init": "k-means++", "n_restarts": 1, "max_iter": 8, "pairs": 30, "random_state": 0}
    return ifair.IFair(5, **(usual | options))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_graph_of_ifair_agrees(options, precision):
    X = records()
    model = learned(**options).fit(X[:300])
    assert_close(evaluate(model, X, precision)["variable"], model.transform(X), precision)


@pytest.mark.parametrize("options", [{}, {"squared": True}, {"p": 3.0}], ids=str)
def test_numbers_far_from_zero_and_near_prototypes_agree_in_single_precision(options):
    X = records() + 30_000.0
    X = X.astype(np.float32).astype(np.float64)
    model = learned(output="membership", **options).fit(X[:300])
    X[:5] = model.prototypes_.astype(np.float32)
    assert_close(evaluate(model, X, "single")["variable"], model.transform(X), "single")


def test_columns_of_weight_zero_are_not_looked_at_and_large_powers_do_not_overflow_single_precision():
    X = records()
    model = learned(freeze_protected=True).fit(X[:300])
    other = X.copy()
    other[:, 7] = np.nan
    before, after = (evaluate(model, table, "single")["variable"] for table in (X, other))
    assert np.array_equal(before, after)
    model = learned(p=25.0, output="membership").fit(X[:100])
    np.testing.assert_allclose(evaluate(model, X * 100, "single")["variable"].sum(axis=1), 1.0, rtol=1e-5)


@pytest.mark.parametrize("classes", [[0, 1], ["bad", "good"], [False, True]], ids=str)
def test_the_graph_of_lfr_classifies_as_it_does(classes, precision):
    X = records()
    y = np.array(classes)[(X[:, 0] > 0).astype(int)]
    model = ifair.LFR(4, n_restarts=1, max_iter=8, random_state=0)
    model.fit(X[:300], y[:300], sensitive_features=X[:300, 1] > 0)
    assert_decides_alike(model, X, precision)


@pytest.mark.parametrize("output", ["representation", "membership", "nearest"])
def test_lfr_transforms_before_a_classifier(output, precision):
    X = records()
    y = (X[:, 0] + X[:, 2] > 0).astype(int)
    first = ifair.LFR(4, output=output, protected=[7], fairness_weight=0, n_restarts=1, max_iter=8, random_state=0)
    model = make_pipeline(StandardScaler(), first, LogisticRegression()).fit(X[:300], y[:300])
    assert_close(evaluate(model, X, precision)["probabilities"], model.predict_proba(X), precision)


def test_pipelines_of_every_kind_agree(precision):
    X = records()
    target = X @ np.arange(8.0)
    regression = make_pipeline(StandardScaler(), learned(), LinearRegression()).fit(X[:300], target[:300])
    result, expected = evaluate(regression, X, precision)["variable"], regression.predict(X)[:, None]
    np.testing.assert_allclose(result, expected, rtol=CLOSE[precision], atol=10 * CLOSE[precision])
    masked = make_pipeline(Masked([0, 7]), LogisticRegression()).fit(X[:300], target[:300] > 0)
    assert_close(evaluate(masked, X, precision)["probabilities"], masked.predict_proba(X), precision)
    X[::5, 1] = np.nan
    unnamed = make_pipeline(ifair.Encoder(), learned(protected=[1])).fit(X[:300])
    assert_close(evaluate(unnamed, X, precision)["variable"], unnamed.transform(X), precision)


def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, N).astype(float),
            "year": rng.integers(1990, 2026, N),
            "job": rng.choice(["clerk", "nurse", "baker", "judge"], N, p=[0.6, 0.3, 0.07, 0.03]),
            "code": rng.choice([1.0, 2.0, 7.0], N),
            "married": rng.random(N) < 0.4,
            "gender": rng.choice(["f", "m"], N),
            "nothing": np.full(N, np.nan),
        }
    )
    frame.loc[::9, "age"] = np.nan
    frame.loc[::7, "job"] = None
    frame.loc[::11, "code"] = np.nan
    return frame


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"missing": "impute"},
        {"missing": "ignore", "scale": "none"},
        {"scale": "numeric"},
        {"min_frequency": 40, "categorical": ["code"]},
        {"missing": "impute", "max_categories": 2, "categorical": ["code", "married"]},
    ],
    ids=str,
)
def test_the_graph_of_the_encoder_and_of_the_whole_way_to_a_decision_agrees(options, precision):
    people = table()
    model = ifair.Encoder(**options).fit(people[:400])
    decider = make_pipeline(ifair.Encoder(**options), learned(protected=["gender"]), LogisticRegression())
    decider.fit(people[:400], people["year"][:400] > 2005)
    people.loc[5:50, "job"] = "pilot"  # never seen in fit
    people.loc[60:90, "code"] = 5.0
    people.loc[100:120, "gender"] = None  # never missing in fit
    people.loc[130:150, "nothing"] = 3.0
    assert_close(evaluate(model, people, precision)["variable"], model.transform(people), precision)
    assert_decides_alike(decider, people, precision)


def test_a_graph_of_many_numbers_has_as_many_nodes_as_one_of_few():
    sizes = []
    for columns in (3, 60):
        frame = pd.DataFrame(records(columns=columns)[:50]).set_axis([f"c{i}" for i in range(columns)], axis=1)
        frame.iloc[::7, :2] = np.nan
        encoder = ifair.Encoder().fit(frame)
        sizes.append(len(to_onnx(encoder).graph.node))
        assert_close(evaluate(encoder, frame, "double")["variable"], encoder.transform(frame).to_numpy(), "double")
    assert sizes[0] == sizes[1]


AWKWARD = ["is member", "is_member", "is-member", "is_member_2", "Größe (cm)", "größe", "1st", "label", "€", " ", "X"]


@pytest.mark.parametrize("columns", [AWKWARD, AWKWARD[::-1]], ids=["as they are", "the other way round"])
def test_every_input_stands_for_its_column_whatever_that_is_called(columns, precision):
    rng = np.random.default_rng(3)
    # Numbers of the same kind everywhere: only the values tell if two inputs were confused.
    people = pd.DataFrame({name: rng.normal(size=400) for name in columns}).astype(np.float32).astype(np.float64)
    people["is-member"] = rng.choice(["ja", "nein", "weiß nicht"], 400)
    target = people[[c for c in columns if c != "is-member"]] @ np.arange(1.0, len(columns)) > 0
    model = make_pipeline(ifair.Encoder(), LogisticRegression()).fit(people, target)
    result = evaluate(model, people, precision)
    assert_close(result["probabilities"], model.predict_proba(people), precision)


def test_a_model_says_where_it_comes_from_and_its_inputs_in_every_form_and_others_do_not(tmp_path):
    people = pd.DataFrame({"is member": [1.0, 2.0, 4.0], "is_member": ["a", "b", "b"]})
    graph = to_onnx(ifair.Encoder().fit(people))
    path, content = tmp_path / "model.onnx", graph.SerializeToString()
    path.write_bytes(content)
    session = onnxruntime.InferenceSession(content)
    expected = {"is_member_2": "is member", "is_member": "is_member"}
    for model in (graph, content, path, str(path), session):
        assert onnx_inputs(model) == expected
    assert [node.name for node in session.get_inputs()] == list(expected)
    plain = to_onnx(learned().fit(records()[:50]))
    assert {p.key: p.value for p in plain.metadata_props} == {"ifair": ifair.__version__, "precision": "single"}
    assert onnx_inputs(plain) == {}  # one matrix has no columns to feed
    other = helper.make_model(helper.make_graph([], "other", [], []))
    must_raise(ConversionError, "does not come from ifair", onnx_inputs, other)
    path.write_bytes(b"\xff no model")
    must_raise(ConversionError, r"model\.onnx is not an ONNX model", onnx_inputs, path)


def test_columns_that_cannot_convert_are_named():
    for column, message in (
        (pd.cut(pd.Series([1, 5, 9], name="band"), [0, 4, 10]), "column 'band' holds intervals"),
        (pd.Series(["", "clerk", "nurse"], name="job"), "column 'job' has the empty text as a category"),
    ):
        must_raise(ConversionError, message, to_onnx, ifair.Encoder().fit(column.to_frame()))
    codes = pd.DataFrame({"code": [2**24, 2**24 + 1, 7]})
    model = ifair.Encoder(categorical=["code"]).fit(codes)
    must_raise(ConversionError, "column 'code' has codes that single precision", to_onnx, model)
    assert_close(evaluate(model, codes, "double")["variable"], model.transform(codes), "double")


def test_what_cannot_convert_is_refused_with_the_reason():
    X = records()[:60]
    logged = make_pipeline(FunctionTransformer(np.log1p), learned()).fit(np.abs(X))
    must_raise(ConversionError, r"skl2onnx cannot convert this Pipeline: .*FunctionTransformer", to_onnx, logged)
    within = FeatureUnion([("lfr", ifair.LFR(3, fairness_weight=0, n_restarts=1, max_iter=3, random_state=0))])
    both = Pipeline([("both", within), ("decide", LogisticRegression())]).fit(X, X[:, 0] > 0)
    must_raise(ConversionError, "step 'both' holds an LFR within", to_onnx, both)
    must_raise(ConversionError, "not fitted", to_onnx, ifair.IFair())
    must_raise(ConversionError, "a FAStarIR learns nothing", to_onnx, ifair.FAStarIR())
    must_raise(ValueError, "precision must be 'single' or 'double', got 'half'", to_onnx, learned(), precision="half")


def test_skl2onnx_can_be_called_directly_after_registering():
    from skl2onnx.common.data_types import FloatTensorType

    skl2onnx = ifair.persist.register_converters()
    X = records()
    model = ColumnTransformer([("fair", learned(protected=[1]), [0, 1, 2])]).fit(X[:300])
    graph = skl2onnx.to_onnx(model, initial_types=[("X", FloatTensorType([None, 8]))], target_opset=17)
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    (result,) = session.run(None, {"X": X.astype(np.float32)})
    assert_close(result, model.transform(X), "single")


def test_without_skl2onnx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "skl2onnx", None)
    model = fit_quietly(learned(), records()[:50])
    must_raise(ImportError, r"pip install 'ifair\[onnx\]'", to_onnx, model)
