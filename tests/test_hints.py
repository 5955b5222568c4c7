"""What errors suggest."""

import pytest

from ifair.hints import nearest_name, no_file


def test_case_does_not_matter_and_the_name_is_given_as_it_is_written():
    assert nearest_name("SEXX", ["Age", "Sex"]) == "Sex"


def test_what_is_like_nothing_gets_no_suggestion():
    assert nearest_name("postcode", ["age", "sex"]) is None


@pytest.mark.parametrize(("given", "meant"), [("peple.csv", "people.csv"), ("People.csv", "people.csv")])
def test_a_file_beside_it_that_is_really_near_is_suggested(tmp_path, given, meant):
    (tmp_path / meant).touch()
    assert no_file(tmp_path / given) == f"there is no file {tmp_path / given}, did you mean {meant!r}?"


def test_a_common_ending_alone_is_not_near(tmp_path):
    (tmp_path / "people.csv").touch()
    assert no_file(tmp_path / "loans.csv") == f"there is no file {tmp_path / 'loans.csv'}"


def test_a_folder_is_called_one_and_suggests_nothing(tmp_path):
    (tmp_path / "people.csv").mkdir()
    assert no_file(tmp_path / "people.csv") == f"{tmp_path / 'people.csv'} is a folder; name a file"
    assert no_file(tmp_path / "peple.csv") == f"there is no file {tmp_path / 'peple.csv'}"


def test_a_file_in_a_folder_that_is_not_there_suggests_nothing(tmp_path):
    path = tmp_path / "none" / "people.csv"
    assert no_file(path) == f"there is no file {path}"
