"""PyTorch where it is installed, and what tests of its kernels need where there is no device to run them."""

import os
from functools import cache

import pytest


def import_torch():
    """PyTorch; skips where it is not installed."""
    return pytest.importorskip("torch", reason="torch is not installed: pip install 'ifair[torch]'")


def open_torch(X, block_rows, tile_rows, **options):
    """An engine of PyTorch, on the processor if nothing else is said."""
    import_torch()
    from ifair.engines.torch import TorchEngine

    return TorchEngine(X, **{"device": "cpu", "block_rows": block_rows, "tile_rows": tile_rows, **options})


def interpret_triton():
    """Skip where kernels of Triton are not interpreted: it is not installed or broken, or a device is tested."""
    pytest.importorskip("triton", reason="Triton is not installed: pip install 'ifair[torch]'")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("kernels are compiled in this process, for a device")
    if broken := _find_defect():
        pytest.skip(f"Triton's interpreter does not work here: {broken}")


@cache
def _find_defect():
    """What the interpreter says of a kernel that loops; Triton 3.6 with NumPy 2.5 turns no array into a number."""
    import torch
    import triton
    import triton.language as tl

    @triton.jit
    def count_up(out, n):
        total = tl.program_id(0)
        for i in range(total, n):
            total += i
        tl.store(out, total)

    out = torch.zeros(1, dtype=torch.int32)
    try:
        count_up[(1,)](out, 4)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0]
    return "" if out.item() == 6 else f"0 + 1 + 2 + 3 = {out.item()}"
