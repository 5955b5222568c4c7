"""Scripts outside the package as modules, and the command line in a process of its own."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import ifair


def load_script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def list_imports(*arguments):
    """Modules that a command imports, in a fresh process."""
    code = (
        "import sys; from ifair.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "print(*sys.modules, file=sys.stderr)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(ifair.__file__).parents[1])}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return set(done.stderr.split())
