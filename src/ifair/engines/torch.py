"""Records on a device of PyTorch, evaluated in blocks and tiles large enough to fill it."""

import math
from collections.abc import Callable, Iterator
from typing import Any, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from ifair.engines.protocol import add_in_order, blocks
from ifair.engines.replay import Replay
from ifair.engines.transfer import flatten, tensor, unflatten

Result = TypeVar("Result")


class TorchEngine:
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
        By default what fills the device: see :class:`ifair.engines.local.LocalEngine` for what they mean.
    recorded : bool, optional
        Record and replay what :meth:`evaluate` is given. By default on CUDA devices, for tables so small that asking
        for operations takes longer than performing them.
    fused : bool, optional
        Compare pairs by one kernel a tile, in single precision, where Triton is installed. By default on CUDA devices,
        where there are so many pairs that it pays.

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
        self._replays: dict[Callable[..., tuple[Any, ...]], Replay] = {}
        self._pool: Any = None
        self._precision_before = ""
        # What the arrays of many fits, evaluated at once, may take; nothing where they would only crowd the cache.
        total = torch.cuda.get_device_properties(self.device).total_memory if self.device.type == "cuda" else 2**32
        self.batch_bytes = total // 16 if accelerated else 0

    def __enter__(self) -> Self:
        self._precision_before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        return self

    def __exit__(self, *exception: object) -> None:
        self._replays.clear()
        torch.set_float32_matmul_precision(self._precision_before)

    def run(self, function: Callable[[int], Result], n_tasks: int) -> Iterator[Result]:
        """Results of ``function(0), ..., function(n_tasks - 1)``, in this order."""
        return map(function, range(n_tasks))

    def map(self, function: Callable[[torch.Tensor, slice], Result]) -> Iterator[Result]:
        """Results of ``function(block, rows)`` for every block of records, in the order of the records."""
        return (function(self.X[rows].double(), rows) for rows in blocks(self.n_records, self.block_rows))

    def sum(self, function: Callable[[torch.Tensor, slice], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The sum of ``function(block, rows)``, a tuple of things that can be added, over all records."""
        return add_in_order(self.map(function))

    def take(self, indices: NDArray[np.integer[Any]]) -> torch.Tensor:
        """The records at these positions."""
        return self.X[tensor(indices).to(self.device)].double()

    def send(self, *arrays: NDArray[Any]) -> tuple[torch.Tensor, ...]:
        """Tensors on the device."""
        return tuple(tensor(array).to(self.device) for array in arrays)

    def fetch(self, *arrays: torch.Tensor) -> tuple[NDArray[np.float64], ...]:
        """NumPy arrays of doubles; everything comes in one transfer, the only one that waits for the device."""
        return unflatten(flatten(arrays), [tuple(array.shape) for array in arrays])

    def evaluate(
        self, function: Callable[..., tuple[Any, ...]], *arrays: NDArray[Any]
    ) -> tuple[NDArray[np.float64], ...]:
        """From NumPy arrays to NumPy arrays by way of the device; recorded in the first call, where that saves time."""
        if self.recorded:
            try:
                if function not in self._replays:
                    self._pool = self._pool or torch.cuda.graph_pool_handle()
                    self._replays[function] = Replay(function, self.device, self._pool)
                return self._replays[function](*arrays)
            except RuntimeError:
                # Too little memory for a recording beside everything else, or an operation that cannot be recorded.
                self.recorded = False
                self._replays.clear()
        return self.fetch(*function(*self.send(*arrays)))


# Chosen by measurement, see docs/performance.md.
ACCELERATOR_BLOCK_ROWS, ACCELERATOR_TILE_ROWS = 65_536, 4096
PROCESSOR_BLOCK_ROWS, PROCESSOR_TILE_ROWS = 4096, 512
RECORDED_UP_TO = 65_536

FUSED_FROM = 4096**2
"""Pairs from which one kernel a tile is faster than steps."""

FUSED_TILE_ROWS = 16_384
"""Records on each side of a fused tile: so many that handing out tiles takes no time, so few that its sums fit."""


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
        raise ValueError(
            f"engine='torch:{name}': torch cannot compute in double precision on {name!r} here ({reason}); "
            "plain 'torch' takes the first CUDA device, or the processor where there is none"
        ) from error
    return device
