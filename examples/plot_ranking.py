"""
Ranking with FA*IR
==================

A ranking can treat people alike and still show hardly anybody of a group at the top, where the others have higher
scores. Where a share is required, FA*IR re-ranks with as little change as possible. This example ranks loan applicants
by a fair model's score, then guarantees women their share.
"""

# %%
# Scores from a fair representation
# ---------------------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from ifair import Encoder, FAStarIR, IFair
from ifair.data import load_credit
from ifair.metrics import ndcg
from ifair.ranking import minimum_counts, ranking_test

credit = load_credit(
    protected=["sex_and_status"], group=lambda people: people["sex_and_status"].str.startswith("female")
)
model = make_pipeline(
    Encoder(),
    IFair(10, protected=["sex_and_status"], freeze_protected=True, n_restarts=1, random_state=0),
    LogisticRegression(max_iter=1000),
).fit(credit.frame, credit.target)

# One ranking: the applicants for a used car.
used_car = credit.take((credit.frame["purpose"] == "used car").to_numpy())
scores, women = model.predict_proba(used_car.frame)[:, 1], used_car.group
print(f"{len(used_car)} applicants, {women.sum()} of them women")

# %%
# What the minimum counts demand
# ------------------------------
# For a share of 0.4, the table says how many women every prefix must hold at least. A fair lottery with that share
# would fail it at most once in ten times.

k = 20
print(minimum_counts(k, p=0.4, alpha=0.1))

# %%
# Before and after
# ----------------
by_score = np.argsort(-scores, kind="stable")
fair = FAStarIR(k=k, p=0.4, alpha=0.1).rank(scores, sensitive_features=women)
print("by score:", ranking_test(women[by_score[:k]], p=0.4, alpha=0.1))
print("FA*IR:   ", ranking_test(women[fair.order[:k]], p=0.4, alpha=0.1))
print(f"nDCG@{k} against the scores: {ndcg(scores, fair.scores, k=k):.3f}")

# %%
fig, axes = plt.subplots(figsize=(7, 4), layout="constrained")
positions = np.arange(1, k + 1)
axes.step(positions, minimum_counts(k, p=0.4, alpha=0.1)[:k], where="mid", color="#999999", label="minimum")
axes.plot(positions, np.cumsum(women[by_score[:k]]), "o-", color="#D55E00", label="by score")
axes.plot(positions, np.cumsum(women[fair.order[:k]]), "s-", color="#0072B2", label="FA*IR")
axes.set_xlabel("position")
axes.set_ylabel("women so far")
axes.set_xticks(positions[::2])
axes.legend()
plt.show()

# %%
# The same on the command line, for many rankings at once::
#
#     ifair rank applicants.csv --query purpose --model model.ifair --protected sex_and_status \
#         --group 'sex_and_status=female, divorced, separated or married' --min-share 0.4 --top 20 -o ranked.csv
