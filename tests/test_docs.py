"""The examples of the README and the documentation run as they stand, and print what the page says.

Blocks marked ``python`` run in order, in one namespace per file. A ``text`` block right after one is what it prints. A
comment ``<!-- warns: Category ... -->`` right before one says how it warns; any other warning is an error. A comment
``<!-- needs: spark -->`` before that leaves it out where there is no Spark.
"""

import contextlib
import io
import re
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

from clusters import spark

ROOT = Path(__file__).parents[1]
PAGES = [
    "README.md",
    "docs/guide.md",
    "docs/mathematics.md",
    "docs/paper_and_code.md",
    "docs/deployment.md",
    "docs/interop.md",
    "docs/cluster.md",
]
# Packages that a page is about; without them it cannot be run.
NEEDS = {
    "docs/deployment.md": ["skops", "skl2onnx", "onnxruntime"],
    "docs/interop.md": ["fairlearn", "polars"],
    "docs/cluster.md": ["distributed"],
}

BLOCK = re.compile(
    r"(?:^<!-- needs: (?P<needs>\w+) -->\n)?"
    r"(?:^<!-- warns: (?P<warns>[\w ]+) -->\n)?"
    r"^```python\n(?P<code>.*?)^```$"
    r"(?:\n\n?^```text\n(?P<prints>.*?)^```$)?",
    flags=re.MULTILINE | re.DOTALL,
)


class Example(NamedTuple):
    code: str
    line: int
    warns: frozenset[str]
    prints: str | None
    needs: str | None


def examples_of(text):
    """The examples of a page of Markdown, in order."""
    return [
        Example(
            m["code"],
            text.count("\n", 0, m.start("code")),
            frozenset((m["warns"] or "").split()),
            m["prints"],
            m["needs"],
        )
        for m in BLOCK.finditer(text)
    ]


def run(example, namespace, page):
    """Run one example; return what it printed and the names of the categories it warned with."""
    # Empty lines in front, so that a traceback shows the line of the page.
    program = compile("\n" * example.line + example.code, page, "exec")
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always" if example.warns else "error")
        exec(program, namespace)
    return printed.getvalue(), {warning.category.__name__ for warning in caught}


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.cluster if page == "docs/cluster.md" else ()) for page in PAGES]
)
def test_examples_run_and_print_what_the_page_says(page, tmp_path, monkeypatch, quick_fits):
    if not (ROOT / page).exists():
        pytest.skip(f"{page} is not here: this is not a checkout of the repository")
    for package in NEEDS.get(page, []):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace = {"__name__": "__main__"}
    for example in examples_of((ROOT / page).read_text(encoding="utf-8")):
        if example.needs == "spark":
            try:
                spark()
            except pytest.skip.Exception:
                continue
        printed, warned = run(example, namespace, page)
        where = f"{page}, line {example.line + 1}"
        assert warned == example.warns, where
        if example.prints is not None:
            assert printed == example.prints, where


def test_the_guide_has_examples():
    page = ROOT / "docs/guide.md"
    if not page.exists():
        pytest.skip("docs/guide.md is not here: this is not a checkout of the repository")
    text = page.read_text(encoding="utf-8")
    assert len(examples_of(text)) == text.count("```python\n") > 0


def test_an_example_that_prints_or_warns_otherwise_is_noticed():
    quiet, loud = examples_of(
        "```python\nprint(1)\n```\n\n```text\n1\n```\n"
        "<!-- warns: UserWarning -->\n```python\nimport warnings\nwarnings.warn('x')\n```\n"
    )
    assert (quiet.prints, quiet.warns, loud.prints, loud.warns) == ("1\n", set(), None, {"UserWarning"})
    assert run(quiet, {}, "page") == ("1\n", set())
    assert run(loud, {}, "page") == ("", {"UserWarning"})
    with pytest.raises(UserWarning):
        run(loud._replace(warns=frozenset()), {}, "page")
