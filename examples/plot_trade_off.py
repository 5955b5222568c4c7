"""
Choosing the trade-off
======================

Fairness costs utility. How much, and where to stop, is a choice that numbers can inform but not make. This example
fits a grid of settings, shows what each reaches on validation data, and the three choices that the paper names.
"""

# %%
# A grid of settings
# ------------------
# Two knobs: how many prototypes (few even out more), and the weight of fairness against utility.
# ``fairness_distance="euclidean"`` is the reading in which that weight works best as a knob.

from itertools import product

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ifair import Encoder, IFair
from ifair.data import load_credit, thirds
from ifair.evaluate.fronts import pareto_front
from ifair.evaluate.rules import choose
from ifair.metrics import auc, consistency, nearest_neighbours

credit = load_credit()
split = thirds(credit, seed=0)
train, validation = credit.take(split.train), credit.take(split.validation)
neighbours = nearest_neighbours(Encoder().fit_transform(validation.masked), k=10)

rows = []
for K, mu in product((3, 8, 20), (0.1, 1.0, 10.0)):
    model = make_pipeline(
        Encoder(),
        IFair(
            K,
            fairness_weight=mu,
            fairness_distance="euclidean",
            protected=list(credit.protected),
            freeze_protected=True,
            n_restarts=1,
            tol=1e-2,
            random_state=0,
        ),
        LogisticRegression(max_iter=1000),
    ).fit(train.frame, train.target)
    rows.append(
        {
            "K": K,
            "mu": mu,
            "AUC": auc(validation.target, model.predict_proba(validation.frame)[:, 1]),
            "yNN": consistency(model.predict(validation.frame), neighbours=neighbours),
        }
    )

# %%
# And a rival: the same classifier on the records without the protected column.

masked = make_pipeline(Encoder(), LogisticRegression(max_iter=1000)).fit(train.masked, train.target)
rival = {
    "AUC": auc(validation.target, masked.predict_proba(validation.masked)[:, 1]),
    "yNN": consistency(masked.predict(validation.masked), neighbours=neighbours),
}
print(f"masked records: AUC {rival['AUC']:.3f}, yNN {rival['yNN']:.3f}")

# %%
# The front
# ---------
# A setting on the Pareto front is one that no other beats in both measures. Everything else can be forgotten.

table = pd.DataFrame(rows)
front = pareto_front(table[["AUC", "yNN"]])
print(table[front].sort_values("AUC").round(3).to_string(index=False))

# %%
# Three choices with names
# ------------------------
# The most useful, the fairest, and the balanced one, with the best harmonic mean of the two. Which of them is right
# depends on what a wrong decision costs, and whom.

rules = ("most_useful", "balanced", "fairest")
chosen = {rule: choose(rows, rule, utility="AUC", fairness="yNN") for rule in rules}
for rule, i in chosen.items():
    print(
        f"{rule:13} K = {rows[i]['K']:2d}, mu = {rows[i]['mu']:g}: AUC {rows[i]['AUC']:.3f}, yNN {rows[i]['yNN']:.3f}"
    )

# %%
fig, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.scatter(table["AUC"], table["yNN"], color="#999999", label="all settings")
line = table[front].sort_values("AUC")
axes.plot(line["AUC"], line["yNN"], "o-", color="#0072B2", label="Pareto front")
for (rule, i), marker in zip(chosen.items(), "^sD"):
    axes.scatter(
        rows[i]["AUC"], rows[i]["yNN"], marker=marker, s=110, facecolors="none", edgecolors="#D55E00", label=rule
    )
axes.scatter(rival["AUC"], rival["yNN"], marker="x", s=80, color="#000000", label="masked records")
axes.set_xlabel("AUC (utility)")
axes.set_ylabel("yNN (individual fairness)")
axes.legend()
plt.show()

# %%
# A consistency near 1 at a low AUC means that nearly everybody gets the same decision: fair, and of little use.
# On one split of a thousand people, differences of a few hundredths are noise: before deciding, repeat over splits,
# and report what the chosen setting reaches on data that were not used to choose it.
