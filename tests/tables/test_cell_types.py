"""Only an empty cell is missing, columns of numbers are columns of numbers, and all other cells stay as they are."""

import pandas as pd
import pytest
from refusals import must_raise

from ifair.errors import IfairError
from ifair.tables import Roles, check_table
from ifair.tables.cell_types import OFTEN_MISSING, apply_types, infer_types, mark_missing
from ifair.tables.read import read_blocks, read_table


@pytest.mark.parametrize("word", sorted({*OFTEN_MISSING, "none", "NaT", "unknown"}))
def test_a_word_in_a_column_of_text_is_a_value(csv, word):
    path = csv(f"country,age\nDE,1\n{word},2\n,3\n")
    assert read_table(path)["country"].isna().tolist() == [False, False, True]
    assert read_table(path)["country"][1] == word
    assert read_table(path, missing=[word])["country"].isna().tolist() == [False, True, True]


def test_what_is_taken_as_missing_is_told_by_column_and_so_is_what_is_not(csv):
    rows = "".join(f"{'NA' if i < 3 else i},{'NA' if i < 2 else 'DE'},{i % 3},{i % 2}\n" for i in range(20))
    path = csv("age,country,sex,hired\n" + rows)
    roles = Roles(protected=("sex",), target="hired")
    mixed = r"column 'age' holds numbers, but not in row 1 \('NA'\).*missing=\['NA'\]"
    must_raise(IfairError, mixed, check_table, path, roles)
    told = check_table(path, roles.override(missing=("NA",))).warnings
    assert "column 'age': taken as missing, as asked: 'NA' (3 rows)" in told
    assert "column 'country': taken as missing, as asked: 'NA' (2 rows)" in told
    told = check_table(path, roles.override(ignore=("age",))).warnings
    kept = "column 'country': 'NA' (2 rows) is taken as a value like any other; missing=['NA'] takes it as missing"
    assert kept in told


def test_a_number_may_stand_for_a_missing_value():
    frame = pd.DataFrame(
        {"age": [31, -999, 40], "paid": [1.5, 2.0, -999.0], "code": ["-999", "x", "y"], "old": [True] * 3}
    )
    marked, counts = mark_missing(frame, ["-999"])
    assert marked.isna().sum().to_dict() == {"age": 1, "paid": 1, "code": 1, "old": 0}
    assert counts == {name: {"-999": 1} for name in ("age", "paid", "code")}


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([*range(30), "2x"], r"row 31 \('2x'\): mend .* missing=\['2x'\].*categorical=\['hours'\]"),
        # Few different values, of which nearly all cells are numbers.
        ([0, 1, 2] * 20 + ["2x"], r"row 61 \('2x'\)"),
        # Words for a missing value do not count, however many there are.
        ([0, "NA", "NA", "NA", 1, "NA"], r"row 2 \('NA'\), row 3 \('NA'\), row 4 \('NA'\) and 1 more"),
        (["true", "false", "NA"], r"holds true and false, but not in row 3 \('NA'\)"),
    ],
)
def test_a_column_that_is_nearly_all_numbers_is_refused_with_its_other_cells(csv, cells, message):
    path = csv("hours,sex\n" + "".join(f"{cell},f\n" for cell in cells))
    must_raise(IfairError, f"column 'hours'.*{message}", read_table, path)
    assert read_table(path, categorical=["hours"])["hours"].tolist() == [str(cell) for cell in cells]
    mended = read_table(path, missing=["2x", "NA"])["hours"]
    wrong = [cell in ("2x", "NA") for cell in cells]
    assert mended.isna().tolist() == wrong
    assert all(not isinstance(cell, str) for cell in mended.dropna())


@pytest.mark.parametrize("cell", ["9" * 401, "9" * 5000, "1e400", "inf"])
def test_a_number_too_large_to_hold_is_refused_with_its_row(csv, cell):
    path = csv("age,sex,job,hired\n" + "".join(f"{cell if i == 6 else i},f,{i % 3},{i % 2}\n" for i in range(20)))
    # Whether a number without end is one at all hangs on the version of pandas.
    named = r"row 7 (\('9|\('1e400'|that is infinite or too large)"
    roles = Roles(protected=("job",), target="hired", keep=("sex",))
    assert len(str(must_raise(IfairError, f"column 'age' holds .*{named}", check_table, path, roles))) < 300


def test_codes_keep_their_digits_long_ones_are_left_out_and_a_column_with_many_words_is_text(csv):
    path = csv("zip,code,n\n" + "01,9007199254740993,1\n1,9007199254740992,\n" * 2)
    found = read_table(path, categorical=["zip", "code"])
    assert found["zip"].tolist() == ["01", "1"] * 2
    assert found["code"].nunique() == 2
    # Twenty digits that differ in every row name people.
    rows = "".join(f"{10**19 + 10**15 * i * 7},{i % 9},{'fm'[i % 2]},{i % 2}\n" for i in range(20))
    checked = check_table(csv("card,age,sex,hired\n" + rows), Roles(protected=("sex",), target="hired"))
    assert "card" in checked.left_out
    sizes = ["S", "M", "L", "38", "40", "42"]
    assert read_table(csv("size,age\n" + "".join(f"{cell},1\n" for cell in sizes)))["size"].tolist() == sizes


def test_types_of_cells_are_the_models_whatever_the_block():
    contents = {"age": "numbers", "old": "booleans", "zip": "codes"}
    cells = {
        "age": ["1", "true", "2.5", None, "NA", "9007199254740993"],
        "old": ["true", "1", "FALSE", None, "0", "x"],
        "zip": ["9007199254740993", None, "7.0", "1e3", "x", "9007199254740992"],
        "name": ["007", "1", "true", None, "x", "1.0"],
    }
    frame = pd.DataFrame(cells, dtype=object)
    whole = apply_types(frame, contents)
    single = [apply_types(frame.iloc[[i]], contents).iloc[0].tolist() for i in range(len(frame))]
    for row, parts in zip(whole.to_numpy(dtype=object).tolist(), single):
        for a, b in zip(row, parts):
            assert (a == b and isinstance(a, str) == isinstance(b, str)) or (pd.isna(a) and pd.isna(b))
    assert whole["zip"].tolist()[0] - whole["zip"].tolist()[5] == 1
    assert whole["age"].tolist()[1] == "true"
    assert whole["old"].tolist()[:3] == [True, True, False]
    assert whole["name"].tolist()[0] == "007"


def test_whole_columns_are_typed_as_pandas_would():
    cells = {"a": ["1", " 2", "3"], "b": ["1.5", None, "2"], "c": ["True", "false", "TRUE"], "d": [None] * 3}
    typed = infer_types(pd.DataFrame(cells, dtype=object))
    assert [str(kind) for kind in typed.dtypes] == ["int64", "float64", "bool", "float64"]
    assert typed["a"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("read", [read_table, lambda path: list(read_blocks(path, 2))])
def test_a_row_with_too_few_fields_is_refused_with_its_number(csv, read):
    path = csv('a,b,c\n1,"2\n",3\n1,2,\n1,2\n1,2,3\n')
    must_raise(IfairError, r"row 3 \(line 5\) has 2 fields, the header has 3", read, path)
    must_raise(IfairError, "no records", read, csv("a,b,c\n"))
