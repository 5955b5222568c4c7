"""CONTRIBUTING is a true map: its rooms are those of the house, and its recipes name files that exist."""

import re
from pathlib import Path

import pytest
from test_layout import MAY_IMPORT

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
if not PAGE.exists():
    pytest.skip("this is not a checkout of the repository", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")
RECIPES = {
    title: (files, prose)
    for title, files, prose in re.findall(r"^### (.+)\n\nFiles: (.+)$((?:\n(?!##).*)*)", TEXT, flags=re.MULTILINE)
}
MOST_SOURCE_FILES = 3


def find_paths(text):
    """Paths between backticks; a path with NAME in it is a placeholder."""
    return re.findall(r"`([\w./]+\.(?:py|md|json|toml)|[\w./]+/)`", text)


def read_files(recipe):
    """Paths of source files, tests and pages that a recipe changes, and of files that it says to read."""
    parts = re.fullmatch(r"(.+?); tests: (.+?); docs: (.+?)(?:; read: (.+))?", RECIPES[recipe][0]).groups()
    return [find_paths(part or "") for part in parts]


def test_the_map_shows_every_room_above_those_that_it_imports():
    package = ROOT / "src" / "ifair"
    rooms = {f"{path.name}/" for path in package.iterdir() if (path / "__init__.py").exists()}
    rooms |= {path.name for path in package.glob("*.py") if not path.name.startswith("__")}
    house = TEXT.partition("```text\nsrc/ifair/\n")[2].partition("```")[0]
    shown = re.findall(r"^  (\S+)\s+\S", house, flags=re.MULTILINE)
    assert sorted(shown) == sorted(rooms)
    place = {re.sub(r"/|\.py", "", room): i for i, room in enumerate(shown)}
    imports = {(room, target) for room, targets in MAY_IMPORT.items() for target in targets}
    assert {(room, target) for room, target in imports if place[target] < place[room]} == {("engines", "core")}


def test_there_is_a_recipe_for_everything_that_people_add():
    wanted = {"loss term", "metric", "dataset", "verb", "engine", "experiment", "candidate"}
    assert [what for what in wanted if not any(what in title for title in RECIPES)] == []
    assert len(RECIPES) == TEXT.partition("## How to add")[2].partition("\n## ")[0].count("\n### ")


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_names_files_that_exist_in_source_tests_and_documentation(recipe):
    source, tests, docs, read = read_files(recipe)
    sources = ("src/ifair/", "pyproject.toml")
    for paths, folders in ((source, sources), (tests, ("tests/",)), (docs, ("docs/",)), (read, sources)):
        assert all(path.startswith(folders) for path in paths)
        for path in map(ROOT.joinpath, paths):
            assert path.parent.is_dir() if "NAME" in path.name else path.exists(), path
    assert source
    assert tests
    assert docs
    assert len(source) <= MOST_SOURCE_FILES


@pytest.mark.parametrize("recipe", RECIPES)
def test_every_source_file_in_the_prose_of_a_recipe_is_among_its_files(recipe):
    source, tests, docs, read = read_files(recipe)
    places = ("", "src/", "src/ifair/")
    for named in find_paths(RECIPES[recipe][1]):
        found = {f"{place}{named}" for place in places if (ROOT / place / named).exists()}
        assert found & {*source, *tests, *docs, *read} or named.startswith("docs/"), named


def test_every_other_file_that_the_page_names_exists():
    named = [path for path in find_paths(TEXT) if "NAME" not in path]
    places = (ROOT, ROOT / "src", ROOT / "src" / "ifair")
    assert [path for path in named if not any((place / path).exists() for place in places)] == []
    assert len(named) > 30
