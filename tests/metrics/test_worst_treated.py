"""Who is treated worse than people like them."""

import numpy as np
import pytest

from ifair.metrics import nearest_neighbours, treatment


def test_gaps_are_own_outcome_minus_the_mean_of_the_neighbours(rng):
    X, y = rng.normal(size=(40, 3)), rng.uniform(size=40)
    near = nearest_neighbours(X, 4)
    result = treatment(y, X, k=4)
    np.testing.assert_allclose(result.gaps, [y[i] - y[near[i]].mean() for i in range(40)])
    assert (np.diff(result.gaps[result.order]) >= 0).all()
    assert treatment(y, neighbours=near).gaps.tolist() == result.gaps.tolist()


def test_the_worst_treated_come_first_with_their_neighbours():
    result = treatment([1, 0, 1, 1, 1], [[0.0], [0.1], [0.2], [5.0], [6.0]], k=2)
    worst = result.worst(2)
    assert [person.row for person in worst] == [1, 3]
    assert worst[0].gap == -1
    assert worst[0].neighbour_outcomes == (1.0, 1.0)
    assert "person 1 got 0" in str(result)
    assert result.to_dict(1)["worst"][0]["neighbours"] == [0, 2]
    # Where less is better, those who have more.
    result = treatment([1, 9, 1], [[0.0], [0.1], [0.2]], k=1, higher_is_better=False)
    assert (result.order[0], result.gaps[1]) == (1, -8)
    with pytest.raises(ValueError, match="numbers"):
        treatment(["a", "b"], [[0.0], [1.0]], k=1)


def test_people_without_close_peers_are_counted_and_not_called_badly_treated():
    result = treatment([1, 0, 1, 0], neighbours=[[1, 2], [0, -1], [-1, -1], [2, -1]])
    np.testing.assert_array_equal(result.gaps, [0.5, -1.0, np.nan, -1.0])
    assert [(p.row, p.neighbours) for p in result.worst()] == [(1, (0,)), (3, (2,)), (0, (1, 2))]
    assert result.n_without_peers == result.to_dict()["n_without_peers"] == 1
    assert "2 of 4 people below" in str(result)
    assert str(result).endswith("1 without close peers")


def test_the_frame_lists_everybody_under_their_own_name():
    frame = treatment([1, 0, 1], [[0.0], [0.1], [0.2]], k=1).to_frame(index=["ann", "bob", "cat"])
    assert frame.index[0] == "bob"
    assert frame.loc["bob"].to_dict() == {"outcome": 0.0, "neighbours": 1.0, "gap": -1.0}
    assert len(frame) == 3
