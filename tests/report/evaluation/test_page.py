"""The page of an evaluation as a whole."""

from ifair.report.blocks import Number, Picture, Table, plain
from ifair.report.evaluation import classification
from ifair.report.evaluation.page import SECTIONS, figures, markdown, page, text


def test_every_picture_of_the_page_is_drawn_and_every_drawing_shown(results):
    shown = [block.stem for block in page(results) if isinstance(block, Picture)]
    assert shown == list(figures(results))
    assert len(shown) == len(set(shown)) == 7


def test_sections_of_what_was_not_run_are_empty(results):
    bare = {"paper": results["paper"]}
    assert all(module.section(bare) == [] for module in SECTIONS)
    assert figures(bare) == {}
    assert "Nothing was run" in markdown(bare)


def test_every_printed_number_stands_beside_ours_once(results):
    cells = [
        cell
        for block in page(results)
        if isinstance(block, Table)
        for row in block.rows
        for cell in row
        if isinstance(cell, Number) and cell.paper is not None
    ]
    # Two datasets: full data, and three methods under three rules, five measures each. Xing: seven methods, four
    # measures. Seven rows of weights, base rate and four measures.
    assert len(cells) == 2 * (1 + 9) * 5 + 7 * 4 + 7 * 5
    row = "| iFair-b | 0.59 → 0.70 ± 0.01 (**+0.11**) | 0.58 → 0.64 ± 0.01 (**+0.06**) | 0.83 → "
    assert row in markdown(results).replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_counts_the_numbers_that_agree(results):
    far = near = 0
    for row in results["sensitivity"]:
        printed = next(paper for paper in results["paper"]["sensitivity"] if paper["weights"] == row["weights"])
        for name, ours in {"base rate": row["base rate"], **row["test"]}.items():
            apart = abs(ours["mean"] - printed[name]) > 2 * ours["sd"] + 0.005
            far, near = far + apart, near + (not apart)
    assert far > 0
    assert near > 0
    assert f"Weights of the score on Xing: {near} of {far + near}" in markdown(results)


def test_fair_rankings_the_paper_does_not_print_are_only_drawn(results):
    assert "FA\\*IR, p = 0.5 |" in markdown(results)
    assert "FA\\*IR, p = 0.7 |" not in markdown(results)
    # A dataset for which it prints none shows all.
    results["paper"] = {**results["paper"], "ranking": {"airbnb": results["paper"]["ranking"]["airbnb"]}}
    assert "FA\\*IR, p = 0.7 |" in markdown(results)


def test_the_page_tells_where_its_numbers_come_from(results):
    page = markdown(results)
    assert "Left out: xing: no file." in page
    assert (
        "| COMPAS (at most 4,500 records, 1,000 to learn from, drawn at random) | quick | 5 | 40 | 1.5 | x86_64" in page
    )
    assert "| synthetic | all | quick |" in page
    assert "The results do not tell" in markdown({**results, "runs": {}})
    assert "Versions: ifair 1.2, python 3.11, numpy 2.0, scipy 1.13, scikit-learn 1.6." in page


def test_a_terminal_gets_tables_and_verdicts(results):
    lines = text(results).splitlines()
    assert lines[0] == "COMPAS, classification"
    assert any(line.startswith("holds  ") and "beats LFR" in line for line in lines)
    assert "Xing, ranking" in lines


def test_a_method_with_a_single_setting_still_stands_under_every_rule(results):
    points = results["classification"]["compas"]["points"]
    points["ifair-b"] = points["ifair-b"][:1]
    first = [plain(row[0]) for row in classification.table(results, "compas").rows]
    assert first.count("iFair-b") == 3
    assert first[:6] == ["method", "untuned", "full data", "masked data", "max utility", "SVD"]
