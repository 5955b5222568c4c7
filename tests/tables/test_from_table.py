"""The user's own table: from pandas, polars, CSV and Parquet, with roles by name."""

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair.data import DataError, Dataset, from_table

CELLS = {
    "sex": ["f", "m", "m", "f", "m"],
    "age": [41, 30, 25, 60, 33],
    "score": [0.1, 0.9, 0.4, 0.3, 0.8],
    "hired": ["no", "yes", "no", "yes", "yes"],
    "job": ["cook", "cook", "driver", "driver", None],
}
PEOPLE = pd.DataFrame(CELLS)


def make(form, folder):
    """The people in a form of tables."""
    path = folder / form
    if form in ("polars", "lazy"):
        frame = pytest.importorskip("polars").DataFrame(CELLS)
        return frame.lazy() if form == "lazy" else frame
    if form == "people.parquet":
        pytest.importorskip("pyarrow")
        PEOPLE.to_parquet(path)
    elif form != "pandas":
        PEOPLE.to_csv(path, index=False, sep="\t" if "tsv" in form else ",")
    return {"pandas": PEOPLE, "people.tsv.gz": str(path)}.get(form, path)


@pytest.mark.parametrize("form", ["pandas", "polars", "lazy", "people.csv", "people.tsv.gz", "people.parquet"])
def test_every_form_of_a_table_gives_the_same_dataset_and_is_left_alone(form, tmp_path):
    data = from_table(make(form, tmp_path), target="hired", positive="yes", protected="sex", query="job")
    assert isinstance(data, Dataset)
    assert list(data.frame) == ["sex", "age", "score"]
    assert data.target.tolist() == [0, 1, 0, 1, 1]
    assert data.protected == ("sex",)
    assert data.group.tolist() == [True, False, False, True, False]
    assert data.query.tolist()[:4] == ["cook", "cook", "driver", "driver"]
    assert pd.isna(data.query.iloc[4])
    assert data.frame["sex"].dtype == "category"
    assert data.frame["age"].tolist() == [41, 30, 25, 60, 33]
    in_memory = form in ("pandas", "polars", "lazy")
    assert data.source == ("a table in memory" if in_memory else str(tmp_path / form))
    data.frame.loc[0, "age"] = 99
    pd.testing.assert_frame_equal(PEOPLE, pd.DataFrame(CELLS))


GRADES = PEOPLE.assign(grade=[3, 5, 3, 5, 5])


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"protected": ["sex", "Age"]}, "no protected column 'Age', did you mean 'age'"),
        ({"query": "jobs"}, "no query column 'jobs', did you mean 'job'"),
        ({"protected": "zzz"}, "Known: 'sex', 'age'"),
        ({"group": {"sex": "F"}}, "did you mean 'f'"),
        ({"target": "hired", "positive": "Yes"}, "did you mean 'yes'"),
        ({"protected": "age"}, r"group=\['age<33'\]"),
        ({"group": [True, False]}, "one bool for each of the 5 records"),
        ({"group": np.arange(5)}, "one bool"),
        ({"table": [[1, 2]]}, "got list"),
        ({"table": pd.concat([PEOPLE, PEOPLE[["sex"]]], axis=1)}, "'sex' occurs more than once"),
        ({"table": PEOPLE.assign(sex=None)}, "'sex' holds no value"),
        # Values are shown as Python writes them.
        ({"table": GRADES, "target": "grade"}, "holds 3, 5: say which one is positive, such as positive=3$"),
        ({"table": GRADES, "protected": "grade", "group": {"grade": 4}}, "Known: 3, 5$"),
    ],
)
def test_what_cannot_be_is_refused_and_a_wrong_name_suggests_the_right_one(roles, message):
    must_raise(DataError, message, from_table, **{"table": PEOPLE, "protected": "sex", **roles})


def test_a_target_of_many_numbers_is_a_score_and_one_of_zeros_and_ones_a_class():
    scored = from_table(PEOPLE, protected="sex", target="score", source="staff.csv of May")
    assert (scored.target.dtype, scored.source) == (float, "staff.csv of May")
    binary = PEOPLE.assign(hired=[0, 1, 0, 1, 1])
    assert from_table(binary, protected="sex", target="hired").target.tolist() == [0, 1, 0, 1, 1]
    assert from_table(binary.astype({"hired": bool}), protected="sex", target="hired").target.sum() == 3
    # Without a target it is enough for a representation.
    data = from_table(PEOPLE, protected="sex")
    assert data.target is data.take([0, 1]).target is data.deliver(return_X_y=True, as_frame=False)[1] is None
    assert "no target" in repr(data)


def test_a_protected_number_needs_a_rule_and_several_columns_protect_each_minority():
    young = from_table(PEOPLE, protected="age", group=lambda people: people["age"] < 33)
    assert young.group.tolist() == [False, True, True, False, False]
    assert from_table(PEOPLE, protected="age", group=["age<33"]).group.tolist() == young.group.tolist()
    people = PEOPLE.assign(disabled=[False, False, True, False, False])
    assert from_table(people, protected=["sex", "disabled"]).group.tolist() == [True, False, True, True, False]


MANY = pd.concat([PEOPLE] * 8, ignore_index=True).assign(
    badge=lambda people: [f"B-{i:03d}" for i in people.index],
    note=lambda people: [f"A long remark that nobody wrote twice, number {i}" for i in people.index],
    street=lambda people: [f"{i % 25} High Street" for i in people.index],
)


def test_columns_that_name_people_are_left_out_with_a_word_as_on_the_command_line():
    roles = {"target": "hired", "positive": "yes", "protected": "sex"}
    with pytest.warns(UserWarning, match="left out") as caught:
        data = from_table(MANY, **roles)
    assert list(data.frame) == ["sex", "age", "score", "job"]
    told = [str(warning.message) for warning in caught]
    assert [line.partition(":")[0].split("'")[1] for line in told] == ["badge", "note", "street"]
    assert all("left out of the attributes; keep=[" in line for line in told)
    assert {warning.filename for warning in caught} == {__file__}
    with pytest.warns(UserWarning, match="'street' has 25 categories, which make 25 columns: kept"):
        kept = from_table(MANY, id="badge", ignore=["note"], keep="street", **roles)
    assert list(kept.frame) == ["sex", "age", "score", "job", "street"]
    assert kept.ids.tolist() == MANY["badge"].tolist()
    assert kept.take([3, 1]).ids.tolist() == ["B-003", "B-001"]
    names = "'badge' is different in every row, like an identifier: it names people"
    must_raise(DataError, names, from_table, MANY.drop(columns=["note", "street"]), protected="badge")
