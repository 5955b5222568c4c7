"""The registry of representations: each name is what the paper compares."""

import numpy as np
import pandas as pd
import pytest
from quiet import quietly
from refusals import must_raise
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ifair.models.masking import Masked
from ifair.models.representations import REPRESENTATIONS, representation


@pytest.fixture
def table(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 6)), columns=["a", "b", "c", "d", "sex=f", "sex=m"])
    frame["sex=f"] = rng.integers(0, 2, 60).astype(float)
    frame["sex=m"] = 1.0 - frame["sex=f"]
    return frame, (frame["a"] + 0.5 * frame["sex=f"] > 0).astype(int)


@quietly
@pytest.mark.parametrize("name", REPRESENTATIONS)
def test_every_representation_feeds_a_classifier_and_the_blind_do_not_move_with_protected_columns(table, name):
    X, y = table
    steps = representation(name, protected=["sex"], k=3, random_state=0)
    for step in steps.named_steps.values():
        if hasattr(step, "max_iter"):
            step.set_params(max_iter=10, n_restarts=1)
    pipeline = clone(make_pipeline(steps, LogisticRegression())).fit(X, y)
    assert set(pipeline.predict(X)) <= {0, 1}
    width = {"full": 6, "masked": 4, "svd": 3, "svd-masked": 3}.get(name, 6)
    assert pipeline[0].transform(X).shape == (60, width)
    flipped = X.assign(**{"sex=f": X["sex=m"], "sex=m": X["sex=f"]})
    moved = not np.array_equal(pipeline[0].transform(flipped), pipeline[0].transform(X))
    assert moved == (name not in ("masked", "svd-masked", "ifair-frozen", "ifair-plus"))


def test_masked_svd_is_svd_of_the_masked_table_of_which_something_must_be_left(table):
    X, _ = table
    masked = representation("svd-masked", protected=["sex"], k=2, random_state=0).fit_transform(X)
    plain = representation("svd", k=2, random_state=0).fit_transform(X[["a", "b", "c", "d"]])
    np.testing.assert_allclose(masked, plain)
    assert list(Masked(["sex"]).fit(X).get_feature_names_out()) == ["a", "b", "c", "d"]
    must_raise(ValueError, "nothing is left", Masked(list(X.columns)).fit, X)
    must_raise(ValueError, "did you mean 'svd-masked'", representation, "svd_masked")


@pytest.mark.parametrize(("name", "alpha_init"), [("ifair-a", "random"), ("ifair-b", "masked")])
def test_the_papers_variants_are_the_paper_to_the_letter(name, alpha_init):
    model = representation(name, protected=[0], k=20)[-1]
    assert (model.reduction, model.init, model.pairs) == ("sum", "uniform", "all")
    assert (model.p, model.squared, model.fairness_distance, model.utility_columns) == (2.0, False, "weighted", "all")
    assert (model.alpha_init, model.freeze_protected) == (alpha_init, False)
