"""Rivals from other packages, which are optional: inFairness's SenSeI and fairlearn's CorrelationRemover.

SenSeI (Yurochkin and Sun, 2021) trains a classifier so that its output changes little where a record moves far only in
directions that should not count. It gives decisions and no representation. The CorrelationRemover takes from every
column what is linear in the protected ones.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain, count, islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from ifair.errors import install_hint, require_extra

HINT = install_hint("rivals")
PACKAGES = {"sensei": ("inFairness", "torch"), "correlation-remover": ("fairlearn",)}
"""What each rival needs."""

Floats = NDArray[np.float64]


def is_installed(rival: str) -> bool:
    """Whether the packages of a rival are here; they are looked for and not imported."""
    return all(find_spec(package) is not None for package in PACKAGES[rival])


def make_correlation_remover(alpha: float, protected: Sequence[int]) -> Any:
    """fairlearn's transformer, unfitted, for a matrix with these protected columns."""
    require_extra("the CorrelationRemover", PACKAGES["correlation-remover"], "rivals")
    from fairlearn.preprocessing import CorrelationRemover

    return CorrelationRemover(sensitive_feature_ids=list(protected), alpha=alpha)


def find_sensitive_directions(X: Floats, protected: Sequence[int], seed: int) -> Floats:
    """Directions in which records may differ and still be alike, after the authors of SenSeI, as orthonormal rows.

    These are each protected column, and the coefficients by which the other columns tell it (a logistic regression
    with an L1 penalty). inFairness's own function for it draws from a global source of random numbers, wants columns
    of 0 and 1, and inverts a singular matrix where two columns say the same, as "female" and "male" do. This gives
    the same space, hence the same metric. A protected column counts as present in a record where it is above its mean.
    """
    # scikit-learn 1.8 gave this penalty another name.
    lasso = {"penalty": "l1"} if LogisticRegression().get_params().get("penalty") == "l2" else {"l1_ratio": 1.0}
    free = np.setdiff1d(np.arange(X.shape[1]), protected)
    found = []
    for column in protected:
        itself = np.zeros(X.shape[1])
        itself[column] = 1.0
        found.append(itself)
        present = X[:, column] > X[:, column].mean()
        if len(free) and 0 < present.sum() < len(present):
            model = LogisticRegression(**lasso, solver="liblinear", random_state=seed)
            telling = np.zeros(X.shape[1])
            telling[free] = model.fit(X[:, free], present).coef_[0]
            found.append(telling)
    if not found:
        return np.empty((0, X.shape[1]))
    _, sizes, directions = np.linalg.svd(np.array(found), full_matrices=False)
    return np.asarray(directions[sizes > 1e-8 * sizes[0]])


def train_sensei(
    X: Floats,
    y: NDArray[Any],
    protected: Sequence[int],
    setting: Mapping[str, Any],
    solver: Mapping[str, Any],
    seed: int,
) -> Callable[[Floats], Floats]:
    """Train SenSeI, and return the function from records to scores of the class 1, shape (n_records,).

    The classifier is one layer (``hidden`` 0, a logistic regression trained in another way) or has one hidden layer. A
    setting has ``rho``, the weight of fairness, and ``eps``, how far (squared distance) a record may move to be
    compared with itself; the solver ``updates`` of the classifier, records in a ``batch``, learning rate ``lr``,
    and ``steps`` and their size ``step`` of the search for the worst place to move to.
    """
    require_extra("SenSeI", PACKAGES["sensei"], "rivals")
    with warnings.catch_warnings():
        # inFairness 0.2.3 asks current torch for a function at an old address, which still works and warns.
        warnings.filterwarnings("ignore", category=FutureWarning, message=".*functorch")
        import torch
        from inFairness.distances import SensitiveSubspaceDistance, SquaredEuclideanDistance
        from inFairness.fairalgo import SenSeI

    records, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(np.asarray(y, dtype=np.int64))
    with _fix_randomness(torch, seed):
        inputs, outputs = SensitiveSubspaceDistance(), SquaredEuclideanDistance()
        inputs.fit(torch.tensor(find_sensitive_directions(X, protected, seed).T, dtype=torch.float32))
        outputs.fit(num_dims=2)
        widths = pairwise([X.shape[1], *([setting["hidden"]] if setting["hidden"] else []), 2])
        layers = [torch.nn.Linear(*ends) for ends in widths]
        network = torch.nn.Sequential(layers[0], *(step for layer in layers[1:] for step in (torch.nn.ReLU(), layer)))
        model = SenSeI(
            network,
            inputs,
            outputs,
            torch.nn.functional.cross_entropy,
            float(setting["rho"]),
            float(setting["eps"]),
            solver["steps"],
            solver["step"],
        )
        optimiser = torch.optim.Adam(network.parameters(), lr=solver["lr"])
        model.train()
        # Rows in random order, again and again; what is left at the end of a round is less than a batch.
        rounds = (torch.randperm(len(records)).split(solver["batch"]) for _ in count())
        for rows in islice(chain.from_iterable(rounds), solver["updates"]):
            optimiser.zero_grad()
            model(records[rows], labels[rows]).loss.backward()
            optimiser.step()

    def scores(others: Floats) -> Floats:
        with torch.no_grad():
            logits = network(torch.tensor(others, dtype=torch.float32))
            return np.asarray(torch.softmax(logits, dim=1)[:, 1].double().numpy())

    return scores


@contextmanager
def _fix_randomness(torch: Any, seed: int) -> Iterator[None]:
    """Random numbers from this seed and sums by one thread, in here only."""
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
