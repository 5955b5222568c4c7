"""Spaces: positions and values say the same thing."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ifair.evaluate.space import Choice, Integer, Share, describe_space, to_positions, to_setting

SPACE = {"K": Integer(5, 40), "share": Share(), "frozen": Choice((True, False))}


@given(st.floats(0.01, 0.99))
def test_the_position_of_a_share_is_its_log_odds(value):
    share = Share(0.01, 0.99)
    assert share.position(value) == pytest.approx(math.log(value) - math.log1p(-value))
    assert share.value(share.position(value)) == pytest.approx(value, rel=1e-5)


def test_a_share_reaches_both_ends_exactly_and_settings_come_back_from_their_positions():
    share = Share(0.1, 0.9)
    for end in (0.0, 1.0):
        assert share.value(share.position(end)) == end
    assert 0 < share.value(math.log(0.1 / 0.9)) < share.value(math.log(0.9 / 0.1)) < 1
    setting = {"K": 7, "share": 0.25, "frozen": False}
    assert to_setting(SPACE, to_positions(SPACE, setting)) == setting


def test_different_spaces_are_described_differently():
    others = [
        {**SPACE, "K": Integer(5, 41)},
        {**SPACE, "share": Share(0.01, 0.98)},
        {**SPACE, "frozen": Choice((False, True))},
        {"K": SPACE["K"]},
    ]
    assert all(describe_space(other) != describe_space(SPACE) for other in others)
    assert describe_space(dict(SPACE)) == describe_space(SPACE)
