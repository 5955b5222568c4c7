"""Tensors of PyTorch: fitted as the arrays that they hold, and mapped where they are."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from ifair.core.arrays import to_host
from ifair.engines.engine import blocks
from ifair.engines.torch import TorchEngine
from ifair.errors import IfairError
from ifair.inputs.table import MemoryTable, RowMap, Validate, fill_result


class TensorTable(MemoryTable):
    """A tensor to fit: with the engine "auto" or "torch" on its own device, if that is an accelerator."""

    def __init__(self, X: Any, validate: Validate, *, engine: str, **options: Any) -> None:
        if engine in ("auto", "torch") and X.device.type != "cpu":
            engine = f"torch:{X.device}"
        super().__init__(to_host(X), validate, engine=engine, **options)


class MappedTensor(MemoryTable):
    """A tensor to map, checked where it is, in single or double precision."""

    def __init__(self, X: Any, validate: Validate, **options: Any) -> None:
        if X.ndim != 2:
            raise IfairError(
                f"Expected 2D array, got {X.ndim}D tensor instead: one row per record, one column per attribute"
            )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)  # no tensor has
            super().__init__(np.zeros((1, X.shape[1])), validate, **options)
        xp, X = array_namespace(X), X.detach()
        self.X: Any = X if X.dtype in (xp.float64, xp.float32) else xp.astype(X, xp.float64)
        if not bool(xp.all(xp.isfinite(self.X))):
            raise IfairError(
                "Input X contains NaN or infinity: fill or drop what is missing first (ifair.Encoder does)"
            )

    def map(self, function: RowMap) -> Any:
        return _map_tensor(self.X, function)

    def map_blocks(self, function: RowMap, rows: int) -> Iterator[Any]:
        return (_map_tensor(self.X[part], function) for part in blocks(self.n_records, rows))


def _map_tensor(X: Any, function: RowMap) -> Any:
    result = X.new_empty((len(X), function.n_outputs))
    fill_result(TorchEngine(X), function, result)
    return result
