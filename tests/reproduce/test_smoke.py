"""One run of the smoke profile by the command: it ends with a page, and gives the numbers that it always gave.

``smoke_numbers.json`` holds those of the last deliberate change, with where they come from. Where versions and
processor are the same, every number is the same. Elsewhere roundings differ everywhere, a search may end elsewhere, and
numbers are alike on average. Run by ``make test-smoke``; ``make smoke-numbers`` writes the file anew.
"""

import json
import platform
import re
import sys
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from reproduce.conftest import reproduce
from threadpoolctl import threadpool_info

from ifair.reproduce.assemble import drop_missing
from ifair.reproduce.experiment import find_experiments
from ifair.reproduce.profiles import PROFILES
from ifair.reproduce.results_page import format_markdown, format_text
from ifair.reproduce.rival_models import PACKAGES

NUMBERS = Path(__file__).parent / "smoke_numbers.json"
EXPECTED = json.loads(NUMBERS.read_text(encoding="utf-8"))
CLOSE = 0.02
"""How far numbers may be apart on average on another machine; shares count from 0 to 1."""

pytestmark = pytest.mark.smoke


def describe_machine():
    """What roundings depend on; OpenBLAS has kernels for each kind of processor, and may be told which to take."""
    try:
        about = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        processor = re.search(r"model name\s*: (.*)", about)[1]
    except (OSError, TypeError):
        processor = platform.processor()
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    simd = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    kernels = sorted(f"{one['internal_api']} {one['version']} {one.get('architecture')}" for one in libraries)
    return {**packages, "processor": processor, "simd": simd, "kernels": kernels}


def list_numbers(data, path=()):
    """Every number of nested data, with the way to it."""
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from list_numbers(value, (*path, key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from list_numbers(value, (*path, i))
    elif isinstance(data, int | float):
        yield path, float(data)


def can_run(name):
    """Whether the packages of an experiment are installed."""
    packages = PACKAGES["correlation-remover"] if name == "rivals" else find_experiments()[name].packages
    return all(find_spec(package) is not None for package in packages)


def select_comparable(experiments, results):
    """Expected and found numbers of every experiment that can be run here; points of panels are not kept."""
    _, missing = drop_missing(PROFILES["smoke"], needed=False)
    absent = {"xing", "sensitivity"} if missing else set()
    for name, expected in experiments.items():
        numbers = {path: n for path, n in list_numbers(expected, (name,)) if not absent & set(path)}
        if numbers and can_run(name):
            yield name, numbers, dict(list_numbers(results["experiments"].get(name), (name,)))


def measure_distances(expected, found):
    """How far the means or medians of measures are apart."""
    for path in expected:
        if path[-1] in ("mean", "median"):
            scale = 100 if "percent" in str(path) or "base_rate" in path else 1
            yield abs(found[path] - expected[path]) / scale


@pytest.fixture
def results(smoke_run):
    return json.loads((smoke_run / "results.json").read_text(encoding="utf-8"))


def test_the_smoke_profile_gives_the_numbers_that_it_always_gave(results):
    same_machine = describe_machine() == EXPECTED["machine"]
    compared = 0
    for name, expected, found in select_comparable(EXPECTED["experiments"], results):
        missing = [path for path in expected if path not in found and (same_machine or path[-1] in ("mean", "median"))]
        assert missing == [], name
        if same_machine:
            for path, value in expected.items():
                assert found[path] == pytest.approx(value, rel=1e-9, abs=1e-12), path
            compared += len(expected)
        else:
            # Settings are chosen, and p-values computed, from differences that roundings can turn round.
            apart = list(measure_distances(expected, found))
            assert np.mean(apart) <= CLOSE, name
            compared += len(apart)
    assert compared > (1500 if same_machine else 300)


def test_run_again_nothing_is_left_to_do_and_it_ends_with_the_same_tables_page_and_pictures(smoke_run, results):
    again = reproduce(smoke_run)
    assert "kept from before" in again.stderr
    assert json.loads((smoke_run / "results.json").read_text(encoding="utf-8")) == results
    assert "Credit, classification" in again.stdout
    assert format_text(results) in again.stdout
    page = (smoke_run / "results.md").read_text(encoding="utf-8")
    assert page == format_markdown(results)
    figure = results["experiments"]["classification"]["credit"]["rules"]["balanced"]["ifair-b"]["test"]["yNN"]
    # The paper's beside ours.
    assert f"0.85 → {figure['mean']:.2f} ± {figure['sd']:.2f} (" in page.replace("\N{NO-BREAK SPACE}", " ")
    drawn = {path.stem for path in (smoke_run / "figures").iterdir()}
    assert drawn == set(re.findall(r"\(figures/([\w-]+)\.svg\)", page))
    assert (smoke_run / "results.html").read_text(encoding="utf-8").count("<svg") == len(drawn)
    assert results["runs"]["classification"]["credit"]["profile"] == "smoke"


def write_numbers(folder):
    """Keep what a run of the smoke profile gave, to compare with from now on."""
    found = json.loads((Path(folder) / "results.json").read_text(encoding="utf-8"))["experiments"]
    compact = {"separators": (",", ":")}
    lines = [f'"{name}": {json.dumps(leave_out_details(found[name]), **compact)}' for name in found]
    body = ",\n".join(lines)
    machine = json.dumps(describe_machine())
    NUMBERS.write_text(f'{{\n"machine": {machine},\n"experiments": {{\n{body}\n}}\n}}\n', encoding="utf-8")


def leave_out_details(data):
    """What is kept without single points and splits."""
    if isinstance(data, Mapping):
        return {key: leave_out_details(value) for key, value in data.items() if key not in ("points", "by_split")}
    return [leave_out_details(value) for value in data] if isinstance(data, list) else data


if __name__ == "__main__":
    write_numbers(sys.argv[1])
