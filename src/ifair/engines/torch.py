"""Records on a device of PyTorch, evaluated in blocks and tiles large enough to fill it."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from ifair.engines.engine import Engine, blocks
from ifair.errors import IfairError

Result = TypeVar("Result")
Kernel = TypeVar("Kernel")


class TorchEngine(Engine):
    """Evaluates functions of blocks of records on a device, to which the records travel once.

    Blocks are summed in one fixed order on one stream: results are bit-identical from run to run. Nothing waits for
    the device before :meth:`fetch`, which is called once in an evaluation.

    Parameters
    ----------
    X : ndarray or Tensor of shape (M, N)
        The records. A tensor that is on the device already is not copied.
    device : str or torch.device, optional
        By default that of X if it is a tensor, else the first CUDA device, or the processor without one.
    block_rows, tile_rows : int, optional
        By default what fills the device: see :class:`ifair.engines.engine.LocalEngine` for what they mean.
    recorded : bool, optional
        Record and replay what :meth:`evaluate` is given. By default on CUDA devices, for tables so small that asking
        for operations takes longer than performing them.
    fused : bool, optional
        Compare pairs by kernels of Triton, where it is installed: by default on CUDA devices. Of so many pairs that it
        pays (by default), in single precision, a tile is one kernel; else a comparison is, between products of torch.

    Notes
    -----
    Use as a context manager: inside, products of single precision are not rounded further (TF32), which would drown
    the distance between close records.
    """

    stripes = 1
    """The device itself divides the work of a tile."""

    def __init__(
        self,
        X: Any,
        *,
        device: Any = None,
        block_rows: int | None = None,
        tile_rows: int | None = None,
        recorded: bool | None = None,
        fused: bool | None = None,
    ) -> None:
        if device is None:
            device = X.device if isinstance(X, torch.Tensor) else default_device()
        self.device = torch.device(device)
        self.X = tensor(X).to(self.device)
        self.n_records = len(X)
        accelerated = self.device.type != "cpu"
        self.block_rows = block_rows or (ACCELERATOR_BLOCK_ROWS if accelerated else PROCESSOR_BLOCK_ROWS)
        self.tile_rows = tile_rows or (ACCELERATOR_TILE_ROWS if accelerated else PROCESSOR_TILE_ROWS)
        small_on_cuda = self.device.type == "cuda" and self.n_records <= RECORDED_UP_TO
        self.recorded = small_on_cuda if recorded is None else recorded
        by_default = FUSED_FROM if self.device.type == "cuda" else math.inf
        self.fused_from = by_default if fused is None else 0 if fused else math.inf
        self.fused_tile_rows = tile_rows or FUSED_TILE_ROWS
        self._graphs: dict[Callable[..., tuple[Any, ...]], CudaGraph] = {}
        self._over: list[Callable[..., tuple[Any, ...]]] = []
        self._pool: Any = None
        self._precision_before = ""
        # What the arrays of many fits, evaluated at once, may take; nothing where they would only crowd the cache.
        total = torch.cuda.get_device_properties(self.device).total_memory if self.device.type == "cuda" else 2**32
        # Several processes may share a device.
        self.batch_bytes = total // 24 if accelerated else 0

    def __enter__(self) -> Self:
        self._precision_before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        return self

    def __exit__(self, *exception: object) -> None:
        self._drop_recordings()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()  # several processes may share a device
        torch.set_float32_matmul_precision(self._precision_before)

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        return map(function, range(n_tasks))

    def map(self, function: Callable[[torch.Tensor, slice], Result]) -> Iterator[Result]:
        return (function(self.X[rows].double(), rows) for rows in blocks(self.n_records, self.block_rows))

    def take(self, indices: NDArray[np.integer[Any]]) -> torch.Tensor:
        return self.X[tensor(indices).to(self.device)].double()

    def send(self, *arrays: NDArray[Any]) -> tuple[torch.Tensor, ...]:
        """Tensors on the device."""
        return tuple(tensor(array).to(self.device) for array in arrays)

    def fetch(self, *arrays: torch.Tensor) -> tuple[NDArray[np.float64], ...]:
        """NumPy arrays of doubles; everything comes in one transfer, the only one that waits for the device."""
        return unflatten(flatten(arrays), [tuple(array.shape) for array in arrays])

    def evaluate(
        self, function: Callable[..., tuple[Any, ...]], *arrays: NDArray[Any], once: bool = False
    ) -> tuple[NDArray[np.float64], ...]:
        """From NumPy arrays to NumPy arrays by way of the device; recorded in the first call, where that saves time."""
        if self.recorded and not once:
            try:
                if is_new := function not in self._graphs:
                    self._pool = self._pool or torch.cuda.graph_pool_handle()
                    self._graphs[function] = CudaGraph(function, self.device, self._pool)
                found = self._graphs[function](*arrays)
                while is_new and self._over:
                    self._graphs.pop(self._over.pop(), None)
                return found
            except RuntimeError:
                # Too little memory for a recording beside everything else, or an operation that cannot be recorded.
                self.recorded = False
                self._drop_recordings()
        return self.fetch(*function(*self.send(*arrays)))

    def _drop_recordings(self) -> None:
        # Functions that are over hold what they were recorded with, too.
        self._graphs.clear()
        self._over.clear()

    def forget(self, function: Callable[..., tuple[Any, ...]]) -> None:
        """Drop a recording, with all that it holds on the device, when the next one is there.

        The memory that recordings share would end with the last of them.
        """
        if function in self._graphs:
            self._over.append(function)

    def fastest_kernel(self, kernel: Kernel, n_pairs: int, *, in_one: bool) -> Kernel:
        """With Triton, the kernel in one piece where there are pairs enough, else with a comparison in one pass."""
        if self.fused_from == math.inf or find_spec("triton") is None:
            return kernel
        plain: Any = kernel
        if in_one and n_pairs >= self.fused_from:
            from ifair.engines.triton_pairs import fuse_kernel

            return fuse_kernel(self, plain)  # type: ignore[return-value]
        from ifair.engines.triton_comparison import choose_comparison

        dtype = torch.float32 if plain.dtype == np.float32 else torch.float64
        compared: Any = replace(plain, compare=choose_comparison(self.device, dtype))
        return compared


# Chosen by measurement, see docs/performance.md.
ACCELERATOR_BLOCK_ROWS, ACCELERATOR_TILE_ROWS = 65_536, 4096
PROCESSOR_BLOCK_ROWS, PROCESSOR_TILE_ROWS = 4096, 512
RECORDED_UP_TO = 65_536

FUSED_FROM = 4096**2
"""Pairs from which one kernel per tile is faster than steps."""

FUSED_TILE_ROWS = 16_384
"""Records on each side of a fused tile: so many that handing out tiles takes no time, so few that its sums fit."""


class CudaGraph:
    """From NumPy arrays to NumPy arrays by way of a CUDA graph, which is recorded in the first call.

    Python takes some ten microseconds to ask for an operation, more than a small one takes on the device. A function
    that always performs the same operations on arrays of the same shapes can be recorded and replayed without it. It
    must neither wait for the device nor choose by values computed there. Recordings share the memory of a ``pool``
    (``torch.cuda.graph_pool_handle()``): one is replayed at a time, and what it leaves there is fetched at once.
    """

    def __init__(self, function: Callable[..., tuple[Any, ...]], device: torch.device, pool: Any = None) -> None:
        self.function, self.device, self.pool = function, device, pool
        self.graph: Any = None

    def __call__(self, *arrays: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:
        if self.graph is None:
            self._record(arrays)
        else:
            for there, here in zip(self.inputs, arrays):
                there.copy_(tensor(here))
        self.graph.replay()
        return unflatten(self.output, self.shapes)

    def _record(self, arrays: tuple[NDArray[Any], ...]) -> None:
        self.inputs = [tensor(array).to(self.device) for array in arrays]
        with torch.cuda.device(self.device):
            # Libraries set themselves up in the first call, which cannot be recorded.
            apart = torch.cuda.Stream()
            apart.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(apart):
                self.function(*self.inputs)
                torch.cuda.synchronize()
                # Not by torch.cuda.graph, which collects garbage and gives memory back to the device every time.
                graph = torch.cuda.CUDAGraph()
                graph.capture_begin(self.pool, capture_error_mode="thread_local")
                try:
                    results = self.function(*self.inputs)
                    self.output = flatten(results)
                finally:
                    graph.capture_end()
            torch.cuda.current_stream().wait_stream(apart)
        self.shapes = [tuple(result.shape) for result in results]
        self.graph = graph


def default_device() -> str:
    """The first CUDA device, or the processor where there is none."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def check_device(name: str) -> torch.device:
    """The device of this name, if torch has it and it computes in double precision."""
    try:
        device = torch.device(name)
        torch.zeros(1, dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise IfairError(
            f"engine='torch:{name}': torch cannot compute in double precision on {name!r} here ({reason}); "
            "plain 'torch' takes the first CUDA device, or the processor where there is none"
        ) from error
    return device


def tensor(array: Any) -> torch.Tensor:
    """A tensor where the array is, without a copy if that may be."""
    if isinstance(array, torch.Tensor):
        return array.detach()
    # A tensor that shares memory with a read-only array would be a promise to write there; torch warns of it.
    return torch.from_numpy(array if array.flags.writeable and array.flags.c_contiguous else array.copy(order="C"))


def flatten(arrays: Iterable[torch.Tensor]) -> torch.Tensor:
    """All of them as one vector of doubles, which travels in one piece."""
    return torch.cat([array.reshape(-1).double() for array in arrays])


def wait_for(result: torch.Tensor) -> torch.Tensor:
    """A result of the device on the host, where a core is free for others in the meantime: CUDA would keep it busy."""
    if result.device.type != "cuda":
        return result.cpu()
    host = torch.empty(result.shape, dtype=result.dtype, pin_memory=True)
    host.copy_(result, non_blocking=True)
    arrived = torch.cuda.Event(blocking=True)
    arrived.record(torch.cuda.current_stream(result.device))
    arrived.synchronize()
    return host


def unflatten(flat: torch.Tensor, shapes: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.float64], ...]:
    """Arrays of these shapes, on the host; waits for the device."""
    host = wait_for(flat).numpy()
    edges = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    return tuple(part.reshape(shape) for part, shape in zip(np.split(host, edges), shapes))
