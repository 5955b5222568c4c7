"""A made-up table of applicants as tables are in practice: ids, gaps, two protected columns, and traces of them."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

CITIES = ("Aldbury", "Brookfield", "Caldwell", "Dunmore", "Eastham", "Fairhaven")
EDUCATION = ("none", "school", "bachelor", "master")
ORIGINS = ("north", "south", "abroad")
GAPS = {"experience": 0.04, "education": 0.03, "test_score": 0.06}
"""The share of empty cells."""


def make_applicants(n_records: int = 1200, *, random_state: int = 0) -> "pd.DataFrame":
    """Draw applicants for a job: who they are, what they can do, and whether they were hired.

    Skill decides, and so do, unjustly, gender and origin. The city and the gap in the career go along with them, so
    that deleting the two columns does not delete their traces.

    Parameters
    ----------
    n_records : int, default=1200
    random_state : int, default=0

    Returns
    -------
    pandas.DataFrame of shape (n_records, 9)
        ``applicant`` (an id), ``gender`` and ``origin`` (protected), ``education`` (none to master), ``experience`` in
        years, ``test_score``, ``career_gap`` in years, ``city``, and ``hired`` ("yes" or "no"). Some cells are empty.

    Examples
    --------
    >>> from ifair.data import make_applicants
    >>> make_applicants(500).shape
    (500, 9)
    """
    import pandas as pd

    rng = np.random.default_rng(random_state)
    woman, origin = rng.random(n_records) < 0.45, rng.choice(3, n_records, p=[0.55, 0.25, 0.2])
    skill = rng.normal(size=n_records)
    education = np.clip(np.round(1.5 + 0.9 * skill + 0.6 * rng.normal(size=n_records)), 0, 3).astype(int)
    experience = np.clip(8 + 3 * skill + 4 * rng.normal(size=n_records), 0, None)
    career_gap = rng.exponential(np.where(woman, 1.6, 0.5))
    city = (2 * origin + (rng.random(n_records) < 0.35) + 3 * (rng.random(n_records) < 0.1)) % len(CITIES)
    chance = 1 / (1 + np.exp(-(1.7 * skill - 0.6 - 0.5 * woman - 0.6 * (origin == 2))))
    frame = pd.DataFrame(
        {
            "applicant": [f"A{number:06d}" for number in rng.permutation(n_records)],
            "gender": np.where(woman, "woman", "man"),
            "origin": np.array(ORIGINS)[origin],
            "education": np.array(EDUCATION, dtype=object)[education],
            "experience": experience.round(1),
            "test_score": np.clip(60 + 12 * skill + 8 * rng.normal(size=n_records), 0, 100).round(),
            "career_gap": career_gap.round(1),
            "city": np.array(CITIES)[city],
            "hired": np.where(rng.random(n_records) < chance, "yes", "no"),
        }
    )
    for column, share in GAPS.items():
        frame.loc[rng.random(n_records) < share, column] = None
    return frame
