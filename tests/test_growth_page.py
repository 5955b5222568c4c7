"""Exponents are those of times made by hand, and the page about large tables shows the stored results."""

import json
from pathlib import Path

import numpy as np
import pytest

page = pytest.importorskip("growth_page", reason="this is not a checkout of the repository")
PAGE = Path(__file__).parents[1] / "docs" / "growth.md"


def stored(name):
    return json.loads((page.RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def rows(seconds, along="M", sizes=(1000, 10_000, 100_000, 1_000_000)):
    sizes = (page.FEWEST, *sizes) if along == "M" else sizes
    return [{"what": "ours", "along": along, "size": size, "CPU s": seconds(size)} for size in sizes]


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_of_a_power_is_its_own(power):
    (slope,) = page.slopes(rows(lambda size: 1e-6 * size**power, sizes=(10_000, 100_000, 10**6)))
    assert slope["exponent"] == pytest.approx(power)
    assert slope["exponent, all"] == pytest.approx(power)
    assert (slope["from"], slope["to"], slope["of"]) == (10_000, 10**6, "fit")


def test_sizes_where_the_fixed_cost_matters_do_not_count_and_along_other_sizes_the_last_step_counts():
    (slope,) = page.slopes(rows(lambda size: 0.01 + 1e-5 * size))
    # 0.01128 s of 128 records are 56 % of the time of 1,000 and 10 % of that of 10,000, but 1.1 % of that of 100,000.
    assert slope["counted from"] == 100_000
    assert slope["exponent"] == pytest.approx(np.log10(10.01 / 1.01))
    assert slope["exponent, all"] < 0.95 < slope["exponent"] < 1
    (slope,) = page.slopes(rows(lambda size: 1.0))
    assert slope["counted from"] is None
    assert np.isnan(slope["exponent"])
    (slope,) = page.slopes(rows(lambda size: 1.0 + size, along="K", sizes=(5, 10, 20)))
    assert slope["exponent"] == pytest.approx(np.log2(21 / 11))
    assert slope["counted from"] == 10


@pytest.mark.parametrize("name", ["growth", "out_of_core"])
def test_the_page_and_its_picture_show_what_was_measured(name):
    assert page.digest(stored("growth")) in page.PICTURE.read_text(encoding="utf-8")
    begin, end = page.marks(name)
    between = PAGE.read_text(encoding="utf-8").partition(begin)[2].partition(end)[0]
    assert between.strip() == page.TABLES[name](stored(name))


def test_tables_and_picture_are_written_into_a_page(tmp_path):
    empty = "".join("\n".join(page.marks(name)) + "\nbetween\n" for name in page.TABLES)
    (tmp_path / "page.md").write_text(f"before\n{empty}after")
    options = ["--page", str(tmp_path / "page.md"), "--picture", str(tmp_path / "p.svg")]
    page.main(options)
    once, drawn = (tmp_path / "page.md").read_text(encoding="utf-8"), (tmp_path / "p.svg").read_bytes()
    page.main(options)
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == once
    assert (tmp_path / "p.svg").read_bytes() == drawn
    assert once.startswith("before")
    assert once.endswith("after")
    assert once.count("between") == 2
    assert page.tabulate_growth(stored("growth")) in once
    (tmp_path / "page.md").write_text("no marks")
    with pytest.raises(SystemExit, match="no lines"):
        page.main(options)
