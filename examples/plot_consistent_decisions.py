"""
Consistent decisions
====================

Two hundred people apply for forty places. A model scores each of them alone, and two people who hardly differ may
end up on opposite sides of the line. Here the whole batch is decided about at once: the scores stay near what the
model thinks, and differ little between people who are alike in what may count.
"""

# %%
# A model, and who is like whom
# -----------------------------
# Any classifier will do; boosted trees are accurate and jump from person to person. Neither the model nor the
# comparison of people sees the protected columns.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline

from ifair import ConsistentClassifier, Encoder, Similarity
from ifair.metrics import consistency, corrected_consistency


def make_people(n, rng):
    """Applicants with an outcome that depends on experience and tests, and unfairly on their sex."""
    female = rng.random(n) < 0.4
    people = pd.DataFrame(
        {
            "experience": rng.gamma(3, 2, n).round(),
            "tests": rng.normal(60, 15, n).clip(0, 100).round(),
            "degree": rng.choice(["none", "bachelor", "master"], n, p=[0.3, 0.5, 0.2]),
            "region": rng.choice(["north", "south", "east", "west"], n),
            "sex": np.where(female, "female", "male"),
        }
    )
    merit = 0.4 * people["experience"] + 0.06 * people["tests"] + (people["degree"] == "master")
    return people, merit - 1.0 * female + rng.normal(0, 1.2, n) > 6.5


rng = np.random.default_rng(0)
past, hired = make_people(1000, rng)
batch, _ = make_people(200, rng)

alike = Similarity(ordered={"degree": ["none", "bachelor", "master"]}, weights={"region": 0.5})
model = ConsistentClassifier(
    make_pipeline(Encoder(), HistGradientBoostingClassifier(max_iter=50, random_state=0)),
    strength=0.1,
    protected=["sex"],
    similarity=alike,
    random_state=0,
).fit(past, hired)

# %%
# Forty places
# ------------
# Exactly forty are selected. Of all ways to select as many, none has both a higher expected gain by the model's own
# scores and less disagreement among people who are alike. People tied at the line are named.

decided = model.decide(batch, n=40)
print(f"{decided.selected.sum()} selected, {len(decided.tied)} tied at the line, {len(decided.changed)} changed")
print(f"{(decided.peers.count == 0).sum()} people have no close peers and keep the model's score")

# %%
# Who changed, and why
# --------------------
# Everybody about whom the model alone would have decided otherwise, with the people who explain it.

for text in decided.explain_changes(most=2)["explanation"].head(3):
    print(text)

# %%
# How much alike treatment is worth
# ---------------------------------
# With more strength like people are treated more alike, and the people selected are a little less what the model would
# have liked best. A batch can be decided about anew without another fit. Nobody wins by treating all people alike:
# consistency is corrected for chance.

neighbours = decided.peers.indices
rows = []
for strength in (0.0, 0.02, 0.05, 0.1, 0.2, 0.5):
    chosen = model.set_params(strength=strength).decide(batch, n=40)
    labels = chosen.selected.astype(int)
    rows.append(
        {
            "strength": strength,
            "mean model score of the selected": chosen.model_scores[chosen.selected].mean(),
            "consistency": consistency(labels, neighbours=neighbours),
            "corrected for chance": corrected_consistency(labels, neighbours=neighbours),
            "changed": len(chosen.changed),
        }
    )
table = pd.DataFrame(rows).set_index("strength")
print(table.round(3).to_string())

figure, axis = plt.subplots(figsize=(6, 3.6), layout="constrained")
axis.plot(table["corrected for chance"], table["mean model score of the selected"], "o-")
for strength, row in table.iterrows():
    axis.annotate(
        f"{strength:g}",
        (row["corrected for chance"], row["mean model score of the selected"]),
        (4, 4),
        textcoords="offset points",
    )
axis.set(xlabel="consistency of decisions, corrected for chance", ylabel="mean model score of the 40")
plt.show()

# %%
# Groups
# ------
# The past was unfair to women, and the model has learned it as far as other columns give the sex away. If you must
# select women and men at the same rate, ask for that as well: both hold at once, with a threshold per group.

for parity in (None, "selection"):
    fair = model.set_params(strength=0.1).decide(batch, n=40, groups=batch["sex"], parity=parity)
    print(parity, fair.to_frame()["selected"].groupby(batch["sex"]).mean().round(3).to_dict())
