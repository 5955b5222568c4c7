"""Between NumPy arrays and tensors."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


def tensor(array: Any) -> torch.Tensor:
    """A tensor where the array is, without a copy if that may be."""
    if isinstance(array, torch.Tensor):
        return array.detach()
    # A tensor that shares memory with a read-only array would be a promise to write there; torch warns of it.
    return torch.from_numpy(array if array.flags.writeable and array.flags.c_contiguous else array.copy(order="C"))


def flatten(arrays: Iterable[torch.Tensor]) -> torch.Tensor:
    """All of them as one vector of doubles, which travels in one piece."""
    return torch.cat([array.reshape(-1).double() for array in arrays])


def unflatten(flat: torch.Tensor, shapes: Sequence[tuple[int, ...]]) -> tuple[NDArray[np.float64], ...]:
    """Arrays of these shapes, on the host; waits for the device."""
    host = flat.cpu().numpy()
    edges = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    return tuple(part.reshape(shape) for part, shape in zip(np.split(host, edges), shapes))
