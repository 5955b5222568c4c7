"""The part of the page about other models says what the results say."""

import pytest

from ifair.report.blocks import Heading, Table, markdown
from ifair.report.evaluation.downstream import section


def page(results):
    return markdown(section(results)).replace("\N{NO-BREAK SPACE}", " ")


def reached(**values):
    names = ("AUC", "AUC of scores", "yNN", "EqOpp", "Parity", "MAP", "KT", "% protected")
    return {name: {"mean": values.get(name, 0.5), "sd": 0.02, "n": 5} for name in names}


@pytest.fixture
def results():
    boosted = {"full": reached(AUC=0.7, yNN=0.6), "ifair-b": reached(AUC=0.65, yNN=0.9)}
    voted = {"full": reached(AUC=0.7, yNN=0.8), "ifair-b": reached(AUC=0.7, yNN=0.75)}
    ranked = {"full": reached(MAP=0.9, yNN=0.6), "ifair-b": reached(MAP=0.4, yNN=0.95)}
    return {
        "downstream": {
            "classification": {"credit": {"gradient boosting": boosted, "nearest neighbours": voted}},
            "ranking": {"xing": {"pairwise ranking": ranked}},
        }
    }


def test_one_table_has_every_model_and_representation(results):
    blocks = section(results)
    assert isinstance(blocks[0], Heading)
    first = next(block for block in blocks if isinstance(block, Table))
    assert first.rows[0] == ["dataset", "model", "full data", "iFair-b"]
    assert first.rows[1] == ["Credit", "gradient boosting", "0.70 / 0.60", "0.65 / 0.90"]
    assert "| Xing | pairwise ranking | 0.90 / 0.60 | 0.40 / 0.95 |" in page(results)


def test_words_count_the_models_for_which_the_claim_holds(results):
    text = page(results)
    assert "**Credit**: iFair-b raises yNN above that of the full data for 1 of 2 models" in text
    assert "gradient boosting +0.30 (at -0.05 AUC), nearest neighbours -0.05 (at 0.00 AUC)" in text
    assert "pairwise ranking +0.35 (at -0.50 MAP)" in text


def test_spreads_are_in_the_detailed_tables(results):
    assert "| gradient boosting | iFair-b | 0.65 ± 0.02 |" in page(results)


def test_without_results_there_is_nothing():
    assert section({}) == []
    assert section({"downstream": {}}) == []
