"""Names of a module that are imported on first use."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def load_on_first_use(
    module: str, homes: Mapping[str, str], exported: Iterable[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions ``__getattr__`` and ``__dir__`` of a module, given where, below ifair, its public names live."""

    def __getattr__(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"ifair.{homes[name]}"), name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return __getattr__, lambda: sorted(exported)
