"""Similarity by attribute: against plain loops, on tables with gaps and rare values, and the paper's reading."""

import json
import re
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import must_raise
from sklearn.base import clone

from ifair import Encoder, Similarity, metrics
from ifair.audit.people_view import describe_people
from ifair.data import from_table, load_credit
from ifair.evaluate.splits import split_table
from ifair.graph import neighbour_graph

from scripts import do


@pytest.fixture(scope="module")
def people():
    """Three hundred people with numbers, categories, a rare category, and gaps in four columns."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 12, 300).round(),
            "income": np.exp(rng.normal(8, 1, 300)),
            "gains": np.where(rng.random(300) < 0.05, rng.integers(1, 9, 300) * 1000.0, 0.0),
            "education": rng.choice(["school", "degree", "doctorate"], 300, p=[0.6, 0.38, 0.02]),
            "region": rng.choice(list("abcd"), 300),
            "owner": rng.random(300) < 0.3,
            "sex": rng.choice(["f", "m"], 300),
        }
    )
    for name in ("age", "income", "education", "region"):
        frame.loc[rng.random(300) < 0.05, name] = None
    return frame


def plain_distance(frame, units, a, b, weights):
    """The documented formula, attribute by attribute."""
    total = 0.0
    for unit in units:
        x, y = frame[unit["name"]].iloc[a], frame[unit["name"]].iloc[b]
        if pd.isna(x) or pd.isna(y):
            part = 0.5 * unit["typical"]
        elif unit["kind"] == "number":
            part = ((x - y) / unit["size"]) ** 2
        elif unit["kind"] == "ordered":
            part = ((unit["values"].index(x) - unit["values"].index(y)) / unit["size"]) ** 2
        else:
            part = float(x != y)
        total += weights.get(unit["name"], 1.0) * part
    return np.sqrt(total)


def test_distances_follow_the_formula_attribute_by_attribute(people):
    weights = {"age": 2.0, "region": 0.5}
    order = {"education": ["school", "degree", "doctorate"]}
    alike = Similarity(protected=["sex"], weights=weights, ordered=order).fit(people)
    few = people.iloc[:40]
    expected = [[plain_distance(few, alike.units_, a, b, weights) for b in range(40)] for a in range(40)]
    np.testing.assert_allclose(alike.distances(few), expected, atol=1e-6)


def test_neighbours_are_the_nearest_within_the_caliper_and_an_outlier_has_none(people):
    odd = people.copy()
    odd.loc[0, "age"] = 1e9
    alike, without = Similarity(protected=["sex"], n_neighbors=5).fit(odd), Similarity(protected=["sex"]).fit(people)
    assert alike.units_[0]["size"] == pytest.approx(without.units_[0]["size"], rel=0.05)
    distances, found = alike.distances(odd), alike.neighbours(odd)
    np.fill_diagonal(distances, np.inf)
    assert not found.has_peers[0]
    for person in range(len(odd)):
        nearest = np.sort(distances[person])[:5]
        within = nearest[nearest <= alike.caliper_]
        assert found.count[person] == len(within)
        np.testing.assert_allclose(found.distances[person, : len(within)], within, atol=1e-6)
        assert (found.indices[person, len(within) :] == -1).all()
    # An unknown age may then be anything: to ten digits all are equally far, and come in the order of the table.
    rest = odd.iloc[1:]
    near = alike.set_params(caliper=None).fit(odd).neighbours(rest).indices
    for person in np.flatnonzero(rest["age"].isna()):
        assert near[person].tolist() == [other for other in range(6) if other != person][:5]


def test_the_graph_is_that_of_neighbours_also_of_a_polars_table(people):
    polars = pytest.importorskip("polars")
    complete = people.dropna().reset_index(drop=True)
    other = polars.DataFrame({name: complete[name].to_list() for name in complete})
    alike = Similarity(protected=["sex"])
    near = clone(alike).fit(complete).neighbours(complete).indices
    alike.fit(other)
    np.testing.assert_array_equal(alike.neighbours(other).indices, near)
    assert abs(alike.graph(other) - neighbour_graph(neighbours=near)).max() == 0


def test_equally_distant_people_come_in_order_and_a_small_query_leaves_places_empty(people):
    frame = pd.DataFrame({"x": [1.0, 1.0, 2.0, 3.0, 1.0]})
    alike = Similarity(n_neighbors=2, caliper=None).fit(frame)
    assert alike.neighbours(frame).indices.tolist() == [[1, 4], [0, 4], [0, 1], [2, 0], [0, 1]]
    assert alike.neighbours(frame, query=list("aaabb")).count.tolist() == [2, 2, 2, 1, 1]
    query = np.arange(300) % 7
    found = Similarity(protected=["sex"], caliper=None).fit(people).neighbours(people, query=query)
    assert (query[found.indices] == query[:, None]).all()


def test_people_with_gaps_are_neighbours_as_often_as_others(people):
    """Of the paper's reading nearly all neighbours of people with a gap have one too."""
    frame = load_credit().frame
    rng = np.random.default_rng(1)
    columns = list(frame.columns[:6])
    for name in columns:
        frame[name] = frame[name].astype(object).mask(rng.random(len(frame)) < 0.04)
        if name in ("duration_months", "credit_amount", "age"):
            frame[name] = frame[name].astype(float)
    gap = frame[columns].isna().any(axis=1).to_numpy()
    share = {}
    for reading in ("attributes", "paper"):
        found = Similarity(protected=["age"], caliper=None, reading=reading).fit(frame).neighbours(frame).indices
        share[reading] = gap[found[gap]].mean() / max(gap[found[~gap]].mean(), 1e-9)
    assert 0.8 < share["attributes"] < 1.25
    assert share["paper"] > 5


def test_rare_categories_and_numbers_are_no_farther_away_than_frequent_ones(people):
    alike = Similarity(protected=["sex"], caliper=None).fit(people)
    one = people.iloc[[0, 0, 0]].assign(education=["school", "degree", "doctorate"], age=40.0, income=1.0, region="a")
    distances = alike.distances(one)
    np.testing.assert_allclose(distances[np.triu_indices(3, 1)], 1.0, atol=1e-7)
    # Nor is one that was never seen.
    base = people.dropna().iloc[[0]]
    assert alike.distances(base, base.assign(region="z"))[0, 0] == pytest.approx(1.0, abs=1e-7)
    # A rare number is about one unit away.
    frame = pd.DataFrame({"claims": [0.0] * 98 + [1.0, 3.0]})
    assert Similarity(caliper=None).fit(frame).distances(frame)[0, 98:] == pytest.approx([0.5, 1.5])


def test_the_caliper_leaves_a_twentieth_of_all_pairs_and_compares_with_distances_as_a_search_does(people):
    for table in (people, people.assign(income=people["income"].round(-3))):
        alike = Similarity(protected=["sex"], n_neighbors=299).fit(table)
        apart = alike.distances(table)
        assert (apart[np.triu_indices(300, 1)] <= alike.caliper_).mean() == pytest.approx(0.05, abs=0.01)
        np.fill_diagonal(apart, np.inf)
        assert (apart <= alike.caliper_).sum() == alike.neighbours(table).count.sum()


def test_protected_values_and_an_attribute_of_weight_0_do_not_matter(people):
    alike = Similarity(protected=["sex"]).fit(people)
    swapped = people.assign(sex=people["sex"].map({"f": "m", "m": "f"}))
    assert (alike.neighbours(people).indices == alike.neighbours(swapped).indices).all()
    with_it = Similarity(protected=["sex"], weights={"region": 0}).fit(people)
    without = Similarity(protected=["sex"]).fit(people.drop(columns="region").assign(sex="f"))
    np.testing.assert_array_equal(with_it.neighbours(people).indices, without.neighbours(people).indices)
    # The paper's reading is the distance of encoded columns, and has no caliper.
    found = Similarity(protected=["sex"], reading="paper").fit(people).neighbours(people)
    encoded = Encoder().fit_transform(people.drop(columns="sex"))
    np.testing.assert_array_equal(found.indices, metrics.nearest_neighbours(encoded, 10))


def test_a_pair_is_explained_in_words_and_many_pairs_as_each_alone(people):
    alike = Similarity(protected=["sex"]).fit(people)
    two = people.iloc[[0, 0]].assign(
        age=[30.0, 37.0], education=["degree", "degree"], income=[None, 5.0], gains=0.0, region=["a", "b"], owner=True
    )
    two = two.astype({"income": float})
    explained = alike.explain(two, 0, 1)
    assert str(explained).startswith("same ")
    for words in ("7 apart in age (30, 37)", "region differs (a, b)", "income not known of one", "education"):
        assert words in str(explained)
    assert "income not known of either" in str(alike.explain(two.assign(income=np.nan), 0, 1))
    assert explained.distance == pytest.approx(alike.distances(two)[0, 1])
    assert sum(explained.parts.values()) == pytest.approx(explained.distance**2)
    found = alike.explain_pairs(people, [0, 5, 9], [1, 2, 3])
    assert found == [alike.explain(people, a, b) for a, b in ((0, 1), (5, 2), (9, 3))]
    must_raise(ValueError, "b must be the position of one of 300 people, got 300", alike.explain, people, 0, 300)
    must_raise(ValueError, "lacks the column 'region'", alike.neighbours, people.drop(columns="region"))


def test_texts_of_several_words_are_quoted_and_whole_numbers_have_no_decimals():
    people = pd.DataFrame(
        {
            "status": ["male, single", "divorced", "male, single"],
            "size": [1.0, 2.0, 1.0],
            "age": [30, 35, 41],
            "job": ["cook", "driver", "cook"],
        }
    )
    told = Similarity().fit(people).explain(people, 0, 1)
    for words in ("status differs (“male, single”, “divorced”)", "size differs (1, 2)", "job differs (cook, driver)"):
        assert words in told.text
    assert ", ".join(reversed(told.differences)) == told.text
    assert [words for name in told.parts for words in told.differences if name in words] == list(told.differences)


def test_large_numbers_are_told_in_full():
    people = pd.DataFrame({"plz": [1067, 20095, 80331, 50667], "height": [1.71, 1.8, 1.62, 1.9]})
    said = str(Similarity().fit(people).explain(people, 0, 1))
    assert "19028 apart in plz (1067, 20095)" in said
    assert "0.09 apart in height (1.71, 1.8)" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": {"agee": 2}}, "weights names 'agee', which is not a column; did you mean 'age'"),
        ({"weights": {"age": -1}}, r"weights\['age'\] must be a finite number of at least 0"),
        ({"protected": ["gender"]}, "protected names 'gender'"),
        ({"protected": "sex"}, r"protected must be a list of columns, as in \['sex'\]"),
        ({"weights": ["age"]}, r"weights must map columns, as in {'age': 2}; got \['age'\]"),
        ({"ordered": ["education"]}, r"ordered must map columns, as in .*; got \['education'\]"),
        ({"ordered": {"education": ["school", "degree"]}}, r"ordered\['education'\] has no place for the value"),
        ({"reading": "gower"}, "reading must be one of"),
        ({"caliper": 0}, "caliper must be"),
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1"),
        (
            {"weights": dict.fromkeys(("age", "income", "gains", "education", "region", "owner", "sex"), 0)},
            "no attribute",
        ),
    ],
)
def test_bad_parameters_are_named(people, options, message):
    with pytest.raises(ValueError, match=message):
        Similarity(**options).fit(people)


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e200])
def test_a_number_without_a_finite_square_is_named_in_a_population_and_of_newcomers(people, value):
    alike = Similarity(protected=["sex"]).fit(people)
    strange = people.assign(age=people["age"].where(people.index != 7, value))
    for refused in (lambda: clone(alike).fit(strange), lambda: alike.distances(strange)):
        must_raise(ValueError, re.escape(f"column 'age' holds {value} in row 8: numbers must be finite"), refused)
    must_raise(ValueError, "in row 1: numbers must be finite", alike.neighbours, strange.iloc[[7]], people)


def test_a_query_of_another_length_or_beside_a_reference_is_refused(people):
    alike, query = Similarity(protected=["sex"]).fit(people), np.arange(300) % 7
    must_raise(ValueError, "query has 5 entries where 300 are expected", alike.neighbours, people, query=query[:5])
    must_raise(ValueError, "leave it or the reference out", alike.neighbours, people, people, query=query)


@given(st.data())
def test_distance_is_symmetric_and_moving_numbers_changes_nothing(data):
    n = data.draw(st.integers(4, 12))
    number = st.one_of(st.none(), st.floats(-1e3, 1e3).map(lambda x: round(x, 3)))
    frame = pd.DataFrame(
        {
            "a": pd.Series(data.draw(st.lists(number, min_size=n, max_size=n)), dtype=float),
            "b": data.draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n)),
        }
    )
    distances = Similarity(caliper=None).fit(frame).distances(frame)
    np.testing.assert_allclose(distances, distances.T, atol=1e-6 + 1e-7 * distances.max())
    moved = frame.assign(a=3.0 * frame["a"])
    # Distances come from squares: what is 0 is the root of their rounding.
    rounding = 1e-6 + 1e-7 * distances.max()
    np.testing.assert_allclose(Similarity(caliper=None).fit(moved).distances(moved), distances, atol=rounding)


def test_every_measure_takes_a_similarity_or_the_peers_that_it_found(people):
    alike = Similarity(protected=["sex"], n_neighbors=5).fit(people)
    peers = alike.neighbours(people)
    assert 0 < (~peers.has_peers).sum() < 150
    scores = np.random.default_rng(1).random(300)
    chosen = (scores > 0.6).astype(int)
    at_a_rate = partial(metrics.consistency_at_rate, rate=0.3)
    labelled, scored = (metrics.consistency, metrics.corrected_consistency), (metrics.rank_consistency, at_a_rate)
    for metric, y in (*product(labelled, [chosen]), *product(scored, [scores])):
        found = metric(y, people, similarity=alike)
        assert found == metric(y, neighbours=peers) == metric(y, neighbours=peers.indices)
    per_person = metrics.consistency_per_person(chosen, people, similarity=alike)
    np.testing.assert_array_equal(per_person, metrics.consistency_per_person(chosen, neighbours=peers))
    assert metrics.consistency_interval(chosen, people, similarity=alike).estimate == metrics.consistency(
        chosen, neighbours=peers
    )
    assert metrics.consistency(chosen, people, similarity=alike, k=2) == metrics.consistency(
        chosen, neighbours=peers.indices[:, :2]
    )
    treated = metrics.treatment(scores, people, similarity=alike)
    assert treated.n_without_peers == (~peers.has_peers).sum()
    with pytest.raises(ValueError, match="leave neighbours out"):
        metrics.consistency(chosen, neighbours=peers, similarity=alike)
    # A certificate compares with its distances.
    Z, order = np.random.default_rng(0).normal(size=(300, 3)), np.random.default_rng(0).permutation(300)
    i, j = order[:150], order[150:]
    gaps = np.abs(np.linalg.norm(Z[i] - Z[j], axis=1) - alike.distances(people)[i, j])
    np.testing.assert_allclose(metrics.certify(Z, people, similarity=alike, share=0.2).gaps, np.sort(gaps), atol=1e-6)


def test_an_audit_and_the_view_of_its_people_follow_the_similarity(people):
    table = from_table(people.assign(hired=np.arange(300) % 2), protected=["sex"], target="hired")
    first, again, other = (
        split_table(table, 0, similarity=Similarity(protected=["sex"], weights={name: 0}, caliper=1.0)).test
        for name in ("age", "age", "region")
    )
    for seen in (lambda part: part.neighbours.tolist(), lambda part: str(describe_people(part, np.arange(300)))):
        assert seen(first) == seen(again) != seen(other)


@pytest.mark.parametrize("verb", ["fit", "tune", "audit", "report"])
def test_the_command_line_takes_a_similarity(verb):
    assert "--similarity" in do(verb, "--help").output


@pytest.mark.parametrize("number", [float, np.float64, np.float32, np.int64])
def test_plain_data_rebuild_a_similarity(people, number):
    """Numbers of NumPy become those of Python, and the table of units too."""
    given = {"weights": {"age": number(2)}, "units": {"income": number(1000)}, "n_neighbors": np.int64(5)}
    alike = Similarity(protected=["sex"], **given).fit(people)
    again = Similarity.from_dict(json.loads(json.dumps(alike.to_dict())))
    np.testing.assert_array_equal(again.distances(people), alike.distances(people))
    assert again.caliper_ == alike.caliper_
    assert next(unit["size"] for unit in again.units_ if unit["name"] == "income") == 1000.0


@pytest.mark.parametrize("caliper", ["auto", 0.7, 1.4])
def test_pairs_at_the_very_caliper_are_within_reach_however_it_is_asked(caliper):
    # Whole numbers: many pairs are equally far apart, and the caliper is the distance of some.
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.integers(18, 70, 90), "skill": rng.integers(1, 9, 90), "job": list("abc") * 30})
    units = {"age": 10.0, "skill": 1 / 0.7} if caliper != "auto" else None
    alike = Similarity(n_neighbors=89, caliper=caliper, units=units).fit(frame)
    again = Similarity.from_dict(json.loads(json.dumps(alike.to_dict())))
    apart = again.distances(frame)
    np.fill_diagonal(apart, np.inf)
    edge = np.isclose(apart, again.caliper_, rtol=1e-9)
    assert edge.any()
    expected = (apart < again.caliper_) | edge
    a, b = np.nonzero(~np.eye(90, dtype=bool))
    explained = [one.within_reach for one in again.explain_pairs(frame, a, b)]
    np.testing.assert_array_equal(explained, expected[a, b])
    for one in (alike, again):
        near = one.neighbours(frame).indices
        assert [set(row[row >= 0]) for row in near] == [set(np.flatnonzero(row)) for row in expected]
