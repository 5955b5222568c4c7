"""Accuracy, and AUC by counting pairs; see test_other_libraries.py for scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import must_raise
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import balanced_accuracy_score

from ifair.metrics import accuracy, auc, hard_auc

people = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=30)


@given(people=people)
def test_auc_is_the_share_of_pairs_in_order(people):
    y, s = np.array([y for y, _ in people]), np.array([s for _, s in people], dtype=float)
    if y.all() or not y.any():
        with pytest.warns(UndefinedMetricWarning):
            assert np.isnan(auc(y, s))
        return
    pairs = s[y][:, None] - s[~y][None, :]
    assert auc(y, s) == pytest.approx(((pairs > 0) + 0.5 * (pairs == 0)).mean())
    assert hard_auc(y, s > 0) == pytest.approx(balanced_accuracy_score(y, s > 0))


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [False, True]])
def test_the_usual_codings_of_two_classes_mean_the_same(labels, rng):
    y, s = rng.integers(0, 2, 40), rng.normal(size=40)
    assert auc(np.array(labels)[y], s) == auc(y, s)
    assert hard_auc(np.array(labels)[y], np.array(labels)[(s > 0).astype(int)]) == hard_auc(y, s > 0)


def test_other_labels_need_to_say_which_is_positive_and_lengths_must_agree():
    assert accuracy(["yes", "no", "no", "no"], ["yes", "no", "no", "yes"]) == 0.75
    must_raise(ValueError, "pos_label", auc, ["good", "bad"], [1, 0])
    assert auc(["good", "bad"], [1, 0], pos_label="good") == 1
    must_raise(ValueError, "entries", accuracy, [1, 0], [1])
    must_raise(ValueError, "one-dimensional", accuracy, [[1, 0], [0, 1]], [1, 0])
