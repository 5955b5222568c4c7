"""
Protected groups known only at decision time
============================================

Often nobody can say, when a representation is learned, which group a later decision must watch: the law changes, or
another team decides. iFair needs no group, only the attributes that must not count. One representation serves them all;
who is protected is said when a decision is made.
"""

# %%
# Learned once
# ------------
# Everything sensitive in the table is protected. No group is named, and no outcome is used.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ifair import Encoder, FAStarIR, IFair
from ifair.data import load_credit
from ifair.metrics import share_at_k

people, good_risk = load_credit(return_X_y=True)
sensitive = ["age", "sex_and_status", "foreign_worker"]
represent = make_pipeline(
    Encoder(), IFair(10, protected=sensitive, freeze_protected=True, n_restarts=1, random_state=0)
).fit(people)

# %%
# A score for everybody, learned on the representation.

Z = represent.transform(people)
scores = LogisticRegression(max_iter=1000).fit(Z, good_risk).predict_proba(Z)[:, 1]

# %%
# Three groups, named afterwards
# ------------------------------
# Each may be the one that a decision must watch. Nothing is fitted again: the ranking of the same scores gets the
# minimum counts of that group. They ask for what a fair lottery would rarely miss, not for the share itself. Only the
# members of a group that falls far short of it move.

groups = {
    "women": people["sex_and_status"].str.startswith("female").to_numpy(dtype=bool),
    "under 25": (people["age"] == "15-24").to_numpy(),
    "women under 25": (people["sex_and_status"].str.startswith("female") & (people["age"] == "15-24")).to_numpy(
        dtype=bool
    ),
}
k, rows = 50, {}
for name, group in groups.items():
    fair = FAStarIR(k=k, p=float(group.mean()), alpha=0.1).rank(scores, sensitive_features=group)
    rows[name] = {
        "of all": group.mean(),
        "of the top by score": share_at_k(None, scores, sensitive_features=group, k=k),
        "of the top with FA*IR": group[fair.order[:k]].mean(),
        "moved into the top": np.sum((fair.rank <= k) & (np.argsort(np.argsort(-scores, kind="stable")) >= k)),
    }
table = pd.DataFrame(rows).T
print(table.round(2).to_string())

# %%
fig, axes = plt.subplots(figsize=(7, 3), layout="constrained")
table.iloc[:, :3].plot.barh(ax=axes, color=["#999999", "#D55E00", "#0072B2"])
axes.invert_yaxis()
axes.set_xlabel(f"share of the group (top {k})")
plt.show()
