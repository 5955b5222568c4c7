"""How far a reader has to walk: files and functions that one table passes on its way through the library.

    python benchmarks/trace_files.py [TREE] [--names] [--static]

TREE is a checkout of this repository, by default this one. Only public entry points are called, so that older and
newer trees can be compared.
"""

import argparse
import ast
import contextlib
import io
import re
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

TABLE_OPTIONS = ("--protected", "sex", "--target", "hired")
# Participles that do not end in -ed or -ing. "cut", "put", "set" and "split" are verbs as well.
IRREGULAR = """
begun bent bound bought brought built caught chosen done drawn driven fallen felt found given gone grown heard held
hidden kept known laid left lent lost made meant met paid said seen sent shown sought spent spun stood sworn taken
taught thought thrown told torn understood unknown unseen won written
"""
# Nouns and verbs that only look like participles.
NO_PARTICIPLES = ("embed", "feed", "need", "seed", "speed", "mapping", "ranking", "setting", "string")


class Tracer:
    """Counts the functions under a folder that run while it is on; what runs during imports is left out."""

    def __init__(self, folder: Path) -> None:
        self._folder = f"{folder}/"
        self._importing = threading.local()
        self.functions: set[tuple[str, str, int]] = set()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(self._folder):
            return
        depth = getattr(self._importing, "depth", 0)
        if code.co_name == "<module>":
            self._importing.depth = depth + (1 if event == "call" else -1)
        elif code.co_name == "__getattr__" and code.co_filename.endswith("__init__.py"):
            return  # how a package that imports lazily imports
        elif event == "call" and depth == 0 and code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<"):
            self.functions.add((code.co_filename, code.co_name, code.co_firstlineno))

    @contextlib.contextmanager
    def trace(self) -> Iterator[None]:
        """Within it, calls in this and in new threads are counted."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    @property
    def files(self) -> list[str]:
        """The files of the functions, below the folder."""
        return sorted({file.removeprefix(self._folder) for file, _, _ in self.functions})


def run_verb(*arguments: str) -> None:
    """Run a verb of the command line, without what it prints."""
    from ifair.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main([*arguments], standalone_mode=False)


def make_table(path: Path) -> None:
    """People whose outcome depends on their experience and, unfairly, on their sex."""
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    sex = rng.choice(["female", "male"], 240)
    experience = rng.gamma(3, 2, 240).round(1)
    merit = experience + 2 * (sex == "male") + rng.normal(size=240)
    job = rng.choice(["clerk", "nurse"], 240)
    hired = (merit > np.median(merit)).astype(int)
    pd.DataFrame({"sex": sex, "experience": experience, "job": job, "hired": hired}).to_csv(path, index=False)


def fit_transform(*, named: bool = False) -> None:
    """Learn a representation of a matrix, or of a table whose protected column has a name, and return it."""
    import numpy as np
    import pandas as pd

    from ifair import IFair

    X = np.random.default_rng(0).normal(size=(200, 5))
    table, protected = (pd.DataFrame(X, columns=list("abcde")), ["e"]) if named else (X, [4])
    IFair(3, protected=protected, n_restarts=2, max_iter=50, tol=1e-2, random_state=0).fit_transform(table)


def list_journeys(folder: Path) -> dict[str, Callable[[], None]]:
    """What is traced, by name; the folder takes tables and results."""
    table = folder / "people.csv"
    make_table(table)
    source = (str(table), *TABLE_OPTIONS)
    return {
        "fit_transform": fit_transform,
        "the same, named": lambda: fit_transform(named=True),
        "tune": lambda: run_verb("tune", *source, "--trials", "3", "-o", str(folder / "tuning.json")),
        "report": lambda: run_verb("report", *source, "--jobs", "1", "-o", str(folder / "report.html")),
        "reproduce": lambda: run_verb(
            *("reproduce", "--profile", "smoke", "--only", "classification", "--jobs", "1", "-o", str(folder / "paper"))
        ),
    }


def count_lines(folder: Path) -> int:
    """Lines of the Python files below a folder."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))


def is_bare_participle(name: str) -> bool:
    """Whether a function's name is one participle, such as ``told``, ``_shown`` or ``naming``."""
    word = name.strip("_")
    if "_" in word or word in NO_PARTICIPLES:
        return False
    return word in IRREGULAR.split() or bool(re.fullmatch(r"\w+(ed|ing)", word))


def find_bare_participles(source: Path) -> list[str]:
    """Functions and methods, properties excepted, that are named by a participle alone: ``file:name``."""
    return [
        f"{path.relative_to(source)}:{node.name}"
        for path in sorted(source.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and is_bare_participle(node.name)
        and "property" not in map(ast.unparse, node.decorator_list)
    ]


def find_repeated_names(source: Path) -> list[str]:
    """File names that stand in more than one folder, ``__init__.py`` excepted."""
    counts = Counter(path.name for path in source.rglob("*.py") if path.name != "__init__.py")
    return sorted(name for name, count in counts.items() if count > 1)


def main() -> None:
    """Print the counts of a tree."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", nargs="?", type=Path, default=Path(__file__).parents[1], help="checkout to look at")
    parser.add_argument("--names", action="store_true", help="list the files and functions, not only their numbers")
    parser.add_argument("--static", action="store_true", help="only read the files; nothing is run")
    options = parser.parse_args()
    tree = options.tree.resolve()
    source = tree / "src" / "ifair"
    sys.path.insert(0, str(tree / "src"))
    repeated, participles = find_repeated_names(source), find_bare_participles(source)
    print(f"modules                      {sum(1 for _ in source.rglob('*.py')):6d}")
    print(f"lines in src                 {count_lines(source):6d}")
    print(f"lines in tests               {count_lines(tree / 'tests'):6d}")
    print(f"file names in two folders    {len(repeated):6d}")
    print(f"bare participles             {len(participles):6d}")
    if options.names:
        print("  " + "\n  ".join([*repeated, *participles]))
    if options.static:
        return

    import ifair

    if Path(ifair.__file__).parent != source:
        sys.exit(f"ifair was imported from {ifair.__file__}, not from {source}")
    with tempfile.TemporaryDirectory() as folder:
        for name, journey in list_journeys(Path(folder)).items():
            tracer = Tracer(source)
            with tracer.trace():
                journey()
            print(f"{name:16} {len(tracer.files):4d} files {len(tracer.functions):5d} functions", flush=True)
            if options.names:
                print("  " + "\n  ".join(tracer.files))


if __name__ == "__main__":
    main()
