"""The reference in docs/api.md and what the public packages export are one list."""

import importlib
import re
from functools import reduce
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
API = ROOT / "docs" / "api.md"


def list_exporting_modules():
    """Modules with an ``__all__``, which makes them somebody's interface."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        if re.search(r"^__all__ = ", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            yield ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")


def read_api_names():
    """Full names that the reference lists: what stands in an autosummary, below its current module."""
    names, module = [], None
    for block in re.findall(r"```\{eval-rst\}\n(.*?)```", API.read_text(encoding="utf-8"), flags=re.DOTALL):
        for line in block.splitlines():
            if found := re.match(r"\.\. currentmodule:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"   (\w[\w.]*)$", line):
                names.append(f"{module}.{found[1]}")
    return names


def import_name(name):
    """The object of a full name: the longest module that there is, then attributes."""
    parts = name.split(".")
    for i in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:i]))
        except ModuleNotFoundError as error:
            if not str(error.name).startswith("ifair"):
                return error  # the module is there; an optional package that it needs is not
            continue
        return reduce(getattr, parts[i:], module)
    raise ModuleNotFoundError(name)


NAMES, PUBLIC = read_api_names(), list(list_exporting_modules())


def test_the_reference_lists_each_name_once_and_the_modules_that_users_import_from_export_names():
    assert len(NAMES) > 50
    assert sorted(NAMES) == sorted(set(NAMES))
    assert {"ifair", "ifair.data", "ifair.graph", "ifair.metrics", "ifair.persist", "ifair.ranking"} < set(PUBLIC)


@pytest.mark.parametrize("package", PUBLIC)
def test_every_public_name_is_in_the_reference(package):
    exported = importlib.import_module(package).__all__
    documented = {id(import_name(name)): name for name in NAMES}
    missing = [name for name in exported if id(import_name(f"{package}.{name}")) not in documented]
    assert missing in ([], ["__version__"])


@pytest.mark.parametrize("name", NAMES)
def test_every_name_of_the_reference_can_be_imported_and_is_exported_where_it_says(name):
    assert import_name(name) is not None
    module, _, last = name.rpartition(".")
    assert last in importlib.import_module(module).__all__


def test_pages_and_examples_import_public_names_only():
    documented = {id(import_name(name)) for name in NAMES}
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.py")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    imports = re.findall(r"^from (ifair[\w.]*) import (?:\(([\w,\s]+)\)|(.+))$", text, flags=re.MULTILINE)
    names = {f"{module}.{name}" for module, *names in imports for name in re.findall(r"\w+", "".join(names))}
    assert len(names) > 30
    assert [name for name in sorted(names) if id(import_name(name)) not in documented] == []


def test_what_docstrings_and_pages_refer_to_exists():
    code = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    names = set(re.findall(r":\w+:`~?(ifair\.[\w.]+)`", code))
    assert len(names) > 50
    assert [name for name in sorted(names) if import_name(name) is None] == []
    pages = "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    files = set(re.findall(r"`((?:src|tests|benchmarks|examples)/[\w/.]+)`", pages))
    assert files
    assert [file for file in sorted(files) if not (ROOT / file).exists()] == []
