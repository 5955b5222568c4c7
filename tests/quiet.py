"""Searches that are stopped early, where no test wants to hear that they did not converge."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning

quietly = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fit_quietly(model, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*arguments, **options)
