"""What tests of kernels need where there is no device to run them."""

import os
import sys

import pytest


def interpret_triton():
    """Have kernels of Triton interpreted, on the processor; skip where it is not installed.

    Whether a kernel is compiled or interpreted is settled when its module is imported.
    """
    if "ifair.core.fused" not in sys.modules:
        os.environ["TRITON_INTERPRET"] = "1"
    pytest.importorskip("triton", reason="Triton is not installed: pip install 'ifair[torch]'")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("kernels are compiled in this process, for a device")
