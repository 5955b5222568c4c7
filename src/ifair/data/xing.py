"""Xing: the people that a German job portal showed for 57 job searches, in January 2017."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from ifair.data.catalogue import CATALOGUE
from ifair.data.dataset import Dataset, GroupRule, assign_group
from ifair.data.errors import DataError, unknown
from ifair.data.reading import decode
from ifair.data.sources import data_files
from ifair.data.store import read

RECIPES = ("57-queries", "56-queries")
SCALES = ("unit-variance", "range", "none")
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
    scale: str = "unit-variance",
    protected: Sequence[str] | str | None = None,
    group: GroupRule | None = None,
    return_X_y: bool = False,
    as_frame: bool = True,
    download_if_missing: bool = True,
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
    scale : {"unit-variance", "range", "none"}, default="unit-variance"
        How the three are made comparable before they are added up: divided by their standard deviation,
        brought to 0..1, or not at all. The paper does not say; it scales all attributes to unit variance.
    protected : str or sequence of str, default=None
        Names of the protected columns; ``("sex",)``, or the columns of ``group`` where it names some.
    group : mapping, callable or array of bool, default=None
        Another protected group than ``{"sex": "female"}``.
    return_X_y, as_frame : bool
        As in scikit-learn's loaders, see :meth:`Dataset.deliver`.
    download_if_missing : bool, default=True
        False raises DataError where a file is not on this machine.

    Returns
    -------
    Dataset
        ``target`` is the score, ``query`` the job search; the records of a query are in the order in which
        the portal showed them. Or what ``return_X_y`` and ``as_frame`` ask for.
    """
    for kind, value, known in [("recipe", recipe, RECIPES), ("scale", scale, SCALES)]:
        if value not in known:
            raise unknown(kind, value, known)
    tables = [parse_xing(read(file, download_if_missing), file.name) for file in data_files("xing")]
    frame = pd.concat(tables, ignore_index=True)
    if recipe == "56-queries":
        if left_out not in set(frame["job_search"]):
            raise unknown("query", left_out, frame["job_search"].unique())
        frame = frame[frame["job_search"] != left_out].reset_index(drop=True)
    for name in ("job_search", "sex"):
        frame[name] = frame[name].astype(pd.CategoricalDtype(list(dict.fromkeys(frame[name]))))
    roles = assign_group(frame, {"sex": "female"}, ("sex",), group, protected)
    dataset = Dataset(
        name="xing",
        frame=frame,
        target=score(frame, weights, scale),
        query=frame["job_search"].rename("query"),
        **roles,
        **CATALOGUE["xing"].about,
    )
    return dataset.deliver(return_X_y, as_frame)


def score(frame: pd.DataFrame, weights: Sequence[float], scale: str = "unit-variance") -> pd.Series:
    """The deserved score, a weighted sum of work, education and profile views: shape (n_records,)."""
    factors = np.asarray(weights, dtype=float)
    if factors.shape != (3,) or not np.isfinite(factors).all() or (factors < 0).any() or not factors.any():
        raise DataError(f"weights must be 3 numbers, none negative and not all zero; got {weights!r}")
    values = frame[list(QUALIFICATIONS)].to_numpy(dtype=float)
    if scale == "unit-variance":
        spread = values.std(axis=0)
    elif scale == "range":
        values = values - values.min(axis=0)
        spread = values.max(axis=0)
    else:
        spread = np.ones(3)
    return pd.Series(values / np.where(spread > 0, spread, 1.0) @ factors, name="score")


def parse_xing(content: bytes, where: str) -> pd.DataFrame:
    """Turn the JSON of one query into records: job_search, three qualifications, sex."""
    try:
        document = json.loads(decode(content, where))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not JSON ({error})") from error
    query, people = _of(document, "category", where), _of(document, "profiles", where)
    if not isinstance(query, str) or not isinstance(people, list) or not people:
        raise DataError(f"{where}: not a query with its profiles")
    rows = []
    for rank, person in enumerate(people, start=1):
        spot = f"{where}, profile {rank}"
        profiles = _list(person, "profile", spot)
        if len(profiles) != 1:
            raise DataError(f"{spot}: {len(profiles)} profiles of one person")
        sex = _of(profiles[0], "sex", spot)
        if not isinstance(sex, str) or sex not in SEXES:
            raise DataError(f"{spot}: the sex is {str(sex)[:20]!r}, none of {', '.join(SEXES)}")
        jobs = [_dates(job, "jobDates", spot) for job in _list(profiles[0], "jobs", spot)]
        studies = [_dates(study, "eduDuration", spot) for study in _list(person, "education", spot)]
        education = sum(UNDATED_MONTHS if dates is None else months(dates, spot) for dates in studies)
        rows.append((query, work_months(jobs, spot), education, _views(profiles[0], spot), SEXES[sex]))
    return pd.DataFrame(rows, columns=["job_search", *QUALIFICATIONS, "sex"])


def work_months(jobs: Sequence[str | None], spot: str) -> int:
    """Add up the jobs of a person; one without dates counts as long as the job listed before it."""
    total = length = 0
    for dates in jobs:
        length = length if dates is None else months(dates, spot)
        total += length
    return total


def months(dates: str, spot: str) -> int:
    """The months of a period such as ``03/2013 - 01/2017`` or ``2009 - 2012``, begun ones counted."""
    if dates.strip() == UNTIL_TODAY:
        return UNDATED_MONTHS
    match = re.fullmatch(r"\s*(?:(\d\d)/)?(\d{4}) - (?:(\d\d)/)?(\d{4})\s*", dates, flags=re.ASCII)
    try:
        if match is None:
            raise ValueError
        start_month, start_year, end_month, end_year = match.groups()
        start = datetime(int(start_year), int(start_month or 1), 1)
        end = datetime(int(end_year), int(end_month or 1), 1)
        if end < start:
            raise ValueError
    except ValueError:
        raise DataError(f"{spot}: {dates[:40]!r} is not a period") from None
    return math.ceil((end - start).total_seconds() / SECONDS_A_MONTH)


def _views(profile: Any, spot: str) -> int:
    """The number after the slash of ``16. September 2008 / 2418``; 1 where the profile shows none."""
    text = profile.get("memberSince_Hits")
    if text is None:
        return 1
    if not isinstance(text, str):
        raise DataError(f"{spot}: the profile views are not text")
    match = re.fullmatch(r"[^/]*/\s*(\d{1,9})\s*", text, flags=re.ASCII)
    if match is None and "/" in text:
        raise DataError(f"{spot}: {text[:40]!r} holds no number of profile views")
    return int(match[1]) if match else 1


def _of(container: Any, key: str, spot: str) -> Any:
    if not isinstance(container, Mapping) or key not in container:
        raise DataError(f"{spot}: there is no {key!r}")
    return container[key]


def _list(container: Any, key: str, spot: str) -> list[Any]:
    value = container.get(key, []) if isinstance(container, Mapping) else None
    if not isinstance(value, list):
        raise DataError(f"{spot}: {key!r} is not a list")
    return value


def _dates(entry: Any, key: str, spot: str) -> str | None:
    dates = entry.get(key) if isinstance(entry, Mapping) else 0
    if dates is not None and not isinstance(dates, str):
        raise DataError(f"{spot}: {key!r} is not a period")
    return dates
