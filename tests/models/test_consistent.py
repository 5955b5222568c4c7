"""Consistent decisions around any model: against the inner model, brute force, and a maximum flow of SciPy."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

from ifair import ConsistentClassifier, ConsistentRegressor


@parametrize_with_checks(
    [
        ConsistentClassifier(),
        ConsistentClassifier(LinearSVC(), strength=1.0, penalty="squared", similarity="paper", reference=20, cv=3),
        ConsistentRegressor(),
        ConsistentRegressor(
            DecisionTreeRegressor(random_state=0), strength=0.5, n_neighbors=3, cv=2, protected=[-1]
        ),
    ]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)
