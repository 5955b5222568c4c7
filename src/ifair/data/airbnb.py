"""Airbnb: listings of five cities of the United States, ranked by rating for the price."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from ifair.data.catalogue import CATALOGUE
from ifair.data.dataset import Dataset, GroupRule, assign_group
from ifair.data.errors import DataError, unknown
from ifair.data.first_names import genders
from ifair.data.reading import Columns, categories, numbers, read_csv
from ifair.data.sources import data_files
from ifair.data.store import read

RECIPES = ("five-cities", "four-cities")
# City and day of each snapshot. Denver's file does not say its day: that of its last review is taken.
SNAPSHOTS = {
    "boston_2019-12": ("Boston", "2019-12-04"),
    "seattle_2016-01": ("Seattle", "2016-01-04"),
    "washington_2015-10": ("Washington", "2015-10-03"),
    "denver_2019-04": ("Denver", "2019-04-27"),
    "jersey-city_2019-04": ("Jersey City", "2019-04-28"),
}
RANGES = {
    "latitude": (-90, 90),
    "longitude": (-180, 180),
    "accommodates": (0, 1_000),
    "bathrooms": (0, 1_000),
    "bedrooms": (0, 1_000),
    "beds": (0, 1_000),
    "price": (0, 1_000_000),
    "minimum_nights": (0, 1_000_000_000),
    "number_of_reviews": (0, 1_000_000),
    "reviews_per_month": (0, 10_000),
    "calculated_host_listings_count": (0, 100_000),
    "availability_365": (0, 366),
    "review_scores_rating": (0, 100),
}
MORE_RANGES = {
    "guests_included": (0, 1_000),
    "review_scores_cleanliness": (0, 10),
    "review_scores_location": (0, 10),
    "review_scores_value": (0, 10),
}
ROOMS = {
    "Entire home/apt": "entire home",
    "Private room": "private room",
    "Hotel room": "private room",
    "Shared room": "shared room",
}
HOMES = {
    "Apartment": "apartment",
    "Serviced apartment": "apartment",
    "House": "house",
    "Condominium": "condominium",
    "Townhouse": "townhouse",
    "Loft": "loft",
}
RESPONSES = ("within an hour", "within a few hours", "within a day", "a few days or more")
BEDS = {
    "Real Bed": "bed",
    "Futon": "futon",
    "Pull-out Sofa": "sofa bed",
    "Airbed": "airbed",
    "Couch": "couch",
}
CANCELLATIONS = {
    "flexible": "flexible",
    "moderate": "moderate",
    "strict": "strict",
    "strict_14_with_grace_period": "strict",
    "super_strict_30": "strict",
    "super_strict_60": "strict",
}
SMALLEST_QUERY = 10


def load_airbnb(
    *,
    recipe: str = "five-cities",
    names_list: str = "census",
    protected: Sequence[str] | str | None = None,
    group: GroupRule | None = None,
    return_X_y: bool = False,
    as_frame: bool = True,
    download_if_missing: bool = True,
) -> Any:
    """Load Airbnb: 10,290 listings of five cities, which home is rated best for its price?

    The name of the host is used once, to infer the gender from lists of first names, and dropped.

    Parameters
    ----------
    recipe : {"five-cities", "four-cities"}, default="five-cities"
        Two readings that give the paper's 33 columns after encoding. "five-cities" has 19 attributes;
        "four-cities" leaves out Denver, whose file lacks columns, and has 22 attributes as in the paper.
    names_list : {"census", "nomquamgender"}, default="census"
        First names of the US Census of 1990, or the larger list of the package ``nomquamgender`` (11,819
        listings) if it is installed.
    protected : str or sequence of str, default=None
        Names of the protected columns; ``("host_gender",)``, or the columns of ``group`` where it names some.
    group : mapping, callable or array of bool, default=None
        Another protected group than ``{"host_gender": "female"}``.
    return_X_y, as_frame : bool
        As in scikit-learn's loaders, see :meth:`Dataset.deliver`.
    download_if_missing : bool, default=True
        False raises DataError where a file is not on this machine.

    Returns
    -------
    Dataset
        ``target`` is rating / price; ``query`` is city, neighbourhood and home type, and missing where there
        are fewer than 10 such listings. Or what ``return_X_y`` and ``as_frame`` ask for.
    """
    if recipe not in RECIPES:
        raise unknown("recipe", recipe, RECIPES)
    wanted = [key for key in SNAPSHOTS if recipe == "five-cities" or not key.startswith("denver")]
    by_key = {file.name.removesuffix(".csv.gz"): file for file in data_files("airbnb")}
    contents = {key: read(by_key[key], download_if_missing) for key in wanted}
    frame = pd.concat([parse_airbnb(content, key, recipe) for key, content in contents.items()], ignore_index=True)
    frame["host_gender"] = genders(frame.pop("host_name"), names_list, download_if_missing)
    must = [name for name in frame if is_numeric_dtype(frame[name]) or name in ("host_is_superhost", "host_gender")]
    frame = frame[frame[must].notna().all(axis=1) & frame["price"].gt(0)].reset_index(drop=True)
    frame["host_is_superhost"] = frame["host_is_superhost"] == "yes"
    query = queries(frame)
    # The neighbourhood only forms queries; the home type is one of the paper's 22 attributes or not, by
    # recipe.
    frame = frame.drop(columns=["neighbourhood"] if recipe == "five-cities" else ["neighbourhood", "home_type"])
    for name in frame:
        if not is_numeric_dtype(frame[name]):
            frame[name] = frame[name].astype(str).where(frame[name].notna()).astype("category")
    roles = assign_group(frame, {"host_gender": "female"}, ("host_gender",), group, protected)
    dataset = Dataset(
        name="airbnb",
        frame=frame,
        target=(frame["review_scores_rating"] / frame["price"]).rename("rating_per_price"),
        query=query,
        **roles,
        **CATALOGUE["airbnb"].about,
    )
    return dataset.deliver(return_X_y, as_frame)


def queries(frame: pd.DataFrame) -> pd.Series:
    """Name the ranking of every listing: city, neighbourhood, home type; missing where it is too short."""
    name = frame["city"].astype(str) + " / " + frame["neighbourhood"] + " / " + frame["home_type"].astype(str)
    listings = name.map(name.value_counts())
    return name.where(listings >= SMALLEST_QUERY).astype("category").rename("query")


def parse_airbnb(content: bytes, key: str, recipe: str) -> pd.DataFrame:
    """Turn the bytes of one city's listings into attributes, with the host's name and the neighbourhood.

    Unlike the other parsers it keeps records with missing values: whether the host's gender is known has to
    be found out first.
    """
    where = f"{key}.csv"
    city, day = SNAPSHOTS[key]
    more = recipe == "four-cities"
    ranges = {**RANGES, **MORE_RANGES} if more else RANGES
    extra = ("bed_type", "cancellation_policy") if more else ("host_response_time", "last_review")
    read_as_text = (
        "host_name",
        "neighbourhood_cleansed",
        "property_type",
        "room_type",
        "host_is_superhost",
        *extra,
    )
    columns = read_csv(content, where, [*ranges, *read_as_text])
    columns["price"] = [text.replace("$", "").replace(",", "").strip() for text in columns["price"]]
    parts = {name: numbers(columns, name, where, low, high, blank=True) for name, (low, high) in ranges.items()}
    parts["host_is_superhost"] = _chosen(columns, "host_is_superhost", where, {"t": "yes", "f": "no"})
    parts["city"] = pd.Series(city, index=parts["price"].index)
    parts["room_type"] = _chosen(columns, "room_type", where, ROOMS)
    parts["home_type"] = pd.Series([HOMES.get(text, "other") for text in columns["property_type"]])
    if more:
        parts["bed_type"] = _chosen(columns, "bed_type", where, BEDS)
        parts["cancellation"] = _chosen(columns, "cancellation_policy", where, CANCELLATIONS)
    else:
        parts["host_response_time"] = _chosen(columns, "host_response_time", where, {r: r for r in RESPONSES})
        parts["days_since_last_review"] = _days_since(columns["last_review"], day, where)
    parts["neighbourhood"] = pd.Series(columns["neighbourhood_cleansed"], dtype=object)
    parts["host_name"] = pd.Series(columns["host_name"], dtype=object)
    return pd.DataFrame(parts)


def _chosen(columns: Columns, name: str, where: str, readable: dict[str, str]) -> pd.Series:
    """Categories as plain text, of which several may share a word; blank and ``N/A`` are missing."""
    codes = categories(columns, name, where, list(readable), missing=["", "N/A"])
    return codes.astype(object).map(readable, na_action="ignore")


def _days_since(texts: Sequence[str], day: str, where: str) -> pd.Series:
    """Days from each date to the day of the snapshot; missing where there is no date."""
    given = pd.Series(texts, dtype=object).str.strip()
    dates = pd.to_datetime(given, format="%Y-%m-%d", errors="coerce")
    dates = dates.fillna(pd.to_datetime(given, format="%m/%d/%y", errors="coerce"))
    wrong = dates.isna() & (given != "")
    if wrong.any():
        raise DataError(f"{where}: {given[wrong].iloc[0][:40]!r} is not the date of a review")
    # A listing scraped on the second day of a snapshot may have a review of that day.
    return (pd.Timestamp(day) - dates).dt.days.clip(lower=0)
