"""The estimator: what a scikit-learn user may rely on."""

import sys
import warnings
from decimal import Decimal, localcontext

import numpy as np
import pandas as pd
import pytest
from quiet import fit_quietly, quietly
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from ifair import Encoder, IFair
from ifair.core.problem import Progress
from ifair.errors import IfairError
from ifair.models.progress import ProgressBar

import oracles
from samples import applicants

pytestmark = quietly

FAST = {"n_restarts": 1, "max_iter": 40, "tol": 0.01, "random_state": 0}


@pytest.fixture
def X(rng):
    X = rng.normal(size=(60, 5))
    X[:, 4] = rng.integers(0, 2, size=60)
    return X


@pytest.fixture
def people():
    """Raw records: text, booleans, numbers, missing values."""
    return applicants(80)[["height", "experience", "sex", "job", "owns home"]]


# ---- what is learned ----


@pytest.mark.parametrize(
    "options", [{"utility_weight": 1.5}, {"utility_columns": "unprotected"}, {"fairness_weight": 0.0}], ids=str
)
def test_the_fitted_loss_is_the_papers_objective_at_the_fitted_parameters(X, options):
    weights = {"utility_weight": 1.0, "fairness_weight": 0.5, **options}
    model = IFair(3, protected=[4], reduction="sum", **weights, **FAST).fit(X)
    columns = range(4) if "utility_columns" in options else range(5)
    utility, fairness = oracles.losses(X, model.prototypes_, model.alpha_, [0, 1, 2, 3], columns=columns)
    assert model.utility_loss_ == pytest.approx(utility, rel=1e-6)
    # It is reported where it has no weight, too.
    assert model.fairness_loss_ == pytest.approx(fairness, rel=1e-6)
    total = weights["utility_weight"] * utility + weights["fairness_weight"] * fairness
    assert model.loss_ == pytest.approx(total, rel=1e-6)
    U = oracles.memberships(X, model.prototypes_, model.alpha_)
    np.testing.assert_allclose(model.membership(X), U, rtol=1e-6)
    np.testing.assert_allclose(model.transform(X), U @ model.prototypes_, rtol=1e-6)
    np.testing.assert_allclose(model.shares_, U.mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("pairs", ["all", "moments", 20])
def test_data_far_from_the_origin_give_the_same_solution(X, pairs):
    # A few steps only: a descent magnifies the rounding of the shifted data itself.
    options = {**FAST, "max_iter": 3, "init": X[:3], "alpha_init": np.full(5, 0.5)}
    near = IFair(3, protected=[4], pairs=pairs, **options).fit(X)
    far = IFair(3, protected=[4], pairs=pairs, **{**options, "init": X[:3] + 1e4}).fit(X + 1e4)
    assert far.loss_ == pytest.approx(near.loss_, rel=1e-6)
    np.testing.assert_allclose(far.transform(X + 1e4) - 1e4, near.transform(X), atol=1e-3)


def test_learning_lowers_the_loss_and_weights_are_never_negative(X):
    seen = []
    model = IFair(4, protected=[4], callback=lambda *progress: seen.append(progress), **FAST).fit(X)
    iterations, losses, _ = zip(*seen)
    assert iterations == tuple(range(1, len(seen) + 1))
    assert losses[-1] < losses[0]
    assert model.loss_ == pytest.approx(min(losses))
    assert model.alpha_.min() >= 0


@pytest.mark.parametrize("output", ["representation", "membership"])
@pytest.mark.parametrize("fit_options", [{}, {"p": 1.0}, {"pairs": "moments"}, {"utility_columns": "unprotected"}])
def test_frozen_protected_columns_cannot_move_the_output_by_a_single_bit(X, output, fit_options):
    model = IFair(4, protected=[1, 4], output=output, **fit_options, **FAST).fit(X)
    assert np.all(model.alpha_[[1, 4]] == 0.0)
    flipped = X.copy()
    flipped[:, 4] = 1 - flipped[:, 4]
    flipped[:, 1] = 1e300
    assert model.transform(flipped).tobytes() == model.transform(X).tobytes()
    if "utility_columns" in fit_options:  # what nothing pulls at shows nobody's values
        np.testing.assert_allclose(model.prototypes_[:, [1, 4]], [X[:, [1, 4]].mean(axis=0)] * 4)


def test_a_loss_that_falls_to_zero_converges(rng):
    """As many prototypes as it takes to reproduce the data: the loss has no positive floor."""
    X = np.repeat(10.0 * rng.normal(size=(3, 2)), 5, axis=0)
    model = IFair(6, random_state=0).fit(X)
    assert model.converged_
    assert model.loss_ < 0.05 * X.var(axis=0).sum()


def test_without_freezing_the_protected_columns_can_matter_less_from_masked_than_from_random_starts(X):
    options = {"protected": [4], "freeze_protected": False, **FAST}
    model = IFair(4, alpha_init="random", fairness_weight=0.0, **options).fit(X)
    flipped = X.copy()
    flipped[:, 4] = 1 - flipped[:, 4]
    assert not np.array_equal(model.transform(flipped), model.transform(X))
    options |= {"max_iter": 1, "init": X[:3]}
    masked, random = (IFair(3, alpha_init=how, **options).fit(X).alpha_[4] for how in ("masked", "random"))
    assert masked < 1e-2 < random


def test_large_tables_take_landmarks_and_stay_near_all_pairs(rng):
    X = rng.normal(size=(3200, 4))
    model = IFair(3, protected=[3], n_restarts=1, max_iter=5, random_state=0).fit(X)
    root = np.sqrt(model.alpha_)
    between, wanted = cdist(*2 * [model.transform(X) * root]), cdist(*2 * [X[:, :3] * root[:3]])
    exact = np.mean((between - wanted) ** 2)
    assert model.fairness_loss_ == pytest.approx(exact, rel=0.2)
    assert model.fairness_loss_ != pytest.approx(exact, rel=1e-6)


# ---- convergence and interruption ----


def test_convergence_is_silent_and_stopping_at_the_limit_warns_and_says_so(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = IFair(3, protected=[4], init="k-means++", tol=0.05, random_state=0).fit(X)
    assert model.converged_
    assert model.restarts_.shape == (3,)
    assert model.loss_ == model.restarts_.min()
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = IFair(3, max_iter=2, n_restarts=1, random_state=0).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_the_trivial_optimum_is_explained(X):
    with pytest.warns(UserWarning, match="trivial optimum"):
        model = IFair(3, utility_weight=0.0, tol=0.1, random_state=0).fit(X)
    assert model.converged_
    weighted_spread = (model.alpha_ * model.transform(X).var(axis=0)).sum()
    assert weighted_spread < 0.1 * X.var(axis=0).sum()


def test_progress_is_shown_on_standard_error_and_only_when_asked_for(X, capsys):
    IFair(3, tol=0.05, init="k-means++", random_state=0).fit(X)
    silent = capsys.readouterr()
    assert silent.out == silent.err == ""
    IFair(3, tol=0.05, init="k-means++", random_state=0, verbose=True).fit(X)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "restart 1/3" in shown.err
    assert "loss" in shown.err


def test_the_bar_rewrites_its_line_on_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    bar = ProgressBar(2, 10, 1e-4)
    bar(Progress(restart=1, iteration=5, loss=1.25, gradient_norm=0.1))
    bar.close()
    shown = capsys.readouterr().err
    assert shown.startswith("\riFair [############............] restart 2/2  iteration 5  loss 1.25")
    assert shown.endswith("\n")


@pytest.mark.parametrize(
    ("iteration", "fall", "filled"),
    [(1, np.inf, 0), (20, 0.5, 0), (20, 0.1, 0), (30, 0.01, 8), (60, 0.001, 16), (90, 1e-4, 24), (990, 0.01, 23)],
)
def test_the_bar_fills_as_the_loss_falls_ever_more_slowly(capsys, iteration, fall, filled):
    ProgressBar(1, 1000, 1e-4)(Progress(restart=0, iteration=iteration, loss=1.0, gradient_norm=0.1, fall=fall))
    shown = capsys.readouterr().err
    assert shown.split("]")[0].count("#") == pytest.approx(filled, abs=1)
    assert ("lower than ten iterations ago" in shown) == (fall < np.inf)


def test_the_bar_never_goes_back_and_tells_the_search_on_a_sample_from_the_one_on_all(capsys, monkeypatch):
    now = iter(range(0, 1000, 10))
    monkeypatch.setattr("ifair.models.progress.time.monotonic", lambda: next(now))
    bar = ProgressBar(1, 100, 1e-4, rehearses=True)
    for iteration, fall in [(30, 0.001), (31, 0.05), (1, np.inf), (2, np.inf)]:
        bar(Progress(restart=0, iteration=iteration, loss=1.0, gradient_norm=0.1, fall=fall))
    lines = capsys.readouterr().err.splitlines()
    filled = [line.split("]")[0].count("#") for line in lines]
    assert filled[0] == filled[1] == pytest.approx(16, abs=1)
    assert filled[2:] == [0, 0]
    assert [line.endswith(", on a sample first") for line in lines] == [True, True, False, False]
    # Ten seconds an iteration, of which 98 are left.
    assert lines[-1].endswith(", at most 16 min left")


# ---- protected columns ----


BOTH = [False, True, False, True]


@pytest.mark.parametrize(
    ("protected", "expected"),
    [
        (["sex", "age"], BOTH),
        ([1, 3], BOTH),
        ([-1, -3], BOTH),
        (np.array(BOTH), BOTH),
        (BOTH, BOTH),
        (pd.Series(BOTH), BOTH),
        (lambda frame: [name for name in frame.columns if name in ("age", "sex")], BOTH),
        (lambda frame: frame.columns.isin(["age", "sex"]), BOTH),
        (pd.Index(["age", "sex"]), BOTH),
        (("age", "sex"), BOTH),
        ("sex", [False, False, False, True]),
        (0, [True, False, False, False]),
        (None, [False] * 4),
        ([], [False] * 4),
    ],
    ids=lambda value: "callable" if callable(value) else str(value),
)
def test_protected_columns_may_be_named_in_every_form(rng, protected, expected):
    frame = pd.DataFrame(rng.normal(size=(30, 4)), columns=["work", "age", "education", "sex"])
    model = IFair(3, protected=protected, **FAST).fit(frame)
    np.testing.assert_array_equal(model.protected_mask_, expected)


def test_a_protected_attribute_keeps_its_meaning_through_encoding_in_a_pipeline_and_a_search(people):
    pipeline = make_pipeline(Encoder(), IFair(protected=["job", "owns home"], **FAST), LogisticRegression())
    grid = {"ifair__n_prototypes": [2, 5], "ifair__fairness_weight": [0.1, 1.0]}
    search = GridSearchCV(clone(pipeline), grid, cv=2).fit(people, people["height"] > 170)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    model = search.best_estimator_[1]
    assert model.n_prototypes == search.best_params_["ifair__n_prototypes"] == len(model.prototypes_)
    protected = {name for name, is_protected in zip(model.feature_names_in_, model.protected_mask_) if is_protected}
    assert protected == {"job=clerk", "job=nurse", "job=welder", "owns home"}
    assert search.predict(people.assign(job="astronaut")).shape == (len(people),)


# ---- frames, names, containers ----


def test_transform_in_blocks_equals_transform_at_once(rng, monkeypatch):
    X = rng.normal(size=(50, 3))
    model = IFair(3, **FAST).fit(X)
    at_once = model.transform(X)
    monkeypatch.setattr("ifair.inputs.table.MAPPED_ROWS", 7)
    np.testing.assert_allclose(model.transform(X), at_once, rtol=1e-12)


# ---- prototypes one can read ----


def test_prototypes_and_whom_they_stand_for_are_readable_in_the_users_units(people):
    encoder = Encoder()
    encoded = encoder.fit_transform(people)
    model = IFair(4, protected=["job"], **FAST).fit(encoded)
    table = model.prototypes_frame(encoder)
    assert list(table.columns) == ["share", *people.columns]
    assert table["share"].sum() == pytest.approx(1.0)
    assert table["share"].is_monotonic_decreasing
    assert set(table["job"]) <= {"clerk", "nurse", "welder"}
    in_order = [f"prototype{k}" for k in range(4)]
    heights = model.prototypes_[:, 0] * people["height"].std(ddof=0) + people["height"].mean()
    np.testing.assert_allclose(table.loc[in_order, "height"], heights)
    # Without an encoder they have the columns of the table fitted on.
    plain = model.prototypes_frame()
    assert list(plain.columns) == ["share", *encoded.columns]
    np.testing.assert_allclose(plain.loc[in_order].iloc[:, 1:].astype(float), model.prototypes_)
    table = model.archetypes(encoded, encoder)
    strongest = model.membership(encoded).argmax(axis=1)
    assert list(table.columns) == ["share", "followers", *people.columns]
    assert table["followers"].sum() == len(people)
    for k in np.unique(strongest):
        followers, row = people[strongest == k], table.loc[f"prototype{k}"]
        assert row["followers"] == len(followers)
        assert row["height"] == pytest.approx(followers["height"].mean())
        assert (followers["job"] == row["job"]).sum() == followers["job"].value_counts().max()


def decimal_memberships(model, X):
    """Softmax of distances with 700 digits, in which nothing cancels or overflows."""
    with localcontext(prec=700):
        rows = []
        for x in X:
            distances = []
            for v in model.prototypes_:
                parts = [
                    Decimal(float(a)) * abs(Decimal(float(one)) - Decimal(float(other))) ** Decimal(model.p)
                    for a, one, other in zip(model.alpha_, x, v)
                ]
                distances.append(sum(parts) ** (Decimal(2 if model.squared else 1) / Decimal(model.p)))
            weights = [(max(min(distances) - d, Decimal(-2000))).exp() for d in distances]
            rows.append([float(weight / sum(weights)) for weight in weights])
    return np.array(rows)


@pytest.mark.parametrize("options", [{}, {"p": 1}, {"p": 3}, {"p": 20}, {"squared": True}], ids=str)
def test_records_however_far_away_have_the_right_memberships(options):
    rng = np.random.default_rng(0)
    model = IFair(3, protected=[2], freeze_protected=False, n_restarts=1, max_iter=3, random_state=0, **options)
    fit_quietly(model, rng.normal(size=(30, 3)))
    X = np.concatenate([rng.normal(size=(2, 3)) * size for size in (1.0, 1e5, 1e9, 1e200)])
    X[::2, 1] = 0.3
    expected = decimal_memberships(model, X)
    np.testing.assert_allclose(model.membership(X), expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), expected @ model.prototypes_, rtol=0, atol=1e-8)
    nearest = model.set_params(output="nearest").transform(X)
    np.testing.assert_array_equal(nearest, model.prototypes_[expected.argmax(axis=1)])


@pytest.mark.parametrize(
    ("p", "size", "word"),
    [(1000, 1, "overflow"), (200, 3, "overflow"), (3, 1e55, "overflow"), (2, 1e-90, "vanish")],
)
def test_an_order_whose_powers_no_number_holds_is_refused(p, size, word):
    X = size * np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(IfairError, match=f"p={p}: differences as large as .* {word} .* smaller p"):
        IFair(3, p=p).fit(X)
