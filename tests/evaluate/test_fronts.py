"""Fronts and volumes, against brute force; chosen on validation, measured on test."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.evaluate.fronts import front_volume, hypervolume, hypervolumes, pareto_front, volume_curves

MEASURES = ("AUC", "yNN")
points = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 10)), min_size=1, max_size=25)


@given(points)
def test_a_point_is_on_the_front_if_nobody_beats_it(values):
    expected = [not any(a >= x and b >= y and (a, b) != (x, y) for a, b in values) for x, y in values]
    assert pareto_front(values).tolist() == expected


@given(points)
def test_the_volume_is_the_number_of_cells_that_some_point_covers(values):
    covered = {(i, j) for x, y in values for i in range(2, x) for j in range(3, y)}
    assert hypervolume(values, (2, 3)) == pytest.approx(len(covered))


def row(validation, test):
    return {"setting": {}, "validation": dict(zip(MEASURES, validation)), "test": dict(zip(MEASURES, test))}


def random_rows(rng, n):
    # Rounded, so that there are ties.
    return [row(*np.round(rng.random((2, 2)), 1)) for _ in range(n)]


def test_what_is_beaten_on_validation_does_not_count_however_good_on_test():
    rows = [row((0.8, 0.8), (0.6, 0.6)), row((0.7, 0.7), (1.0, 1.0))]
    assert front_volume(rows, MEASURES, (0.5, 0.5)) == pytest.approx(0.01)


def test_curves_are_the_volumes_of_every_first_few_settings(rng):
    rows = random_rows(rng, 25)
    validation, test = volume_curves(rows, MEASURES, (0.2, 0.3))
    for n in range(1, 26):
        points = np.array([[r["validation"][m] for m in MEASURES] for r in rows[:n]])
        reached = np.array([[r["test"][m] for m in MEASURES] for r in rows[:n]])
        assert validation[n - 1] == pytest.approx(hypervolume(points, (0.2, 0.3)))
        assert test[n - 1] == pytest.approx(hypervolume(reached[pareto_front(points)], (0.2, 0.3)))
    assert test[-1] == pytest.approx(front_volume(rows, MEASURES, (0.2, 0.3)))


def test_a_setting_that_measured_nothing_is_not_on_the_front_and_changes_nothing():
    assert pareto_front([[np.nan, 1.0], [0.5, 0.5]]).tolist() == [False, True]
    rows = [row((np.nan, 0.9), (0.9, 0.9)), row((0.7, 0.7), (0.6, 0.6)), row((0.9, np.nan), (0.9, 0.9))]
    validation, test = volume_curves(rows, MEASURES, (0.5, 0.5))
    assert validation.tolist() == pytest.approx([0, 0.04, 0.04])
    assert test.tolist() == pytest.approx([0, 0.01, 0.01])


@pytest.fixture
def found():
    by_split = {
        "full": [[row((0.7, 0.6), (0.7, 0.6))], [row((0.7, 0.8), (0.7, 0.8))]],
        "svd": [[row((0.6, 0.9), (0.6, 0.8))], [row((0.6, 0.9), (0.6, 0.9))]],
        "fair": [[row((0.6, 0.6), (0.6, 0.6)), row((0.55, 0.8), (0.55, 0.8))]] * 2,
        "ifair-b": [[row((0.6, 0.9), (0.6, 0.9)), row((0.7, 0.5), (0.7, 0.6))]] * 2,
        "ifair-frozen": [[row((0.9, 0.9), (0.9, 0.9))]] * 2,
    }
    return hypervolumes(by_split, utility="AUC", fairness="yNN")


def test_volumes_above_a_coin_are_counted_by_hand(found):
    coin = found["coin"]
    assert coin["reference"] == {"AUC": 0.5, "yNN": 0.5}
    means = {method: value["mean"] for method, value in coin["methods"].items()}
    assert means == pytest.approx(
        {"full": 0.04, "svd": 0.035, "fair": 0.01 + 0.05 * 0.2, "ifair-b": 0.05, "ifair-frozen": 0.16}
    )
    assert coin["settings"] == {"full": 1, "svd": 1, "fair": 2, "ifair-b": 2, "ifair-frozen": 1}


def test_above_the_full_data_only_what_is_fairer_counts(found):
    above = found["full_data"]
    assert above["reference"] == {"AUC": 0.5, "yNN": pytest.approx(0.7)}
    # The full data reach 0.6 and 0.8 on the two splits, 0.7 on average.
    assert above["methods"]["full"]["mean"] == pytest.approx((0 + 0.2 * 0.1) / 2)
    assert above["methods"]["ifair-b"]["mean"] == pytest.approx(0.02)


def test_methods_are_compared_with_as_many_settings_each():
    rival = [row((0.6, 0.9), (0.6, 0.9)), row((0.7, 0.7), (0.7, 0.7)), row((0.9, 0.6), (0.9, 0.6))]
    found = hypervolumes({"ifair-b": [rival[:1]], "lfr": [rival], "svd": [rival[1:2]]}, utility="AUC", fairness="yNN")
    coin = found["coin"]
    assert coin["compared_at"] == {"lfr": 1, "svd": 1}
    # Each of them alone covers 0.04.
    assert {n: value["mean"] for n, value in coin["by_settings"]["lfr"].items()} == {
        "1": pytest.approx(0.04),
        "3": coin["methods"]["lfr"]["mean"],
    }
    assert coin["comparisons"]["lfr"]["difference"] == pytest.approx(0.0)
    assert coin["methods"]["lfr"]["mean"] > 0.06


def test_volumes_by_number_of_settings_are_means_over_all_choices(rng):
    rows = random_rows(rng, 5)
    found = hypervolumes({"ifair-b": [rows], "svd": [rows[:3]]}, utility="AUC", fairness="yNN")["coin"]
    exact = np.mean(
        [front_volume([rows[i], rows[j], rows[k]], MEASURES, (0.5, 0.5)) for i, j, k in combinations(range(5), 3)]
    )
    assert found["by_settings"]["ifair-b"]["3"]["mean"] == pytest.approx(exact, abs=0.05)
    whole = front_volume(rows, MEASURES, (0.5, 0.5))
    assert found["by_settings"]["ifair-b"]["5"]["mean"] == pytest.approx(whole)
    assert found["comparisons"]["svd"]["difference"] == pytest.approx(
        found["by_settings"]["ifair-b"]["3"]["mean"] - front_volume(rows[:3], MEASURES, (0.5, 0.5))
    )


def test_the_best_rival_is_no_ifair_and_ours_is_compared_with_all(found):
    # With one setting drawn at random ours covers 0.03 on average, the full data 0.04 and SVD 0.035; with both 0.05.
    assert found["coin"]["best_rival"] == "full"
    assert found["full_data"]["best_rival"] == "svd"
    assert set(found["coin"]["comparisons"]) == {"full", "svd", "fair", "ifair-frozen"}
    assert found["coin"]["comparisons"]["full"]["difference"] == pytest.approx(0.03 - 0.04, abs=0.005)
    assert found["coin"]["comparisons"]["fair"]["difference"] == pytest.approx(0.05 - 0.02)


def test_rankings_are_measured_above_a_precision_of_nothing():
    rows = [{"setting": {}, **{part: {"MAP": 0.8, "yNN": 0.9} for part in ("validation", "test")}}]
    found = hypervolumes({"ifair-b": [rows]}, utility="MAP", fairness="yNN")
    assert list(found) == ["coin"]
    assert found["coin"]["methods"]["ifair-b"]["mean"] == pytest.approx(0.8 * 0.4)
    assert found["coin"]["best_rival"] is None
