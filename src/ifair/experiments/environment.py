"""What a result may depend on besides its settings: the kind of machine, and versions."""

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from ifair import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas")


def environment() -> dict[str, str]:
    """Kind of machine and versions; a GPU counts where PyTorch was loaded and sees one."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        machine += f", {torch.cuda.get_device_name()}"
    return {
        "machine": machine,
        "system": platform.system(),
        "python": platform.python_version(),
        "ifair": __version__,
        **{name: _version(name) for name in PACKAGES},
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # vendored, or run from a folder
        return "unknown"


def joined(environments: list[dict[str, str]]) -> dict[str, str]:
    """One environment for units that ran in several: values that differ side by side."""
    names = dict.fromkeys(name for one in environments for name in one)
    return {name: " and ".join(sorted({one[name] for one in environments if name in one})) for name in names}
