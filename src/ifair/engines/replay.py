"""A function of tensors, recorded once and replayed: hundreds of small operations at the cost of asking for one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ifair.engines.transfer import flatten, tensor, unflatten


class Replay:
    """From NumPy arrays to NumPy arrays by way of a CUDA graph, which is recorded in the first call.

    Python takes some ten microseconds to ask for an operation, more than a small one takes on the device. A function
    that always performs the same operations on arrays of the same shapes can be recorded and replayed without it.

    Parameters
    ----------
    function : callable
        From tensors to a tuple of tensors. It must neither wait for the device nor choose by values computed there.
    device : torch.device
    pool : optional
        Memory that recordings share (``torch.cuda.graph_pool_handle()``): only one of them is replayed at a time, and
        what it leaves there is fetched at once.
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
            torch.cuda.current_stream().wait_stream(apart)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self.pool, capture_error_mode="thread_local"):
                results = self.function(*self.inputs)
                self.output = flatten(results)
        self.shapes = [tuple(result.shape) for result in results]
        self.graph = graph
