"""CSV files that cannot be read as they are: the message says what is wrong and how to mend it."""

import gzip
import re
import shlex
import subprocess
import sys

import pandas as pd
import pytest
from refusals import must_raise

from ifair.data import DataError, read_table
from ifair.tables.read import read_blocks


def refusal(path):
    """What both readers say of a file: the same."""
    readers = (read_table, lambda path: list(read_blocks(path)))
    whole, in_blocks = (str(must_raise(DataError, None, read, path)) for read in readers)
    assert in_blocks == whole
    return whole


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("people.xlsx", b"PK", "neither CSV"),
        ("people.csv", b"", r"people\.csv is empty"),
        ("people.csv", b"\xef\xbb\xbf \n\n", r"people\.csv is empty"),
        ("people.csv.gz", gzip.compress(b"", mtime=0), r"people\.csv\.gz is empty"),
        ("people.csv", b"sex,age\n", "no records"),
        ("people.csv", b"sex,age\nf,1,2\n", r"row 1 \(line 2\) has 3 fields, the header has 2; put cells that"),
        ("people.csv", b"sex,age\nf,1\n\nm,1,2\n", r"row 2 \(line 4\) has 3 fields, the header has 2; put cells that"),
        ("people.csv", b'sex,age\nf,1\n"m,1\n', r"people\.csv is not a CSV table \(EOF inside string"),
        ("people.csv", "sex,ag\xe9\nf,1\n".encode("latin-1"), "is not UTF-8"),
        ("people.csv", "sex,age\nf,1\n".encode("utf-16"), "iconv -f utf16 -t utf8"),
        ("people.csv.gz", b"no gzip", "not a CSV table"),
        ("people.csv.gz", gzip.compress(b"sex,age\n" + b"f,1\n" * 99, mtime=0)[:20] + b"?" * 20, "not a CSV table"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    assert re.search(reason, refusal(tmp_path / name))
    assert re.search(rf"did you mean '{name}'", refusal(tmp_path / name.replace("people", "poeple")))


def test_columns_of_the_same_name_are_named(csv):
    path = csv('\ufeff\nincome,age,sex,"income",sex,,\n1,2,f,3,m,,\n')
    assert "columns 'income', 'sex' occur more than once" in refusal(path)
    # Those without a name, and with a dot and a number, are others.
    assert read_table(csv("income,income.1,,\n1,2,3,4\n")).shape == (1, 4)


@pytest.mark.parametrize(
    "text", ["sex;income;job, place\nf;1,5;a\nm;22,25;b\nm;7;c\n", "sex|income\nf|1\n", '"sex";"income"\n"f; g";1,5\n']
)
def test_the_command_that_a_wrong_separator_comes_with_mends_it(tmp_path, monkeypatch, text):
    path = tmp_path / "the people.csv"
    path.write_text(text)
    message = refusal(path)
    assert "not by commas" in message
    python, flag, program, *arguments = shlex.split(message.split("for example with: ")[1])
    assert (python, flag) == ("python", "-c")
    monkeypatch.setattr(sys, "argv", [flag, *arguments])
    exec(program, {})
    mended = read_table(tmp_path / "the people-commas.csv")
    assert list(mended.columns[:2]) == ["sex", "income"]
    assert pd.api.types.is_numeric_dtype(mended["income"])


def test_a_table_of_tabs_needs_another_name_only(csv, tmp_path):
    message = refusal(csv("sex\tage\nf\t3\n"))
    assert "separated by tabs" in message
    subprocess.run(shlex.split(message.split("end with .tsv: ")[1]), check=True)
    assert list(read_table(tmp_path / "people.tsv").columns) == ["sex", "age"]


@pytest.mark.parametrize(
    "text",
    [
        "a,b;c;d\n1,2\n",  # commas make a table of it
        "notes\nbread; butter\nmilk\n",  # one column, whatever stands in it
        "a,b\n1,x;y;z\n",
    ],
)
def test_other_separators_within_a_table_of_commas_are_text(csv, text):
    assert read_table(csv(text)).shape[1] == text.split("\n")[0].count(",") + 1


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("line", [1, 3, 20_000])
def test_the_first_line_that_is_not_utf8_is_named_and_the_command_mends_it(tmp_path, ending, line):
    lines = ["name,age", *("Muller,3" for _ in range(20_010))]
    lines[line - 1] = "näme,age" if line == 1 else "Müller,3"
    content = "\n".join(lines).encode("latin-1")
    path = tmp_path / f"people.{ending}"
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    message = refusal(path)
    assert f"is not UTF-8 (line {line} is the first" in message
    assert "iconv -f latin1 -t utf8" in message
    command = message.split("for example with ")[1].removesuffix(")")
    subprocess.run(command, shell=True, check=True)
    mended = read_table(tmp_path / "people-utf8.csv")
    assert len(mended) == 20_010
    assert mended.columns[0] == lines[0].split(",")[0]
