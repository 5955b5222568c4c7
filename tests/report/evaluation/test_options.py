"""The section about options says what the numbers say."""

import io

import pytest

from ifair.report.blocks import Bullets, Heading, Picture, markdown
from ifair.report.evaluation.options import clear, figures, findings, section, table


def values(hypervolume, harmonic, adversary=0.6):
    numbers = {
        "hypervolume": hypervolume,
        "harmonic mean": harmonic,
        "AUC": 0.6,
        "yNN": 0.8,
        "AUC of scores": 0.7,
        "adversary": adversary,
    }
    return {name: {"mean": mean, "sd": 0.01, "n": 5} for name, mean in numbers.items()}


def compared(difference, adjusted):
    return {"difference": difference, "p": adjusted, "adjusted": adjusted}


@pytest.fixture
def results():
    credit = {
        "utility": "AUC",
        "variants": {
            "paper": values(0.03, 0.68, adversary=0.9),
            "masked": values(0.05, 0.71),
            "svd-masked": values(0.04, 0.70),
            "masked, scaled": values(0.06, 0.72),
            "frozen": values(0.045, 0.69, adversary=0.55),
            "squared softmax": values(0.01, 0.66),
        },
        "against paper": {
            "hypervolume": {"frozen": compared(-0.015, 0.01), "squared softmax": compared(0.02, 0.02)},
            "harmonic mean": {"frozen": compared(-0.01, 0.2), "squared softmax": compared(0.02, 0.03)},
        },
        "ahead": {"paper": 0, "frozen": 5, "squared softmax": 1},
        "skipped": {"p = 1": "19,800 cells", "p = 3": "19,800 cells"},
    }
    xing = {
        "utility": "MAP",
        "variants": {"paper": values(0.3, 0.8), "frozen": values(0.4, 0.9), "masked": values(0.39, 0.94)},
        "against paper": {
            "hypervolume": {"frozen": compared(-0.1, 0.06)},
            "harmonic mean": {"frozen": compared(-0.1, 0.04)},
        },
        "ahead": {"paper": 0, "frozen": 3},
        "skipped": {},
    }
    return {"options": {"credit": credit, "xing": xing}}


def test_marks_point_the_way_of_the_variant(results):
    credit, xing = results["options"].values()
    assert clear(credit, "hypervolume", "frozen") == 1
    assert clear(credit, "harmonic mean", "frozen") == 0
    assert clear(credit, "hypervolume", "squared softmax") == -1
    assert clear(xing, "hypervolume", "frozen") == 0
    assert clear(credit, "hypervolume", "paper") == 0


def test_the_table_has_all_variants_with_the_marks_to_beat_last(results):
    rows = {row[0]: row[1:] for row in table(results["options"])}
    assert list(rows) == ["variant", "paper", "frozen", "squared softmax", "masked", "svd-masked", "masked, scaled"]
    assert rows["variant"] == ["Credit", "Xing"]
    assert rows["frozen"] == ["0.045 ▲ / 0.69", "0.400* / 0.90 ▲"]
    assert rows["squared softmax"] == ["0.010 ▼ / 0.66 ▼", ""]
    assert rows["masked, scaled"] == ["0.060* / 0.72*", ""]


def test_findings_name_winners_gaps_and_leaks(results):
    text = markdown([Bullets(findings(results["options"]))])
    assert "**Credit**: hypervolume 0.030 with the paper's options against masked 0.050" in text
    assert "The best variant is “frozen” with 0.045, still below the best mark" in text
    assert "The best variant is “frozen” with 0.400, which no mark beats" in text
    assert "“frozen”: more hypervolume than the paper's options on 8 of 10 splits, in the mean on 2 of 2" in text
    assert "in the mean on 0 of 1 datasets; clearly more on none, clearly less on Credit" in text
    assert text.index("“frozen”: more") < text.index("“squared softmax”: more")
    assert "AUC of 0.90 from the paper's iFair-b, 0.60 from masked data, and 0.55" in text
    assert text.count("multiplying masked data") == 1


def test_the_section_has_one_title_and_says_what_was_left_out(results):
    blocks = section(results)
    assert [block for block in blocks if isinstance(block, Heading)] == blocks[:1]
    assert "p = 1 and p = 3 on Credit (19,800 cells)" in markdown(blocks)
    assert [block.stem for block in blocks if isinstance(block, Picture)] == ["options"]


def test_without_results_there_is_nothing_to_say():
    assert section({}) == section({"options": {}}) == []
    assert figures({}) == figures({"options": {}}) == {}


def test_the_picture_has_a_panel_for_every_dataset_and_a_line_for_every_mark(results):
    pytest.importorskip("matplotlib")
    figure = figures(results)["options"]
    assert [panel.get_title() for panel in figure.axes] == ["Credit", "Xing"]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["squared softmax", "frozen", "paper"]
    marked = [
        line.get_xdata()[0]
        for line in figure.axes[0].get_lines()
        if line.get_label() in results["options"]["credit"]["variants"]
    ]
    assert sorted(marked) == [0.04, 0.05, 0.06]
    figure.savefig(io.BytesIO(), format="svg")
