"""Spaces: positions and values say the same thing, and what lies outside is named."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.evaluate.space import Choice, Integer, Share, describe_space, to_positions, to_setting


@given(st.floats(0.01, 0.99))
def test_the_position_of_a_share_is_its_log_odds(value):
    share = Share(0.01, 0.99)
    assert share.position(value) == pytest.approx(math.log(value) - math.log1p(-value))
    assert share.value(share.position(value)) == pytest.approx(value, rel=1e-5)


def test_a_share_reaches_both_ends_exactly_and_settings_come_back_from_their_positions(space):
    share = Share(0.1, 0.9)
    for end in (0.0, 1.0):
        assert share.value(share.position(end)) == end
    assert 0 < share.value(math.log(0.1 / 0.9)) < share.value(math.log(0.9 / 0.1)) < 1
    setting = {"K": 7, "share": 0.25, "frozen": False}
    assert to_setting(space, to_positions(space, setting)) == setting


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"K": 4}, "K: 4 is not a whole number from 5 to 40"),
        ({"K": 7.5}, "K: 7.5 is not a whole number"),
        ({"share": 0.999}, r"share: 0.999 is not a share from 0.01 to 0.99, 0 or 1"),
        ({"frozen": "yes"}, "frozen: 'yes' is not one of True, False"),
        ({"k": 1}, "a setting has K, share, frozen, got K, share, frozen, k"),
    ],
)
def test_a_setting_outside_of_the_space_is_named(space, changed, message):
    with pytest.raises(ValueError, match=message):
        to_positions(space, {"K": 7, "share": 0.25, "frozen": False, **changed})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Integer(5, 5), "1 <= low < high"),
        (lambda: Integer(0, 5), "1 <= low < high"),
        (lambda: Share(0.0, 0.5), "0 < low < high < 1"),
        (lambda: Choice(()), "nothing to choose from"),
    ],
)
def test_an_impossible_dimension_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_different_spaces_are_described_differently(space):
    others = [
        {**space, "K": Integer(5, 41)},
        {**space, "share": Share(0.01, 0.98)},
        {**space, "frozen": Choice((False, True))},
        {"K": space["K"]},
    ]
    assert all(describe_space(other) != describe_space(space) for other in others)
    assert describe_space(dict(space)) == describe_space(space)
