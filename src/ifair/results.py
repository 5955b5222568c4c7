"""The files that commands write, typed: a tuning, the evidence of an audit, a demo, a reproduction of the paper.

The types here are the one description of the files: whoever writes, reads or shows them uses these, and
:func:`check_schema` compares any data with them. What is not required is left out for some tasks, or by earlier
releases. A change of a key is a new version.
"""

import json
import math
import platform
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, TypedDict, Union, get_args, get_origin, get_type_hints, is_typeddict

from ifair import __version__
from ifair.errors import IfairError
from ifair.files import check_regular

Task = Literal["classification", "regression", "ranking"]
Number = float | None
"""None where it is undefined."""
Bounds = list[Number]
"""The two ends of a 95 % interval."""
Setting = dict[str, Any]
"""Of iFair ``K``, ``share`` (mu with lambda + mu = 1) and ``variant``."""


class Choices(TypedDict, total=False):
    """The id of the point that each rule chooses; see :mod:`ifair.evaluate.rules`."""

    most_useful: str
    fairest: str
    balanced: str


class Validation(TypedDict):
    """What settings are chosen by; ``corrected`` for chance, and ``ranks``, are consistencies that no constant wins."""

    utility: Number
    yNN: Number
    accuracy: NotRequired[Number]
    corrected: NotRequired[Number]
    ranks: NotRequired[Number]


class CandidateData(TypedDict):
    """All that tells a candidate from another, see :class:`ifair.evaluate.candidates.Candidate`: enough to fit it."""

    method: str
    setting: Setting
    model: str
    post: dict[str, Any] | None


class TunedPoint(TypedDict):
    """A setting that was tried."""

    id: str
    name: str
    role: "Role"
    candidate: CandidateData
    validation: Validation


class TunedData(TypedDict):
    """Which table was tuned on."""

    name: str
    records: int
    fingerprint: str


class Tuning(TypedDict):
    """What ``ifair tune`` writes."""

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


class Estimate(TypedDict):
    """A measure with its 95 % interval."""

    estimate: Number
    low: Number
    high: Number


class Difference(TypedDict):
    """A point minus another, with the 95 % interval over the same people, and what that is called."""

    estimate: Number
    low: Number
    high: Number
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


class Caution(TypedDict):
    """What to know before praising a point."""

    tag: str
    text: str


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


Role = Literal["full", "deleted", "penalised", "ours", "rival"]
"""What a point is to a reader: the data as they are, the protected columns deleted, the same with a tuned penalty."""


class Verdict(TypedDict):
    """The referee's sentence about a point; ``worth`` is whether it is better than deleting the protected columns."""

    choice: str
    worth: bool
    sentence: str
    rule: str
    reasons: list[str]


class FrontStep(TypedDict):
    """The best consistency of ranks at a utility of no less than this, with its interval."""

    utility: float
    best: float
    low: float
    high: float


class Point(TypedDict):
    """A candidate and everything that was measured of it.

    ``label`` is a letter that people call it by. ``differences`` are paired, this point minus the point of a role, for
    every measure that both have. ``other_peers``: consistency of ranks by other neighbours than those used (``k5``,
    ``k20``, ``mahalanobis``). ``batch``: the same people decided about together. ``bound``: the smallest yNN of any
    model on this representation.
    """

    id: str
    name: str
    family: str
    setting: Setting
    blind: bool
    on_front: bool
    validation: Validation
    test: JudgedMeasures
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
    candidate: CandidateData
    label: NotRequired[str]
    role: Role
    threshold: Number
    differences: NotRequired[dict[str, dict[str, Difference]]]
    other_peers: NotRequired[dict[str, Number]]
    batch: NotRequired[JudgedMeasures]
    changed: NotRequired[list[ChangedPerson]]
    bound: NotRequired[Number]
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
    """The table; ``positive`` is the value of the target that counts as 1, ``group`` who is protected, in words."""

    name: str
    description: str
    source: str
    licence: str
    records: int
    target: str
    positive: NotRequired[str | None]
    protected: list[str]
    group: NotRequired[str]
    ranked_by: str | None
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


class ComparedAttribute(TypedDict):
    """How an attribute counts in who is like whom; ``unit`` of numbers is what counts as a distance of one."""

    name: str
    kind: Literal["number", "category", "ordered"]
    unit: Number
    weight: float


class SimilarityData(TypedDict):
    """Who is like whom: ``caliper`` is how far peers may be apart, None for any distance."""

    name: str
    neighbours: int
    caliper: Number
    no_close_peers: int
    attributes: list[ComparedAttribute]


class Evidence(TypedDict):
    """What ``ifair audit`` writes, and ``ifair report`` makes a page of."""

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
    similarity: NotRequired[SimilarityData]
    verdict: NotRequired[Verdict]
    front: NotRequired[list[FrontStep]]


class ComparedMethod(TypedDict):
    """A method and its measures, each a list with one value per split."""

    name: str
    measures: dict[str, list[float]]


class Demonstration(TypedDict):
    """What ``ifair demo`` writes beside the report."""

    format: Literal["ifair-demo"]
    version: Literal[2]
    data: dict[str, Any]
    settings: dict[str, Any]
    methods: list[ComparedMethod]
    environment: dict[str, Any]


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


class Results(TypedDict):
    """What ``ifair reproduce`` writes: the summary of each experiment, and the paper's own numbers."""

    format: Literal["ifair-reproduce"]
    version: Literal[2]
    runs: dict[str, dict[str, Run]]
    experiments: dict[str, Any]
    paper: dict[str, Any]


class ResultsError(IfairError):
    """A file that is not what a command writes; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: its type, which names format and version, and the command that writes it."""

    schema: Any
    command: str

    @property
    def mark(self) -> tuple[str, int]:
        """Format and version."""
        hints = _hints(self.schema)
        return get_args(hints["format"])[0], get_args(hints["version"])[0]


TUNING = Format(Tuning, "ifair tune")
EVIDENCE = Format(Evidence, "ifair audit --output")
DEMONSTRATION = Format(Demonstration, "ifair demo")
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


def read_results(path: Path, format_: Format) -> Any:
    """Plain data that one of our commands wrote, compared with its type."""
    check_regular(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ResultsError(f"{path} is not JSON ({error}); write it with `{format_.command}`") from error
    check_results(content, format_, str(path))
    return content


def check_results(content: Any, format_: Format, name: str = "this") -> None:
    """Refuse what is not of this format, or of another version, or lacks something."""
    format_name, version = format_.mark
    found = (content.get("format"), content.get("version")) if isinstance(content, dict) else None
    if found is None or found[0] != format_name:
        raise ResultsError(
            f"{name} is not what `{format_.command}` writes: it should be of the format {format_name}, and is "
            + (f"of the format {found[0]}" if found and found[0] else "of no format of ifair")
        )
    if found[1] != version:
        raise ResultsError(
            f"{name} is of version {found[1]}, and this release reads version {version}; "
            f"write it again with `{format_.command}`"
        )
    check_schema(content, format_.schema, name)


def check_schema(data: Any, schema: Any, name: str = "data") -> None:
    """Compare plain data with a type: a TypedDict, list, dict, Literal, union, or a plain type.

    Raises
    ------
    ResultsError
        Which names the first place that does not fit.

    Examples
    --------
    >>> check_schema({"person": 3, "gap": "large"}, Worst)
    Traceback (most recent call last):
    ifair.results.ResultsError: data.gap must be float or None, got 'large'
    """
    options = get_args(schema) if get_origin(schema) in (Union, UnionType, Literal) else (schema,)
    kind = next((one for one in options if _fits(data, one)), ...)
    if kind is ...:
        wanted = " or ".join(getattr(one, "__name__", str(one)).replace("NoneType", "None") for one in options)
        wanted = "hold named values" if is_typeddict(schema) else f"be {wanted}"
        raise ResultsError(f"{name} must {wanted}, got {data!r:.60}")
    if is_typeddict(kind):
        hints = _hints(kind)
        unfit = {"lacks": kind.__required_keys__ - set(data), "must not have": set(data) - set(hints)}
        for what, keys in unfit.items():
            if keys:
                raise ResultsError(f"{name} {what} {', '.join(sorted(map(str, keys)))}")
        for key, value in data.items():
            check_schema(value, hints[key], f"{name}.{key}")
    elif get_origin(kind) is dict:
        for key, value in data.items():
            check_schema(value, get_args(kind)[1], f"{name}.{key}")
    elif get_origin(kind) is list and not _all_plain(data, get_args(kind)[0]):
        for i, value in enumerate(data):
            check_schema(value, get_args(kind)[0], f"{name}[{i}]")


def _fits(data: Any, kind: Any) -> bool:
    """Whether data is of a kind, or the literal itself, looked at from outside."""
    if kind is Any or isinstance(kind, (str, int)):
        return kind is Any or data == kind
    outer = dict if is_typeddict(kind) else get_origin(kind) or kind
    if outer is float:
        return type(data) in (int, float) and math.isfinite(data)
    return isinstance(data, outer) and (outer is bool or not isinstance(data, bool))


def _all_plain(data: list[Any], item: Any) -> bool:
    """Whether all are numbers, or texts, of this type: a short way through the columns of thousands of people."""
    types: dict[Any, set[type]] = {float: {int, float}, Number: {int, float, NoneType}, int: {int}, str: {str}}
    found = set(map(type, data))
    return found <= types.get(item, set()) and (float not in found or all(x is None or math.isfinite(x) for x in data))


@cache
def _hints(schema: Any) -> dict[str, Any]:
    return get_type_hints(schema)
