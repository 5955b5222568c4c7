"""
Auditing someone else's model
=============================

All that is needed is what the model answers. Here a random forest that somebody trained on all columns is
asked about people it has not seen: are people who are alike treated alike, would they be treated alike with another
sex, who is treated worst, and how sure are we?
"""

# %%
# The model to audit
# ------------------
# We look at it from outside: a table goes in, probabilities come out.

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from ifair import Encoder
from ifair.data import load_credit
from ifair.metrics import (
    auc,
    bootstrap,
    consistency,
    consistency_interval,
    flip_test,
    statistical_parity_difference,
    treatment,
)

protected = ["sex_and_status"]
credit = load_credit(protected=protected, group=lambda people: people["sex_and_status"].str.startswith("female"))
train, test = train_test_split(range(len(credit)), test_size=0.4, random_state=0)
theirs = make_pipeline(Encoder(), RandomForestClassifier(100, min_samples_leaf=3, random_state=0))
theirs.fit(credit.frame.iloc[train], credit.target.iloc[train])

audited = credit.take(test)
probability = theirs.predict_proba(audited.frame)[:, 1]
decision = theirs.predict(audited.frame)
print(f"AUC {auc(audited.target, probability):.3f}")

# %%
# Are people who are alike treated alike?
# ---------------------------------------
# Compared on all that may count, with an interval: the test people are a sample too.

may_count = Encoder().fit_transform(audited.masked)
print("consistency:", consistency_interval(decision, may_count, n_resamples=300))

# %%
# Are groups treated alike?
# -------------------------
gap = bootstrap(
    statistical_parity_difference,
    None,
    decision,
    sensitive_features=audited.group,
    protected=True,
    n_resamples=300,
)
print("women minus others, share of good decisions:", gap)

# %%
# What if only the sex were another?
# ----------------------------------
flips = flip_test(
    audited.frame,
    protected=protected,
    probability=lambda frame: theirs.predict_proba(frame)[:, 1],
    decision=theirs.predict,
)
print(flips)

# %%
# Who is treated worst?
# ---------------------
# Everybody's probability against the mean of the ten people nearest to them.

treated = treatment(probability, may_count)
for person in treated.worst(3):
    print(person)
worst = treated.order[0]
print(audited.frame.iloc[[worst, *treated.neighbours[worst][:3]]].iloc[:, :6].T.to_string())

# %%
fig, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
for group, name, colour in [(audited.group, "women", "#D55E00"), (~audited.group, "others", "#0072B2")]:
    axes.hist(treated.gaps[group], bins=30, range=(-0.5, 0.5), density=True, histtype="step", color=colour, label=name)
axes.axvline(0, color="#999999", linewidth=1)
axes.set_xlabel("own probability minus that of the nearest people")
axes.legend()
plt.show()

# %%
# The average hides the people at the left end.
print(
    f"consistency of the probabilities: {consistency(probability, may_count):.3f}; worst gap {treated.gaps.min():.2f}"
)
