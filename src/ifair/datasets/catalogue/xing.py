"""Xing: the people that a German job portal showed for 57 job searches, in January 2017."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ifair.datasets.about import About, DataFile, Origin, Statistics
from ifair.datasets.load_options import LoadOptions
from ifair.errors import IfairError, check_known

if TYPE_CHECKING:
    import pandas as pd

ABOUT = About(
    name="xing",
    place=5,
    title="Xing",
    description="Profiles that the German job portal Xing showed for 57 job searches in January 2017, in "
    "its order, with months of work and education and the number of profile views. Anonymised "
    "by its collectors.",
    licence="none stated; cite the paper below",
    citation="Zehlike, M., Bonchi, F., Castillo, C., Hajian, S., Megahed, M., Baeza-Yates, R. (2017). "
    "FA*IR: A Fair Top-k Ranking Algorithm. CIKM. https://github.com/MilkaLichtblau/xing_dataset",
    source="https://github.com/MilkaLichtblau/xing_dataset",
    task="ranking",
    outcome="weighted sum of work, education and profile views",
    group="sex is female",
    reached=Statistics(2237, 60, 767 / 2237, queries=57),
    paper=Statistics(2240, 59, queries=57),
    deviations=(
        "The paper speaks of 57 queries, but its 2,240 records, 59 columns and all its shares in the "
        "top 10 are those of 56. recipe='56-queries' leaves one out: 2,208 records, 59 columns. Which "
        "one is not known.",
        "2,237 profiles: 22 of the queries have fewer than 40, since the collectors removed duplicates.",
        "How the paper scales the three terms of the score is not said. In its table of weights all rows "
        "with a weight on views have one yNN and one share of women, as if one term outweighed the others: the "
        "raw sum, the default here. Its shares of women in the top 10 are not reproduced exactly by any "
        "scaling tried.",
    ),
)
_RAW = "https://raw.githubusercontent.com/MilkaLichtblau"
_HOMES = (
    f"{_RAW}/xing_dataset/6c384cae989a4be5c0213fb3fb5abd910f994bc7/data",
    f"{_RAW}/FA-IR_Ranking/FA-IR_CIKM_17/raw_data/Xing",
    f"{_RAW}/FA-IR_Ranking/FA-IR_CIKM_17/rawData/Xing",
)
_LISTED = Path(__file__).with_name("xing_files.txt").read_text(encoding="ascii")
FILES = tuple(
    DataFile(f"xing/json/{name}", sha256, int(size), tuple(Origin(f"{home}/{name}") for home in _HOMES))
    for sha256, size, name in map(str.split, _LISTED.splitlines())
)

RECIPES = ("57-queries", "56-queries")
SCALES = ("none", "unit-variance", "range")
SEXES = {"f": "female", "m": "male", "mf": "unclear"}
QUALIFICATIONS = ("work_months", "education_months", "profile_views")
# The reading rules of the dataset's own reader: the length of a month, and of a period without dates.
SECONDS_A_MONTH = 2_629_743.83
UNDATED_MONTHS = 3
UNTIL_TODAY = "bis heute"


def load_xing(
    *,
    recipe: str = "57-queries",
    left_out: str = "lawyer",
    weights: Sequence[float] = (1.0, 1.0, 1.0),
    scale: str = "none",
    job_attribute: bool = True,
    **options: Any,
) -> Any:
    """Load Xing: 2,237 profiles shown for 57 job searches, who deserves which rank?

    Parameters
    ----------
    recipe : {"57-queries", "56-queries"}, default="57-queries"
        All queries, or one less: the paper speaks of 57, but its figures are those of 56.
    left_out : str, default="lawyer"
        The query that "56-queries" leaves out. Which one the paper left out is not known; this one has the
        fewest profiles.
    weights : sequence of 3 floats, default=(1, 1, 1)
        Weights of work experience, education and profile views in the score.
    scale : {"none", "unit-variance", "range"}, default="none"
        What is done to the three before they are added up: nothing, which lets profile views outweigh the others
        and comes closest to the paper's figures; divided by their standard deviation; brought to 0..1.
    job_attribute : bool, default=True
        Whether the job search is an attribute too, as in the paper. Where whole queries are held out, nobody who is
        judged has a job search that was seen before, so that as an attribute it says nothing: leave it out there.
    **options
        Shared by all loaders, see :func:`ifair.data.load`.
        Protected by default: ``sex``, and as a group ``{"sex": "female"}``.

    Returns
    -------
    Dataset
        ``target`` is the score, ``query`` the job search; the records of a query are in the order in which
        the portal showed them. Or what ``return_X_y`` and ``as_frame`` ask for.
    """
    import pandas as pd

    check_known("recipe", recipe, RECIPES)
    check_known("scale", scale, SCALES)
    loading = LoadOptions(**options)
    tables = [parse_xing(loading.read(file)) for file in FILES]
    frame = pd.concat(tables, ignore_index=True)
    if recipe == "56-queries":
        check_known("query", left_out, frame["job_search"].unique().tolist())
        frame = frame[frame["job_search"] != left_out].reset_index(drop=True)
    for name in ("job_search", "sex"):
        frame[name] = frame[name].astype(pd.CategoricalDtype(list(dict.fromkeys(frame[name]))))
    target, query = compute_score(frame, weights, scale), frame["job_search"].rename("query")
    if not job_attribute:
        frame = frame.drop(columns="job_search")
    return loading.deliver(ABOUT, frame, target, protected="sex", group={"sex": "female"}, query=query)


def compute_score(frame: pd.DataFrame, weights: Sequence[float], scale: str = "none") -> pd.Series:
    """The deserved score, a weighted sum of work, education and profile views: shape (n_records,)."""
    import numpy as np
    import pandas as pd

    factors = np.asarray(weights, dtype=float)
    if factors.shape != (3,) or not np.isfinite(factors).all() or (factors < 0).any() or not factors.any():
        raise IfairError(f"weights must be 3 numbers, none negative and not all zero; got {weights!r}")
    values = frame[list(QUALIFICATIONS)].to_numpy(dtype=float)
    if scale == "unit-variance":
        spread = values.std(axis=0)
    elif scale == "range":
        values = values - values.min(axis=0)
        spread = values.max(axis=0)
    else:
        spread = np.ones(3)
    return pd.Series(values / np.where(spread > 0, spread, 1.0) @ factors, name="score")


def parse_xing(content: bytes) -> pd.DataFrame:
    """Turn the JSON of one query into records: job_search, three qualifications, sex."""
    import pandas as pd

    document = json.loads(content)
    rows = []
    for person in document["profiles"]:
        (profile,) = person["profile"]
        jobs = [job.get("jobDates") for job in profile.get("jobs", [])]
        studies = [one.get("eduDuration") for one in person.get("education", [])]
        education = sum(UNDATED_MONTHS if dates is None else count_months(dates) for dates in studies)
        # The number after the slash of ``16. September 2008 / 2418``; 1 where the profile shows none.
        views = int(profile.get("memberSince_Hits", "").partition("/")[2] or 1)
        rows.append((document["category"], count_work_months(jobs), education, views, SEXES[profile["sex"]]))
    return pd.DataFrame(rows, columns=["job_search", *QUALIFICATIONS, "sex"])


def count_work_months(jobs: Sequence[str | None]) -> int:
    """Add up the jobs of a person; one without dates counts as long as the job listed before it."""
    total = length = 0
    for dates in jobs:
        length = length if dates is None else count_months(dates)
        total += length
    return total


def count_months(dates: str) -> int:
    """The months of a period such as ``03/2013 - 01/2017`` or ``2009 - 2012``, begun ones counted."""
    if dates.strip() == UNTIL_TODAY:
        return UNDATED_MONTHS
    start, end = (_find_first_day(text) for text in dates.split(" - "))
    return math.ceil((end - start).total_seconds() / SECONDS_A_MONTH)


def _find_first_day(text: str) -> datetime:
    month, _, year = text.rpartition("/")
    return datetime(int(year), int(month or 1), 1)
