"""Scores of several classes: smooth each by itself and divide by the sum, or project on the simplex, or smooth there.

Prints, for tables of scikit-learn and strengths, accuracy, log loss, and consistency of labels and of probabilities
among the ten nearest people of a test part, means of splits:

    python benchmarks/multiclass.py
"""

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ifair import Similarity
from ifair.graph import neighbour_graph, smooth
from ifair.metrics import consistency

SPLITS = 5
STRENGTHS = (0.05, 0.2, 1.0)


def project(scores):
    """The nearest point of the probability simplex, row by row."""
    descending = np.sort(scores, axis=1)[:, ::-1]
    excess = (np.cumsum(descending, axis=1) - 1) / np.arange(1, scores.shape[1] + 1)
    last = (descending > excess).sum(axis=1) - 1
    return np.maximum(scores - excess[np.arange(len(scores)), last][:, None], 0)


def renormalise(p, graph, strength):
    smoothed = np.clip(smooth(p, graph, strength), 0, 1)
    return smoothed / smoothed.sum(axis=1, keepdims=True)


def project_after(p, graph, strength):
    return project(smooth(p, graph, strength))


def smooth_on_simplex(p, graph, strength, rounds=30):
    """The joint minimiser, by Dykstra's alternation of smoothing and projection."""
    x, correction, other = p, np.zeros_like(p), np.zeros_like(p)
    for _ in range(rounds):
        y = smooth(x + correction, graph, strength)
        correction = x + correction - y
        x = project(y + other)
        other = y + other - x
    return x


WAYS = {"sum": renormalise, "project": project_after, "joint": smooth_on_simplex}


def load_tables():
    digits = load_digits(return_X_y=True)
    made = make_classification(1200, 8, n_informative=5, n_classes=4, class_sep=0.7, random_state=0)
    return {
        "iris": load_iris(return_X_y=True),
        "wine": load_wine(return_X_y=True),
        "digits": (digits[0][:900], digits[1][:900]),
        "made": made,
    }


def measure(p, y, neighbours):
    whole = np.clip(p, 1e-6, None)
    whole /= whole.sum(axis=1, keepdims=True)
    labels = p.argmax(axis=1)
    apart = np.abs(p[:, None] - p[neighbours]).sum(axis=2).mean() / 2
    same = consistency(labels, neighbours=neighbours, kind="label")
    return accuracy_score(y, labels), log_loss(y, whole, labels=np.arange(p.shape[1])), same, 1 - apart


def main():
    print(f"{'table':8}{'strength':>9} {'way':8}{'accuracy':>9}{'log loss':>9}{'same':>7}{'near':>7}")
    for name, (X, y) in load_tables().items():
        splits = StratifiedShuffleSplit(SPLITS, test_size=0.5, random_state=0)
        found = {}
        for train, test in splits.split(X, y):
            model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(X[train], y[train])
            p = model.predict_proba(X[test])
            peers = Similarity(caliper=None).fit(X[train]).neighbours(X[test]).indices
            graph = neighbour_graph(neighbours=peers)
            found.setdefault((0.0, "model"), []).append(measure(p, y[test], peers))
            for strength in STRENGTHS:
                for way, change in WAYS.items():
                    found.setdefault((strength, way), []).append(measure(change(p, graph, strength), y[test], peers))
        for (strength, way), values in found.items():
            accuracy, loss, same, near = np.mean(values, axis=0)
            print(f"{name:8}{strength:9.2f} {way:8}{accuracy:9.4f}{loss:9.4f}{same:7.3f}{near:7.3f}")


if __name__ == "__main__":
    main()
