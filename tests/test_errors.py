"""What errors suggest."""

import pickle

import pytest

from ifair.errors import MissingExtra, missing_file, nearest_name, require_extra


def test_case_does_not_matter_and_the_name_is_given_as_it_is_written():
    assert nearest_name("SEXX", ["Age", "Sex"]) == "Sex"


def test_what_is_like_nothing_gets_no_suggestion():
    assert nearest_name("postcode", ["age", "sex"]) is None


@pytest.mark.parametrize(("given", "meant"), [("peple.csv", "people.csv"), ("People.csv", "people.csv")])
def test_a_file_beside_it_that_is_really_near_is_suggested(tmp_path, given, meant):
    (tmp_path / meant).touch()
    assert missing_file(tmp_path / given) == f"there is no file {tmp_path / given}, did you mean {meant!r}?"


def test_a_common_ending_alone_is_not_near(tmp_path):
    (tmp_path / "people.csv").touch()
    assert missing_file(tmp_path / "loans.csv") == f"there is no file {tmp_path / 'loans.csv'}"


def test_a_folder_is_called_one_and_suggests_nothing(tmp_path):
    (tmp_path / "people.csv").mkdir()
    assert missing_file(tmp_path / "people.csv") == f"{tmp_path / 'people.csv'} is a folder; name a file"
    assert missing_file(tmp_path / "peple.csv") == f"there is no file {tmp_path / 'peple.csv'}"


def test_a_file_in_a_folder_that_is_not_there_suggests_nothing(tmp_path):
    path = tmp_path / "none" / "people.csv"
    assert missing_file(path) == f"there is no file {path}"


def test_a_missing_package_names_its_extra_also_in_another_process():
    with pytest.raises(MissingExtra, match="the report needs no_package, not installed here") as caught:
        require_extra("the report", ["json", "no_package"], "report")
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.extra, error.packages, str(error)) == ("report", ("no_package",), str(caught.value))


def test_what_is_installed_is_not_asked_for():
    require_extra("reading", ["json", "csv"], "parquet")
