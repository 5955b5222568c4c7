"""The direction of imports: a record's way through the house is a straight line down."""

import ast
from pathlib import Path

import ifair

PACKAGE = Path(ifair.__file__).parent

# What each part of the house may import, besides itself, how files are written, plain data, errors and warnings.
MAY_IMPORT = {
    "files": set(),
    "plain_data": set(),
    "errors": set(),
    "unsuitable_columns": set(),
    "results": set(),
    "engines": {"core"},
    "graph": {"core"},
    "core": {"engines"},
    "inputs": {"core", "engines"},
    "encode": {"unsuitable_columns"},
    "data": {"datasets", "tables"},
    "datasets": set(),
    "tables": {"datasets", "unsuitable_columns"},
    "similarity": {"core", "encode"},
    "metrics": {"core", "inputs", "similarity"},
    "ranking": {"metrics"},
    "models": {"core", "engines", "inputs", "encode", "similarity", "graph", "metrics"},
    "persist": {"models", "encode", "core"},
    "interop": {"datasets", "encode", "tables"},
    "evaluate": {"results", "models", "ranking", "metrics", "similarity", "encode", "datasets"},
    "audit": {"results", "evaluate", "models", "ranking", "metrics", "similarity", "encode", "datasets", "tables"},
    "reproduce": {"report", "results", "evaluate", "models", "graph", "metrics", "encode", "data", "datasets"},
    "report": {"results"},
    "cli": {"audit", "evaluate", "reproduce", "persist", "report", "results", "models", "ranking", "similarity"}
    | {"metrics", "encode", "data", "datasets", "tables"},
}


def list_imports(path):
    """The modules of ifair that a source file imports, also inside functions, without the name of the package."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import in line {node.lineno}"
            names = [node.module]
        yield from (name.removeprefix("ifair.") for name in names if name.startswith("ifair."))


def test_imports_only_point_down_the_house():
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if part in ("__init__", "__main__"):
            continue
        wrong += [
            f"{path.relative_to(PACKAGE)} imports ifair.{target}"
            for target in (name.partition(".")[0] for name in list_imports(path))
            if target not in {part, "files", "plain_data", "errors"} | MAY_IMPORT[part]
        ]
    assert not wrong, "\n".join(wrong)


def test_the_core_knows_of_engines_only_what_an_engine_is():
    names = {name for path in (PACKAGE / "core").glob("*.py") for name in list_imports(path)}
    assert {name for name in names if name.startswith("engines")} == {"engines.engine"}
