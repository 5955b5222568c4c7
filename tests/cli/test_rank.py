"""``ifair rank``: FA*IR on a table's scores or on a model's."""

import csv

import numpy as np
import pandas as pd
import pytest

import ifair
from ifair.ranking import FAStarIR, minimum_counts

from scripts import ask, do, refuse


@pytest.fixture
def given(folder):
    return [folder / "people.csv", "--query", "team", "--score", "rating", "--protected", "sex", "--min-share", "0.6"]


def test_the_ranking_is_the_librarys(applicants, given, tmp_path):
    do("rank", *given, "--group", "sex=f", "-o", tmp_path / "ranked.csv")
    found = pd.read_csv(tmp_path / "ranked.csv", dtype={"person": str}).set_index("person").loc[applicants["person"]]
    options = {"sensitive_features": (applicants["sex"] == "f").to_numpy(), "query": applicants["team"]}
    expected = FAStarIR(p=0.6, shortage="ignore").rank(applicants["rating"], **options)
    np.testing.assert_array_equal(found["rank"], expected.rank)
    np.testing.assert_allclose(found["fair_score"], expected.scores)
    by_score = applicants.groupby("team")["rating"].rank(ascending=False, method="first")
    np.testing.assert_array_equal(found["moved"], by_score - expected.rank)
    assert (found["moved"] > 0).any()


def test_rows_come_in_ranked_order_query_by_query_and_a_dash_prints_them_alone(given, tmp_path):
    do("rank", *given, "-o", tmp_path / "ranked.csv")
    for _, team in pd.read_csv(tmp_path / "ranked.csv").groupby("team"):
        assert team["rank"].tolist() == list(range(1, len(team) + 1))
        assert team["fair_score"].is_monotonic_decreasing
        assert team.index.tolist() == list(range(team.index[0], team.index[0] + len(team)))
    done = do("rank", *given, "-o", "-")
    assert done.stdout == (tmp_path / "ranked.csv").read_text(encoding="utf-8")
    assert "rankings changed" in done.stderr
    refuse("rank", *given, "-o", "-", "--json", code=2)


def test_a_models_prediction_can_be_the_score(folder, applicants, regression, tmp_path):
    do("rank", folder / "people.csv", "-p", "sex", "--model", regression, "--min-share", 0, "-o", tmp_path / "r.csv")
    found = pd.read_csv(tmp_path / "r.csv", dtype={"person": str}).set_index("person").loc[applicants["person"]]
    model = ifair.load(regression)
    scores = model.predict(applicants[model["encode"].attributes_])
    np.testing.assert_allclose(found["fair_score"], scores)
    assert (found["moved"] == 0).all()


def test_json_tells_what_changed_in_every_query(applicants, given, tmp_path):
    facts = ask("rank", *given, "--top", 5, "-o", tmp_path / "ranked.csv")
    assert {q["query"] for q in facts["queries"]} == {"north", "south", "west"}
    for query in facts["queries"]:
        team = applicants[applicants["team"] == query["query"]]
        best = team.sort_values("rating", ascending=False, kind="stable").head(5)
        assert query["candidates"] == len(team)
        assert query["share_before"] == pytest.approx((best["sex"] == "f").mean())
        assert query["share_after"] >= query["share_before"]
        assert query["minimum_held"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.assign(rating=t["rating"].astype(object).where(t.index != 6, "good")), "'good' in row 7"),
        (lambda t: t.assign(team=t["team"].where(t.index != 8)), "'team' has no value in row 9; fill it in"),
        (lambda t: t.assign(rating=t["rating"].where(t.index != 8)), "such rows out, for example with: python -c"),
        (
            lambda t: t.assign(sex=["2x" if i == 2 else i % 4 for i in t.index]),
            "column 'sex' holds numbers, but not in row 3 ('2x'): mend such cells, or take them as missing with "
            "--missing 2x, or the column as categories with --categorical sex",
        ),
        (lambda t: t.rename(columns={"rating": "ratings"}), "did you mean 'ratings'?"),
        (lambda t: t.rename(columns={"sex": "sexes"}), "did you mean 'sexes'?"),
    ],
)
def test_a_table_that_cannot_be_ranked_is_refused_with_the_row(applicants, given, tmp_path, change, message):
    change(applicants).to_csv(tmp_path / "people.csv", index=False)
    assert message in refuse("rank", tmp_path / "people.csv", *given[1:], "-o", tmp_path / "ranked.csv")
    assert not (tmp_path / "ranked.csv").exists()


def test_a_column_that_nothing_hangs_on_need_not_be_clean_even_if_a_groups_name_begins_with_its_own(
    applicants, given, tmp_path
):
    applicants.assign(se=["x" if i == 5 else i for i in applicants.index]).to_csv(tmp_path / "people.csv", index=False)
    do("rank", tmp_path / "people.csv", *given[1:], "--group", "sex=f", "-o", tmp_path / "ranked.csv")


def test_a_protected_number_needs_to_be_told_who_and_something_must_be_ranked_by(folder, tmp_path):
    arguments = [folder / "people.csv", "-p", "age", "--min-share", "0.5", "-o", tmp_path / "ranked.csv"]
    assert "--group" in refuse("rank", *arguments, "--score", "rating")
    do("rank", *arguments, "--score", "rating", "--group", "age<=30")
    assert "--score COLUMN or --model MODEL" in refuse("rank", *arguments, "--group", "age<=30", code=2)


def test_a_shortage_and_a_share_below_the_one_asked_for_are_explained(folder, tmp_path):
    arguments = [folder / "people.csv", "--score", "rating", "-p", "sex", "--top", 10, "-o", tmp_path / "ranked.csv"]
    said = "A share below 40% can be enough"
    strict = do("rank", *arguments, "--group", "sex=f", "--min-share", 0.4)
    assert said in strict.stdout, strict.output
    least = minimum_counts(10, 0.4, 0.1)[-1]
    assert "so the printed minimum is lower than the share.\n" in strict.stdout
    assert f"Of the first 10 it demands {least} ({least / 10:.1%}); --plain-share demands 4." in strict.stdout
    assert said not in do("rank", *arguments, "--group", "sex=f", "--min-share", 0).stdout
    short = do("rank", *arguments[:-4], "--query", "team", "--min-share", 0.95, "-o", tmp_path / "ranked.csv")
    assert "too few protected candidates" in short.stdout
    assert "the places after them go by score" in short.stderr
    [changed] = ask("rank", *arguments, "--group", "sex=f", "--min-share", 0.4, "--plain-share")["queries"]
    assert changed["minimum"] == 4
    assert changed["share_after"] >= 0.4
    refuse("rank", *arguments, "--min-share", 0.4, "--plain-share", "--alpha", 0.2, code=2)


@pytest.mark.parametrize("query", [lambda i: 10 * i, lambda i: f"0{i}", lambda i: i + 0.5])
def test_a_query_of_numbers_has_its_candidates(applicants, given, tmp_path, query):
    numbers = {team: query(i) for i, team in enumerate(sorted(applicants["team"].unique()), start=1)}
    applicants.assign(team=applicants["team"].map(numbers)).to_csv(tmp_path / "people.csv", index=False)
    by_name = ask("rank", *given, "-o", tmp_path / "a.csv")["queries"]
    by_number = ask("rank", tmp_path / "people.csv", *given[1:], "-o", tmp_path / "b.csv")["queries"]
    assert [{**found, "query": None} for found in by_number] == [{**found, "query": None} for found in by_name]
    assert sum(found["candidates"] for found in by_number) == len(applicants)
    assert any(found["moved_up"] for found in by_number)


def test_cells_that_are_not_touched_are_written_byte_for_byte(tmp_path):
    cells = [
        "NA",
        "None",
        "null",
        "nan",
        "N/A",
        "007",
        " x ",
        "1.50",
        "TRUE",
        "a,b",
        'a "b"',
        "1e3",
        "",
        "two\r\nlines",
    ]
    quoted = [f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in cells]
    lines = [f"{cell},{i},{'fm'[i % 2]},{cell}" for i, cell in enumerate(quoted)]
    (tmp_path / "people.csv").write_bytes("\n".join(["id,score,sex,rank", *lines, ""]).encode())
    given = ["--score", "score", "--protected", "sex", "--min-share", 0, "--missing", "NA"]
    done = do("rank", tmp_path / "people.csv", *given, "-o", tmp_path / "ranked.csv")
    with (tmp_path / "ranked.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["id", "score", "sex", "rank", "ifair_rank", "fair_score", "moved"]
    assert [row[0] for row in reversed(rows)] == cells
    assert [row[3] for row in reversed(rows)] == cells
    assert "column 'id': taken as missing, as asked: 'NA' (1 row)" in done.stderr
    assert "the table has a column 'rank': the added one is called 'ifair_rank'" in done.stderr
