"""Fixtures shared by all tests."""

import os
import re
import signal
import tempfile
from pathlib import Path

import hypothesis
import numpy as np
import pytest

# Enough examples to find what is wrong everywhere; time is no test on machines that others use too.
hypothesis.settings.register_profile("tests", max_examples=25, deadline=None)
hypothesis.settings.load_profile("tests")

# Test processes share the cores already: one BLAS thread each, set before the first numerical call, and no processes of
# their own where a test does not ask for them; each of those would import everything anew.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("LOKY_MAX_CPU_COUNT", "1")

# Without a device to test, kernels of Triton are interpreted; that is settled when their module is imported, and it is
# by whoever collects the examples in it.
if not os.environ.get("IFAIR_TEST_DEVICES"):
    os.environ.setdefault("TRITON_INTERPRET", "1")

# Shells start background jobs with interrupts ignored, and children inherit it: tests of Ctrl-C need the default.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    """Make the folder in which the processes of a run share what is dear to compute; see ``samples.shared``."""
    if "IFAIR_TEST_SHARED" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="ifair-tests-")
        os.environ["IFAIR_TEST_SHARED"] = folder.name
        config.add_cleanup(lambda: (os.environ.pop("IFAIR_TEST_SHARED"), folder.cleanup()))


def pytest_ignore_collect(collection_path, config):
    """Leave out modules of a mark that is not asked for: importing what they need, such as Dask, takes seconds."""
    unwanted = re.findall(r"\bnot (\w+)", config.option.markexpr)
    if unwanted and collection_path.suffix == ".py":
        marks = re.search(r"^pytestmark = .*?(?=\n\n)", collection_path.read_text(encoding="utf-8"), re.M | re.S)
        return True if marks and {*re.findall(r"pytest\.mark\.(\w+)", marks[0])} & {*unwanted} else None
    return None


def pytest_generate_tests(metafunc):
    """Run every test that asks for ``seed`` on IFAIR_TEST_SEEDS seeds (default 1, at most 100).

    On several seeds a test marked ``every_seed`` is a slow proof, so that ``make test-slow`` runs it too.
    """
    if "seed" in metafunc.fixturenames:
        seeds = range(int(os.environ.get("IFAIR_TEST_SEEDS", "1")))
        proof = len(seeds) > 1 and metafunc.definition.get_closest_marker("every_seed")
        marks = [pytest.mark.slow] if proof else []
        metafunc.parametrize("seed", [pytest.param(seed, marks=marks) for seed in seeds])


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)


@pytest.fixture
def real_data():
    """The folder of real datasets named by IFAIR_DATA; the test is skipped without it."""
    folder = os.environ.get("IFAIR_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("IFAIR_DATA does not name a folder with the real datasets")
    return Path(folder)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder of this test's own, and no IFAIR_DATA."""
    monkeypatch.delenv("IFAIR_DATA", raising=False)
    monkeypatch.setenv("IFAIR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session", autouse=True)
def few_folds():
    """Let the adversary of an audit guess in two folds, not five; what it finds is the business of tests/metrics."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ifair.evaluate.judgement.ADVERSARY_FOLDS", 2)
        yield


@pytest.fixture(scope="module")
def few_trees():
    """Boosting of five trees in a whole module of tests, where it is not asked how good its models are."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    with pytest.MonkeyPatch.context() as patched:
        for boosting in (HistGradientBoostingClassifier, HistGradientBoostingRegressor):
            patched.setitem(boosting.__init__.__kwdefaults__, "max_iter", 5)
        yield


@pytest.fixture
def quick_fits(monkeypatch):
    """One rough search for every IFair that does not say otherwise: pages and examples need no more digits."""
    from ifair import IFair

    for name, value in {"n_restarts": 1, "tol": 1e-2}.items():
        monkeypatch.setitem(IFair.__init__.__kwdefaults__, name, value)
