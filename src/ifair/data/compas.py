"""COMPAS: defendants in Broward County, Florida, and whether they were charged again within two years."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ifair.data.catalogue import CATALOGUE
from ifair.data.dataset import Dataset, GroupRule, assign_group
from ifair.data.errors import DataError, unknown
from ifair.data.reading import categories, numbers, read_csv
from ifair.data.sources import data_files
from ifair.data.store import read

RECIPES = ("race-apart", "race-inside")
# Only these columns of the file are looked at: names, birth dates and case numbers stay behind.
COUNTS = {
    "juv_fel_count": "juvenile_felonies",
    "juv_misd_count": "juvenile_misdemeanors",
    "juv_other_count": "juvenile_other_offenses",
    "priors_count": "prior_offenses",
}
KNOWN = {
    "sex": ("Female", "Male"),
    "age_cat": ("Less than 25", "25 - 45", "Greater than 45"),
    "race": ("African-American", "Asian", "Caucasian", "Hispanic", "Native American", "Other"),
    "c_charge_degree": {"F": "felony", "M": "misdemeanor"},
}
READ = (*COUNTS, *KNOWN, "age", "c_charge_desc", "days_b_screening_arrest", "two_year_recid")


def load_compas(
    *,
    recipe: str = "race-apart",
    within_days: int | None = None,
    protected: Sequence[str] | str | None = None,
    group: GroupRule | None = None,
    return_X_y: bool = False,
    as_frame: bool = True,
    download_if_missing: bool = True,
) -> Any:
    """Load COMPAS: 6,900 defendants, was the person charged again within two years?

    Parameters
    ----------
    recipe : {"race-apart", "race-inside"}, default="race-apart"
        Two readings that give the paper's 431 columns after encoding. "race-apart" has the age in three bands
        and all six values of race, which come on top of the 431; "race-inside" has the age in years and race
        as African-American or other, two of the 431.
    within_days : int, default=None
        Keep only defendants screened at most so many days before or after their arrest. ProPublica's analysis
        takes 30, and keeps those without a charge description (6,172 defendants).
    protected : str or sequence of str, default=None
        Names of the protected columns; ``("race",)``, or the columns of ``group`` where it names some.
    group : mapping, callable or array of bool, default=None
        Another protected group than ``{"race": "African-American"}``.
    return_X_y, as_frame : bool
        As in scikit-learn's loaders, see :meth:`Dataset.deliver`.
    download_if_missing : bool, default=True
        False raises DataError where the file is not on this machine.

    Returns
    -------
    Dataset
        ``target`` is 1 for a new charge, the outcome to avoid. Or what ``return_X_y`` and ``as_frame`` ask
        for.
    """
    if recipe not in RECIPES:
        raise unknown("recipe", recipe, RECIPES)
    (file,) = data_files("compas")
    frame, target = parse_compas(read(file, download_if_missing), file.name, within_days)
    if recipe == "race-apart":
        frame = frame.drop(columns="age")
    else:
        other = frame["race"].astype(str).where(frame["race"] == "African-American", "other")
        frame = frame.drop(columns="age_band").assign(race=other.astype("category"))
    roles = assign_group(frame, {"race": "African-American"}, ("race",), group, protected)
    dataset = Dataset(name="compas", frame=frame, target=target, **roles, **CATALOGUE["compas"].about)
    return dataset.deliver(return_X_y, as_frame)


def parse_compas(content: bytes, where: str, within_days: int | None = None) -> tuple[pd.DataFrame, pd.Series]:
    """Turn the bytes of ProPublica's table into attributes and the outcome (1 for a new charge)."""
    columns = read_csv(content, where, READ)
    parts = {readable: numbers(columns, name, where, 0, 1_000) for name, readable in COUNTS.items()}
    for name, readable in [("sex", "sex"), ("age_cat", "age_band"), ("c_charge_degree", "charge_degree")]:
        parts[readable] = categories(columns, name, where, KNOWN[name])
    parts["age"] = numbers(columns, "age", where, 15, 120)
    described = sorted({text for text in columns["c_charge_desc"] if text})
    parts["charge"] = categories(columns, "c_charge_desc", where, described, missing=[""])
    parts["race"] = categories(columns, "race", where, KNOWN["race"])
    frame = pd.DataFrame(parts)
    days = numbers(columns, "days_b_screening_arrest", where, -10_000, 10_000, blank=True)
    outcome = numbers(columns, "two_year_recid", where, 0, 1)
    if within_days is None:
        kept = (days.notna() & frame["charge"].notna()).to_numpy()
    else:
        kept = days.abs().le(within_days).to_numpy()
    if not kept.any():
        raise DataError(f"{where}: no defendant is left after filtering")
    frame = frame[kept].reset_index(drop=True)
    # The table counts columns by the categories seen, so those of dropped rows must go.
    for name in frame.columns[frame.dtypes == "category"]:
        frame[name] = frame[name].cat.remove_unused_categories()
    return frame, outcome[kept].reset_index(drop=True).rename("charged_again")
