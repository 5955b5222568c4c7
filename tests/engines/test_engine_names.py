"""From a name to an engine, and what is said where that cannot be."""

import numpy as np
import pytest

from ifair import LFR, IFair
from ifair.engines.engine import LocalEngine, check_engine, open_engine
from ifair.inputs.table import is_tensor, to_host

from devices import import_torch

X = np.zeros((4, 2))


@pytest.mark.parametrize("name", ["gpu", "", "torch:", "local:2", "auto:cuda", "dask:", "spark:", None, 3, "Torch"])
@pytest.mark.parametrize("estimator", [IFair, LFR])
def test_an_unknown_engine_is_refused_with_the_names_there_are(estimator, name):
    names = (
        "'auto', 'local', 'torch' or 'torch:DEVICE' such as 'torch:cuda:0', "
        "'dask' or 'dask:ADDRESS' such as 'dask:tcp://10.0.0.1:8786', "
        "'spark' or 'spark:MASTER' such as 'spark:spark://10.0.0.1:7077'"
    )
    expected = f"engine must be one of {names}, got {name!r}"
    with pytest.raises(ValueError) as error:
        estimator(2, engine=name).fit(X, np.array([0, 0, 1, 1]))
    assert str(error.value) == expected


@pytest.mark.parametrize(
    ("names", "packages"),
    [
        (["torch", "torch:cuda:0"], "torch and array_api_compat"),
        (["dask", "dask:tcp://10.0.0.1:8786"], "dask and distributed"),
        (["spark"], "pyspark and pyarrow and cloudpickle"),
    ],
)
def test_without_its_packages_the_error_of_an_engine_names_the_extra(monkeypatch, names, packages):
    monkeypatch.setattr("ifair.errors.find_spec", lambda package: None)
    for name in names:
        with pytest.raises(ImportError, match=rf"needs {packages}, .* pip install 'ifair\[{names[0]}\]"):
            IFair(2, engine=name).fit(X)


def test_arrays_are_computed_with_locally_unless_asked_otherwise():
    for name in ("auto", "local"):
        with open_engine(name, X, threads=2) as engine:
            assert isinstance(engine, LocalEngine)


def test_what_is_no_tensor_stays_as_it_is():
    for thing in (X, [[1.0]], None, "torch"):
        assert not is_tensor(thing)
        assert to_host(thing) is thing


def test_torch_opens_a_torch_engine_on_the_device_named():
    torch = import_torch()
    from ifair.engines.torch import TorchEngine

    named, first = open_engine("torch:cpu", X), open_engine("torch", X)
    assert isinstance(named, TorchEngine)
    assert named.device == torch.device("cpu")
    assert first.device.type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert first.tile_rows < first.block_rows


def test_what_cannot_be_recorded_is_computed_all_the_same(monkeypatch):
    import_torch()
    from ifair.engines import torch as module

    class Failing:
        def __init__(self, function, device, pool):
            pass

        def __call__(self, *arrays):
            raise RuntimeError("operation not permitted when stream is capturing")

    monkeypatch.setattr(module, "CudaGraph", Failing)
    with module.TorchEngine(X, device="cpu", recorded=True) as engine:
        for _ in range(2):
            (doubled,) = engine.evaluate(lambda a: (2 * a,), np.arange(3.0))
            np.testing.assert_array_equal(doubled, [0.0, 2.0, 4.0])


def test_recordings_that_are_over_end_when_the_next_is_there(monkeypatch):
    torch = import_torch()
    from ifair.engines import torch as module

    pools = []
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: pools.append(len(pools) + 1) or len(pools))

    class Recorded:
        def __init__(self, function, device, pool):
            self.function, self.pool = function, pool

        def __call__(self, *arrays):
            return self.pool, self.function(*arrays)

    monkeypatch.setattr(module, "CudaGraph", Recorded)
    with module.TorchEngine(X, device="cpu", recorded=True) as engine:
        assert engine.evaluate(abs, -2.0) == engine.evaluate(abs, 2.0) == (1, 2.0)
        assert engine.evaluate(len, X) == (1, 4)
        engine.forget(min)  # what is not recorded is no error, and not kept
        assert not engine._over
        engine.forget(abs)
        engine.forget(abs)
        engine.forget(len)
        assert [*engine._graphs] == [abs, len]  # the memory that they share would end with the last
        assert engine.evaluate(max, [3.0, 4.0]) == (1, 4.0)
        assert [*engine._graphs] == [max]
        assert engine.evaluate(abs, -3.0) == (1, 3.0)
        engine.forget(abs)
    assert not engine._graphs
    assert not engine._over  # nothing holds the arrays of what is over


@pytest.mark.parametrize("device", ["nonsense", "cuda:99", "meta:x"])
def test_a_device_that_is_not_there_is_refused(device):
    import_torch()
    with pytest.raises(ValueError, match=f"engine='torch:{device}': torch cannot compute in double precision on"):
        check_engine(f"torch:{device}")
