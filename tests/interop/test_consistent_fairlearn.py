"""Consistent decisions as the model of fairlearn's post-processing."""

import numpy as np
import pandas as pd
import pytest

from ifair import ConsistentClassifier


def test_thresholds_of_groups_are_found_on_smoothed_scores():
    postprocessing = pytest.importorskip("fairlearn.postprocessing")
    rng = np.random.default_rng(0)
    sex = rng.integers(2, size=160)
    people = pd.DataFrame({"tests": rng.normal(size=160) + sex, "years": rng.normal(size=160), "sex": sex})
    hired = (people["tests"] + people["years"] + rng.normal(size=160) > 0.5).astype(int)
    model = ConsistentClassifier(protected=["sex"], strength=0.2, random_state=0).fit(people, hired)
    fair = postprocessing.ThresholdOptimizer(
        estimator=model, constraints="demographic_parity", prefit=True, predict_method="predict_proba"
    ).fit(people, hired, sensitive_features=sex)
    chosen = fair.predict(people, sensitive_features=sex, random_state=0)
    gaps = [np.ptp(pd.Series(y).groupby(sex).mean()) for y in (model.predict(people), chosen)]
    assert gaps[0] > 0.2
    assert gaps[1] < 0.1
