"""Numbers as groups of people: about equal, cut at round numbers, named as people name them."""

import numpy as np
import pandas as pd
import pytest

from ifair.evaluate.number_bins import BINS, OFF, name_bins, order_labels


def bins_of(numbers):
    """How many people are in each bin, in the order of the bins."""
    labels = name_bins(pd.Series(np.asarray(numbers, dtype=float)), "(missing)")
    return {label: int((labels == label).sum()) for label in order_labels(labels)}


def test_ages_are_cut_into_groups_of_about_equal_size_at_round_numbers():
    ages = np.tile(np.arange(18, 66), 9)
    found = bins_of(ages)
    assert list(found) == ["18 to 29", "30 to 39", "40 to 54", "55 to 65"]
    assert all(abs(n / len(ages) - 1 / BINS) <= 2 * OFF for n in found.values())


def test_who_has_no_number_is_a_group_of_its_own(rng):
    found = bins_of(np.r_[rng.integers(18, 66, 200), np.full(7, np.nan)])
    assert found["(missing)"] == 7
    assert sum(found.values()) == 207
    assert bins_of([np.nan, np.nan]) == {"(missing)": 2}


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (np.r_[np.zeros(360), np.arange(1, 41)], ["0", "1 to 40"]),
        (
            np.repeat([20_000, 40_000, 60_000, 80_000], 9) + 1,
            ["20,001 to 39,999", "40,000 to 49,999", "50,000 to 69,999", "70,000 to 80,001"],
        ),
        (np.linspace(0, 1, 41), ["0 to under 0.25", "0.25 to under 0.5", "0.5 to under 0.8", "0.8 to 1"]),
        (np.arange(1950, 2000), ["1950 to 1959", "1960 to 1974", "1975 to 1989", "1990 to 1999"]),
        (np.arange(-50, 50), ["-50 to -31", "-30 to -1", "0 to 19", "20 to 49"]),
        (np.full(50, 3.0), ["3"]),
        (np.linspace(-10, -0.25, 40), ["-10 to under -8", "-8 to under -5", "-5 to under -3", "-3 to -0.25"]),
    ],
)
def test_bins_are_named_as_people_name_them(numbers, expected):
    assert list(bins_of(numbers)) == expected


def test_bins_of_skewed_numbers_have_names_of_their_own(rng):
    found = bins_of(np.r_[rng.lognormal(-1, 2, 499), 312.7])
    assert len(found) == BINS
    assert all(abs(n / 500 - 1 / BINS) <= 2 * OFF for n in found.values())
    nearly_alike = bins_of(1.0 + np.linspace(0, 1e-4, 100))
    assert len(nearly_alike) == BINS
    assert all(len(set(name.replace("under ", "").split(" to "))) == 2 for name in nearly_alike)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9, 1e20])
def test_numbers_of_any_size_make_at_least_two_groups_and_everybody_is_in_one(rng, scale):
    found = bins_of(rng.lognormal(size=300) * scale)
    assert 2 <= len(found) <= BINS
    assert sum(found.values()) == 300
