"""ifair.LFR beside the two other implementations of Zemel et al. (2013) that learn: fairlearn's and AIF360's.

    python benchmarks/lfr_vs_peers.py [--env DIR] [--json FILE]

The peers are installed from the package registry into an environment of their own, DIR or a temporary folder (1.4 GB),
and everything is run there. German Credit, 1,000 x 67, K = 10. One table of two kinds of rows:

* equal iterations: one start each, on all records, the same iteration limit, and the same weights of the three losses
  translated into what each calls its weights. Both peers average the parity loss over prototypes, which Zemel et al.
  and ifair sum; fairlearn and Zemel et al. sum the reconstruction over columns, which ifair and AIF360 average. The
  peers take memberships from distances, ifair and Zemel et al. from squared ones, and AIF360 learns no attribute
  weights: losses are each one's own, ifair's with the kink of parity rounded.
* defaults: every implementation as it comes but for K, learned on two thirds of the records, measured on the last one.

fairlearn differentiates numerically, 748 evaluations for a gradient, and stops at SciPy's limit of 15,000 evaluations:
it gets fewer seeds. One thread for everybody. Processor seconds are what to compare on a busy machine.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# PyTorch first and by its exact version, so that the wheel for processors is taken and nothing replaces it.
PACKAGES = (["torch==2.13.0"], ["fairlearn==0.15.*", "aif360==0.6.*"])
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

K = 10
WEIGHTS = {"reconstruct_weight": 1.0, "target_weight": 1.0, "fairness_weight": 1.0}
FEW, MANY = 5, 100
FAIRLEARN, AIF360, OURS = "fairlearn PrototypeRepresentationLearner", "aif360.sklearn LearnedFairRep.", "ifair.LFR"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", type=Path, metavar="DIR", help="keep the environment here and use it again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows here")
    parser.add_argument("--fits", type=int, default=14, help="default fits of each, as many as its seconds allow")
    parser.add_argument("--seeds", type=int, default=5, help="fits of each with equal iterations")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each row; the first fit is always finished")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        compare(arguments)
        return
    with tempfile.TemporaryDirectory(prefix="lfr-peers-") as temporary:
        python = prepare(arguments.env or Path(temporary))
        command = [python, __file__, "--inside", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env={**os.environ, **THREADS}, check=False).returncode)


def prepare(folder):
    """An environment with the peers and this checkout; its interpreter."""
    scripts, suffix = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
    python = folder.resolve() / scripts / f"python{suffix}"
    if not python.exists():
        venv.create(folder, with_pip=True)
    began = time.perf_counter()
    for packages in (*PACKAGES, ["--editable", str(ROOT)]):
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
        subprocess.run(install, check=True)
    print(f"environment ready after {time.perf_counter() - began:.0f} s", flush=True)
    return python


# ---- inside the environment ----


class Fit:
    """One fit: its seconds, and what SciPy says it did."""

    def __init__(self, make, X, y, group):
        self.nit = self.nfev = 0
        self.crashed = False
        wall, cpu = time.perf_counter(), time.process_time()
        with warnings.catch_warnings(), self._watch_solver():
            warnings.simplefilter("ignore")
            try:
                self.predict = make(X, y, group)
            except AttributeError:  # AIF360 decodes SciPy's message, which is no longer bytes, where L-BFGS fails
                self.crashed = True
        self.wall, self.cpu = time.perf_counter() - wall, time.process_time() - cpu

    def _watch_solver(self):
        """SciPy's minimize and our solver tell us what they did."""
        from contextlib import ExitStack
        from unittest.mock import patch

        import scipy.optimize

        from ifair.core.objective import Objective
        from ifair.models import prototypes

        minimize, solve, evaluate = scipy.optimize.minimize, prototypes.solve, Objective.value_and_grad

        def watch_theirs(*args, **kwargs):
            result = minimize(*args, **kwargs)
            self.nit, self.nfev = self.nit + result.nit, self.nfev + result.nfev
            self.loss = float(result.fun)
            return result

        def watch_ours(fits):
            ((solution, restarts),) = solve(fits)
            self.nit, self.loss = self.nit + solution.n_iter, solution.losses.total
            return [(solution, restarts)]

        def count(objective, parameters, **options):
            self.nfev += 1
            return evaluate(objective, parameters, **options)

        stack = ExitStack()
        for place in ("scipy.optimize", "fairlearn.preprocessing._prototype_representation_learner"):
            stack.enter_context(patch(f"{place}.minimize", watch_theirs))
        stack.enter_context(patch.object(prototypes, "solve", watch_ours))
        stack.enter_context(patch.object(Objective, "value_and_grad", count))
        return stack


def ours(**options):
    from ifair import LFR

    return lambda X, y, group: LFR(K, **options).fit(X, y, sensitive_features=group).predict


def fairlearns(**options):
    from fairlearn.preprocessing import PrototypeRepresentationLearner

    return lambda X, y, group: PrototypeRepresentationLearner(K, **options).fit(X, y, sensitive_features=group).predict


def aif360s(**options):
    import pandas as pd
    from aif360.sklearn.preprocessing import LearnedFairRepresentations

    def make(X, y, group):
        index = pd.Index(group.astype(int), name="group")
        model = LearnedFairRepresentations("group", n_prototypes=K, **options)
        model.fit(pd.DataFrame(X, index=index), pd.Series(y, index=index), priv_group=0)
        return lambda records: model.predict(pd.DataFrame(records))

    return make


def compare(arguments):
    import numpy as np

    from ifair import Encoder
    from ifair.data import load_credit, thirds
    from ifair.metrics import accuracy, consistency, hard_auc, nearest_neighbours, statistical_parity

    load = os.getloadavg()
    credit = load_credit()
    y, group = credit.target.to_numpy().astype(int), credit.group
    X = Encoder().fit_transform(credit.frame).to_numpy(dtype=float)
    rows = []

    def row(method, setting, make, seeds, on_split=False):
        fits, quality, spent = [], [], 0.0
        for seed in range(seeds):
            split = thirds(credit, seed, stratify=True)
            train = np.sort(np.concatenate([split.train, split.validation])) if on_split else np.arange(len(y))
            encoder = Encoder().fit(credit.frame.iloc[train])
            Z = encoder.transform(credit.frame).to_numpy(dtype=float) if on_split else X
            fit = Fit(make(seed), Z[train], y[train], group[train])
            fits.append(fit)
            if on_split and not fit.crashed:
                test = split.test
                hard = np.asarray(fit.predict(Z[test])).astype(int)
                masked = Encoder().fit(credit.masked.iloc[train]).transform(credit.masked).to_numpy(dtype=float)
                quality.append(
                    (
                        max(hard.mean(), 1 - hard.mean()),
                        accuracy(y[test], hard),
                        hard_auc(y[test], hard),
                        consistency(hard, neighbours=nearest_neighbours(masked[test], 10)),
                        statistical_parity(y[test], hard, sensitive_features=group[test]),
                    )
                )
            spent += fit.wall
            if spent + fit.wall > arguments.seconds:
                break
        told = [fit for fit in fits if fit.nit]
        entry = {
            "method": method,
            "setting": setting,
            "fits": len(fits),
            "crashed": sum(fit.crashed for fit in fits),
            "seconds": float(np.median([fit.wall for fit in fits])),
            "cpu s": float(np.median([fit.cpu for fit in fits])),
            "iterations": float(np.median([fit.nit for fit in told])),
            "evaluations": float(np.median([fit.nfev for fit in told])),
            "cpu ms/iteration": float(np.median([1000 * fit.cpu / fit.nit for fit in told])),
            "own loss": float(np.median([fit.loss for fit in told])),
        }
        if quality:
            names = ("majority label", "accuracy", "hard AUC", "yNN", "parity")
            entry["one label"] = f"{sum(q[0] == 1 for q in quality)} of {len(quality)}"
            entry.update(zip(names, map(float, np.mean(quality, axis=0))))
        rows.append(entry)
        return entry

    per_column = {**WEIGHTS, "fairness_weight": K * WEIGHTS["fairness_weight"]}
    summed = {**per_column, "reconstruct_weight": WEIGHTS["reconstruct_weight"] / X.shape[1]}
    one = {**WEIGHTS, "n_restarts": 1, "tol": 0.0}
    Fit(ours(max_iter=2), X, y, group), Fit(aif360s(max_iter=2), X, y, group)  # first calls import and set up
    few, many = f"{FEW} iterations", f"{MANY} iterations"
    n = arguments.seeds
    ours_few = row(OURS, few, lambda seed: ours(**one, max_iter=FEW, random_state=seed), n)
    aif_few = row(AIF360, few, lambda seed: aif360s(**per_column, tol=0.0, max_iter=FEW, random_state=seed), n)
    fl_few = row(FAIRLEARN, few, lambda seed: fairlearns(**summed, max_iter=FEW, random_state=seed), min(n, 2))
    ours_many = row(OURS, many, lambda seed: ours(**one, max_iter=MANY, random_state=seed), n)
    aif_many = row(AIF360, many, lambda seed: aif360s(**per_column, tol=0.0, max_iter=MANY, random_state=seed), n)
    row(OURS, "defaults", lambda seed: ours(random_state=seed), arguments.fits, on_split=True)
    row(AIF360, "defaults", lambda seed: aif360s(random_state=seed), arguments.fits, on_split=True)
    row(FAIRLEARN, "defaults", lambda seed: fairlearns(random_state=seed), min(arguments.fits, 2), on_split=True)

    print(f"\nLFR on German Credit, {X.shape[0]:,} x {X.shape[1]}, K = {K}: medians over fits, means of quality\n")
    print(table(rows))
    majority = max(y.mean(), 1 - y.mean())
    print(f"\nThe majority label is that of {majority:.3f} of all records.")
    for what, slow, fast, wanted in (
        (f"fairlearn / ifair, {few}", fl_few, ours_few, 100),
        (f"aif360 / ifair, {few}", aif_few, ours_few, 1),
        (f"aif360 / ifair, {many}", aif_many, ours_many, 1),
    ):
        total = slow["cpu s"] / fast["cpu s"]
        per_iteration = slow["cpu ms/iteration"] / fast["cpu ms/iteration"]
        verdict = "met" if min(total, per_iteration) >= wanted else "MISSED"
        print(f"{what}: {total:,.1f} x in all, {per_iteration:,.1f} x an iteration (wanted: {wanted} x) {verdict}")
    about = f"{os.cpu_count()} cores, load {load[0]:.1f} before and {os.getloadavg()[0]:.1f} after"
    print(f"\n{about}; one thread; Python {platform.python_version()}, NumPy {np.__version__}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": about, "rows": rows}, indent=1) + "\n")


def table(rows):
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = [names, *([cell(row.get(name)) for name in names] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    return "\n".join(
        "  ".join(c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))) for line in lines
    )


def cell(value):
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.3g}"
    return str(value)


if __name__ == "__main__":
    main()
