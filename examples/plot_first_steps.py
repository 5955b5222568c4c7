"""
First steps
===========

From a table of people to a fair representation, a model trained on it, and what that changed. The data are the 1,000
loan applicants of German Credit, which come with the package; their age must not count.
"""

# %%
# A table with roles
# ------------------
# Text, categories, numbers and gaps may stand side by side. The dataset says which columns are protected, and who
# belongs to the protected group.

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from ifair import Encoder, IFair
from ifair.data import load_credit
from ifair.metrics import auc, consistency, flip_test, statistical_parity

credit = load_credit()
print(credit)
train, test = train_test_split(range(len(credit)), test_size=1 / 3, random_state=0)
people, others = credit.take(train), credit.take(test)

# %%
# Two models
# ----------
# The same classifier, once on the records and once on their fair representation. ``freeze_protected`` guarantees that
# the representation does not depend on the age at all.

plain = make_pipeline(Encoder(), LogisticRegression(max_iter=1000)).fit(people.frame, people.target)
fair = make_pipeline(
    Encoder(),
    IFair(10, protected=list(credit.protected), freeze_protected=True, random_state=0),
    LogisticRegression(max_iter=1000),
).fit(people.frame, people.target)

# %%
# What it costs, what it buys
# ---------------------------
# Measured on people whom neither model has seen. Consistency asks whether people who are alike in everything but their
# age get the same decision; the flip test, whether somebody would get another decision at another age.

may_count = Encoder().fit_transform(others.masked)


def measures(model):
    decisions = model.predict(others.frame)
    flips = flip_test(others.frame, protected=list(credit.protected), decision=model.predict)
    return {
        "AUC": auc(others.target, model.predict_proba(others.frame)[:, 1]),
        "consistency": consistency(decisions, may_count),
        "parity": statistical_parity(None, decisions, sensitive_features=others.group),
        "not flipped by age": 1 - flips.share_flipped,
    }


table = pd.DataFrame({"plain": measures(plain), "fair": measures(fair)})
print(table.round(3).to_string())

# %%
fig, axes = plt.subplots(figsize=(7, 3), layout="constrained")
table.plot.barh(ax=axes, color=["#999999", "#0072B2"])
axes.invert_yaxis()
axes.set_xlim(0, 1)
axes.set_xlabel("higher is better")
plt.show()

# %%
# Whom the prototypes stand for
# -----------------------------
# Every representation is a mixture of ten prototypes. The average of the people who have most of one can be read like
# a person.

encoder, representation = fair[0], fair[1]
archetypes = representation.archetypes(encoder.transform(people.frame), encoder)
print(archetypes[["share", "followers", "duration_months", "credit_amount", "purpose"]].round(2).to_string())
