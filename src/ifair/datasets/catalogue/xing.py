"""Xing: the people that a German job portal showed for 57 job searches, in January 2017."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ifair.datasets.about import About, DataFile, Origin, Statistics
from ifair.datasets.load_options import LoadOptions
from ifair.errors import IfairError, check_choice, unknown_name

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
_CHECKSUMS = """
44117eaab97355bffc29ce557dfc3520ed82f737dc91c7999db3cccb6b2fbfb3 122180 SHAano01_1-40.json
4778a2090c19a31627323d2ec04c6326cf61e19ebb79d946515d3cb451937f37  84539 SHAano02-41-80.json
a1bf7eb2c8728f3c41a3d47f294f5a0500add3c531d0ae26c3bba67f7c7990e7 140761 SHAano03_81-120.json
3c1b6588e3c5ddd208c9db62e8e83681109c3d8a4e61006128ccd0d9525a9ae7 132161 SHAano04_121-160.json
e66a6a5a85716423ab8eeff3b22ffcd21feff206094dd8140f4cf5533b6931fd 110738 SHAano05_161-200.json
c8744d0af53a9a542e4039963815a9f614f9451e63dd3de455046526cad3a991 140283 SHAano06_201-240.json
0aad60719e411099823ecf5c3c0c2c6118913033581d5a2c01b5e0ec3860627c 110840 SHAano07_241-280.json
259848a8d6b62e99b6d7705fd8a20a0995c5c80a277b7438ae622e488b3e1fd3 131139 SHAano08_281-320.json
9be56e34c0732b13f613090a9ede9285b7cdaed93893f8f075df45ed8f72e863 124126 SHAano09_321-360.json
3ba1d07e306148bc60f9c2173aef3e2c4d2a536862fbea2b8139708a98975b72 100325 SHAano10_361-400.json
5d6bd43d44b1c5cef6bcd73ef26b17fc1f530e8189e45c515f97e5a2129bdf3e  95754 SHAano11_401-440.json
9c6c078753ccc9ac9afc04951b35e375cca5eb9ce19dc2eb86b1dc5fba92fed3 131418 SHAano12_441-480.json
56c9de40db3a96f93a735fba62729a50b26da91ec6d2cf733efd2582e087c5cd 137743 SHAano13_481-520.json
d5b86d433561b475ffcbd9b768bd54af7f5007b2042517d86caef80b7a12a653 106665 SHAano14_521-560.json
fafbf0b452e3e8288bc740025dde7bd99442768c8196472641129102f2dfd92f  98499 SHAano15_561-600.json
e9ffa876d57633e2889d45a1357cffd4de70ea6c524dc4b71e0f8d4462c49fd5  91907 SHAano16_601-640.json
d9dc61b2e4430f8fb22b174cd9ca8f152946c150ee18dc2bbe27a62f989e54a1 100552 SHAano17-641-680.json
3ebf32717049d980af84b7f16ff1074149da467fe3f4762b01825cd969521001 106644 SHAano18_681-720.json
081d948595ee60da689efa69229bec11d8c3cbee65ccd2c4dc9d4e2dcd3409a6 102278 SHAano19_721-760.json
088c09200b6141982f687af4a976f9389607db05715ebc402e07e63026627044 106343 SHAano20_761-800.json
7d183617cddabd541a2d66752662d5c8d8c430fafe68a5655c2e7703be8a209b 106183 SHAano21_801-840.json
ab602c5bcc39aeb835268ec31d933aa11c428ef0689c2acaa8679c750f712e57 133925 SHAano22_841-880.json
91745c9fe49dc55626204e0a07bfd238345c7e65d51d9a955637978bebaa69ef 100124 SHAano23_881-920.json
c62255433ff025b08b31d8aa81783808c7222dc77bab0cf468428bd249ac4ea9 102579 SHAano24_921-960.json
a08a482efb4269351de942265c67e2c07d541fe0788e57d1fe7b3d79f801f070  93009 SHAano25_961-1000.json
6dcf0503571d9dd83c9d653f19497211b8d4f2fe8f05cbf972d6915e6569e600 153139 SHAano26_1001-1040.json
04b7d4cdae922f64e16567c4bf91d1455cc3d2f683a534b292a8ac55cafd116f  74454 SHAano27_1041-1080.json
eeabe99faef34ed230d9aeec42436f3313d599cf21fcb19df14e1bb1ce194eb6  93877 SHAano28_1081-1120.json
82c32801e25e10ad3db6139e462c538084ed14599bbc99245d772cdb6e08e7ec 131346 SHAano29_1121-1160.json
d74495804c39d855bb36636f5e2edfc53ce33d2516a3148103a0a75176786c16  84806 SHAano30_1161-1200.json
e68e3d7e093cd4c8d4af72e8e55bfab87795f8a9e5f7eae356c586b79d386185 107198 SHAano31_1201-1240.json
397f02bf798fa3316b5955a689a91ab8a1c53e6789d34fb055f688a54008c46f 102219 SHAano32_1241-1280.json
a33e151a0cf2232f4da9f6930514766bee981df1f597e7cc68bfa57685d885c6 115323 SHAano33_1281-1320.json
8ae2040eeaf8e8606b7561d8420d33870ade910ffba0b319776adeab15b80fd9 111055 SHAano34_1320-1360.json
65e4e7234921d16235ec8171d709ad111c2263e040c7251b444b6d2d412e35a0 123527 SHAano35-1361-1400.json
975caece166cea65fb15a7abeaacff24fec378cd0b41ab33de43f9dfd779c806 154394 SHAano36-1401-1440.json
177fb666519da4f15313445ee23dcb5e00b2bea9a82ce493f2594d02bf96812e  92810 SHAano37_1441-1480.json
fe1f967df739f256d19b9304c8300167e68873eccfe1a789e306ae76f3213fbf 126654 SHAano38_1481-1520.json
7e048d0e470a7d6492eb58e2c06ffe78eecc76e02c2e2ce03ebb20dc68cb9b2a 106444 SHAano39_1521-1560.json
7b4592ffff38bc31b0fb2b420c380f8c170bed71ad1f77ddd7b24dd009173f89 107818 SHAano40_1561-1600.json
c9f4a178696f4c84046e1983c993befa56d9db3ddf10055138c78a7c9809c8dd 140316 SHAano41_1601-1640.json
8ece9dbb59aa44ee552fc0a6018d80c363014289cc6a39e02b162caa66498a29 180929 SHAano42_1641-1680.json
bd6a7cc34f0882bb52bef2a59ced0fdbda916df53d9e7194af02b786b16b8cd9 204090 SHAano43_1681-1720.json
22ae35c77eb180b612e4c5e3a4b90d1741783a470d0b08ab869d2f97e8ae76e8 116966 SHAano44_1721-1760.json
8611ac635056e717ef7dc88bfaaa96c0e83aa98010e2f18dd1c5cc3c1e45134f 136369 SHAano45_1760-1800.json
d8bff6930f39f6c2577c49244c9bd91b5a4d754a34cbf461ee6bdc584cb05779 123033 SHAano46_1801-1840.json
4a96784f613e4f18062634bc021a7ee0eed8cae1bedd1824efe847795b5261cc 163317 SHAano47_1841-1880.json
323b9ee6c8e6bff78dab33f03c3879360233f7d4d307a41bdbcb14215bbe9436 178259 SHAano48_1881-1920.json
77712d730d0f96de064f7a7d6eb553f08ff8995ee979f53d3a41a595fe60dbed 138973 SHAano49_1921-1960.json
55474ce90d10cb7ba17eee7c7422cf0b5e494677c76bba00fd61cd0e6e7e0605  80252 SHAano50_1961-2000.json
449c019a9c2e7eccc74753148b301078edf3262d7048f58ee1b1cadb946d05a4  99555 SHAano51_2001-2040.json
39b5e17b7c4424c99c54c82148d8e30853184d8e0d747f82c8558e026a50c0df 171860 SHAano52_2041-2080.json
c8535b77c17ed9cd1734eab84d55339fd1d0e24c4fd4970c6b34e9d3e02bd43c 136593 SHAano53_2081-2120.json
1e027618a66329a1f3ccdd6b70fa80e66a1fce03c0d1e797bd84a0bd2905600a  98394 SHAano54_2121-2160.json
dedb8aa8717f6bd26c2a0e8761cae51d5801d797ab307f14e4be5c2c4e1d7d8c 146313 SHAano55_2161-2200.json
754639b4cd1db6f64fc5f2de36b8346b375e3cf7ad4f71a9ff525d8dbc3cdce2 117443 SHAano56_2201-2240.json
202d762fef1a39f5b2bbdcd4d3427448adda0580fce63c59f53d576be60aaee2 193024 SHAano57_2241-2280.json
"""
FILES = tuple(
    DataFile(f"xing/json/{name}", sha256, int(size), tuple(Origin(f"{home}/{name}") for home in _HOMES))
    for sha256, size, name in map(str.split, _CHECKSUMS.strip().splitlines())
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

    check_choice("recipe", recipe, RECIPES)
    check_choice("scale", scale, SCALES)
    loading = LoadOptions(**options)
    tables = [parse_xing(loading.read(file), file.name) for file in FILES]
    frame = pd.concat(tables, ignore_index=True)
    if recipe == "56-queries":
        if left_out not in set(frame["job_search"]):
            raise unknown_name("query", left_out, frame["job_search"].unique())
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


def parse_xing(content: bytes, where: str) -> pd.DataFrame:
    """Turn the JSON of one query into records: job_search, three qualifications, sex."""
    import pandas as pd

    from ifair.datasets.strict_text import decode

    try:
        document = json.loads(decode(content, where))
    except (ValueError, RecursionError) as error:
        raise IfairError(f"{where}: not JSON ({error})") from error
    query, people = _get(document, "category", where), _get(document, "profiles", where)
    if not isinstance(query, str) or not isinstance(people, list) or not people:
        raise IfairError(f"{where}: not a query with its profiles")
    rows = []
    for rank, person in enumerate(people, start=1):
        spot = f"{where}, profile {rank}"
        profiles = _get_list(person, "profile", spot)
        if len(profiles) != 1:
            raise IfairError(f"{spot}: {len(profiles)} profiles of one person")
        sex = _get(profiles[0], "sex", spot)
        if not isinstance(sex, str) or sex not in SEXES:
            raise IfairError(f"{spot}: the sex is {str(sex)[:20]!r}, none of {', '.join(SEXES)}")
        jobs = [_get_dates(job, "jobDates", spot) for job in _get_list(profiles[0], "jobs", spot)]
        studies = [_get_dates(study, "eduDuration", spot) for study in _get_list(person, "education", spot)]
        education = sum(UNDATED_MONTHS if dates is None else count_months(dates, spot) for dates in studies)
        rows.append((query, count_work_months(jobs, spot), education, _count_views(profiles[0], spot), SEXES[sex]))
    return pd.DataFrame(rows, columns=["job_search", *QUALIFICATIONS, "sex"])


def count_work_months(jobs: Sequence[str | None], spot: str) -> int:
    """Add up the jobs of a person; one without dates counts as long as the job listed before it."""
    total = length = 0
    for dates in jobs:
        length = length if dates is None else count_months(dates, spot)
        total += length
    return total


def count_months(dates: str, spot: str) -> int:
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
        raise IfairError(f"{spot}: {dates[:40]!r} is not a period") from None
    return math.ceil((end - start).total_seconds() / SECONDS_A_MONTH)


def _count_views(profile: Any, spot: str) -> int:
    """The number after the slash of ``16. September 2008 / 2418``; 1 where the profile shows none."""
    text = profile.get("memberSince_Hits")
    if text is None:
        return 1
    if not isinstance(text, str):
        raise IfairError(f"{spot}: the profile views are not text")
    match = re.fullmatch(r"[^/]*/\s*(\d{1,9})\s*", text, flags=re.ASCII)
    if match is None and "/" in text:
        raise IfairError(f"{spot}: {text[:40]!r} holds no number of profile views")
    return int(match[1]) if match else 1


def _get(container: Any, key: str, spot: str) -> Any:
    if not isinstance(container, Mapping) or key not in container:
        raise IfairError(f"{spot}: there is no {key!r}")
    return container[key]


def _get_list(container: Any, key: str, spot: str) -> list[Any]:
    value = container.get(key, []) if isinstance(container, Mapping) else None
    if not isinstance(value, list):
        raise IfairError(f"{spot}: {key!r} is not a list")
    return value


def _get_dates(entry: Any, key: str, spot: str) -> str | None:
    dates = entry.get(key) if isinstance(entry, Mapping) else 0
    if dates is not None and not isinstance(dates, str):
        raise IfairError(f"{spot}: {key!r} is not a period")
    return dates
