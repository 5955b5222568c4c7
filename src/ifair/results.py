"""The files that commands write, typed: a tuning, the evidence of an audit, a reproduction of the paper.

The types here are the one description of the files: whoever writes, reads or shows them uses these, and reading
compares a file with them. What is not required is left out for some tasks, or by earlier releases. A change of a key is
a new version.
"""

import platform
from collections.abc import Container
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, get_args, get_type_hints

from ifair import __version__
from ifair.files import check_regular
from ifair.plain_data import Number, ResultsError, check_schema, list_places, parse_json

Task = Literal["classification", "regression", "ranking"]
Bounds = list[Number]
"""The two ends of a 95 % interval."""
Setting = dict[str, Any]
"""Of iFair ``K``, ``share`` (mu with lambda + mu = 1) and ``variant``."""


ENOUGH_PEOPLE = 20
"""In a group, for it to take part in a gap."""


class Choices(TypedDict, total=False):
    """The id of the point that each rule chooses; see :mod:`ifair.evaluate.rules`."""

    most_useful: str
    fairest: str
    balanced: str


class Validation(TypedDict):
    """What settings are chosen by; ``corrected`` for chance, and ``ranks``, are consistencies that no constant wins.

    ``positive`` is the share of people who are decided about positively.
    """

    utility: Number
    yNN: Number
    accuracy: NotRequired[Number]
    corrected: NotRequired[Number]
    ranks: NotRequired[Number]
    positive: NotRequired[Number]


class CandidateData(TypedDict):
    """All that tells a candidate from another, see :class:`ifair.evaluate.candidates.Candidate`: enough to fit it."""

    method: str
    setting: Setting
    model: str
    post: dict[str, Any] | None


Role = Literal["full", "deleted", "penalised", "ours", "rival"]
"""What a point is to a reader: the data as they are, the protected columns deleted, the same with a tuned penalty."""


class TunedPoint(TypedDict):
    """A setting that was tried; ``passed_over``: why no rule may choose it."""

    id: str
    name: str
    role: Role
    candidate: CandidateData
    validation: Validation
    passed_over: NotRequired[str]


class TunedData(TypedDict):
    """Which table was tuned on."""

    name: str
    records: int
    fingerprint: str
    weighted_by: NotRequired[str]


class Parity(TypedDict):
    """Groups of a column are to get the same rate of positive decisions, of all or of those expected to be positive.

    By a threshold of each, found on validation people.
    """

    kind: Literal["selection", "opportunity"]
    groups: str


class Caution(TypedDict):
    """What to know before praising a point, or before relying on a table."""

    tag: str
    text: str


class Tuning(TypedDict):
    """What ``ifair tune`` writes; ``cautions`` are about the table."""

    format: Literal["ifair-tuning"]
    version: Literal[3]
    data: TunedData
    task: Task
    utility: str
    seed: int
    solver: dict[str, Any]
    trials: list[TunedPoint]
    front: list[TunedPoint]
    baselines: list[TunedPoint]
    choices: Choices
    similarity: dict[str, Any]
    categorical: list[str]
    learned_from: int
    threshold: Number
    parity: NotRequired[Parity]
    cautions: NotRequired[list[Caution]]


class Estimate(TypedDict):
    """A measure with its 95 % interval."""

    estimate: Number
    low: Number
    high: Number


class Difference(Estimate):
    """A point minus another, with the 95 % interval over the same people, and what that is called."""

    word: Literal["better", "worse", "more", "fewer", "the same", "no clear difference"]


class JudgedMeasures(TypedDict):
    """On people whom no model has seen; see :meth:`ifair.evaluate.judgement.Judgement.measures`."""

    utility: Estimate
    yNN: Estimate
    accuracy: NotRequired[Estimate]
    positive: NotRequired[Estimate]
    spread: NotRequired[Number]
    corrected: NotRequired[Estimate]
    matched: NotRequired[Estimate]
    ranks: NotRequired[Estimate]


class Group(TypedDict):
    """People of one group: true mean outcome, mean decision, true positive rate; in rankings the share at the top."""

    label: str
    n: int
    base: Number
    rate: Number
    rate_interval: NotRequired[Bounds]
    tpr: NotRequired[Number]
    tpr_interval: NotRequired[Bounds]
    top: NotRequired[Number]
    share: NotRequired[Number]


class Partition(TypedDict):
    """Groups that everybody is in one of, and the largest gaps between them."""

    partition: str
    groups: list[Group]
    parity: Number
    parity_interval: NotRequired[Bounds]
    opportunity: NotRequired[Number]
    opportunity_interval: NotRequired[Bounds]


class Attack(TypedDict):
    """How well an adversary guesses a partition."""

    partition: str
    people: NotRequired[int]
    auc: Number
    reversed: NotRequired[bool]
    accuracy: Number
    majority: Number
    interval_of: Literal["auc", "accuracy"]
    low: Number
    high: Number


class Certificate(TypedDict):
    """How far distances on what may count are kept."""

    epsilon: Number
    share: float
    confidence: float
    pairs: int
    mean: Number
    typical_distance: Number


class Flip(TypedDict):
    """What changes if only protected attributes do."""

    mean: Number
    worst: Number
    worst_person: int
    share_flipped: Number
    interval: NotRequired[Bounds]
    alternatives: int


class Worst(TypedDict):
    """Somebody treated worse than the people most like them."""

    person: int
    gap: Number


class FlippedPeople(TypedDict):
    """Everybody's score with other protected attributes, and which ones: a number in ``alternatives``."""

    score: list[float]
    to: list[int]


class ChangedPerson(TypedDict):
    """Somebody about whom the plain model decides otherwise, and the peers that made the difference."""

    person: int
    before: Number
    after: Number
    peers: list[int]


class PointPeople(TypedDict):
    """What a point does to everybody."""

    score: list[float]
    flip: FlippedPeople | None
    alternatives: list[dict[str, str]]


class Archetypes(TypedDict):
    """A table; its first two columns are the share and the followers."""

    columns: list[str]
    rows: list[list[Any]]


class Weight(TypedDict):
    """Of an attribute."""

    name: str
    weight: Number


class Verdict(TypedDict):
    """The referee's sentence about a point; ``worth`` is whether it is better than deleting the protected columns.

    ``besides``: what to know before following it, though it stands; ``scope``: whom and what it is about.
    """

    choice: str
    worth: bool
    sentence: str
    rule: str
    reasons: list[str]
    besides: NotRequired[list[Caution]]
    scope: NotRequired[str]


class FrontStep(TypedDict):
    """The best consistency of ranks at a utility of no less than this, with its interval."""

    utility: float
    best: float
    low: float
    high: float


class Point(TunedPoint):
    """A candidate and everything that was measured of it.

    ``label`` is a letter that people call it by. ``differences`` are paired, this point minus the point of a role, for
    every measure that both have. ``graders``: consistency by other neighbours than those used (``k5``, ``k20``,
    ``mahalanobis``). ``batch``: the same people decided about together. ``bound``: the smallest yNN of any
    model on this representation. ``parity_gap``: what is left of the gap between groups that are to get the same rate.
    """

    family: str
    setting: Setting
    blind: bool
    on_front: bool
    test: JudgedMeasures
    graders: NotRequired[dict[str, dict[str, Number]]]
    groups: list[Partition]
    adversary: list[Attack]
    certificate: Certificate
    flip: Flip | None
    worst: list[Worst]
    cautions: NotRequired[list[Caution]]
    people: PointPeople
    archetypes: Archetypes | None
    weights: list[Weight] | None
    converged: NotRequired[bool]
    label: NotRequired[str]
    threshold: Number
    differences: NotRequired[dict[str, dict[str, Difference]]]
    batch: NotRequired[JudgedMeasures]
    changed: NotRequired[list[ChangedPerson]]
    bound: NotRequired[Number]
    parity_gap: NotRequired[Estimate]
    verdict: NotRequired[Verdict]


class LeftOut(TypedDict):
    """A candidate that could not be trained."""

    name: str
    why: str


class Utility(TypedDict):
    """The main measure of usefulness, what it says, and what a model that knows nothing reaches."""

    name: str
    explained: str
    chance: Number


class Column(TypedDict):
    """A column of the table."""

    name: str
    kind: Literal["number", "category"]
    values: int
    missing: int
    protected: bool


class AuditedData(TypedDict):
    """The table; ``positive`` and ``negative`` are the values of the target that count as 1 and 0, ``group`` is who is
    protected, in words.

    ``weighted_by`` is the column that says how many people each one stands for, ``counted_once`` what it does not count
    in. ``unknown_others``: people who are not in the group, and may be by a protected value that they lack.
    """

    name: str
    description: str
    source: str
    licence: str
    records: int
    target: str
    positive: NotRequired[str | None]
    negative: NotRequired[str | None]
    protected: list[str]
    group: NotRequired[str]
    ranked_by: str | None
    weighted_by: NotRequired[str]
    counted_once: NotRequired[list[str]]
    unknown_others: NotRequired[int]
    group_share: Number
    base_protected: Number
    base_others: Number
    parts: dict[str, int]
    columns: list[Column]


class AuditSettings(TypedDict):
    """How the audit was done."""

    seed: int
    neighbours: int
    wanted_neighbours: int
    without_peers: NotRequired[int]
    similarity: NotRequired[dict[str, Any]]
    resamples: int
    solver: dict[str, Any]
    model: str
    tuned: bool
    categorical: list[str]
    parity: NotRequired[Parity]


class Attribute(TypedDict):
    """A column of the people: numbers, or codes of labels."""

    name: str
    values: NotRequired[list[Number]]
    labels: NotRequired[list[str]]
    codes: NotRequired[list[int]]


class People(TypedDict):
    """Everybody in the test part, column by column."""

    ids: list[str]
    attributes: list[Attribute]
    group: list[int]
    truth: list[Number]
    query: list[str] | None
    neighbours: list[list[int]]
    distances: list[list[float]]


class Evidence(TypedDict):
    """What ``ifair audit`` writes, and ``ifair report`` makes a page of.

    ``cautions`` are about the table, and so about every point alike.
    """

    format: Literal["ifair-evidence"]
    version: Literal[3]
    task: Task
    utility: Utility
    higher_is_better: bool
    data: AuditedData
    settings: AuditSettings
    versions: dict[str, str]
    points: list[Point]
    left_out: list[LeftOut]
    choices: Choices
    people: People
    cautions: NotRequired[list[Caution]]
    verdict: NotRequired[Verdict]
    front: NotRequired[list[FrontStep]]


class Source(TypedDict):
    """A dataset, and how far it was cut down."""

    name: str
    max_records: int | None
    max_training: int | None
    options: dict[str, Any]


class Run(TypedDict):
    """Where the numbers of an experiment, or of one of its datasets, come from."""

    profile: str
    seeds: list[int]
    units: int
    seconds: float
    sources: list[Source]
    grid: dict[str, Any]
    solver: dict[str, Any]
    left_out: list[str]
    environment: dict[str, str]


Measures = dict[str, float]


class Printed(TypedDict):
    """The paper's own numbers: by rule, method and dataset; by dataset and method; and by weights of Xing's score."""

    classification: dict[str, dict[str, dict[str, Measures]]]
    ranking: dict[str, dict[str, Measures]]
    sensitivity: list[dict[str, Any]]


class Results(TypedDict):
    """What ``ifair reproduce`` writes: the summary of each experiment, and the paper's own numbers.

    What an experiment keeps has its type beside it, in :mod:`ifair.reproduce`; its ``find`` gives it with that type.
    """

    format: Literal["ifair-reproduce"]
    version: Literal[3]
    runs: dict[str, dict[str, Run]]
    experiments: dict[str, Any]
    paper: Printed


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: its type, which names format and version, and the command that writes it."""

    schema: Any
    command: str

    @property
    def mark(self) -> tuple[str, int]:
        """Format and version."""
        hints = get_type_hints(self.schema)
        return get_args(hints["format"])[0], get_args(hints["version"])[0]


TUNING = Format(Tuning, "ifair tune")
EVIDENCE = Format(Evidence, "ifair audit --output")
REPRODUCTION = Format(Results, "ifair reproduce")


def list_versions() -> dict[str, str]:
    """Of ifair, Python and the packages that may change a result; "unknown" where one is vendored."""
    found = {"ifair": __version__, "python": platform.python_version()}
    for name in ("numpy", "scipy", "scikit-learn", "pandas"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found


def find_measure(point: Point, measure: str) -> Any:
    """The estimate and its ends, wherever the evidence has them."""
    if measure.startswith("gap:"):
        one = next((g for g in point["groups"] if g["partition"] == measure.removeprefix("gap:")), None)
        return one and with_ends(one["parity"], one.get("parity_interval"))
    if measure == "flip":
        flip = point["flip"]
        if flip is None:
            return None
        value = flip["mean"] if flip["share_flipped"] is None else flip["share_flipped"]
        # What cannot happen needs no interval.
        return with_ends(value, None if point["blind"] else flip.get("interval"))
    if measure == "leak":
        attack = next(iter(point["adversary"]), None)
        ends = [attack["low"], attack["high"]] if attack and attack["interval_of"] == "auc" else None
        return attack and with_ends(attack["auc"], ends)
    return point["test"].get(measure)


def with_ends(value: float | None, ends: Any = None) -> dict[str, Any]:
    """A number and the ends of its interval, if there is one."""
    low, high = ends or (None, None)
    return {"estimate": value, "low": low, "high": high}


def read_results(path: Path, format_: Format) -> Any:
    """Plain data that one of our commands wrote, compared with its type."""
    check_regular(path)
    try:
        content = parse_json(path.read_bytes())
    except OSError as error:
        raise ResultsError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ResultsError(f"{path} is not JSON ({error}); write it with `{format_.command}`") from error
    check_results(content, format_, str(path))
    return content


def check_results(content: Any, format_: Format, name: str = "this") -> None:
    """Refuse what is not of this format, or of another version, lacks something, or names what is not there."""
    format_name, version = format_.mark
    found = (content.get("format"), content.get("version")) if isinstance(content, dict) else None
    if found is None or found[0] != format_name:
        raise ResultsError(
            f"{name} is not what `{format_.command}` writes: it should be of the format {format_name}, and is "
            + (f"of the format {found[0]!s:.60}" if found and found[0] else "of no format of ifair")
        )
    if found[1] != version:
        raise ResultsError(
            f"{name} is of version {found[1]!s:.60}, and this release reads version {version}; "
            f"write it again with `{format_.command}`"
        )
    check_schema(content, format_.schema, name)
    for key, kind in {"K": int, "share": float, "variant": str, "C": float}.items():
        for holder in ("setting", "candidate.setting"):
            for place, value in list_places(content, f"*.*.{holder}.{key}", name):
                check_schema(value, kind, place)
    if format_ is EVIDENCE:
        _check_people(content, name)
        _check_ids(content["points"], name)
        _check_members(content, "choices.*", {point["id"] for point in content["points"]}, "the id of a point", name)
    elif format_ is TUNING:
        if not content["baselines"]:
            raise ResultsError(f"{name}.baselines is empty")
        for key, most in MOST_WORK.items():
            for place, value in list_places(content, f"solver.{key}", name):
                check_schema(value, int, place)
                if value > most:
                    raise ResultsError(f"{place} must be at most {most:,}, got {value:,}")
        _check_ids(content["front"], name)
        _check_members(content, "choices.*", {point["id"] for point in content["trials"]}, "the id of a trial", name)


MOST_WORK = {"n_restarts": 1_000, "max_iter": 1_000_000}
"""Of the solver in a tuning: whoever reads the file learns with it, and must not be kept busy for ever."""


def _check_ids(points: list[Any], name: str) -> None:
    """Every point has an id of its own."""
    ids = [point["id"] for point in points]
    if len(set(ids)) < len(ids):
        raise ResultsError(f"{name} has two points called {max(ids, key=ids.count)!r:.60}")


PER_PERSON = (
    "people.attributes.*.values",
    "people.attributes.*.codes",
    "people.group",
    "people.truth",
    "people.query",
    "people.neighbours",
    "people.distances",
    "points.*.people.score",
    "points.*.people.flip.*",
)
"""What evidence has one entry of for everybody."""

PEOPLE = (
    "people.neighbours.*",
    "points.*.worst.*.person",
    "points.*.flip.worst_person",
    "points.*.changed.*.person",
    "points.*.changed.*.peers",
)
"""Where evidence names people by their number."""

INTERVALS = ("points.*.groups.*.*_interval", "points.*.groups.*.groups.*.*_interval", "points.*.flip.interval")


def _check_people(content: Any, name: str) -> None:
    """Everybody is in every column, and whoever is named is there."""
    points, people = content["points"], content["people"]
    if lacking := {"train", "validation", "test"} - set(content["data"]["parts"]):
        raise ResultsError(f"{name}.data.parts lacks {', '.join(sorted(lacking))}")
    n = len(people["ids"])
    if not n or not points:
        raise ResultsError(f"{name}.{'points' if n else 'people.ids'} is empty")
    for path in PER_PERSON:
        _check_lengths(content, path, n, "people", name)
    for path in INTERVALS:
        _check_lengths(content, path, 2, "ends", name)
    for path in PEOPLE:
        # -1 where somebody has no more peers.
        known = range(-1 if path == "people.neighbours.*" else 0, n)
        _check_members(content, path, known, f"the number of one of {n} people", name)
    for i, (near, apart) in enumerate(zip(people["neighbours"], people["distances"])):
        if len(near) != len(apart):
            raise ResultsError(f"{name}.people.distances[{i}] must be of {len(near)} neighbours, got {len(apart)}")
    for i, attribute in enumerate(people["attributes"]):
        place = f"{name}.people.attributes[{i}]"
        if ("values" in attribute) == ("codes" in attribute) or ("labels" in attribute) != ("codes" in attribute):
            raise ResultsError(f"{place} must have either values, or labels and codes")
        _check_members(attribute, "codes", range(len(attribute.get("labels", ()))), "the number of a label", place)
    for i, point in enumerate(points):
        place, shown = f"{name}.points[{i}]", point["people"]
        _check_members(shown, "flip.to", range(len(shown["alternatives"])), "the number of an alternative", place)
        if (table := point["archetypes"]) is not None:
            _check_lengths(table, "rows.*", len(table["columns"]), "columns", f"{place}.archetypes")


def _check_lengths(content: Any, path: str, n: int, what: str, name: str) -> None:
    for place, value in list_places(content, path, name):
        if len(value) != n:
            raise ResultsError(f"{place} must be of {n} {what}, got {len(value)}")


def _check_members(content: Any, path: str, known: Container[Any], what: str, name: str) -> None:
    for place, value in list_places(content, path, name):
        for one in value if isinstance(value, list) else [value]:
            if one not in known:
                raise ResultsError(f"{place} must be {what}, got {one!r:.60}")
