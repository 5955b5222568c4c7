"""Ways to decide whose settings are searched, each with a fair share of the trials: model x representation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ifair.evaluate.candidates import Candidate, make_consistent
from ifair.evaluate.space import Choice, Integer, Real, Share, Space

MODELS = ("linear", "boosting")
"""Models that are tried where nobody names any. The first one is what the data as they are, and with the protected
columns deleted, are judged by."""

STRENGTH = Real(0.01, 1.0, zero=True)
"""Of consistent decisions, where scores lie between 0 and 1; 0 is the model alone."""

PENALTY = Real(1e-4, 10.0)
PROTOTYPES: Space = {"K": Integer(3, 60), "share": Share(0.01, 0.99), "output": Choice(("representation", "nearest"))}


@dataclass(frozen=True)
class Arm:
    """A model on a representation, and what may be varied of it.

    The space has those of ``K``, ``share``, ``output``, ``C`` and ``strength`` that apply; ``start`` is tried first.
    Strengths are in units of ``width``, which lies between the lowest and the highest score.
    """

    method: str
    model: str
    space: Space
    start: dict[str, Any]
    variant: str = "frozen"
    width: float = 1.0

    @property
    def name(self) -> str:
        """Different for every arm."""
        return f"{self.method}, {self.model}, {', '.join(self.space)}"

    def candidate(self, setting: Mapping[str, Any]) -> Candidate:
        """The candidate at a setting of the space."""
        rest = dict(setting)
        strength = rest.pop("strength", 0.0)
        if rest.get("output") == "representation":
            del rest["output"]
        if self.method == "ifair":
            rest = {"variant": self.variant, **rest}
        post = make_consistent(strength, self.width) if strength else None
        return Candidate(self.method, rest, self.model, post)


def list_arms(task: str, models: Sequence[str] = MODELS, *, variant: str = "frozen", width: float = 1.0) -> list[Arm]:
    """Every model on masked data, on iFair and on the data as they are; and masked data with a tuned penalty alone.

    The dearest come first, so that what a search will cost is known at once and is no more than that.
    """
    arms = []
    prototypes = {"K": 20, "share": 0.1, "output": "representation"}
    for method, space, start in (("ifair", PROTOTYPES, prototypes), ("masked", {}, {}), ("full", {}, {})):
        for model in reversed(models):
            penalty, first = ({"C": PENALTY}, {"C": 1.0}) if model == "linear" else ({}, {})
            whole: Space = {**space, **penalty, "strength": STRENGTH}
            arms.append(Arm(method, model, whole, {**start, **first, "strength": 0.1}, variant, width))
    arms.append(Arm("masked", "linear", {"C": PENALTY}, {"C": 0.01}, variant, width))
    return [arm for arm in arms if not (task == "ranking" and arm.method == "full")]


def is_penalised(candidate: Candidate) -> bool:
    """Whether it is no more than deleting the protected columns, with a penalty of its own."""
    return candidate.method == "masked" and set(candidate.setting) == {"C"} and candidate.post is None


PENALTIES = (0.1, 0.01, 0.001)
STRENGTHS = (0.05, 0.2, 0.5)
SETTINGS: tuple[dict[str, Any], ...] = ({"K": 20, "share": 0.1}, {"K": 10, "share": 0.9}, {"K": 40, "share": 0.5})
"""What is tried where nobody tuned: as many settings of everything, and, wherever there is a linear model on top, the
same choice of its penalty, from the weakest to the strongest. Consistent decisions have a strength with each penalty,
iFair, LFR and SVD a number of prototypes or components."""


def list_candidates(
    tuned: Sequence[Candidate] | None = None,
    *,
    models: Sequence[str] = MODELS,
    two_classes: bool = True,
    width: float = 1.0,
) -> list[Candidate]:
    """Everything an audit compares: the data as they are, the columns deleted, rivals, and our ways to decide.

    The last are what a tuning found, or a few settings of everything. LFR can only learn a label of ``two_classes``;
    ``width`` lies between the lowest and the highest score.

    Examples
    --------
    >>> [candidate.id for candidate in list_candidates([Candidate("masked", {"C": 0.1})], two_classes=False)]
    ['full', 'masked', 'masked-C0.1', 'svd-masked']
    """
    if tuned is None:
        tuned = _list_untuned(models, two_classes, width)
    else:
        tuned = [*tuned, Candidate("svd-masked"), *([Candidate("lfr")] if two_classes else [])]
    plain = [Candidate(method, {}, models[0]) for method in ("full", "masked")]
    by_id = {candidate.id: candidate for candidate in (*plain, *tuned)}
    return list(by_id.values())


def _list_untuned(models: Sequence[str], two_classes: bool, width: float) -> list[Candidate]:
    """As many settings of everything, with the same penalties; rivals come last."""
    found = [Candidate("masked", {"C": C}) for C in PENALTIES]
    for model in models:
        for strength, C in zip(STRENGTHS, PENALTIES):
            penalty = {"C": C} if model == "linear" else {}
            found.append(Candidate("masked", penalty, model, make_consistent(strength, width)))
    found += [Candidate("ifair", {"variant": "frozen", **one, "C": C}) for one, C in zip(SETTINGS, PENALTIES)]
    for rival in ("svd-masked", *(["lfr"] if two_classes else [])):
        found += [Candidate(rival, {"K": one["K"], "C": C}) for one, C in zip(SETTINGS, PENALTIES)]
    return found
