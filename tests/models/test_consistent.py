"""Consistent decisions around any model: against the inner model and the functions of `ifair.graph`."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from quiet import quietly
from refusals import must_raise
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import ifair
from ifair import ConsistentClassifier, ConsistentRegressor, Encoder, Similarity
from ifair.errors import IfairError
from ifair.graph import minimum_cut, newcomer_scores

from samples import applicants

ROLES = ["sex", "origin"]


def pipeline():
    return make_pipeline(Encoder(), LogisticRegression(max_iter=1000))


@pytest.fixture(scope="module")
def people():
    return applicants(200).drop(columns=["rating", "team", "hired"])


@pytest.fixture(scope="module")
def hired():
    return applicants(200)["hired"].to_numpy()


@pytest.fixture(scope="module")
def model(people, hired):
    """Fitted on all people; its tests are about batches and newcomers."""
    return ConsistentClassifier(pipeline(), strength=0.1, protected=ROLES, random_state=0).fit(people, hired)


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    return X, (X[:, 0] + 0.5 * rng.normal(size=120) > 0).astype(int)


def with_strength(model, strength, **others):
    """The same fitted model at another strength, whose reference is not used."""
    return pickle.loads(pickle.dumps(model)).set_params(strength=strength, **others)


def graph_of(model, people):
    """The graph of the neighbours, without `ifair.graph`."""
    indices = model.similarity_.neighbours(people.drop(columns=ROLES)).indices
    A = np.zeros((len(people), len(people)))
    for i, row in enumerate(indices):
        A[i, row[row >= 0]] = 1
    return (A + A.T) / (2 * indices.shape[1])


# ---- strength ----


@pytest.mark.parametrize("estimator", [LogisticRegression(), HistGradientBoostingClassifier(max_iter=10)])
def test_without_strength_the_inner_model_speaks_to_the_last_bit(numbers, estimator):
    X, y = numbers
    plain, found = clone(estimator).fit(X, y), ConsistentClassifier(estimator, strength=0).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(found.predict(X), plain.predict(X))
    np.testing.assert_array_equal(found.scores(X), plain.predict_proba(X)[:, 1])
    batch = found.decide(X, n=30)
    assert len(batch.changed) == 0
    assert batch.gap == 0
    regressor = ConsistentRegressor(strength=0).fit(X, X[:, 1])
    np.testing.assert_array_equal(regressor.predict(X), LinearRegression().fit(X, X[:, 1]).predict(X))


@pytest.mark.parametrize("penalty", ["absolute", "squared"])
def test_more_strength_means_less_difference_between_like_people(model, people, penalty):
    W = graph_of(model, people)
    apart = []
    for strength in (0, 0.05, 0.2, 1.0):
        s = with_strength(model, strength, penalty=penalty).scores(people)
        apart.append((W * np.abs(s[:, None] - s)).sum())
    assert np.all(np.diff(apart) < 0)


@pytest.mark.parametrize(
    ("estimator", "strength", "message"),
    [
        (ConsistentClassifier(), 7, "a strength of 7 is more than scores differ, by 1 at most.* begin with .* 0.1"),
        (ConsistentRegressor(), 200_000, "a strength of 200000 is more than scores differ, by 99000 .* 9900 "),
    ],
)
def test_a_strength_that_makes_everybody_alike_is_doubted_with_the_scale_that_it_is_on(
    numbers, estimator, strength, message
):
    X, y = numbers
    target = y if isinstance(estimator, ConsistentClassifier) else np.linspace(1000, 100_000, len(X))
    with pytest.warns(UserWarning, match=message):
        estimator.set_params(strength=strength).fit(X, target)
    low, high = np.quantile(estimator.reference_scores_, [0.1, 0.9])
    assert high - low < 0.001 * np.ptp(target)
    # Whoever says infinity means it; of a decision function the range is not known.
    clone(estimator).set_params(strength=np.inf).fit(X, target)
    ConsistentClassifier(LinearSVC(), strength=7).fit(X, y)


# ---- batches ----


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7])
def test_decisions_by_threshold_are_the_minimum_cut(model, people, threshold):
    batch = model.decide(people, threshold=threshold)
    graph = csr_array(graph_of(model, people))
    expected = minimum_cut(batch.model_scores - threshold, graph, model.strength)
    np.testing.assert_array_equal(batch.selected, expected)
    assert len(batch.changed) > 0


@pytest.mark.parametrize("wanted", [{"n": 40}, {"rate": 0.2}, {"n": 0}, {"n": 200}])
@pytest.mark.parametrize("strength", [0.02, 0.5])
def test_just_as_many_people_are_selected_as_asked_for(model, people, wanted, strength):
    batch = with_strength(model, strength).decide(people, **wanted)
    assert batch.selected.sum() == wanted.get("n", 40)
    inside, outside = batch.scores[batch.selected], batch.scores[~batch.selected]
    if len(inside) and len(outside):
        assert inside.min() >= outside.max() - 1e-4
    assert batch.gap <= 1e-12


def test_a_number_of_places_and_the_threshold_it_leads_to_select_the_same_people(model, people):
    model, exact = with_strength(model, 0.05), 0
    for n in (20, 40, 60, 80):
        batch = model.decide(people, n=n)
        if len(batch.tied) == 0:
            np.testing.assert_array_equal(model.decide(people, threshold=batch.threshold).selected, batch.selected)
            exact += 1
        else:  # a block of people with one score, of whom some have a place
            above = model.decide(people, threshold=batch.threshold + 1e-5).selected
            below = model.decide(people, threshold=batch.threshold - 1e-5).selected
            np.testing.assert_array_equal(np.flatnonzero(below & ~above), batch.tied)
            assert (above <= batch.selected).all()
            assert (batch.selected <= below).all()
    assert 0 < exact < 4


def test_ties_are_told_and_broken_by_the_model(model, people):
    batch = with_strength(model, np.inf).decide(people, n=40)
    assert len(batch.tied) > 1
    tied = np.zeros(200, dtype=bool)
    tied[batch.tied] = True
    np.testing.assert_allclose(batch.scores[tied], batch.threshold)
    chosen, left = batch.model_scores[tied & batch.selected], batch.model_scores[tied & ~batch.selected]
    assert chosen.min() >= left.max()
    assert batch.to_frame()["tied"].sum() == len(batch.tied)
    assert "tied at the threshold" in batch.explain(int(batch.tied[0]))


def test_changed_people_are_those_whom_the_model_alone_decides_about_otherwise(model, people):
    for wanted in ({"n": 50}, {"threshold": 0.6}):
        batch = model.decide(people, **wanted)
        plain = model.estimator_.predict_proba(people.drop(columns=ROLES))[:, 1]
        np.testing.assert_array_equal(plain, batch.model_scores)
        best = np.argsort(-plain, kind="stable")[:50]
        alone = np.isin(np.arange(200), best) if "n" in wanted else plain > 0.6
        np.testing.assert_array_equal(batch.changed, np.flatnonzero(alone != batch.selected))
        assert len(batch.changed) > 0
        np.testing.assert_array_equal(np.flatnonzero(batch.to_frame()["changed"]), batch.changed)


def test_the_explanation_of_a_change_names_the_peers_that_caused_it(model, people):
    named = people.set_axis([f"no. {i}" for i in range(200)])
    batch = model.decide(named, n=50)
    changes = batch.explain_changes()
    assert list(changes.index) == [f"no. {i}" for i in batch.changed]
    for person, text in zip(batch.changed, changes["explanation"]):
        first, *lines = text.splitlines()
        verdict = "selected" if batch.selected[person] else "not selected"
        assert first.startswith(f"person no. {person} is {verdict}: model score {batch.model_scores[person]:.3f}")
        assert f"would {'not ' if batch.selected[person] else ''}have selected them" in first
        own = [i for i in batch.peers.indices[person] if i >= 0 and batch.selected[i] == batch.selected[person]]
        for other, line in zip(own, lines):
            words = model.similarity_.explain(named.drop(columns=ROLES), person, other).text
            assert line == f"  person no. {other}, {verdict}, score {batch.scores[other]:.3f}: {words}"
        assert not own or lines
        assert not any(name in text for name in ROLES)


def test_the_people_like_somebody_are_their_peers_who_are_counted_and_those_whose_peer_they_are(model, people):
    batch = model.decide(people, n=50)
    W, more = graph_of(model, people), 0
    for person, peers in enumerate(batch.to_frame()["peers"]):
        alike = np.flatnonzero(W[person])
        own = batch.peers.indices[person]
        of = len(np.setdiff1d(alike, own[own >= 0]))
        told = f"; {batch.selected[alike].sum()} of {len(alike)} people like them selected"
        told += f" ({peers} peer{'s' * (peers > 1)}, and {of} whose peer they are)" if of else ""
        assert not len(alike) or f"{told};" in f"{batch.explain(person).splitlines()[0]};"
        more += of > 0
    assert 0 < more < 200


def test_people_without_close_peers_keep_the_models_score_and_copies_of_a_person_get_one(model, people):
    strange = people.copy()
    strange.loc[7, ["experience", "height"]] = 90.0, 400.0
    batch = with_strength(model, 5.0).decide(strange, n=60)
    assert batch.peers.count[7] == 0
    assert batch.scores[7] == batch.model_scores[7]
    assert "no close peers, so the model's score stands" in batch.explain(7)
    assert model.predict_proba(strange)[7, 1] == batch.model_scores[7]
    groups = strange["sex"].to_numpy()
    equal = with_strength(model, 5.0).decide(strange, n=60, groups=groups, parity="selection")
    far = equal.model_scores[7] - equal.group_thresholds[groups[7]]
    side = f"{abs(far):.3f} {'below' if far < 0 else 'above'} their group's threshold"
    assert f"model score {equal.model_scores[7]:.3f}, {side}; no close peers" in equal.explain(7)
    twice = pd.concat([people, people.iloc[:20]], ignore_index=True)
    scores, newcomers = with_strength(model, 1.0).scores(twice), model.predict_proba(twice)
    np.testing.assert_allclose(scores[200:], scores[:20], atol=2e-3)
    np.testing.assert_array_equal(newcomers[200:], newcomers[:20])


def test_queries_are_smoothed_by_themselves(model, people):
    query = np.repeat(["a", "b"], 100)
    apart = [model.scores(people.iloc[:100]), model.scores(people.iloc[100:])]
    np.testing.assert_allclose(model.scores(people, query=query), np.concatenate(apart), atol=2e-3)
    again = clone(model).fit(people, people["height"] > 168, query=query)
    assert again.reference_scores_.shape == (200,)
    must_raise(ValueError, "inconsistent numbers of samples", model.scores, people, query=query[:5])


# ---- groups ----


@pytest.mark.parametrize("parity", ["selection", "opportunity"])
@pytest.mark.parametrize("strength", [0.0, 0.1, 0.5])
def test_parity_equalises_the_rates_of_groups_to_within_one_person(model, people, parity, strength):
    groups = people["sex"].to_numpy()
    batch = with_strength(model, strength).decide(people, rate=0.3, groups=groups, parity=parity)
    assert batch.selected.sum() == 60
    weight = np.ones(200) if parity == "selection" else batch.model_scores
    rates, person = {}, 0.0
    for group in ("female", "male"):
        inside = groups == group
        rates[group] = weight[inside & batch.selected].sum() / weight[inside].sum()
        person = max(person, weight[inside].max() / weight[inside].sum())
    assert abs(rates["female"] - rates["male"]) <= person
    assert set(batch.group_thresholds) == {"female", "male"}
    assert batch.group_thresholds["female"] < batch.group_thresholds["male"]


def test_with_parity_a_column_says_how_far_people_are_above_the_threshold_of_their_group(model, people):
    groups = people["sex"].to_numpy()
    plain = model.decide(people, rate=0.3)
    batch = model.decide(people, rate=0.3, groups=groups, parity="selection")
    np.testing.assert_array_equal(batch.smoothed, plain.scores)
    np.testing.assert_array_equal(plain.smoothed, plain.scores)
    table = batch.to_frame()
    np.testing.assert_array_equal(table["score"], plain.scores)
    np.testing.assert_array_equal(table["above_threshold"], batch.scores)
    assert table.loc[table["selected"], "above_threshold"].min() >= -1e-6
    assert table.loc[~table["selected"], "above_threshold"].max() <= 1e-6
    changes = batch.explain_changes()
    assert list(changes) == ["selected", "score", "above_threshold", "model_score", "explanation"]
    assert "above_threshold" not in plain.to_frame()
    assert list(plain.explain_changes()) == ["selected", "score", "model_score", "explanation"]


def test_of_changed_decisions_it_is_told_whether_the_threshold_of_the_group_or_the_peers_changed_them(model, people):
    groups = people["sex"].to_numpy()
    plain = model.decide(people, rate=0.3)
    batch = model.decide(people, rate=0.3, groups=groups, parity="selection")
    by_group = np.isin(batch.changed, batch.changed_by_group)
    assert 0 < by_group.sum() < len(batch.changed)
    np.testing.assert_array_equal(by_group, plain.selected[batch.changed] != batch.selected[batch.changed])
    told = batch.explain_changes()["explanation"].str.contains("the cause is their group's threshold", regex=False)
    np.testing.assert_array_equal(told, by_group)
    assert len(plain.changed_by_group) == 0
    # Without peers it can only be the group.
    alone = with_strength(model, 0.0).decide(people, rate=0.3, groups=groups, parity="selection")
    np.testing.assert_array_equal(alone.changed_by_group, alone.changed)


def test_with_parity_no_exchange_within_a_group_is_better(model, people):
    groups = people["sex"].to_numpy()
    batch = with_strength(model, 0.05).decide(people, rate=0.3, groups=groups, parity="selection")
    assert len(batch.tied) == 0
    W = graph_of(model, people)

    def value(y):
        return batch.model_scores @ y - 0.05 * (W * np.abs(y[:, None] - y)).sum()

    best = value(batch.selected.astype(float))
    for group in ("female", "male"):
        for i in np.flatnonzero(batch.selected & (groups == group)):
            for j in np.flatnonzero(~batch.selected & (groups == group)):
                y = batch.selected.astype(float)
                y[i], y[j] = 0, 1
                assert value(y) <= best + 1e-9


# ---- people compared with the training people ----


@pytest.mark.parametrize("strength", [0.0, 0.1, np.inf])
def test_compared_with_the_training_people_nobodys_score_depends_on_who_else_is_asked_about(
    model, people, rng, strength
):
    model = with_strength(model, strength)
    everybody = model.decide(people, threshold=0.5, peers="training")
    np.testing.assert_array_equal(everybody.scores, model.predict_proba(people)[:, 1])
    np.testing.assert_array_equal(everybody.selected, everybody.scores > 0.5)
    np.testing.assert_array_equal(everybody.model_scores, model.decide(people, threshold=0.5).model_scores)
    order = rng.permutation(200)
    for part in (order, order[:3], order[3:80], order[:1]):
        some = model.decide(people.iloc[part], threshold=0.5, peers="training")
        # A product of the linear model may round otherwise for another number of rows.
        np.testing.assert_allclose(some.scores, everybody.scores[part], rtol=1e-12)
        np.testing.assert_array_equal(some.selected, everybody.selected[part])
        np.testing.assert_array_equal(some.peers.indices, everybody.peers.indices[part])


@pytest.mark.parametrize("wanted", [{"n": 40}, {"rate": 0.2}])
def test_compared_with_the_training_people_as_many_are_selected_as_asked_for(model, people, wanted):
    batch = model.decide(people, **wanted, peers="training")
    assert batch.selected.sum() == 40
    assert batch.scores[batch.selected].min() >= batch.scores[~batch.selected].max()
    best = np.argsort(-batch.model_scores, kind="stable")[:40]
    np.testing.assert_array_equal(batch.changed, np.flatnonzero(np.isin(np.arange(200), best) != batch.selected))


def test_peers_among_the_training_people_are_counted_and_not_described(model, people):
    strange = people.copy()
    strange.loc[7, ["experience", "height"]] = 90.0, 400.0
    batch = model.decide(strange, threshold=0.5, peers="training")
    own, smoothed = batch.model_scores[7], batch.scores[8]
    assert f"model score {own:.3f}; no close peers among the training people, so the model" in batch.explain(7)
    found = f"with {batch.peers.count[8]} close peers among the training people {smoothed:.3f}"
    assert batch.explain(8).endswith(found)
    assert len(batch.changed) > 0
    assert batch.explain_changes()["explanation"].str.contains("the model alone would ").all()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"parity": "selection", "groups": ["a", "b"] * 100}, "parity finds .* or compare with peers='batch'"),
        ({"query": ["a", "b"] * 100}, "query compares .* or compare with peers='batch'"),
        ({"peers": "nobody"}, "peers must be one of 'batch', 'training'"),
    ],
)
def test_what_only_a_batch_has_is_refused_of_people_who_are_compared_with_the_training_people(
    model, people, wanted, message
):
    must_raise(IfairError, message, model.decide, people, n=3, **{"peers": "training", **wanted})


# ---- newcomers ----


@pytest.mark.parametrize("penalty", ["absolute", "squared"])
def test_a_newcomers_score_follows_from_the_nearest_of_the_reference(people, hired, penalty):
    model = ConsistentClassifier(pipeline(), strength=0.2, protected=ROLES, penalty=penalty, random_state=0)
    model.fit(people[:150], hired[:150])
    new = people[150:170]
    plain = model.estimator_.predict_proba(new.drop(columns=ROLES))[:, 1]
    near = model.similarity_.neighbours(new.drop(columns=ROLES), people[:150].drop(columns=ROLES)).indices
    assert (near < 0).any()
    around = model.reference_scores_[near]
    expected = newcomer_scores(plain, around, 0.2, weights=near >= 0, n_neighbors=10, penalty=penalty)
    found = model.predict_proba(new)[:, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    one_by_one = [model.predict_proba(new[i : i + 1])[0, 1] for i in range(len(new))]
    np.testing.assert_allclose(one_by_one, found, rtol=1e-12)


def test_nobody_gets_another_answer_for_other_protected_attributes(model, people):
    swapped = people.assign(
        sex=people["sex"].map({"female": "male", "male": "female"}), origin=people["origin"].to_numpy()[::-1]
    )
    np.testing.assert_array_equal(model.predict_proba(swapped), model.predict_proba(people))
    np.testing.assert_array_equal(model.scores(swapped), model.scores(people))
    again = clone(model).fit(swapped, applicants(200)["hired"])
    np.testing.assert_array_equal(again.predict_proba(people), model.predict_proba(people))


def test_a_reference_of_some_people_is_drawn_from_the_training_people(model, people, hired):
    few = clone(model).set_params(reference=30).fit(people, hired)
    assert few.reference_scores_.shape == (30,)
    assert len(few.reference_) == 30
    assert np.isin(few.reference_scores_, model.reference_scores_).all()


# ---- inner models ----


def test_a_model_that_memorises_does_not_leak_what_it_memorised(rng):
    X, y = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    model = ConsistentClassifier(KNeighborsClassifier(1), strength=1e-6, random_state=0).fit(X, y)
    assert (model.estimator_.predict(X) == y).all()
    assert 0.3 < ((model.reference_scores_ > 0.5) == y).mean() < 0.7
    # Of a class of one person nobody can be left out.
    with pytest.warns(UserWarning, match="too few people to leave any out"):
        ConsistentClassifier().fit(X, np.arange(200) == 5)


@pytest.mark.parametrize("frozen", [True, False])
def test_a_fitted_estimator_is_used_as_it_is(people, hired, frozen):
    unprotected = people.drop(columns=ROLES)
    plain = pipeline().fit(unprotected[:100], hired[:100])
    before = plain.predict_proba(unprotected)
    model = ConsistentClassifier(FrozenEstimator(plain) if frozen else plain, cv=5 if frozen else "prefit")
    model.set_params(strength=0.0, protected=ROLES).fit(people[100:], hired[100:])
    np.testing.assert_array_equal(model.predict_proba(people), before)
    np.testing.assert_array_equal(plain.predict_proba(unprotected), before)


def test_protected_columns_that_nothing_looks_at_may_be_missing(model, people, hired):
    assert model.needless_columns == ROLES
    blind = people.drop(columns=ROLES)
    for partly in (blind, people.drop(columns="sex"), blind[blind.columns[::-1]]):
        np.testing.assert_array_equal(model.predict_proba(partly), model.predict_proba(people))
        np.testing.assert_array_equal(model.scores(partly), model.scores(people))
        np.testing.assert_array_equal(model.decide(partly, n=7).selected, model.decide(people, n=7).selected)
    assert ifair.score(model, blind.iloc[3].to_dict()) == ifair.score(model, people.iloc[3].to_dict())
    must_raise(ValueError, "height", model.predict, blind.drop(columns="height"))
    must_raise(
        IfairError, "the record lacks 'height'", ifair.score, model, blind.drop(columns="height").iloc[3].to_dict()
    )
    seeing = ConsistentClassifier(pipeline(), protected=ROLES, sees_protected=True)
    with pytest.warns(UserWarning, match="can see protected columns"):
        seeing.fit(people, hired)
    assert seeing.needless_columns == []


def test_a_fitted_estimator_that_saw_protected_columns_gets_them_with_a_warning(people, hired):
    plain = pipeline().fit(people[:100], hired[:100])
    model = ConsistentClassifier(plain, cv="prefit", protected=ROLES, strength=0)
    with pytest.warns(UserWarning, match="can see protected columns"):
        model.fit(people[100:], hired[100:])
    np.testing.assert_array_equal(model.predict_proba(people), plain.predict_proba(people))
    numbers = LogisticRegression().fit(np.eye(4)[:, :2], [0, 1, 1, 0])
    with pytest.raises(ValueError, match="fitted on 2 columns, and X has 4, of which 3 are not protected"):
        ConsistentClassifier(numbers, cv="prefit", protected=[0]).fit(np.eye(4), [0, 1, 1, 0])


@quietly
def test_an_estimator_is_given_protected_columns_only_if_asked_for(people, hired):
    fair = make_pipeline(Encoder(), ifair.IFair(3, protected=ROLES, n_restarts=1, max_iter=5, random_state=0))
    inner = make_pipeline(*[step for _, step in fair.steps], LogisticRegression())
    model = ConsistentClassifier(inner, protected=ROLES, sees_protected=True, cv=2)
    with pytest.warns(UserWarning, match="can see protected columns"):
        model.fit(people, hired)
    assert "sex" not in model.similarity_.attributes_
    with pytest.raises(ValueError, match="protected column 'sex' is not in the table"):
        model.set_params(sees_protected=False).fit(people, hired)


def test_an_estimator_with_a_decision_function_only_is_smoothed_on_its_scale(numbers):
    X, y = numbers
    model = ConsistentClassifier(LinearSVC(), strength=0.3, random_state=0).fit(X, y)
    assert not hasattr(model, "predict_proba")
    plain = LinearSVC().fit(X, y).decision_function(X)
    batch = model.decide(X, threshold=0.0)
    np.testing.assert_allclose(batch.model_scores, plain)
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    must_raise(ValueError, "needs probabilities", model.decide, X, n=3, groups=y, parity="opportunity")


def test_a_regressor_is_smoothed_in_units_of_its_target(people):
    target = people["height"].to_numpy() / 2 + people["experience"].fillna(6.0)
    inner = make_pipeline(Encoder(), Ridge())
    model = ConsistentRegressor(inner, strength=20.0, protected=ROLES, random_state=0).fit(people, target)
    assert model.score(people, target) > 0.5
    batch = model.decide(people, n=20)
    assert batch.selected.sum() == 20
    assert len(batch.changed) > 0


@pytest.mark.parametrize("inner", [LogisticRegression(max_iter=500), LinearSVC()], ids=["proba", "decision"])
def test_several_classes_have_a_score_each(inner):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = ConsistentClassifier(inner, strength=0.1, random_state=0).fit(X, names)
    assert model.scores(X).shape == (150, 3)
    assert model.score(X, names) > 0.85
    if hasattr(model, "predict_proba"):
        for found in (model.predict_proba(X), model.scores(X)):
            np.testing.assert_allclose(found.sum(axis=1), 1.0)
            assert found.min() >= 0
    must_raise(ValueError, "one for each of 3 classes", model.decide, X, n=3)


# ---- scikit-learn's tools ----


def test_a_search_goes_over_strength_and_over_the_inner_models_parameters(people, hired):
    grid = {"strength": [0.0, 0.2], "estimator__logisticregression__C": [0.1, 1.0]}
    model = ConsistentClassifier(pipeline(), protected=ROLES, cv=2, random_state=0)
    search = GridSearchCV(model, grid, cv=2, scoring="roc_auc").fit(people, hired)
    assert search.best_score_ > 0.7
    best = search.best_params_["estimator__logisticregression__C"]
    assert best == search.best_estimator_.estimator_["logisticregression"].C


def test_weights_reach_the_inner_model_in_full_and_in_folds(numbers):
    X, y = numbers
    weight = np.where(y == 1, 5.0, 1.0)
    expected = LogisticRegression(max_iter=1000).fit(X, y, sample_weight=weight)
    model = ConsistentClassifier(cv=KFold(3)).fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.estimator_.coef_, expected.coef_)
    plain = ConsistentClassifier(cv=KFold(3)).fit(X, y)
    assert (model.reference_scores_ > plain.reference_scores_).mean() > 0.9
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression(max_iter=1000).set_fit_request(sample_weight="importance")
        routed = ConsistentClassifier(inner, cv=KFold(3)).fit(X, y, importance=weight)
    np.testing.assert_array_equal(routed.estimator_.coef_, expected.coef_)
    np.testing.assert_array_equal(routed.reference_scores_, model.reference_scores_)


def test_arrays_lists_pandas_and_polars_give_the_same_also_of_categories_and_gaps(numbers, people, hired):
    polars = pytest.importorskip("polars")
    X, y = numbers
    expected = ConsistentClassifier(protected=[3], random_state=0).fit(X, y).predict_proba(X)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for table in (frame, polars.DataFrame(X, schema=list("abcd")), X.tolist()):
        found = ConsistentClassifier(protected=[3], random_state=0).fit(table, y)
        np.testing.assert_allclose(found.predict_proba(table), expected, rtol=1e-12)
        assert found.decide(table, n=5).selected.sum() == 5
    cells = {name: [None if pd.isna(v) else v for v in column.tolist()] for name, column in people.items()}
    table, model = polars.DataFrame(cells), ConsistentClassifier(pipeline(), protected=ROLES, random_state=0)
    expected = model.fit(people, hired).predict_proba(people)
    np.testing.assert_allclose(model.fit(table, hired).predict_proba(table), expected, atol=1e-9)


@pytest.mark.parametrize("kind", [ConsistentClassifier, ConsistentRegressor])
def test_another_similarity_is_used_without_what_is_protected(people, hired, kind):
    alike = Similarity(protected=["sex"], weights={"experience": 3.0, "height": 0.0}, n_neighbors=50)
    inner = make_pipeline(Encoder(), LogisticRegression(max_iter=1000) if kind is ConsistentClassifier else Ridge())
    model = kind(inner, protected=ROLES, similarity=alike, n_neighbors=4, cv=2).fit(people, hired)
    assert model.similarity_.attributes_ == ["experience", "job", "owns home"]
    unprotected = people.drop(columns=ROLES)
    expected = clone(alike).set_params(protected=[], n_neighbors=4).fit(unprotected).neighbours(unprotected)
    np.testing.assert_array_equal(model.decide(people, n=5).peers.indices, expected.indices)
    assert alike.n_neighbors == 50


# ---- errors ----


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"strength": -1}, "strength must be a number of at least 0"),
        ({"strength": np.nan}, "strength must be a number of at least 0"),
        ({"strength": "much"}, "strength must be a number of at least 0"),
        ({"penalty": "cubic"}, "penalty must be one of"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1"),
        ({"reference": "all"}, "reference must be one of 'training'"),
        ({"reference": 0}, "reference .* must be an integer"),
        ({"cv": "loo"}, "cv must be one of 'prefit'"),
        ({"similarity": "hearsay"}, "reading must be one of"),
        ({"protected": [0, 1, 2, 3]}, "every column is protected"),
    ],
)
def test_settings_that_cannot_work_are_named(numbers, settings, message):
    must_raise(ifair.errors.IfairError, message, ConsistentClassifier(**settings).fit, *numbers)


def test_one_class_is_refused_as_it_was_written(numbers):
    X, _ = numbers
    must_raise(IfairError, "y holds only one class: 0$", ConsistentClassifier().fit, X, np.zeros(len(X), dtype=int))


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({}, "exactly one of threshold, rate and n"),
        ({"n": 3, "rate": 0.1}, "exactly one of threshold, rate and n"),
        ({"rate": 1.5}, "rate must be a share"),
        ({"n": 500}, "n must be from 0 to the number of people, 200"),
        ({"n": 3, "parity": "selection"}, "parity needs groups"),
        ({"n": 3, "parity": "luck", "groups": range(200)}, "parity must be one of"),
        ({"n": 3, "parity": "selection", "groups": [1, 2]}, "one group for each of 200 people"),
        ({"n": 3, "parity": "selection", "groups": "sex"}, "one group for each of 200 people; got 'sex'"),
        ({"n": 3, "parity": "selection", "groups": [*range(199), None]}, "no value for person 199"),
        ({"threshold": 0.5, "parity": "selection", "groups": range(200)}, "give rate or n, not threshold"),
    ],
)
def test_wishes_that_cannot_be_met_are_named(model, people, wanted, message):
    must_raise(ifair.errors.IfairError, message, model.decide, people, **wanted)


# ---- files ----


SAVED = {
    "attributes": ConsistentClassifier(
        pipeline(), similarity=Similarity(weights={"height": 0.5}, ordered={"job": ["clerk", "nurse", "welder"]})
    ),
    "paper": ConsistentClassifier(pipeline(), similarity="paper"),
    "regressor": ConsistentRegressor(make_pipeline(Encoder(), Ridge())),
}


@pytest.mark.parametrize("kind", SAVED)
def test_a_saved_model_says_the_same_of_newcomers_and_batches_and_has_no_form_in_onnx(people, hired, tmp_path, kind):
    pytest.importorskip("skops.io")
    model = clone(SAVED[kind]).set_params(protected=ROLES, cv=2, random_state=0).fit(people, hired)
    ifair.save(model, tmp_path / "m.ifair")
    again = ifair.load(tmp_path / "m.ifair")
    scores, loaded = (
        one.predict(people) if kind == "regressor" else one.predict_proba(people)[:, 1] for one in (model, again)
    )
    np.testing.assert_array_equal(loaded, scores)
    batch, expected = (m.decide(people, n=30) for m in (again, model))
    np.testing.assert_array_equal(batch.selected, expected.selected)
    assert batch.explain(0) == expected.explain(0)
    # A row alone and among others: a product of the linear model may round otherwise.
    assert ifair.score(again, people.iloc[3]) == pytest.approx(scores[3], rel=1e-14)
    name = type(model).__name__
    assert ifair.inspect(tmp_path / "m.ifair")["steps"][0]["type"].endswith(name)
    pytest.importorskip("skl2onnx")
    for given in (model, make_pipeline(model)):
        message = f"a {name} compares every newcomer .* no form in ONNX"
        must_raise(ifair.persist.ConversionError, message, ifair.persist.to_onnx, given)


@pytest.mark.parametrize("cells", [["a", "b"] * 20, pd.Categorical(["a", "b"] * 20), [1.0, None] * 20])
@pytest.mark.parametrize("model", [ConsistentClassifier(), ConsistentRegressor()])
def test_a_column_that_the_default_estimator_cannot_read_is_named_with_the_way_out(model, cells):
    people = pd.DataFrame({"age": range(40), "job": cells})
    held = "gaps" if cells[1] is None else "text"
    with pytest.raises(IfairError, match=rf"column 'job' holds {held}.*=make_pipeline\(ifair.Encoder\(\), (Log|Lin)"):
        model.fit(people, [0, 1] * 20)
