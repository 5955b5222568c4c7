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

import pytest
from refusals import must_raise

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


def examples_of(text):
    """The examples of a page of Markdown, in order."""
    return list(BLOCK.finditer(text))


def run(example, namespace, page):
    """Run one example, which must warn with the categories, and print what the page says."""
    line, expected = example.string.count("\n", 0, example.start("code")), {*(example["warns"] or "").split()}
    # Empty lines in front, so that a traceback shows the line of the page.
    program = compile("\n" * line + example["code"], page, "exec")
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always" if expected else "error")
        exec(program, namespace)
    assert {warning.category.__name__ for warning in caught} == expected, f"{page}, line {line + 1}"
    assert "  ...  " not in printed.getvalue(), f"{page}, line {line + 1}: wider than 80 characters"
    if example["prints"] is not None:
        assert printed.getvalue() == example["prints"], f"{page}, line {line + 1}"


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=pytest.mark.cluster if page == "docs/cluster.md" else ()) for page in PAGES]
)
def test_examples_run_and_print_what_the_page_says(page, tmp_path, monkeypatch, quick_fits):
    run_page(page, tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/guide.md"])
def test_examples_warn_a_reader_of_nothing_else(page, tmp_path, monkeypatch):
    """Rough searches converge where those of the defaults may not."""
    run_page(page, tmp_path, monkeypatch)


def run_page(page, tmp_path, monkeypatch):
    """Run the examples of a page in order, in a folder of their own."""
    if not (ROOT / page).exists():
        pytest.skip(f"{page} is not here: this is not a checkout of the repository")
    for package in NEEDS.get(page, []):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    namespace = {"__name__": "__main__"}
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(examples_of(text)) == text.count("```python\n") > 0
    for example in examples_of(text):
        if example["needs"] == "spark":
            try:
                spark()
            except pytest.skip.Exception:
                continue
        run(example, namespace, page)


def test_the_readme_has_the_ratios_of_the_results():
    readme, results = ((ROOT / page).read_text(encoding="utf-8") for page in ("README.md", "docs/results/reproduce.md"))
    told = re.findall(r"^\|.*? \| (\d\.\d\d) \| (\d\.\d\d) \| (\d\.\d\d) \|$", readme, flags=re.MULTILINE)
    line = r"^- \*\*{}\*\*: ([\d.]+) times the best .*?, ([\d.]+) times GLIF .*? one by one ([\d.]+) times a batch"
    found = []
    for plane in ("labels", "ranks", "thresholds"):
        section = results.partition(f"### Hypervolumes: {plane}\n")[2]
        datasets = (re.search(line.format(name), section, re.MULTILINE) for name in ("Census", "Credit", "COMPAS"))
        found.append(list(zip(*(match.groups() for match in datasets))))  # rival, GLIF, one by one: of each dataset
    assert told == [row[i] for i in range(3) for row in found]


def test_an_example_that_prints_or_warns_otherwise_is_noticed():
    quiet, loud = (
        "```python\nprint(1)\n```\n\n```text\n1\n```\n",
        "```python\nimport warnings\nwarnings.warn('x')\n```\n",
    )
    for example in examples_of(f"{quiet}<!-- warns: UserWarning -->\n{loud}"):
        run(example, {}, "page")
    must_raise(UserWarning, "x", run, *examples_of(loud), {}, "page")
    for other in (quiet.replace("\n1\n", "\n2\n"), f"<!-- warns: UserWarning -->\n{quiet}"):
        must_raise(AssertionError, "page, line [23]", run, *examples_of(other), {}, "page")
