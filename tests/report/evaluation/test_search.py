"""The page's part about fronts says what the results say, and the picture is the same every time."""

import io

import matplotlib
import pytest

from ifair.report.blocks import Picture, markdown
from ifair.report.evaluation.search import figures, section


def page(results):
    return markdown(section(results)).replace("\N{NO-BREAK SPACE}", " ")


def value(mean, sd=0.001):
    return {"mean": mean, "sd": sd, "n": 5}


@pytest.fixture
def results():
    def volumes(ours, rival, adjusted):
        return {
            "reference": {"AUC": 0.5, "yNN": 0.5},
            "methods": {"svd": value(rival), "ifair-b": value(ours)},
            "settings": {"svd": 3, "ifair-b": 2},
            "as few settings": {"svd": value(0.03)},
            "comparisons": {"svd": {"difference": ours - rival, "p": adjusted, "adjusted": adjusted}},
            "best rival": "svd",
        }

    part = {
        "curves": {
            "search": [value(0.01), value(0.02)],
            "grid at random": [value(0.01), value(0.015), value(0.02)],
            "grid in order": [value(0.005), value(0.01), value(0.02)],
        },
        "whole grid": value(0.02),
        "at a tenth": {"search": value(0.912, 0.034), "grid at random": value(0.5), "grid in order": None},
        "fits to 95 %": {"search": 2, "grid at random": 3, "grid in order": None},
    }
    never = {**part, "fits to 95 %": dict.fromkeys(part["curves"])}
    return {
        "classification": {"credit": {"hypervolume": {"coin": volumes(0.04, 0.05, 0.01)}}},
        "ranking": {"xing": {"hypervolume": {"coin": volumes(0.06, 0.05, 0.3), "full data": volumes(0.02, 0.01, 0.3)}}},
        "search": {
            "credit": {
                "utility": "AUC",
                "fits": {"grid": 3, "tenth": 1, "search": 2},
                "validation": part,
                "test": never,
            }
        },
    }


def test_nothing_measured_gives_nothing():
    assert section({}) == []
    assert figures({}) == {}
    assert section({"classification": {"credit": {"rules": {}}}, "ranking": {}, "search": {}}) == []


def test_the_tables_have_every_method_and_dataset(results):
    text = page(results)
    assert text.startswith("## ")
    assert "| above a coin (yNN 0.5) | Credit | Xing |" in text
    assert "| SVD | 5.00 ± 0.10 \\* (3) | 5.00 ± 0.10 (3) |" in text
    assert "| above the full data's yNN | Xing |" in text
    assert "| Credit | 1 of 3 | 91 ± 3 % | 50 ± 0 % |  | 91 ± 3 % | 50 ± 0 % |  |" in text


def test_a_defeat_is_called_one(results):
    text = page(results)
    assert "- **Credit**: above a coin (yNN 0.5) iFair-b is behind the best rival, SVD, by 20%, clearly" in text
    assert "(p = 0.01 after Holm; with as few settings SVD has 3.00)" in text
    assert "- **Xing**: above a coin (yNN 0.5) iFair-b is ahead of the best rival, SVD, by 20%, not clearly" in text


def test_the_cost_is_said_also_where_the_search_never_gets_there(results):
    text = page(results)
    assert "on validation data the search needs 2 fits, the grid in random order 3" in text
    assert "on test data the search needs more than its 2 fits, the grid in random order more than 3" in text


def test_one_of_the_two_parts_is_enough(results):
    fronts = section({"classification": results["classification"]})
    searched = section({"search": results["search"]})
    assert not any(isinstance(block, Picture) for block in fronts)
    assert [block.stem for block in searched if isinstance(block, Picture)] == ["search"]


def drawn(results):
    svg = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "ifair"}):
        figures(results)["search"].savefig(svg, format="svg", metadata={"Date": None})
    return svg.getvalue()


def test_the_picture_has_two_panels_a_dataset_and_the_curves_of_the_results(results):
    (figure,) = figures(results).values()
    assert [axes.get_title() for axes in figure.axes] == ["Credit, validation", "Credit, test"]
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    assert list(lines["search"]) == [0.01, 0.02]
    assert list(lines["grid, its own order"]) == [0.005, 0.01, 0.02]


def test_the_picture_is_the_same_every_time(results):
    assert drawn(results) == drawn(results)
