"""What makes L-BFGS converge faster on this objective, and what `tol` buys.

    python benchmarks/bench_convergence.py [--json FILE]

German Credit, 333 records as in the paper's thirds, the paper's objective with means for sums, at three settings of
(lambda, mu, K). Every loss is given in per cent above the best that any run here found for its setting; rows are means
over settings and starts. The questions:

- start and variable: uniform or k-means++ starts; the solver's variable for a weight alpha >= 0, either alpha / scale
  with bounds, or beta with alpha = (scale * beta)^2; all after 200 iterations;
- drop after: all starts but the best of three dropped after so many iterations, against all three run to the end, over
  all triples of starts; "one start" is a start without rivals;
- tol: where the fit stops when it asks for a relative fall of the loss by tol over ten iterations.
"""

import itertools
import time
from collections.abc import Iterator

import numpy as np
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

import common
from ifair.core.mapping import Packing, Parameters
from ifair.core.objective import Objective
from ifair.engines.engine import LocalEngine

SETTINGS = ((1.0, 1.0, 10), (1.0, 0.1, 20), (0.1, 1.0, 20))
VARIABLES = (("alpha", 1.0), ("alpha", 0.1), ("root", 1.0), ("root", 0.1), ("root", 0.05), ("root", 0.03))
SHORT, LONG, N_STARTS = 200, 1000, 5
DROPS = (25, 50, 100, 200)
TOLERANCES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)


def losses_with_variable(objective: Objective, first: Parameters, kind: str, scale: float, n_iter: int) -> np.ndarray:
    """The best loss after every iteration, with the given variable for the weights."""
    K, N = first.prototypes.shape
    history: list[float] = []
    best = np.inf

    def function(theta: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal best
        free = scale * theta[K * N :]
        alpha, slope = (free, scale) if kind == "alpha" else (free**2, 2.0 * scale * free)
        losses, gradient = objective.value_and_grad(Parameters(theta[: K * N].reshape(K, N), alpha))
        best = min(best, losses.total)
        return losses.total, np.concatenate([gradient.prototypes.ravel(), slope * gradient.alpha])

    free = first.alpha if kind == "alpha" else np.sqrt(first.alpha)
    minimize(
        function,
        np.concatenate([first.prototypes.ravel(), free / scale]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None)] * (K * N) + [(0.0, None)] * N if kind == "alpha" else None,
        callback=lambda _: history.append(best),
        options={"maxiter": n_iter, "maxfun": 20 * n_iter, "ftol": 0.0, "gtol": 0.0},
    )
    return np.array(history)


def losses_to_the_end(objective: Objective, first: Parameters, n_iter: int) -> tuple[np.ndarray, float]:
    """The loss after every iteration of our solver, and seconds per iteration."""
    history: list[float] = []
    packing = Packing(*first.prototypes.shape, np.zeros(len(first.alpha), dtype=bool))
    began = time.perf_counter()
    common.descend(objective, first, packing, max_iter=n_iter, tol=0.0, observer=lambda p: history.append(p.loss))
    return np.array(history), (time.perf_counter() - began) / len(history)


class Results:
    """Losses by question and choice, as found for one setting after the other."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], list[tuple[float, float, float]]] = {}

    def add(self, question: str, choice: str, above: float, iterations: float, seconds: float) -> None:
        self.found.setdefault((question, choice), []).append((100.0 * above, iterations, seconds))

    def rows(self) -> common.Rows:
        rows = []
        for (question, choice), found in self.found.items():
            above, iterations, seconds = np.array(found).T
            rows.append(
                {
                    "question": question,
                    "choice": choice,
                    "loss above best, %": round(float(above.mean()), 2),
                    "worst, %": round(float(above.max()), 2),
                    "iterations": round(float(iterations.mean())),
                    "seconds": float(seconds.mean()),
                    "s/iteration": float(seconds.mean() / iterations.mean()),
                }
            )
        return sorted(rows, key=lambda row: row["question"])


def one_setting(
    objective: Objective, X: np.ndarray, protected: np.ndarray, K: int, results: Results, iterations: tuple[int, int]
) -> None:
    to_compare, to_the_end = iterations
    starts = {
        init: [common.start(X, K, protected, seed, init) for seed in range(N_STARTS)]
        for init in ("uniform", "k-means++")
    }
    long = [losses_to_the_end(objective, first, to_the_end) for first in starts["k-means++"]]
    per_iteration = float(np.median([seconds for _, seconds in long]))
    histories = [history for history, _ in long]
    short = {
        (init, kind, scale): [
            losses_with_variable(objective, first, kind, scale, to_compare) for first in starts[init][:3]
        ]
        for init in starts
        for kind, scale in VARIABLES
    }
    best = min(history[-1] for history in itertools.chain(histories, *short.values()))

    for (init, kind, scale), runs in short.items():
        name = f"{init}, {kind} {scale:g}" + (" (bounds)" if kind == "alpha" else "")
        for run in runs:
            results.add("1 start, variable", name, run[-1] / best - 1.0, len(run), len(run) * per_iteration)

    for choice, above, iterations in drops(histories):
        results.add("2 drop after", choice, above / best - 1.0, iterations, iterations * per_iteration)

    for tol in TOLERANCES:
        for history in histories:
            at = common.stop(history, tol)
            results.add("3 tol", f"{tol:g}", history[at] / best - 1.0, at, at * per_iteration)


def drops(histories: list[np.ndarray]) -> Iterator[tuple[str, float, float]]:
    """(choice, final loss, iterations in all) for every triple of starts."""
    for three in itertools.combinations(histories, 3):
        ends = [history[-1] for history in three]
        yield "one start", three[0][-1], len(three[0])
        for after in DROPS:
            kept = int(np.argmin([history[min(after, len(history)) - 1] for history in three]))
            yield f"{after} iterations", ends[kept], 2 * after + len(three[kept])
        yield "never", min(ends), sum(map(len, three))


def main(arguments: list[str] | None = None) -> common.Rows:
    chosen, machine = common.begin(__doc__, arguments)
    X, protected = common.credit()
    X = X[np.random.default_rng(0).permutation(len(X))[: len(X) // 3]]
    X = X - X.mean(axis=0)
    results = Results()
    settings, iterations = (SETTINGS[:1], (30, 100)) if chosen.quick else (SETTINGS, (SHORT, LONG))
    with threadpool_limits(1, user_api="blas"), LocalEngine(X) as engine:
        for utility_weight, fairness_weight, K in settings:
            objective = common.objective(
                engine, protected, K, utility_weight=utility_weight, fairness_weight=fairness_weight
            )
            one_setting(objective, X, protected, K, results, iterations)
    title = f"What converges faster: German Credit, {X.shape[0]} x {X.shape[1]}, (lambda, mu, K) in {settings}"
    notes = (
        f"Runs to the end are {iterations[1]} iterations. Seconds: iterations times the median seconds of one,\n"
        "on one thread; 2 counts the iterations of all three starts."
    )
    return common.report(title, results.rows(), machine, chosen.json, notes)


if __name__ == "__main__":
    main()
