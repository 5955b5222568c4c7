"""What an audit compares: the data as they are, the rivals, and iFair at several settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.pipeline import Pipeline, make_pipeline

from ifair.models.ifair import IFair
from ifair.models.representations import representation

# The first is what every other one is compared with: all attributes, nothing done about fairness.
RIVAL_NAMES = {
    "full": "full data",
    "masked": "protected columns deleted",
    "svd-masked": "protected columns deleted, SVD",
    "lfr": "LFR",
}
DIMENSION = 10
"""Components of SVD and prototypes of LFR."""

GRID: tuple[dict[str, Any], ...] = tuple({"K": k, "share": share} for k in (5, 10, 20) for share in (0.1, 0.9))
"""What is tried where nobody tuned: prototypes, and the weight of fairness mu of lambda + mu = 1."""

VARIANTS: dict[str, dict[str, Any]] = {
    "frozen": {"freeze_protected": True, "fairness_distance": "euclidean"},
    "paper": {"alpha_init": "masked"},
}
"""How iFair treats protected columns: not looked at, which is a guarantee; or begun near zero, as in the paper."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A representation to measure.

    Attributes
    ----------
    id : str
        Short and unique.
    name : str
        For people.
    family : str
        "full", "masked", "svd-masked", "lfr" or "ifair".
    setting : dict
        Plain data; for iFair ``K``, ``share`` (of mu in lambda + mu = 1) and ``variant``.
    """

    id: str
    name: str
    family: str
    setting: dict[str, Any] = field(default_factory=dict)

    @property
    def blind(self) -> bool:
        """Whether the protected attributes cannot matter, by construction."""
        return self.family.endswith("masked") or self.setting.get("variant") == "frozen"

    def build(self, protected: Sequence[str], width: int, seed: int, solver: Mapping[str, Any]) -> Pipeline:
        """The representation, unfitted.

        Parameters
        ----------
        protected : sequence of str
        width : int
            Unprotected columns: SVD has no more components.
        seed : int
        solver : mapping
            Parameters of iFair's and LFR's solver, such as ``n_restarts`` and ``max_iter``.
        """
        if self.family != "ifair":
            k = min(DIMENSION, width) if self.family == "svd-masked" else DIMENSION
            steps = representation(self.family, protected=list(protected), k=k, random_state=seed)
            options = {f"lfr__{name}": value for name, value in solver.items()} if self.family == "lfr" else {}
            return steps.set_params(**options)
        return make_pipeline(
            IFair(
                self.setting["K"],
                utility_weight=round(1.0 - self.setting["share"], 6),
                fairness_weight=self.setting["share"],
                protected=list(protected),
                random_state=seed,
                **VARIANTS[self.setting["variant"]],
                **solver,
            )
        )


def fair(setting: Mapping[str, Any]) -> Candidate:
    """iFair at a setting of ``K``, ``share`` and, unless it is "frozen", ``variant``."""
    whole = {"variant": "frozen", **setting}
    if whole["variant"] not in VARIANTS:
        raise ValueError(f"variant must be one of {', '.join(VARIANTS)}; got {whole['variant']!r}")
    weights = f"K = {whole['K']}, λ = {1.0 - whole['share']:.3g}, μ = {whole['share']:.3g}"
    kind = "iFair" if whole["variant"] == "frozen" else "iFair-b"
    return Candidate(f"{kind.lower()}-{whole['K']}-{whole['share']:.6g}", f"{kind}, {weights}", "ifair", whole)


def candidates(settings: Sequence[Mapping[str, Any]] | None = None, *, two_classes: bool = True) -> list[Candidate]:
    """Everything an audit compares.

    Parameters
    ----------
    settings : sequence of settings, optional
        Of iFair, such as the front of a tuning. Default: a small grid, and the paper's variant once.
    two_classes : bool
        Whether there is a label of two classes, without which LFR cannot learn.

    Examples
    --------
    >>> [candidate.id for candidate in candidates([{"K": 10, "share": 0.5}], two_classes=False)]
    ['full', 'masked', 'svd-masked', 'ifair-10-0.5']
    """
    wanted = [*GRID, {"K": 10, "share": 0.5, "variant": "paper"}] if settings is None else list(settings)
    rivals = [Candidate(key, name, key) for key, name in RIVAL_NAMES.items() if key != "lfr" or two_classes]
    found = {candidate.id: candidate for candidate in (*rivals, *map(fair, wanted))}
    return list(found.values())
