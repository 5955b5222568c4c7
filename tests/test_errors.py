"""What errors suggest."""

import pickle

import pytest
from refusals import must_raise

from ifair.errors import MissingExtra, missing_file, require_extra


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("peple.csv", "there is no file {}, did you mean 'people.csv'?"),
        ("People.csv", "there is no file {}, did you mean 'people.csv'?"),
        ("loans.csv", "there is no file {}"),  # a common ending alone is not near
        ("folder.csv", "{} is a folder; name a file"),
        ("foldr.csv", "there is no file {}"),
        ("none/people.csv", "there is no file {}"),
    ],
)
def test_a_file_beside_it_that_is_really_near_is_suggested_and_a_folder_is_called_one(tmp_path, given, said):
    (tmp_path / "people.csv").touch()
    (tmp_path / "folder.csv").mkdir()
    assert missing_file(tmp_path / given) == said.format(tmp_path / given)


def test_a_missing_package_names_its_extra_also_in_another_process():
    require_extra("reading", ["json", "csv"], "parquet")  # what is installed is not asked for
    message = "the report needs no_package, not installed here"
    error = must_raise(MissingExtra, message, require_extra, "the report", ["json", "no_package"], "report")
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.extra, copied.packages, str(copied)) == ("report", ("no_package",), str(error))
