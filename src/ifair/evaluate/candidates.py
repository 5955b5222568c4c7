"""What is compared, as plain data: a representation and its setting, the model on top, and what is done to scores."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import product
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

from ifair.errors import IfairError, format_rounded, suggest_name
from ifair.models.masking import Masked
from ifair.models.representations import representation
from ifair.ranking import PairwiseRanker
from ifair.results import CandidateData

NAMES = {
    "full": "full data",
    "masked": "protected columns deleted",
    "svd-masked": "protected columns deleted, SVD",
    "lfr": "LFR",
    "existing": "the model in use",
}
"""What people call methods without a setting. The first is what every other candidate of an audit is compared with."""

DIMENSION = 10
"""Components of SVD and prototypes of LFR, where a setting names no K."""

VARIANTS: dict[str, str] = {"frozen": "iFair", "paper": "iFair-b"}
"""How iFair treats protected columns, and what it is called then.

Not looked at, neither when it learns nor when it represents, which is a guarantee; or begun near zero, as in the paper.
"""

EUCLIDEAN = {"fairness_distance": "euclidean"}
"""What frozen iFair does otherwise than the paper: distances between representations without the learned weights."""

MEANS = {"reduction": "mean", "init": "k-means++", "pairs": "auto"}
"""What the variant of the paper does otherwise than the paper: a share says the same for tables of any size."""

CONSISTENT = "consistent"
"""The post-processing of :class:`ifair.ConsistentClassifier`; its parameters are ``strength`` and ``n_neighbors``."""

EXISTING = "existing"
"""The method of a model that decides already, of which nothing is known but what it said."""

MODEL_NAMES = {"linear": "linear model", "boosting": "boosted trees", "neighbours": "nearest neighbours"}

PARAMETERS = {
    "K": "n_prototypes",
    "lambda": "utility_weight",
    "mu": "fairness_weight",
    "A_x": "reconstruct_weight",
    "A_y": "target_weight",
    "A_z": "fairness_weight",
}
"""The paper's letters, and what iFair and LFR call them."""

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "linear": lambda _: LogisticRegression(max_iter=2000),
    "boosting": lambda seed: HistGradientBoostingClassifier(early_stopping=False, random_state=seed),
    # Odd, so that no vote is tied.
    "neighbours": lambda _: KNeighborsClassifier(11),
}
REGRESSORS: dict[str, Callable[[int], Any]] = {
    "linear": lambda _: LinearRegression(),
    "boosting": lambda seed: HistGradientBoostingRegressor(early_stopping=False, random_state=seed),
    "pairwise": lambda seed: PairwiseRanker(random_state=seed),
}
"""Models by name, for two classes and for scores; makers take a seed. The first is the paper's."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Anything that gives scores about people."""

    method: str
    """The representation: a name of ``ifair.models.representations``, or "ifair", whose setting names a variant."""
    setting: Mapping[str, Any] = field(default_factory=dict)
    """Plain data: ``K``; ``lambda`` and ``mu``, or their share ``share`` = mu with lambda + mu = 1; LFR's ``A_x``,
    ``A_y``, ``A_z``; any other parameter of the estimator by its own name. For "ifair" also ``variant``. ``C`` is of
    the linear model: the smaller, the stronger its penalty."""
    model: str = "linear"
    """A key of ``CLASSIFIERS`` or ``REGRESSORS``, or "module:factory" for a model of the user's own."""
    post: Mapping[str, Any] | None = None
    """What is done to the scores: its ``name``, "consistent" or one of
    ``ifair.evaluate.training.POST_PROCESSING``, and its parameters."""

    def __post_init__(self) -> None:
        variant, share = self.setting.get("variant", "frozen"), self.setting.get("share", 0.5)
        if self.method == "ifair" and variant not in tuple(VARIANTS):
            raise IfairError(f"variant must be one of {', '.join(VARIANTS)}; got {variant!r}")
        if type(self.setting.get("K", 1)) is not int or self.setting.get("K", 1) < 1:
            raise IfairError(f"K must be a whole number of prototypes, at least 1; got {self.setting['K']!r:.60}")
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise IfairError(f"share must be a number from 0 to 1; got {share!r:.60}")
        for name, value in {**self.setting, **(self.post or {})}.items():
            if not isinstance(value, int | float | str | None):
                raise IfairError(f"{name} of a candidate must be a number or a text; got {value!r:.60}")

    @classmethod
    def from_data(cls, data: CandidateData) -> "Candidate":
        """The candidate that a file describes."""
        return cls(data["method"], data["setting"], data["model"], data["post"])

    def to_data(self) -> CandidateData:
        """All that tells it from others, for a file."""
        post = None if self.post is None else dict(self.post)
        return {"method": self.method, "setting": dict(self.setting), "model": self.model, "post": post}

    @property
    def id(self) -> str:
        """Short, and different for different candidates."""
        numbers = {name: f"{v:.6g}" if isinstance(v, (int, float)) else str(v) for name, v in self.setting.items()}
        values = [f"C{text}" if name == "C" else text for name, text in numbers.items() if name != "variant"]
        post = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in (self.post or {}).values()]
        model = [] if self.model == "linear" else [self.model]
        return "-".join([self._kind.lower(), *values, *model, *post])

    @property
    def name(self) -> str:
        """For people."""
        parts = [NAMES.get(self.method, self._kind)]
        if self.consistent:
            number = (self.post or {})["strength"]
            shown = f"{number:.3g}" if number < 1e3 else format_rounded(number)
            strength = f"consistent decisions of strength {shown}"
            parts = [strength] if self.method == "masked" else [strength, *parts]
        letters = {letter: value for letter, value in self.setting.items() if letter != "variant"}
        if letters.pop("output", None) == "nearest":
            parts.append("nearest prototypes")
        if "share" in letters:
            share = letters.pop("share")
            letters |= {"λ": f"{1.0 - share:.3g}", "μ": f"{share:.3g}"}
        if self.model != "linear" or self.consistent:
            parts.append(MODEL_NAMES.get(self.model, self.model))
        parts += [
            f"{letter} = {value:.3g}" if isinstance(value, float) else f"{letter} = {value}"
            for letter, value in letters.items()
        ]
        others = {} if self.consistent else self.post or {}
        return ", ".join([*parts, *(f"{key} {value}" for key, value in others.items())])

    @property
    def consistent(self) -> bool:
        """Whether like people get like scores, by :class:`ifair.ConsistentClassifier` or its sibling."""
        return self.post is not None and self.post["name"] == CONSISTENT

    @property
    def is_learned(self) -> bool:
        """Whether the representation is found by a search, which takes longer than all the rest."""
        return self.method.startswith(("ifair", "lfr"))

    @property
    def _kind(self) -> str:
        return VARIANTS[self.setting.get("variant", "frozen")] if self.method == "ifair" else self.method

    @property
    def blind(self) -> bool:
        """Whether the protected attributes cannot matter, by construction."""
        return self.drops_protected or self.method.endswith(("-frozen", "-plus"))

    @property
    def drops_protected(self) -> bool:
        """Whether protected columns are left out before anything is learned, and not asked for later."""
        return self.method.endswith("masked") or self._kind == "iFair"

    def build_steps(
        self, protected: Sequence[str], width: int, seed: int, solver: Mapping[str, Any]
    ) -> list[tuple[str, Any]]:
        """The steps from encoded records to representations, unfitted; none where records stand for themselves.

        Protected columns are those among the records, none where they were left out before; ``width`` is the number of
        encoded columns that are left, and SVD has no more components. The solver is iFair's and LFR's.
        """
        masking = [("mask", Masked(list(protected)))] if self.drops_protected and protected else []
        setting = {name: value for name, value in self.setting.items() if name not in ("variant", "C")}
        method = self.method.removesuffix("-masked")
        if method in ("full", "masked"):
            return masking
        changes: dict[str, Any] = {}
        if method == "ifair":
            method, changes = ("ifair-b", MEANS) if not self.drops_protected else ("ifair-frozen", EUCLIDEAN)
        k = setting.pop("K", DIMENSION)
        visible = None if self.drops_protected else list(protected) or None
        k = min(k, width) if method == "svd" else k
        last = representation(method, protected=visible, k=k, random_state=seed)[-1]
        if "share" in setting:
            share = setting.pop("share")
            setting |= {"lambda": round(1.0 - share, 6), "mu": share}
        parameters = changes | {PARAMETERS.get(name, name): value for name, value in setting.items()}
        return [*masking, ("fair", last.set_params(**parameters, **({} if method == "svd" else solver)))]


def make_consistent(strength: float, width: float) -> dict[str, Any]:
    """Consistent decisions as a candidate's ``post``; their strength is a share of the ``width`` of all scores."""
    return {"name": CONSISTENT, "strength": float(f"{strength * width:.6g}")}


def make_model(name: str, task: str, seed: int, C: float | None = None) -> Any:
    """The unfitted model of this name, or of this "module:factory", for a task; ``C`` is that of a linear model."""
    if ":" in name:
        return _make_own_model(name, task, seed)
    check_model(name, task)
    models = CLASSIFIERS if task == "classification" else REGRESSORS
    if C is None:
        return models[name](seed)
    if name != "linear":
        raise IfairError(f"only the linear model has a penalty C; got C = {C} for {name}")
    return LogisticRegression(C=C, max_iter=2000) if task == "classification" else Ridge(alpha=0.5 / C)


def check_model(name: str, task: str) -> None:
    """Refuse the name of a model that a task does not have; one of the user's own is only made when it is needed."""
    models = CLASSIFIERS if task == "classification" else REGRESSORS
    if ":" not in name and name not in models:
        raise IfairError(
            f"model must be one of {', '.join(models)} for {task}, or module:factory for one of your own; got {name!r}"
            f"{suggest_name(name, models)}"
        )


def _make_own_model(name: str, task: str, seed: int) -> Any:
    """What the user's function, or class, returns when it is called without arguments."""
    module, _, factory = name.partition(":")
    if os.getcwd() not in sys.path:
        # As `python -m` does; a command that pip installed does not.
        sys.path.insert(0, os.getcwd())
    try:
        found = getattr(import_module(module), factory)()
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise IfairError(f"the model {name!r} cannot be made, it must be module:factory: {error}") from error
    method = "predict_proba" if task == "classification" else "predict"
    if not hasattr(found, "get_params") or not hasattr(found, method):
        raise IfairError(f"{name!r} returns a {type(found).__name__}: {task} needs an estimator with {method}")
    return found.set_params(random_state=seed) if found.get_params().get("random_state", 0) is None else found


def list_settings(method: str, grid: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every setting of a representation, in the paper's letters: K, lambda and mu, or LFR's three weights.

    The grid has ``K``, ``ratios`` (pairs lambda, mu of iFair) and ``lfr`` (coefficients), as far as it needs them.
    """
    if method in ("full", "masked"):
        yield {}
        return
    for k in grid["K"]:
        if method.startswith("svd"):
            yield {"K": k}
        elif method == "lfr":
            yield from ({"K": k, "A_x": x, "A_y": y, "A_z": z} for x, y, z in _distinct_triples(grid["lfr"]))
        else:
            yield from ({"K": k, "lambda": lam, "mu": mu} for lam, mu in grid["ratios"])


def _distinct_triples(weights: Sequence[float]) -> Iterator[tuple[float, float, float]]:
    """LFR's weights A_x, A_y, A_z, not all 0; of triples that differ by a factor, and so are one problem, the first."""
    seen = set()
    for triple in product(weights, repeat=3):
        shares = tuple(round(weight / sum(triple), 12) for weight in triple) if any(triple) else None
        if shares is not None and shares not in seen:
            seen.add(shares)
            yield triple[0], triple[1], triple[2]
