"""What every engine must do: the same loss and gradient as one block of NumPy, whatever the blocks, and every time.

A new engine joins by one line in ``ENGINES``.
"""

import itertools
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ifair.core.euclidean_pairs import pair_kernel
from ifair.core.lfr_terms import GroupParity, LabelCrossEntropy, first_log_odds
from ifair.core.mapping import Mapping, Parameters, mean_memberships
from ifair.core.moments import Moments, input_products
from ifair.core.objective import Objective, Reconstruction
from ifair.core.pairs import AllPairs, Landmarks
from ifair.engines.engine import LocalEngine
from ifair.engines.streamed import StreamedEngine
from ifair.inputs.disk import MappedRecords
from ifair.inputs.parquet import ParquetRecords

from clusters import open_on
from devices import interpret_triton, open_torch
from oracles import assert_same

M, N, K = 47, 6, 4
UNPROTECTED = np.array([0, 1, 2, 4])
LANDMARKS = np.array([3, 4, 11, 17, 25, 38, 46])
LABELS, GROUPS = np.tile([0.0, 1.0, 1.0, 0.0, 0.0], 10)[:M], np.arange(M) % 3

# Devices besides the processor, to be tested where there are some: IFAIR_TEST_DEVICES=cuda:0,cuda:1
DEVICES = ["cpu", *filter(None, os.environ.get("IFAIR_TEST_DEVICES", "").split(","))]


def local(X, rows, threads=1):
    return LocalEngine(X, threads=threads, block_rows=rows, tile_rows=max(1, rows // 2))


def from_map(X, rows, threads=1):
    with tempfile.TemporaryFile() as file:
        np.asarray(X).tofile(file)
        file.flush()
        mapped = np.memmap(file, X.dtype, "r", shape=X.shape)
    return StreamedEngine(MappedRecords(mapped), threads=threads, block_rows=rows, tile_rows=max(1, rows // 2))


class FromParquet(StreamedEngine):
    """Two files, cut into row groups that have nothing to do with the blocks."""

    def __init__(self, X, rows):
        pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'ifair[parquet]'")
        self.folder = tempfile.TemporaryDirectory()
        frame = pd.DataFrame(np.asarray(X), columns=[f"c{j}" for j in range(X.shape[1])])
        frame[:10].to_parquet(Path(self.folder.name) / "a.parquet", row_group_size=4)
        frame[10:].to_parquet(Path(self.folder.name) / "b.parquet", row_group_size=7)
        super().__init__(ParquetRecords(self.folder.name), block_rows=rows, tile_rows=max(1, rows // 2))

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.folder.cleanup()


def on_torch(X, rows, device, tile_rows=None, **options):
    return open_torch(X, rows, tile_rows or max(1, rows // 2), device=device, **options)


def in_steps(X, rows, device):
    """Nothing recorded, nothing fused: what every device falls back on."""
    return on_torch(X, rows, device, recorded=False, fused=False)


def interpreted(X, rows):
    """The kernel of fused tiles without a device, as its interpreter understands it: slowly, so in large tiles."""
    interpret_triton()
    return on_torch(X, rows, "cpu", fused=True, tile_rows=rows)


def on_cluster(family):
    return lambda X, rows: open_on(family, X, rows, block_rows=rows, tile_rows=max(1, rows // 2))


CLUSTERS = ("dask", "spark")
ENGINES = {
    "local": local,
    "local on two threads": lambda X, rows: local(X, rows, threads=2),
    "from a memory map": from_map,
    "from a memory map on two threads": lambda X, rows: from_map(X, rows, threads=2),
    "from Parquet files": FromParquet,
    **{f"torch on {device}": lambda X, rows, device=device: on_torch(X, rows, device) for device in DEVICES},
    **{
        f"torch on {device}, in steps": lambda X, rows, device=device: in_steps(X, rows, device)
        for device in DEVICES
        if device != "cpu"
    },
    "torch on cpu, fused": interpreted,
    **{family: on_cluster(family) for family in CLUSTERS},
}


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.cluster if name in CLUSTERS else ()) for name in ENGINES])
def opened(request):
    """Open the engine under test on some records, cut into so many shards."""
    engines = []

    def open_engine(X, shards=3):
        engines.append(ENGINES[request.param](X, -(-len(X) // shards)).__enter__())
        return engines[-1]

    yield open_engine
    for engine in reversed(engines):
        engine.__exit__(None, None, None)


def reference(X):
    """All records in one block and one tile of NumPy."""
    return LocalEngine(X, block_rows=len(X), tile_rows=len(X))


def draw(rng):
    X = rng.normal(size=(M, N))
    X[7] = X[8]  # twins
    X -= X.mean(axis=0)
    extra = {"log_odds": np.linspace(-1.0, 1.0, K)}
    return X, Parameters(rng.normal(size=(K, N)), rng.uniform(0.1, 1.0, size=N), extra)


def objective(engine, pairs="all", p=2.0, *, weighted=True, squared=False, reduction="mean", dtype=np.float64):
    unprotected, columns = engine.send(UNPROTECTED, np.array([1.0, 1, 1, 0, 1, 1]))
    counts = np.isin(np.arange(N), UNPROTECTED)
    kernel = pair_kernel(engine, counts, K, p, weighted=weighted, single=dtype == np.float32)
    pair_terms = {
        "all": lambda: [(0.7, AllPairs(kernel))],
        "landmarks": lambda: [(0.7, Landmarks(kernel, engine.take(LANDMARKS), engine.n_records))],
        "moments": lambda: [(0.7, Moments(unprotected, input_products(engine, unprotected), weighted))],
        "none": list,
        "lfr of three groups": lambda: lfr_terms(engine, GROUPS),
        "lfr of one group": lambda: lfr_terms(engine, 0 * GROUPS),
    }[pairs]()
    return Objective(engine, Mapping(p, squared), ((1.3, Reconstruction(columns)), *pair_terms), reduction)


def lfr_terms(engine, groups):
    y, *sent = engine.send(LABELS, groups, np.bincount(groups).astype(float))
    return [(1.1, LabelCrossEntropy(y)), (0.7, GroupParity(*sent))]


REDUCTIONS = ("mean", "sum", "norm")
SETTINGS = [
    pytest.param(
        *(pairs, p, weighted, reduction),
        # Any two of these settings meet in those that are not slow.
        marks=()
        if pairs == "moments" or reduction == REDUCTIONS[(int(p) + weighted + (pairs == "all")) % 3]
        else pytest.mark.slow,
        id=f"{pairs}-p{p:g}-{'weighted' if weighted else 'plain'}-{reduction}",
    )
    for pairs, p, weighted, reduction in itertools.product(
        ("all", "landmarks", "moments", "none"), (2.0, 1.0, 3.0), (True, False), REDUCTIONS
    )
    if (pairs != "moments" or p == 2.0) and (pairs != "none" or weighted)
]
SHARDS = [pytest.param(n, marks=() if n in (1, 2, 5, 7) else pytest.mark.slow) for n in range(1, 8)]


@pytest.mark.parametrize(("pairs", "p", "weighted", "reduction"), SETTINGS)
def test_loss_and_gradient_are_those_of_one_block(rng, opened, pairs, p, weighted, reduction):
    X, at = draw(rng)
    options = {"pairs": pairs, "p": p, "weighted": weighted, "reduction": reduction}
    expected = objective(reference(X), **options).value_and_grad(at)
    assert_same(objective(opened(X), **options).value_and_grad(at), expected)


@pytest.mark.parametrize("shards", SHARDS)
@pytest.mark.parametrize("pairs", ["all", "landmarks", "moments", "none", "lfr of three groups", "lfr of one group"])
def test_the_number_of_shards_does_not_matter(rng, opened, pairs, shards):
    X, at = draw(rng)
    expected = objective(reference(X), pairs, squared=True).value_and_grad(at)
    assert_same(objective(opened(X, shards), pairs, squared=True).value_and_grad(at), expected)


@pytest.mark.parametrize("p", [2.0, 3.0])
@pytest.mark.parametrize("pairs", ["all", "landmarks"])
def test_tiles_in_single_precision_agree_to_five_digits(rng, opened, pairs, p):
    X, at = draw(rng)
    expected = objective(reference(X), pairs, p).value_and_grad(at)
    assert_same(objective(opened(X), pairs, p, dtype=np.float32).value_and_grad(at), expected, 1e-5)


@pytest.mark.parametrize("pairs", ["all", "landmarks", "moments", "none"])
def test_records_in_single_precision_are_computed_with_in_double(rng, opened, pairs):
    X, at = draw(rng)
    X = X.astype(np.float32)
    expected = objective(reference(X.astype(np.float64)), pairs).value_and_grad(at)
    assert_same(objective(opened(X), pairs).value_and_grad(at), expected)


def test_sums_of_memberships_are_those_of_one_block(rng, opened):
    X, at = draw(rng)
    engine = opened(X)
    shares = mean_memberships(engine, Mapping(), at)
    np.testing.assert_allclose(shares, Mapping().memberships(X, at).mean(axis=0), rtol=1e-12)
    log_odds = first_log_odds(engine, Mapping(), at, *engine.send(LABELS))
    np.testing.assert_allclose(log_odds, first_log_odds(reference(X), Mapping(), at, LABELS), rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("pairs", ["all", "landmarks", "moments", "none"])
def test_repeats_are_bit_identical(rng, opened, pairs, dtype):
    X, at = draw(rng)
    first, again = opened(X), opened(X)
    results = [objective(engine, pairs, dtype=dtype).value_and_grad(at) for engine in (first, first, again)]
    assert_same(results[1], results[0], 0.0)
    assert_same(results[2], results[0], 0.0)


@pytest.mark.parametrize("pairs", ["all", "landmarks", "moments", "none"])
def test_one_objective_follows_its_parameters(rng, opened, pairs):
    """What was recorded or kept from one evaluation must not show in the next."""
    X, at = draw(rng)
    _, elsewhere = draw(rng)
    exact, ours = objective(reference(X), pairs), objective(opened(X), pairs)
    for parameters in (at, elsewhere, at):
        assert_same(ours.value_and_grad(parameters), exact.value_and_grad(parameters))


def test_memory_maps_and_read_only_arrays_are_accepted(rng, opened, tmp_path):
    X, at = draw(rng)
    np.save(tmp_path / "records.npy", X)
    mapped = np.load(tmp_path / "records.npy", mmap_mode="r")
    expected = objective(reference(X)).value_and_grad(at)
    assert_same(objective(opened(mapped)).value_and_grad(at), expected)


def test_arrays_come_back_from_the_engine_as_they_were_sent(opened):
    engine = opened(np.zeros((5, 2)))
    arrays = (np.arange(6.0).reshape(2, 3), np.array(2.5), np.zeros(0), np.arange(8.0).reshape(2, 2, 2).T)
    for sent, fetched in zip(arrays, engine.fetch(*engine.send(*arrays)), strict=True):
        np.testing.assert_array_equal(fetched, sent)
        assert np.shape(fetched) == sent.shape


def test_the_sum_over_blocks_visits_every_record_once(opened):
    engine = opened(np.arange(34.0).reshape(17, 2), shards=5)
    seen = [i for block in engine.map(lambda X, rows: list(range(rows.start, rows.stop))) for i in block]
    (total,) = engine.sum(lambda X, rows: (X[:, 0].sum(),))
    assert seen == list(range(17))
    assert float(total) == np.arange(0, 34, 2).sum()
    np.testing.assert_array_equal(engine.fetch(engine.take(np.array([16, 2])))[0], [[32.0, 33.0], [4.0, 5.0]])
