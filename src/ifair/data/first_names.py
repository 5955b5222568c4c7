"""The gender that a first name suggests, from lists of common first names."""

import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec

from ifair.data.errors import DataError, unknown
from ifair.data.reading import numbers, read_plain
from ifair.data.sources import data_files
from ifair.data.store import read

LISTS = ("census", "nomquamgender")
# A name counts as one gender's if at least this share of its bearers has it.
CERTAIN = 0.8
_SEVERAL_PEOPLE = re.compile(r"&|\+|\band\b", flags=re.IGNORECASE)


def genders(names: Iterable[str], names_list: str = "census", download_if_missing: bool = True) -> list[str | None]:
    """Infer genders from names such as ``"Mary"``, ``"Mary Ann Smith"`` or ``"Mary & Linda"``.

    Parameters
    ----------
    names : iterable of str
        A field that names several people counts only if all of them have the same gender.
    names_list : {"census", "nomquamgender"}, default="census"
        The first-name frequencies of the US Census of 1990, or the larger list of the package
        ``nomquamgender``.

    Returns
    -------
    list of "female", "male" or None
    """
    if names_list not in LISTS:
        raise unknown("list of first names", names_list, LISTS)
    people = [[p.strip() for p in _SEVERAL_PEOPLE.split(name) if p.strip()] for name in names]
    everyone = sorted({person for several in people for person in several})
    share = _census(download_if_missing) if names_list == "census" else _nomquamgender()
    known = dict(zip(everyone, map(_decide, share(everyone))))
    found = [{known[person] for person in several} for several in people]
    return [of_all.pop() if len(of_all) == 1 else None for of_all in found]


def _decide(share_female: float | None) -> str | None:
    if share_female is None:
        return None
    # An unknown name may also come as NaN, for which neither comparison holds.
    return "female" if share_female >= CERTAIN else "male" if 1 - share_female >= CERTAIN else None


def _census(download_if_missing: bool) -> Callable[[list[str]], list[float | None]]:
    female, male = (parse_first_names(read(file, download_if_missing), file.name) for file in data_files("first_names"))
    return lambda people: [_share(person, female, male) for person in people]


def _share(person: str, female: Mapping[str, float], male: Mapping[str, float]) -> float | None:
    letters = unicodedata.normalize("NFKD", person)
    first = "".join(c for c in letters if not unicodedata.combining(c)).split()[0].upper()
    together = female.get(first, 0.0) + male.get(first, 0.0)
    return female.get(first, 0.0) / together if together else None


def parse_first_names(content: bytes, where: str) -> dict[str, float]:
    """Turn the bytes of a Census list (name, percent, cumulative percent, rank) into percents by name."""
    columns = read_plain(content, where, ["name", "percent", "cumulative", "rank"], separator=None)
    return dict(zip(columns["name"], numbers(columns, "percent", where, 0, 100).astype(float)))


def _nomquamgender() -> Callable[[list[str]], list[float | None]]:
    if find_spec("nomquamgender") is None:
        raise DataError("the first names of nomquamgender are not installed: pip install nomquamgender")
    with warnings.catch_warnings():
        # The package opens its list by a function that Python has deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_module("nomquamgender").NBGC().get_pgf
