"""Columns that hardly describe people, and conditions on columns."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair.data import DataError
from ifair.tables.checked_table import check_table
from ifair.tables.column_warnings import (
    explain_unusable,
    warn_of_far_values,
    warn_of_protected,
    warn_of_repeats,
)
from ifair.tables.groups import find_value, match_conditions
from ifair.tables.roles import Roles
from ifair.unsuitable_columns import count_many_categories, find_doubt

DOUBTED = [
    (range(100, 150), "identifier"),  # counts up
    (np.random.default_rng(0).permutation(50), "identifier"),  # counts, shuffled
    (pd.Series(np.random.default_rng(0).permutation(50) * 7919, name="customer_id"), "identifier"),
    ([f"A-{i}" for i in range(50)], "identifier"),
    *((np.full(20, value), f"has one value, {value!r}, for everybody") for value in (3, 0.5, True)),
    (["a"] * 50, "has one value, 'a', for everybody"),
    ([None] * 50, "no value"),
    ([f"A long text that nobody wrote twice, {i * 2 // 3}, or hardly" for i in range(50)], "free text"),
    ([f"{i % 40}" for i in range(50)], "too many for categories"),
    ([f"{1950 + i}-07-{i % 28 + 1:02d}" for i in range(50)], "looks like dates, such as '1950-07-01'"),
    ([f"{1950 + i}-07-01T12:30:00Z" for i in range(50)], "looks like dates"),
    ([f"{i % 28 + 1}.7.{1950 + i}" for i in range(50)], "looks like dates"),
    ([f"{i % 12 + 1}/28/{i % 99:02d}" for i in range(50)], "looks like dates"),
    ([f"22,{305 + i} €" for i in range(50)], "numbers with signs or separators, such as '22,305 €'"),
    ([f"$ {i},000.50" for i in range(50)], "numbers with signs"),
]
INCOMES = np.random.default_rng(0).choice(10**6, size=50, replace=False)
KEPT = [
    ([f"{1950 + i % 30}-07-01" for i in range(70)], "looks like dates"),
    ([f"1'{300 + i % 5}.00 CHF" for i in range(50)], "numbers with signs"),
    ([f"{i % 20} %" for i in range(50)], "numbers with signs"),
    (INCOMES, "different in every row, which may be an identifier"),
    ([*INCOMES, INCOMES[0]], "nearly every row (50 values in 51), which may be an identifier"),
    ([*INCOMES, None], "different in every row, which may be an identifier"),
]


@pytest.mark.parametrize(
    ("values", "leave_out", "word"), [(v, True, word) for v, word in DOUBTED] + [(v, False, word) for v, word in KEPT]
)
def test_identifiers_constants_free_text_and_what_is_in_disguise_are_doubted(values, leave_out, word):
    doubt = find_doubt(pd.Series(values))
    assert word in doubt.reason
    assert doubt.leave_out == leave_out
    assert ("instead" in doubt.advice) == ("looks like" in doubt.reason)


def test_numbers_that_are_called_an_id_are_one_with_some_repeats_and_gaps():
    named = pd.Series([*INCOMES, *INCOMES[:4], None], name="customer_id")
    assert find_doubt(named).leave_out
    assert find_doubt(named.rename("income")) is None


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(0, 1, 50),  # measurements are all different
        [True, False] * 25,
        ["a", "b"] * 25,
        list(range(10)) * 5,
        ["x", "y", "z"],  # too few rows to tell
        [1.0, None] * 25,  # one value, or missing: that is information
        # Categories with digits are not numbers in disguise.
        ["2024-03-31", "2024-06-30", "2024-09-30"] * 20,  # quarters
        ["18-24", "25-34", "65+"] * 20,
        ["12B", "7", "9a"] * 20,
        ["1.5", "2", "unknown"] * 20,
        ["01234", "99999"] * 20,  # codes
        ["<=50K", ">50K"] * 20,
    ],
)
def test_what_may_describe_people_is_not_doubted(values):
    assert find_doubt(pd.Series(values)) is None


@pytest.mark.parametrize(
    ("different", "records", "many"), [(101, 10_000, True), (100, 10_000, False), (25, 80, True), (20, 40, False)]
)
def test_very_many_categories_are_counted(different, records, many):
    values = pd.Series([f"c{i % different}" for i in range(records)])
    assert count_many_categories(values) == (different if many else None)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([date(2000, 1, 1), None, date(2001, 1, 1)], "dates or times"),
        (pd.to_datetime(["2000-01-01", None]), "dates or times"),
        ([[1, 2], [3]], "lists"),
        ([1.0, None, float("inf")], "number in row 3 that is infinite"),
        ([np.arange(2), None], "lists"),
        (["2000-01-01", "2001-01-01"], None),
        ([1.5, None], None),
    ],
)
def test_what_cannot_count_without_guessing_is_told(values, words):
    held = explain_unusable(pd.Series(values))
    assert held is None if words is None else words in held


PEOPLE = pd.DataFrame({"sex": ["f", "m", None], "age": [20, 35, 50], "old": [False, False, True], "code": [1.0, 2, 2]})


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["sex=f"], [True, False, False]),
        (["sex != f"], [False, True, True]),
        (["age<=35"], [True, True, False]),
        (["age>20", "age<50"], [False, True, False]),
        (["age >= 50"], [False, False, True]),
        (["old=true"], [False, False, True]),
        (["code=2"], [False, True, True]),
    ],
)
def test_conditions_choose_people(conditions, expected):
    assert match_conditions(PEOPLE, conditions).tolist() == expected


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("sex", "not of the form"),
        ("sx=f", "did you mean 'sex'"),
        ("sex=femal", "no value 'femal' in column 'sex'. Known: 'f', 'm'"),
        ("age<old", "'old', which is no number"),
        ("sex<3", "needs a column of numbers"),
    ],
)
def test_conditions_that_cannot_be_read_are_refused(condition, message):
    must_raise(DataError, message, match_conditions, PEOPLE, [condition])


def test_values_are_found_as_they_are_written():
    assert find_value("1", PEOPLE["code"]) == 1.0
    assert find_value("True", PEOPLE["old"]) is True
    assert find_value(None, PEOPLE["old"]) is None


def test_people_in_several_rows_are_told_by_their_id_or_by_copies(rng):
    people = pd.DataFrame({"name": [f"p{i}" for i in range(200)], "income": rng.normal(size=200), "city": "A"})
    assert warn_of_repeats(people, "name") == warn_of_repeats(people, None) == []
    twice = pd.concat([people, people[:20], people[:5]])
    (line,) = warn_of_repeats(twice, "name")
    assert "names 45 rows with 20 ids" in line
    (line,) = warn_of_repeats(twice, None)
    assert "25 rows are copies" in line
    assert "id='COLUMN'" in line
    (line,) = warn_of_repeats(twice, "name", "query")
    assert "people in several queries may be learned from and judged" in line
    unknown = people.assign(name=people["name"].where(people.index % 2 == 0, "unknown"))
    told, who = warn_of_repeats(unknown, "name")
    assert "100 rows with 1 id" in told
    assert "holds unknown in 100 rows, which count as one person" in who
    assert "missing='unknown'" in who or "missing=['unknown']" in who
    # People of whom little is known, and those who have nothing to tell, are alike by chance.
    empty = pd.concat([people, pd.DataFrame({"name": ["none"] * 50, "income": 0.0, "city": "A"})])
    assert warn_of_repeats(empty, None) == []
    assert warn_of_repeats(pd.DataFrame({"city": list("abcd") * 50, "sex": list("fm") * 100}), None) == []


def test_a_number_absurdly_far_out_is_named_with_its_row(rng):
    hours = np.round(rng.gamma(3, 3, 2500), 1)
    hours[5] = 9999
    assert (
        "'hours' holds 9999 in row 6, far from all others"
        in warn_of_far_values(pd.DataFrame({"hours": hours}), ["hours"], categorical=())[0]
    )
    small = np.r_[np.arange(20.0, 60.0), -1e6]
    harmless = {
        "long tail": rng.lognormal(0, 2, 2500),
        "code": hours,
        "rare": (np.arange(2500) % 500 == 0) * 9.0,
        "top": np.where(np.arange(2500) % 200 == 0, 99_999, rng.integers(0, 15_000, 2500)),
    }
    assert warn_of_far_values(pd.DataFrame(harmless), harmless, categorical=["code"]) == []
    assert "-1000000 in row 41" in warn_of_far_values(pd.DataFrame({"n": small}), ["n"], categorical=())[0]


def test_huge_numbers_are_looked_at_without_a_warning_of_numpy():
    column = np.r_[np.arange(40.0), 1.5e308, -1e308]
    (line,) = warn_of_far_values(pd.DataFrame({"n": column}), ["n"], categorical=())
    assert "1.5e+308 in row 41 and -1e+308 in row 42" in line


def test_of_many_values_that_differ_in_case_a_few_are_shown():
    towns = [f"{first}own {i}" for i in range(50) for first in "Tt"]
    (line,) = warn_of_protected(pd.DataFrame({"town": towns * 2}), ["town"], ["town"])
    assert "'Town 0' and 'town 0'" in line
    assert "; and 45 more: they count as different groups" in line


def test_long_tails_and_amounts_that_few_have_hardly_ever_count_as_far_out():
    rng = np.random.default_rng(0)
    tails = {f"income {i}": rng.lognormal(10, 2, 1000) for i in range(50)}
    rare = {f"gain {i}": np.where(rng.random(1000) < 0.015, rng.lognormal(7, 1.5, 1000), 0) for i in range(50)}
    for columns in (tails, rare):
        assert len(warn_of_far_values(pd.DataFrame(columns), columns, categorical=())) <= 3


def test_protected_values_that_differ_in_case_and_people_without_one_are_told():
    people = pd.DataFrame({"sex": ["Male", "male ", "female", None] * 10})
    case, missing = warn_of_protected(people, ["sex"], ())
    assert "'Male' and 'male '" in case
    assert "10 people have no value" in missing


def test_these_warnings_travel_with_the_table(rng):
    sex = np.where(rng.random(100) < 0.5, "f", "m")
    people = pd.DataFrame({"sex": sex, "gender": sex, "hours": np.r_[rng.uniform(1, 9, 99), 9999], "age": range(100)})
    told = check_table(people, Roles(protected=("sex",), keep=("age",))).warnings
    assert [line.split("'")[1] for line in told] == ["gender", "hours"]
