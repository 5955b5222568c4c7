"""``ifair transform``: the same numbers as the library's, whatever the format and the size of blocks."""

import shutil

import numpy as np
import pandas as pd
import pytest
from archives import change_manifest

import ifair

from scripts import ask, do, refuse

pytest.importorskip("skops")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("block_rows", [1, 7, 50, 1000])
def test_the_output_is_what_the_pipeline_gives_whatever_the_formats_and_the_blocks(
    folder, applicants, classifier, tmp_path, ending, block_rows
):
    pytest.importorskip("pyarrow")
    table, out = folder / "people.csv", tmp_path / f"fair.{ending}"
    if ending == "csv":
        # Columns in another order, and some more than needed.
        table = tmp_path / "people.parquet"
        applicants.iloc[:, ::-1].to_parquet(table)
    facts = ask("transform", classifier, table, "-o", out, "--decide", "--block-rows", block_rows)
    found = pd.read_parquet(out) if ending == "parquet" else pd.read_csv(out, dtype={"person": str})
    model = ifair.load(classifier)
    attributes = applicants[model["encode"].attributes_]
    # The identifier keeps its zeros.
    assert found["person"].tolist() == applicants["person"].tolist()
    np.testing.assert_array_equal(found["decision"], model.predict(attributes))
    # Sums of BLAS over some rows are those over all of them but for their last digit.
    np.testing.assert_allclose(found["score"], model.predict_proba(attributes)[:, 1], rtol=0, atol=1e-12)
    names = list(model[:-1].get_feature_names_out())
    assert list(found.columns) == facts["columns"] == ["person", "decision", "score", *names]
    assert facts["rows"] == 120
    np.testing.assert_allclose(found[names], model[:-1].transform(attributes), rtol=0, atol=1e-12)


def test_rows_go_block_by_block_and_a_dash_prints_them(folder, classifier, tmp_path):
    given = ["transform", classifier, folder / "people.csv"]
    done = do(*given, "-o", tmp_path / "out.csv", "--block-rows", 50)
    assert done.stderr == "  50 rows\n  100 rows\n  120 rows\n"
    assert do(*given, "-o", "-").stdout == (tmp_path / "out.csv").read_text()


def test_a_regression_gives_a_score_and_no_decision(folder, applicants, regression, tmp_path):
    do("transform", regression, folder / "people.csv", "-o", tmp_path / "out.csv", "--decide", "--carry", "team")
    found = pd.read_csv(tmp_path / "out.csv")
    assert list(found.columns[:3]) == ["person", "team", "score"]
    expected = ifair.load(regression).predict(applicants[["experience", "job", "owns_home"]])
    np.testing.assert_allclose(found["score"], expected)


def test_what_loading_warns_of_is_told_in_a_line(folder, classifier, tmp_path):
    shutil.copy(classifier, tmp_path / "old.ifair")
    change_manifest(tmp_path / "old.ifair", packages={"scikit-learn": "0.24.1"})
    done = do("transform", tmp_path / "old.ifair", folder / "people.csv", "-o", tmp_path / "out.csv")
    assert f"Warning: {tmp_path / 'old.ifair'}: written with scikit-learn 0.24.1" in done.stderr


def with_cell(table, column, row, cell):
    return table.assign(**{column: table[column].astype(object).where(table.index != row, cell)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.drop(columns="job"), "no column 'job', which hired.ifair needs"),
        (lambda t: t.rename(columns={"job": "jobb"}), "did you mean 'jobb'?"),
        (lambda t: with_cell(t, "experience", 57, "old"), "column 'experience', row 58: 'old'"),
        (lambda t: with_cell(t, "owns_home", 3, "so"), "column 'owns_home', row 4: 'so'"),
        # Numbers without end are quoted as they stand.
        (lambda t: with_cell(t, "experience", 0, "1e400"), "'1e400' where the model learned from numbers; mend it, or"),
        (lambda t: with_cell(t, "experience", 0, "9" * 401), f"column 'experience', row 1: '{'9' * 40}'..."),
    ],
)
def test_a_table_that_does_not_fit_is_refused_with_column_and_row(applicants, classifier, tmp_path, change, message):
    change(applicants).to_csv(tmp_path / "new.csv", index=False)
    said = refuse("transform", classifier, tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--block-rows", 10)
    assert message in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.csv"]


def test_a_new_category_is_told_with_its_row_or_refused(applicants, classifier, tmp_path):
    jobs = applicants["job"].where(~applicants.index.isin([41, 80]), "pilot").where(applicants.index != 7, "cook")
    applicants.assign(job=jobs).to_csv(tmp_path / "new.csv", index=False)
    arguments = [classifier, tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--block-rows", 10]
    done = do("transform", *arguments)
    assert "column 'job': category 'pilot' is new to the model (2 rows, first in row 42); such rows" in done.stderr
    assert "column 'job': category 'cook' is new to the model (row 8); such rows" in done.stderr
    assert " far from those" not in done.stderr
    assert "row 8: new category 'cook'" in refuse("transform", *arguments, "--strict")


def test_one_row_is_told_in_the_singular(applicants, classifier, tmp_path):
    applicants[5:6].to_csv(tmp_path / "one.csv", index=False)
    done = do("transform", classifier, tmp_path / "one.csv", "-o", tmp_path / "out.csv")
    assert "  1 row\n" in done.stderr
    assert done.stdout.startswith("1 row, ")


def test_numbers_far_from_those_learned_from_are_told_once_a_column_with_the_furthest(
    folder, applicants, classifier, tmp_path
):
    years = (
        applicants["experience"].where(~applicants.index.isin([41, 80]), 86_000.0).where(applicants.index != 7, -1e6)
    )
    applicants.assign(experience=years).to_csv(tmp_path / "new.csv", index=False)
    given = ["transform", classifier, tmp_path / "new.csv", "-o", tmp_path / "out.csv"]
    told = do(*given, "--block-rows", 10).stderr
    assert "column 'experience': 3 people have numbers far from those that the model learned from (mean " in told
    assert "): the furthest is -1000000 in row 8; what the model says of such people is a guess" in told
    assert told.count("far from those") == 1
    assert " far from those" not in do("transform", classifier, folder / "people.csv", *given[3:], "--force").stderr


def test_mistakes_are_told_before_any_work(folder, classifier, tmp_path):
    people = folder / "people.csv"
    plain = tmp_path / "plain.ifair"
    do("fit", people, "-p", "sex", "-k", 2, "--restarts", 1, "--jobs", 1, "-o", plain)
    for given, message in [
        ([plain, people, "-o", tmp_path / "out.csv", "--decide"], "fitted without --target"),
        ([classifier, people, "-o", tmp_path / "out.xlsx"], "cannot tell the format"),
        ([classifier, people, "-o", tmp_path / "out.csv", "--carry", "persn"], "did you mean 'person'?"),
    ]:
        assert message in refuse("transform", *given)


@pytest.mark.parametrize("rows", [16, 120])
def test_types_are_the_models_and_not_the_blocks(applicants, classifier, tmp_path, rows):
    cells = applicants.astype({"age": object, "owns_home": object, "experience": object})
    cells["owns_home"] = [int(x) if i < 10 else x for i, x in enumerate(cells["owns_home"])]
    cells["experience"] = ["" if i < 30 else x for i, x in enumerate(cells["experience"])]
    cells["job"] = ["7" if i < 20 else x for i, x in enumerate(cells["job"])]
    cells.to_csv(tmp_path / "new.csv", index=False)
    read = applicants.assign(job=cells["job"], experience=applicants["experience"].where(applicants.index >= 30))
    model = ifair.load(classifier)
    do("transform", classifier, tmp_path / "new.csv", "-o", tmp_path / "out.csv", "--decide", "--block-rows", rows)
    expected = model.predict_proba(read[model["encode"].attributes_])[:, 1]
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out.csv")["score"], expected)

    cells["experience"] = ["true" if i < 10 else x for i, x in enumerate(applicants["experience"])]
    cells.to_csv(tmp_path / "b.csv", index=False)
    given = [classifier, tmp_path / "b.csv", "-o", tmp_path / "out.csv", "--block-rows", rows]
    said = refuse("transform", *given)
    assert "column 'experience', row 1: 'true' where the model learned from numbers; mend it, or take" in said
    done = do("transform", *given, "--missing", "true")
    assert "column 'experience': taken as missing, as asked: 'true' (10 rows)" in done.stderr
