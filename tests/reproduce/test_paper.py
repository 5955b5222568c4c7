"""The paper's numbers are complete, and possible."""

from itertools import product

import pytest

from ifair.evaluate.rules import RULES
from ifair.models.representations import REPRESENTATIONS
from ifair.reproduce import labels, paper
from ifair.reproduce.experiments.sensitivity import WEIGHTS


def test_the_classification_table_is_complete_and_each_rule_reaches_most_of_what_it_looks_for():
    assert {rule: set(methods) for rule, methods in paper.CLASSIFICATION.items()} == {
        "baseline": {"full"},
        **{rule: {"lfr", "ifair-a", "ifair-b"} for rule in RULES},
    }
    lines = [line for methods in paper.CLASSIFICATION.values() for by in methods.values() for line in by.values()]
    assert len(lines) == 10 * 3
    assert all(len(line) == 5 and min(line.values()) >= 0.5 and max(line.values()) <= 1 for line in lines)
    for method, dataset in product(("lfr", "ifair-a", "ifair-b"), ("compas", "census", "credit")):
        by_rule = {rule: paper.CLASSIFICATION[rule][method][dataset] for rule in RULES}
        assert max(by_rule, key=lambda rule: by_rule[rule]["AUC"]) == "most_useful"
        assert max(by_rule, key=lambda rule: by_rule[rule]["yNN"]) == "fairest"


def test_the_ranking_table_is_complete():
    assert {name: len(lines) for name, lines in paper.RANKING.items()} == {"xing": 7, "airbnb": 7}
    for lines in paper.RANKING.values():
        assert set(map(labels.find_base, lines)) <= {*REPRESENTATIONS, "fair"}
        for line in lines.values():
            assert all(0 <= line[name] <= 1 for name in ("MAP", "KT", "yNN"))
            assert 30 < line["percent_protected"] < 55


def test_shares_are_those_of_the_first_ten_of_so_many_queries():
    xing = [line["percent_protected"] for line in paper.RANKING["xing"].values()]
    xing += [row[name] for row in paper.SENSITIVITY for name in ("base_rate", "percent_protected")]
    airbnb = [line["percent_protected"] for line in paper.RANKING["airbnb"].values()]
    for shares, queries in [(xing, 56), (airbnb, 43)]:
        for share in shares:
            count = round(share / 10 * queries)
            assert share == pytest.approx(10 * count / queries, abs=0.005001)


def test_uniform_weights_are_the_row_of_the_ranking_table():
    assert WEIGHTS[-1] == [1, 1, 1]
    row = {name: value for name, value in paper.SENSITIVITY[-1].items() if name not in ("weights", "base_rate")}
    assert row == paper.RANKING["xing"]["ifair-b"]
    assert paper.SENSITIVITY[-1]["base_rate"] == paper.RANKING["xing"]["masked"]["percent_protected"]
    assert len(WEIGHTS) == 7
