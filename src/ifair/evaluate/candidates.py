"""What is compared, as plain data: a representation and its setting, the model on top, and what is done to scores."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from ifair.errors import IfairError
from ifair.models.representations import representation
from ifair.ranking import PairwiseRanker

NAMES = {
    "full": "full data",
    "masked": "protected columns deleted",
    "svd-masked": "protected columns deleted, SVD",
    "lfr": "LFR",
}
"""What people call methods without a setting. The first is what every other candidate of an audit is compared with."""

GRID: tuple[dict[str, Any], ...] = tuple({"K": k, "share": share} for k in (5, 10, 20) for share in (0.1, 0.9))
"""What is tried where nobody tuned: prototypes, and the weight of fairness mu of lambda + mu = 1."""

DIMENSION = 10
"""Components of SVD and prototypes of LFR, where a setting names no K."""

VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "frozen": ("ifair-frozen", {"fairness_distance": "euclidean"}),
    "paper": ("ifair-b", {"reduction": "mean", "init": "k-means++", "pairs": "auto"}),
}
"""How iFair treats protected columns: not looked at, which is a guarantee; or begun near zero, as in the paper. Means
in place of the paper's sums, so that a share says the same for tables of any size.

By name the representation, and what is changed of it.
"""

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
    """Anything that gives scores about people.

    Attributes
    ----------
    method : str
        The representation: a name of ``ifair.models.representations``, or "ifair", whose setting names a variant.
    setting : mapping
        Plain data: ``K``; ``lambda`` and ``mu``, or their share ``share`` = mu with lambda + mu = 1; LFR's ``A_x``,
        ``A_y``, ``A_z``; any other parameter of the estimator by its own name. For "ifair" also ``variant``.
    model : str, default="linear"
        A key of ``CLASSIFIERS`` or ``REGRESSORS``.
    post : mapping, optional
        What is done to the scores: the ``name`` of a function of ``ifair.evaluate.training.POST_PROCESSING``, and its
        parameters.
    """

    method: str
    setting: Mapping[str, Any] = field(default_factory=dict)
    model: str = "linear"
    post: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        variant = self.setting.get("variant", "frozen")
        if self.method == "ifair" and variant not in VARIANTS:
            raise IfairError(f"variant must be one of {', '.join(VARIANTS)}; got {variant!r}")

    @property
    def id(self) -> str:
        """Short, and different for different candidates."""
        values = [f"{value:.6g}" for value in self.setting.values() if isinstance(value, (int, float))]
        post = list(map(str, self.post.values())) if self.post else []
        model = [] if self.model == "linear" else [self.model]
        return "-".join([self._kind.lower(), *values, *model, *post])

    @property
    def name(self) -> str:
        """For people."""
        parts = [self._kind if self.setting else NAMES.get(self.method, self.method)]
        letters = dict(self.setting)
        if "share" in letters:
            share = letters.pop("share")
            letters |= {"λ": f"{1.0 - share:.3g}", "μ": f"{share:.3g}"}
        parts += [f"{letter} = {value}" for letter, value in letters.items() if letter != "variant"]
        parts += [] if self.model == "linear" else [self.model]
        return ", ".join([*parts, *(f"{key} {value}" for key, value in (self.post or {}).items())])

    @property
    def _kind(self) -> str:
        if self.method != "ifair":
            return self.method
        return "iFair" if self.setting.get("variant", "frozen") == "frozen" else "iFair-b"

    @property
    def blind(self) -> bool:
        """Whether the protected attributes cannot matter, by construction."""
        return self.method.endswith(("masked", "-frozen", "-plus")) or self._kind == "iFair"

    def build(
        self, protected: Sequence[str], width: int, hidden: int, seed: int, solver: Mapping[str, Any]
    ) -> Pipeline:
        """The representation, unfitted.

        Parameters
        ----------
        width, hidden : int
            Encoded columns, and how many of them are protected: SVD has no more components than it sees columns.
        solver : mapping
            Parameters of iFair's and LFR's solver, such as ``n_restarts`` and ``max_iter``.
        """
        setting = dict(self.setting)
        method, changes = self.method, dict[str, Any]()
        if method == "ifair":
            method, changes = VARIANTS[setting.pop("variant", "frozen")]
        k = setting.pop("K", DIMENSION)
        if method.startswith("svd"):
            k = min(k, width - hidden if method == "svd-masked" else width)
        steps = representation(method, protected=list(protected), k=k, random_state=seed)
        if "share" in setting:
            share = setting.pop("share")
            setting |= {"lambda": round(1.0 - share, 6), "mu": share}
        parameters = {PARAMETERS.get(name, name): value for name, value in setting.items()}
        if method == "lfr" or method.startswith("ifair"):
            parameters |= {**changes, **solver}
        if parameters:
            steps[-1].set_params(**parameters)
        return steps


def ifair_candidate(setting: Mapping[str, Any]) -> Candidate:
    """iFair at a setting of ``K``, ``share`` and, unless it is "frozen", ``variant``."""
    return Candidate("ifair", {"variant": "frozen", "K": setting["K"], "share": setting["share"], **setting})


def list_candidates(
    settings: Sequence[Mapping[str, Any]] | None = None, *, two_classes: bool = True
) -> list[Candidate]:
    """Everything an audit compares: the data as they are, the rivals, and iFair at several settings.

    Parameters
    ----------
    settings : sequence of settings, optional
        Of iFair, such as the front of a tuning. Default: a small grid, and the paper's variant once.
    two_classes : bool
        Whether there is a label of two classes, without which LFR cannot learn.

    Examples
    --------
    >>> [candidate.id for candidate in list_candidates([{"K": 10, "share": 0.5}], two_classes=False)]
    ['full', 'masked', 'svd-masked', 'ifair-10-0.5']
    """
    wanted = [*GRID, {"K": 10, "share": 0.5, "variant": "paper"}] if settings is None else list(settings)
    rivals = [Candidate(method) for method in NAMES if method != "lfr" or two_classes]
    by_id = {candidate.id: candidate for candidate in (*rivals, *map(ifair_candidate, wanted))}
    return list(by_id.values())


def make_model(name: str, task: str, seed: int) -> Any:
    """The unfitted model of this name for a task."""
    models = CLASSIFIERS if task == "classification" else REGRESSORS
    if name not in models:
        raise IfairError(f"model must be one of {', '.join(models)} for {task}; got {name!r}")
    return models[name](seed)


def list_settings(method: str, grid: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every setting of a representation, in the paper's letters: K, lambda and mu, or LFR's three weights.

    Parameters
    ----------
    method : str
        A name of ``ifair.models.representations``.
    grid : mapping
        ``K``, ``ratios`` (pairs lambda, mu of iFair) and ``lfr`` (coefficients of LFR), as far as it needs them.
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
    """LFR's weights A_x, A_y > 0 and A_z; of triples that differ by a factor, and so are one problem, the first."""
    seen = set()
    for triple in product(weights, repeat=3):
        shares = tuple(round(weight / sum(triple), 12) for weight in triple) if triple[1] > 0 else None
        if shares is not None and shares not in seen:
            seen.add(shares)
            yield triple[0], triple[1], triple[2]
