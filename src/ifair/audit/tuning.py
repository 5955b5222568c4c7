"""Looking for the best ways to decide on a table of one's own: one front, and three choices with names."""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import pandas as pd
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from ifair.audit.cautions import CHANCE
from ifair.audit.table_cautions import find_telling, list_table_cautions
from ifair.datasets.dataset import Dataset
from ifair.errors import IfairError, suggest_name
from ifair.evaluate.arms import MODELS, Arm, is_penalised, list_arms
from ifair.evaluate.candidates import EXISTING, VARIANTS, Candidate
from ifair.evaluate.fronts import pareto_front
from ifair.evaluate.judgement import brief_measures
from ifair.evaluate.measures import USEFULNESS, plain_number
from ifair.evaluate.rules import (
    ONE_DECISION,
    RULES,
    choose,
    find_worthwhile,
    is_nearly_one_decision,
    list_flaws,
)
from ifair.evaluate.search import search
from ifair.evaluate.splits import split_table
from ifair.evaluate.training import check_parity, fit_representations, train
from ifair.results import Choices, Parity, Role, TunedPoint, Tuning

MEASURES = ("utility", "ranks")
"""Both of scores, so that neither a threshold nor a constant wins."""

SOLVER = {"n_restarts": 1, "max_iter": 300, "tol": 1e-3}
LEARN_FROM = 2_000
"""People that settings are learned from, at most: what is chosen is then fitted on all."""

TOGETHER = 2
"""Settings of iFair that are fitted at once on a device of PyTorch, and learned from together.

So few because more learn less in longer searches, while two lose nothing (``benchmarks/search_portions.py``).
"""

MOST_SHOWN = 8
"""Of our points in an audit of a tuning: a front may have dozens that hardly differ."""


@dataclass(frozen=True, slots=True)
class TuningStep:
    """What an observer is told: the candidate tried last and what it reached, how far the search is, seconds left.

    ``dearest``: how long the whole search takes at most, told once, after the first candidate.
    """

    name: str
    reached: Mapping[str, Any]
    done: int
    total: int
    reused: int
    seconds_left: float
    dearest: float | None = None


def tune(
    dataset: Dataset,
    *,
    n_trials: int = 28,
    models: Sequence[str] = MODELS,
    variant: str = "frozen",
    seed: int = 0,
    journal: str | Path | None = None,
    most_people: int = 5_000,
    learn_from: int = LEARN_FROM,
    solver: Mapping[str, Any] | None = None,
    categorical: Sequence[str] = (),
    similarity: Any = None,
    threshold: float = 0.5,
    parity: tuple[str, str] | None = None,
    observer: Callable[[TuningStep], None] | None = None,
) -> Tuning:
    """Search model, representation and strength of consistent decisions, best in utility and consistency at once.

    Learned on a third of the records and judged on another; the last third is left for the audit. Every pair of model
    and representation has the same number of trials.

    Parameters
    ----------
    dataset : Dataset
        With a target.
    n_trials : int
        Settings to try in all, those of the journal included.
    models : sequence of str
        Names of :mod:`ifair.evaluate.candidates`, or "module:factory" of one's own.
    variant : {"frozen", "paper"}
        Of iFair.
    seed : int
        Of the split, the starts and the search.
    journal : path, optional
        Where trials are kept; the same search goes on from there.
    most_people : int
        People to judge on, at most.
    learn_from : int
        People to learn from, at most.
    solver : mapping, optional
        Parameters of iFair's solver. With the engine "torch" settings of iFair are tried two at once.
    categorical : sequence of str
        Columns of numbers that are codes of categories.
    similarity : Similarity, mapping of its parameters, "attributes" or "paper", optional
        Who is like whom. Default: :class:`ifair.Similarity` of all unprotected attributes.
    threshold : float
        Of two classes: who has a higher score is decided about positively.
    parity : tuple of str, optional
        Judge every setting by decisions that give groups the same rate; see :func:`ifair.audit.evidence`.
    observer : callable, optional
        Told a :class:`TuningStep` after every candidate.

    Returns
    -------
    dict
        ``front``, ``trials`` and ``baselines`` (candidates with their measures on validation data), and ``choices``:
        for each name the id of one. Plain data; :func:`ifair.audit.evidence` and ``ifair fit`` take it.
    """
    if variant not in VARIANTS:
        raise IfairError(f"variant must be one of {', '.join(VARIANTS)}; got {variant!r}")
    options = dict(solver or SOLVER)
    learn = {"n_jobs": -1, **options}
    on_device = str(options.get("engine")).split(":")[0] == "torch"
    parts = split_table(
        dataset, seed, most_people=most_people, most_training=learn_from, categorical=categorical, similarity=similarity
    )
    if parity is not None:
        check_parity(dataset, parts.task, *parity)
    low, high = parts.score_range
    arms = list_arms(parts.task, models, variant=variant, width=high - low)
    shares = [n_trials // len(arms) + (i < n_trials % len(arms)) for i in range(len(arms))]
    clock = _Clock(n_trials, observer)

    def represent(candidates: Sequence[Candidate]) -> list[Pipeline | None]:
        # Of so few people a model is learned faster by one thread than by several that wait for each other.
        with threadpool_limits(1), suppress(ValueError):
            # Those of one arm see the same columns.
            part = parts.blind if candidates[0].drops_protected else parts.train
            return [*fit_representations(candidates, part, seed, learn)]
        return [None] * len(candidates)  # who is to blame is told when everybody is fitted alone

    def reach(candidate: Candidate, fitted: Pipeline | None = None) -> dict[str, Any]:
        with threadpool_limits(1):
            trained = train(candidate, parts, seed, learn, threshold=threshold, fitted=fitted)
            trained = trained if parity is None else trained.at_parity(parts.validation, *parity)
            return dict(brief_measures(parts.validation, trained.outcome(parts.validation), parts))

    about: dict[str, Any] = {
        "data": fingerprint_dataset(dataset),
        "categorical": list(categorical),
        "solver": options,
        "most": [most_people, learn_from],
        "similarity": parts.similarity,
        "threshold": threshold,
        **({} if parity is None else {"parity": list(parity)}),
    }
    try:
        baselines = [_describe(one, reach(one)) for one in (Candidate(m, {}, models[0]) for m in ("full", "masked"))]
    except ValueError as error:
        raise IfairError(f"no model can be trained on {dataset.name}: {error}") from error
    trials: list[TunedPoint] = []
    for arm, share in zip(arms, shares):
        if share:
            together = represent if on_device and arm.candidate(arm.start).is_learned else None
            trials += _search_arm(arm, share, reach, together, clock, journal=journal, about=about, seed=seed)
    # What two searches found is one candidate.
    by_id = {point["id"]: point for point in trials}
    trials = list(by_id.values())
    if penalised := by_id.get(choose_penalised(trials, parts.task) or ""):
        penalised["role"] = "penalised"
        baselines.append(penalised)
    front = find_front(trials)
    if not front:
        raise IfairError(f"{dataset.name}: none of {len(trials)} settings could be judged by {' and '.join(MEASURES)}")
    for id_, why in explain_passed_over(trials, parts.task).items():
        by_id[id_]["passed_over"] = why
    found: Tuning = {
        "format": "ifair-tuning",
        "version": 3,
        "data": {"name": dataset.name, "records": len(dataset), "fingerprint": about["data"]},
        "task": parts.task,
        "utility": USEFULNESS[parts.task][0],
        "seed": seed,
        "solver": options,
        "trials": trials,
        "front": front,
        "baselines": baselines,
        "choices": name_choices([point for point in trials if is_choosable(point)], parts.task),
        "similarity": parts.similarity,
        "categorical": list(categorical),
        "learned_from": len(parts.train),
        "threshold": threshold if parts.task == "classification" else None,
    }
    if dataset.weight is not None:
        found["data"]["weighted_by"] = str(dataset.weight.name)
    if cautions := list_table_cautions(parts, find_telling(dataset), parity):
        found["cautions"] = cautions
    if parity is not None:
        found["parity"] = cast(Parity, {"kind": parity[0], "groups": parity[1]})
    return found


def _search_arm(
    arm: Arm,
    n_trials: int,
    reach: Callable[..., dict[str, Any]],
    represent: Callable[[Sequence[Candidate]], list[Pipeline | None]] | None,
    clock: "_Clock",
    **how: Any,
) -> list[TunedPoint]:
    """The points that a search of one arm tried; settings that are represented at once are tried so, too."""

    def objective(settings: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        candidates = [arm.candidate(setting) for setting in settings]
        began = time.perf_counter()
        fitted = represent(candidates) if represent else [None] * len(candidates)
        each = (time.perf_counter() - began) / len(candidates)
        for candidate, one in zip(candidates, fitted):
            try:
                reached = clock.watch(candidate, partial(reach, fitted=one), each)
            except ValueError as error:
                raise IfairError(f"{candidate.name} cannot be trained: {error}") from error
            undefined = {name: float("nan") for name in MEASURES if reached[name] is None}
            yield {"validation": {**reached, **undefined}}

    about = {**how.pop("about"), "arm": arm.name, "variant": arm.variant}
    found = search(
        objective, arm.space, measures=MEASURES, n_trials=n_trials, start=[arm.start], about=about,
        tell_reused=clock.skip, at_once=TOGETHER if represent else 1, **how,
    )  # fmt: skip
    return [_describe(arm.candidate(trial.setting), trial.result["validation"]) for trial in found]


def _describe(candidate: Candidate, reached: Mapping[str, Any]) -> TunedPoint:
    numbers: Any = {name: None if value is None else plain_number(value) for name, value in reached.items()}
    return {
        "id": candidate.id,
        "name": candidate.name,
        "role": find_role(candidate),
        "candidate": candidate.to_data(),
        "validation": numbers,
    }


class _Clock:
    """Counts candidates, and tells how long the others will take."""

    def __init__(self, total: int, observer: Callable[[TuningStep], None] | None) -> None:
        self.total, self.done, self.reused = total, 0, 0
        self._spent, self._tell = 0.0, observer or (lambda _: None)

    def skip(self, n: int) -> None:
        self.done, self.reused = self.done + n, self.reused + n

    def watch(self, candidate: Candidate, reach: Callable[[Candidate], dict[str, Any]], spent: float) -> dict[str, Any]:
        """What the candidate reaches; so many seconds were spent on it before."""
        began = time.perf_counter()
        reached = reach(candidate)
        took = spent + time.perf_counter() - began
        first = self._spent == 0.0
        self._spent, self.done = self._spent + took, self.done + 1
        left = self.total - self.done
        each = self._spent / (self.done - self.reused)
        self._tell(
            TuningStep(
                candidate.name, reached, self.done, self.total, self.reused, each * left, took * left if first else None
            )
        )
        return reached


def find_role(candidate: Candidate) -> Role:
    """What a candidate is to a reader; which penalty is the tuned one is known when all were tried."""
    if candidate.method in ("full", "masked") and not candidate.setting and candidate.post is None:
        return "full" if candidate.method == "full" else "deleted"
    ours = candidate.method in ("ifair", EXISTING) or (candidate.consistent and candidate.blind)
    return "ours" if ours else "rival"


def is_choosable(point: Mapping[str, Any]) -> bool:
    """Whether the rules may choose it: one of ours that cannot see protected attributes."""
    return bool(point["role"] == "ours" and Candidate.from_data(point["candidate"]).blind)


def find_front(points: Sequence[Any]) -> list[Any]:
    """The points that no other one beats on validation data, the most useful first."""
    if not points:
        return []
    values = [[_number(point["validation"].get(name)) for name in MEASURES] for point in points]
    front = [point for point, on in zip(points, pareto_front(values)) if on]
    return sorted(front, key=lambda point: -_number(point["validation"]["utility"]))


def name_choices(points: Sequence[Mapping[str, Any]], task: str, *, for_use: bool = True) -> Choices:
    """The id of the point that each rule would choose by its measures on validation data.

    Nobody should use what decides nearly the same about everybody: it is chosen only where all worthwhile ones do.
    """
    rows = [point["validation"] for point in points]
    utility, fairness = MEASURES
    chance = CHANCE.get(task, 0.0)
    kept = find_worthwhile(rows, utility=utility, fairness=fairness, chance=chance)
    if for_use:
        kept = [i for i in kept if not is_nearly_one_decision(rows[i].get("positive"))] or kept
    if not kept:
        return {}
    # Both from 0, for what knows nothing, to 1: half of an AUC comes for free.
    scaled = [{utility: (rows[i][utility] - chance) / (1.0 - chance), fairness: rows[i][fairness]} for i in kept]
    chosen = {rule: choose(scaled, rule, utility=utility, fairness=fairness) for rule in RULES}
    return {rule: points[kept[i]]["id"] for rule, i in chosen.items()}  # type: ignore[return-value]


def choose_penalised(points: Sequence[Mapping[str, Any]], task: str) -> str | None:
    """The id of the balanced one of those that only delete the protected columns and have a penalty.

    By its scores alone, whatever is decided by them: it is what others are measured by, and no choice for use.
    """
    penalised = [p for p in points if is_penalised(Candidate.from_data(p["candidate"]))]
    return name_choices(penalised, task, for_use=False).get("balanced")


def list_tuned(tuning: Mapping[str, Any]) -> list[Candidate]:
    """What an audit shows of a tuning: the tuned penalty, the choices, and the front, thinned where it is crowded."""
    penalised = [point for point in tuning.get("baselines", []) if point["role"] == "penalised"]
    ours = [point for point in tuning["front"] if point["role"] == "ours"]
    chosen = set(tuning["choices"].values())
    named = [point for point in tuning.get("trials", []) if point["id"] in chosen]
    room = max(MOST_SHOWN - len({point["id"] for point in named}), 1)
    others = [point for point in ours if point["id"] not in chosen]
    n_shown = min(room, len(others))
    spread = [others[i * len(others) // n_shown] for i in range(n_shown)]
    shown = {point["id"]: point for point in (*penalised, *named, *spread)}
    kept = sorted(shown.values(), key=lambda point: (point["role"] == "ours", -_number(point["validation"]["utility"])))
    return [Candidate.from_data(point["candidate"]) for point in kept]


def find_tuned(tuning: Mapping[str, Any], choice: str) -> Candidate:
    """The point of a tuning that a rule, a letter of the report, or an id names."""
    named = dict(tuning["choices"])
    everything = [*tuning["baselines"], *tuning["front"], *tuning["trials"]]
    by_id = {point["id"]: Candidate.from_data(point["candidate"]) for point in everything}
    plain = [Candidate.from_data(point["candidate"]) for point in tuning["baselines"][:2]]
    named |= {letter(i): candidate.id for i, candidate in enumerate([*plain, *list_tuned(tuning)])}
    found = by_id.get(named.get(choice, choice))
    if found is None:
        hint = suggest_name(choice, [*named, *by_id]) or f"; there are {', '.join(named)}, and points by their id"
        raise IfairError(f"the tuning has no point {choice!r}{hint}")
    return found


def explain_passed_over(points: Sequence[Mapping[str, Any]], task: str) -> dict[str, str]:
    """By id why no rule may choose a point, in words; where all decide nearly the same, that is no reason."""
    choosable = [point for point in points if is_choosable(point)]
    rows = [point["validation"] for point in choosable]
    flaws = list_flaws(rows, utility=MEASURES[0], fairness=MEASURES[1], chance=CHANCE.get(task, 0.0))
    found = {point["id"]: flaw for point, flaw in zip(choosable, flaws) if flaw is not None}
    chosen = set(name_choices(choosable, task).values())
    for point in choosable:
        if is_nearly_one_decision(point["validation"].get("positive")) and point["id"] not in chosen:
            found.setdefault(point["id"], ONE_DECISION)
    for point in points:
        if point["role"] in ("ours", "rival") and not is_choosable(point):
            blind = Candidate.from_data(point["candidate"]).blind
            found[point["id"]] = "deletes, and no more" if blind else "sees the protected columns"
    return found


@dataclass(frozen=True, slots=True)
class BetterDeletion:
    """A way of deleting the protected columns that does better than a point of ours, by a search's own numbers."""

    label: str
    penalised: bool
    utility: float
    ranks: float

    def __str__(self) -> str:
        how = " with a tuned penalty" if self.penalised else ""
        return f"deleting the protected columns{how} ({self.label}: {self.utility:.3f}, {self.ranks:.3f})"


def find_better_deletion(tuning: Mapping[str, Any], point: Mapping[str, Any]) -> BetterDeletion | None:
    """What is behind a point in neither utility nor consistency, and ahead in one of them, by the decimals shown."""
    ours = _shown_measures(point)
    # The first tells the data as they are, the second deletes, then comes the tuned penalty.
    for i, role in enumerate(("deleted", "penalised"), start=1):
        for other in tuning["baselines"]:
            utility, ranks = theirs = _shown_measures(other)
            if other["role"] == role and utility >= ours[0] and ranks >= ours[1] and theirs != ours:
                return BetterDeletion(letter(i), role == "penalised", utility, ranks)
    return None


def _shown_measures(point: Mapping[str, Any]) -> tuple[float, float]:
    utility, ranks = (round(_number(point.get("validation", {}).get(name)), 3) for name in MEASURES)
    return utility, ranks


def doubt_choices(tuning: Mapping[str, Any]) -> str | None:
    """What the numbers of a search say against its choices, or why there are none; None where nothing is to say.

    Deleting the protected columns does better than some, or every setting of ours decides nearly the same about
    everybody.
    """
    if not tuning["choices"]:
        shares = [point["validation"].get("positive") for point in tuning["trials"] if is_choosable(point)]
        if shares and all(map(is_nearly_one_decision, shares)):
            return "No choice is marked: every setting that may be chosen decides nearly the same about everybody."
        return None
    by_id = {point["id"]: point for point in tuning["trials"]}
    beaten: dict[str, list[str]] = {}
    for rule, id_ in tuning["choices"].items():
        better = find_better_deletion(tuning, by_id[id_]) if id_ in by_id else None
        if better is not None:
            beaten.setdefault(str(better), []).append(f"the {rule.replace('_', ' ')} choice")
    if not beaten:
        return None
    told = [f"{better} does better than {' and '.join(choices)}" for better, choices in beaten.items()]
    return f"By these numbers {'; '.join(told)}; `ifair report` judges."


def find_similarity(tuning: Mapping[str, Any]) -> Any:
    """Who was like whom when a table was tuned, as :func:`ifair.evaluate.splits.split_table` takes it."""
    found = tuning.get("similarity")
    return "paper" if found == {"reading": "paper"} else found


def letter(i: int) -> str:
    """What people call a point: A, B, ..., Z, AA, AB, ..."""
    return (letter(i // 26 - 1) if i >= 26 else "") + chr(ord("A") + i % 26)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def fingerprint_dataset(dataset: Dataset) -> str:
    """A short name for these very records and their roles."""
    state = hashlib.sha256(repr((list(dataset.frame.columns), dataset.protected)).encode())
    # Rows of one id are split together.
    ids = dataset.ids if dataset.ids is not None and dataset.ids.duplicated().any() else None
    others = dataset.target, dataset.query, dataset.weight, ids
    for column in [*(dataset.frame[name] for name in dataset.frame.columns), *others]:
        if column is not None:
            state.update(pd.util.hash_pandas_object(pd.Series(column).astype(str), index=False).to_numpy().tobytes())
    state.update(dataset.group.tobytes())
    return state.hexdigest()[:16]
