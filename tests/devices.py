"""What tests of kernels need where there is no device to run them."""

import os

import pytest


def interpret_triton():
    """Skip where kernels of Triton are not interpreted: where it is not installed, or a device is tested."""
    pytest.importorskip("triton", reason="Triton is not installed: pip install 'ifair[torch]'")
    if os.environ.get("TRITON_INTERPRET") != "1":
        pytest.skip("kernels are compiled in this process, for a device")
