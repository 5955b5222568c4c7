"""The table of the documentation is the one that the code gives."""

from pathlib import Path

from ifair.datasets.registry import markdown_table

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"
BEGIN, END = "<!-- table: ifair datasets list --markdown -->\n", "<!-- end of table -->\n"


def test_the_table_on_the_page_is_up_to_date():
    written = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert written.strip() == markdown_table().strip(), "write the output of `ifair datasets list --markdown` there"
