"""The direction of imports: a record's way through the house is a straight line down."""

import ast
from pathlib import Path

import ifair

PACKAGE = Path(ifair.__file__).parent

# What each part of the house may import, besides itself, how files are written, and what errors suggest.
MAY_IMPORT = {
    "files": set(),
    "hints": set(),
    "pareto": set(),
    "graph": {"core"},
    "engines": set(),
    "core": {"engines"},
    "encode": set(),
    "data": {"encode"},
    "metrics": set(),
    "ranking": {"metrics"},
    "models": {"core", "engines", "encode"},
    "persist": {"models", "encode"},
    "roles": {"data"},
    "interop": {"data", "encode"},
    "tune": {"pareto", "models", "ranking", "metrics", "encode", "data"},
    "audit": {"tune", "pareto", "models", "ranking", "metrics", "encode", "data"},
    "experiments": {"tune", "pareto", "models", "ranking", "metrics", "encode", "data"},
    "report": {"pareto"},
    "cli": {
        "audit",
        "experiments",
        "tune",
        "persist",
        "roles",
        "report",
        "models",
        "ranking",
        "metrics",
        "encode",
        "data",
    },
}


def imported_parts(path):
    """The parts of ifair that a source file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: relative import in line {node.lineno}"
            names = [node.module]
        for name in names:
            top, _, rest = name.partition(".")
            if top == "ifair" and rest:
                yield rest.partition(".")[0]


def test_imports_only_point_down_the_house():
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        part = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        wrong += [
            f"{path.relative_to(PACKAGE)} imports ifair.{target}"
            for target in imported_parts(path)
            if target not in {part, "files", "hints"} | MAY_IMPORT[part]
        ]
    assert not wrong, "\n".join(wrong)
