"""Datasets are found by being there, and the documentation shows them as the code does."""

from pathlib import Path

from refusals import must_raise

from ifair.data import DataError, dataset_names, load
from ifair.datasets import catalogue, registry

ONE_FILE = """
from ifair.datasets.about import About, Statistics
from ifair.datasets.load_options import LoadOptions

ABOUT = About(
    name="neighbours", place=99, title="Neighbours", description="Two people next door.", licence="none", citation="-",
    source="-", task="classification", outcome="greets", group="floor is upper", reached=Statistics(2, 1),
    paper=Statistics(2, 1),
)


def load_neighbours(**options):
    import pandas as pd

    frame = pd.DataFrame({"floor": ["upper", "lower"], "years": [1, 20]})
    target = pd.Series([0, 1], name="greets")
    return LoadOptions(**options).deliver(ABOUT, frame, target, protected="floor", group={"floor": "upper"})
"""


def test_a_dataset_more_is_one_file_more_and_unknown_ones_and_options_are_refused(tmp_path, monkeypatch):
    (tmp_path / "neighbours.py").write_text(ONE_FILE)
    monkeypatch.setattr(catalogue, "__path__", [*catalogue.__path__, str(tmp_path)])
    monkeypatch.setattr(registry, "_modules", registry._modules.__wrapped__)  # without its cache
    *names, last = dataset_names()
    assert names[:6] == ["compas", "census", "credit", "airbnb", "xing", "synthetic"]
    assert last == "neighbours"
    assert registry.find_about("neighbours").title == "Neighbours"
    assert registry.find_files("neighbours") == ()
    assert "| `neighbours` | 2 (2) |" in registry.markdown_table()
    people = load("neighbours")
    assert (people.protected, people.group.tolist()) == (("floor",), [True, False])
    assert load("neighbours", group={"floor": "lower"}).group.tolist() == [False, True]
    must_raise(DataError, "did you mean 'census'", load, "cencus")
    must_raise(TypeError, "grup", load, "neighbours", grup={"floor": "lower"})


def test_the_table_on_the_page_is_up_to_date():
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    begin, end = "<!-- table: ifair datasets list --markdown -->\n", "<!-- end of table -->\n"
    written = page.partition(begin)[2].partition(end)[0]
    assert written.strip() == registry.markdown_table().strip(), (
        "write what `ifair datasets list --markdown` gives there"
    )
