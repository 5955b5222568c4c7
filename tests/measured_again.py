"""Measures of evidence found again by other means, from what it shows of people."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score


def table_of(found):
    """The people as a frame, from the columns of the evidence."""
    columns = {
        a["name"]: [a["labels"][c] for c in a["codes"]] if "codes" in a else a["values"]
        for a in found["people"]["attributes"]
    }
    return pd.DataFrame(columns, index=found["people"]["ids"])


def check_measures(found, weights=None, rounding=2e-3):
    """Compare what is said of decisions about two classes with scikit-learn, pandas and plain loops.

    Weights are of the people, in the order of the evidence; pairs count the product of both. Scores have three
    decimals, and the rounding may change the AUC by so much.
    """
    truth, sex = np.array(found["people"]["truth"]), table_of(found)["sex"].to_numpy()
    w = np.ones(len(truth)) if weights is None else weights
    near = enumerate(found["people"]["neighbours"])
    pairs = [(i, j, w[i] * w[j] / len(peers)) for i, peers in near for j in peers]
    for point in found["points"]:
        test, scores = point["test"], np.array(point["people"]["score"])
        decided = scores > point["threshold"]
        alike = sum(weight * (decided[i] == decided[j]) for i, j, weight in pairs)
        expected = {
            "accuracy": accuracy_score(truth, decided, sample_weight=weights),
            "positive": np.average(decided, weights=weights),
            "yNN": alike / sum(weight for *_, weight in pairs),
        }
        assert {name: test[name]["estimate"] for name in expected} == pytest.approx(expected, abs=1e-6)
        auc = roc_auc_score(truth, scores, sample_weight=weights)
        assert test["utility"]["estimate"] == pytest.approx(auc, abs=rounding)
        for name in ("utility", "accuracy"):
            assert test[name]["low"] <= test[name]["estimate"] <= test[name]["high"]
        [by_sex] = [one for one in point["groups"] if one["partition"] == "sex"]
        for name, among in {"tpr": truth == 1, "rate": truth >= 0}.items():
            members = {label: among & (sex == label) for label in set(sex)}
            rates = {label: np.average(decided[some], weights=w[some]) for label, some in members.items()}
            assert {group["label"]: group[name] for group in by_sex["groups"]} == pytest.approx(rates, abs=1e-6)
        assert by_sex["parity"] == pytest.approx(np.ptp([*rates.values()]), abs=1e-6)
