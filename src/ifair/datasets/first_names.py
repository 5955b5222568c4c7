"""The gender that a first name suggests, from lists of common first names."""

import math
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module

from ifair.datasets.about import DataFile, Origin
from ifair.datasets.local_files import read_file
from ifair.errors import check_known, require_extra

_HOMES = (
    "https://www2.census.gov/topics/genealogy/1990surnames",
    # A copy of the package `names` carries the lists.
    "https://raw.githubusercontent.com/Mimput/names/3ef206ee3559f74ea287143ac863b9d4990864a4/names",
)
FILES = tuple(
    DataFile(f"first_names/{name}", sha256, size, tuple(Origin(f"{home}/{name}") for home in _HOMES))
    for name, size, sha256 in [
        ("dist.female.first", 149_625, "bd2f310fc4e5d5e5ea122c9d4342c9821145823118eb20db1647f305ec77b358"),
        ("dist.male.first", 42_665, "0a5078ef6effe3b483d15b0f7f95047662126c9bfb624ecd5e5b978fc0f2470b"),
    ]
)
LISTS = ("census", "nomquamgender")
# A name counts as one gender's if at least this share of its bearers has it.
CERTAIN = 0.8
_SEVERAL_PEOPLE = re.compile(r"&|\+|\band\b", flags=re.IGNORECASE)


def infer_genders(
    names: Iterable[str], names_list: str = "census", download_if_missing: bool = True
) -> list[str | None]:
    """Infer genders from names such as ``"Mary"``, ``"Mary Ann Smith"`` or ``"Mary & Linda"``, who must agree."""
    check_known("list of first names", names_list, LISTS)
    people = [[p.strip() for p in _SEVERAL_PEOPLE.split(name) if p.strip()] for name in names]
    everyone = sorted({person for several in people for person in several})
    share_female = _read_census(download_if_missing) if names_list == "census" else _open_nomquamgender()
    known = dict(zip(everyone, map(_decide, share_female(everyone))))
    found = [{known[person] for person in several} for several in people]
    return [of_all.pop() if len(of_all) == 1 else None for of_all in found]


def _decide(share_female: float) -> str | None:
    # Of an unknown name the share is NaN, for which neither comparison holds.
    return "female" if share_female >= CERTAIN else "male" if 1 - share_female >= CERTAIN else None


def _read_census(download_if_missing: bool) -> Callable[[list[str]], list[float]]:
    female, male = (parse_first_names(read_file(file, download_if_missing)) for file in FILES)
    return lambda people: [_share_female(person, female, male) for person in people]


def _share_female(person: str, female: Mapping[str, float], male: Mapping[str, float]) -> float:
    letters = unicodedata.normalize("NFKD", person)
    first = "".join(c for c in letters if not unicodedata.combining(c)).split()[0].upper()
    together = female.get(first, 0.0) + male.get(first, 0.0)
    return female.get(first, 0.0) / together if together else math.nan


def parse_first_names(content: bytes) -> dict[str, float]:
    """Turn the bytes of a Census list (name, percent, cumulative percent, rank) into percents by name."""
    from ifair.datasets.text_columns import parse_numbers, read_columns

    table = read_columns(content, ["name", "percent"], names=["name", "percent", "cumulative", "rank"], sep=r"\s+")
    return dict(zip(table["name"], parse_numbers(table["percent"])))


def _open_nomquamgender() -> Callable[[list[str]], list[float]]:
    require_extra("names_list='nomquamgender'", ["nomquamgender"], "names")
    with warnings.catch_warnings():
        # The package opens its list by a function that Python has deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_module("nomquamgender").NBGC().get_pgf
