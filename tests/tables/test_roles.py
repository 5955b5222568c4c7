"""What each column is for: read from a file or given, checked before any work."""

import shlex

import numpy as np
import pandas as pd
import pytest
from refusals import must_raise

from ifair.data import DataError
from ifair.errors import parameters_as_flags
from ifair.evaluate.splits import split_table
from ifair.tables import checked_table, column_warnings
from ifair.tables.checked_table import check_table
from ifair.tables.roles import Roles, read_roles, read_similarity


@pytest.fixture
def people(rng):
    n = 40
    return pd.DataFrame(
        {
            "person": [f"p{i:03d}" for i in range(n)],
            "sex": rng.choice(["f", "m"], n, p=[0.4, 0.6]),
            "age": rng.integers(18, 70, n),
            "experience": rng.normal(size=n),
            "job": rng.choice(["clerk", "nurse"], n),
            "country": "DE",
            "letter": [f"Dear sirs, my name is number {i} and I would like to apply" for i in range(n)],
            "income": rng.choice(["<=50K", ">50K"], n),
        }
    )


ROLES = Roles(protected=("sex",), target="income", positive=">50K")
ALIKE = '[roles]\nprotected = ["sex"]\n[similarity]\n'


@pytest.fixture
def flags():
    """Messages as on the command line."""
    with parameters_as_flags():
        yield


def test_a_file_gives_the_roles_and_who_is_like_whom_and_flags_come_before_it(tmp_path, people):
    path = tmp_path / "roles.toml"
    path.write_text(
        '[roles]\nprotected = ["sex"]\ntarget = "income"\npositive = ">50K"\nignore = "country"\n'
        "[similarity]\nweights = { job = 2, letter = 0 }\ncaliper = 1.5\nunits = { age = 10 }\n"
    )
    roles = read_roles(path)
    alike = {"weights": {"job": 2, "letter": 0}, "caliper": 1.5, "units": {"age": 10}}
    assert roles == Roles(("sex",), "income", ">50K", ignore=("country",), similarity=alike)
    assert Roles.from_dict(roles.as_dict()) == roles
    assert roles.override(protected=("job",), target=None, ignore=()).protected == ("job",)
    assert roles.override(target="z").target == "z"
    assert read_similarity(str(path)) == alike
    assert read_similarity("paper") == {"reading": "paper"}
    # What does not count stays out of the attributes as it would without; the split takes the rest.
    checked = check_table(people, roles)
    assert "letter" not in checked.attributes
    found = split_table(checked.to_dataset(), 0, similarity=roles.similarity).test.similarity
    assert (found.weights, found.caliper_, found.protected) == ({"job": 2}, 1.5, ["sex"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[roles]\nprotekted = ["sex"]', "no role .* 'protekted', did you mean 'protected'"),
        ("[roles]\nprotected = 3", "protected must be a name or a list of names, got 3"),
        ("[roles]\ntarget = ['a', 'b']", "target must be the name of one column"),
        ('protected = ["sex"]', r"unknown key 'protected': roles stand below a line \[roles\]"),
        ("[rolls]\n", "unknown key 'rolls', did you mean 'roles'"),
        ("", r"has no table \[roles\]"),
        ("[roles", "is not a TOML file"),
        (f"{ALIKE}weigths = {{ job = 2 }}", "no setting of the similarity .* 'weigths', did you mean 'weights'"),
        (f"{ALIKE}weights = {{ jobb = 2 }}", "no similarity weights column 'jobb', did you mean 'job'"),
        (
            f"{ALIKE}units = {{ sex = 2 }}",
            "similarity units names column 'sex', which is protected and compares nobody",
        ),
        (f"{ALIKE}weights = 2", "weights of the similarity must name columns"),
    ],
)
def test_a_file_with_a_mistake_is_refused_in_words(tmp_path, people, content, message):
    path = tmp_path / "roles.toml"
    path.write_text(content)
    must_raise(DataError, message, lambda: check_table(people, read_roles(path)))


def test_columns_that_describe_nobody_are_left_out_and_said_so_unless_they_are_kept_or_ignored(people, flags):
    checked = check_table(people, ROLES)
    left_out = {"person": "identifier", "country": "one value, 'DE'", "letter": "free text"}
    for (column, word), line in zip(left_out.items(), checked.warnings, strict=True):
        assert line.startswith(f"column '{column}' ")
        assert word in line
        assert "left out of the attributes; --keep" in line
    assert list(checked.left_out) == list(left_out)
    assert checked.attributes == ["sex", "age", "experience", "job"]
    roles = Roles(protected=("sex",), keep=("country",), ignore=("letter", "income"), id="person")
    checked = check_table(people, roles)
    assert checked.warnings == []
    assert checked.attributes == ["sex", "age", "experience", "job", "country"]
    assert checked.left_out == {"letter": "as asked", "income": "as asked"}


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        (Roles(protected=("sexx",)), "no protected column 'sexx', did you mean 'sex'"),
        (Roles(protected=("sex",), target="incom"), "no target column 'incom', did you mean 'income'"),
        (Roles(protected=("sex",), ignore=("leter",)), "no ignore column 'leter', did you mean 'letter'"),
        (Roles(protected=("sex",), target="sex"), "'sex' is both the target and protected"),
        (Roles(protected=("sex", "sex")), "cannot be protected twice"),
        (Roles(protected=("sex",), id="sex"), "cannot be both protected and id"),
        (Roles(protected=("sex",), keep=("job",), ignore=("job",)), "both kept and ignored"),
        (Roles(protected=("sex",), target="income"), "say which one is positive, such as --positive"),
        (Roles(protected=("sex",), target="income", positive="50K"), "did you mean '.?.?50K'"),
        (Roles(protected=("sex",), target="country"), "'DE' for everybody"),
        (Roles(("sex", "age"), ignore=("experience", "job", "income")), "no attribute is left besides the protected"),
    ],
)
def test_roles_that_cannot_work_are_refused_before_any_work(people, flags, roles, message):
    must_raise(DataError, message, check_table, people, roles)


def test_a_protected_column_of_one_value_or_of_numbers_names_no_group_and_missing_outcomes_are_named_by_row(people):
    assert any("nothing to protect" in line for line in check_table(people.assign(sex="f"), ROLES).warnings)
    roles = ROLES.override(protected=("age",))
    assert not check_table(people, roles).to_dataset(needs_group=False).group.any()
    must_raise(DataError, "say who is protected", check_table(people, roles).to_dataset)
    young = check_table(people, roles.override(group=("age<=30", "sex=f"))).to_dataset().group
    np.testing.assert_array_equal(young, (people["age"] <= 30) & (people["sex"] == "f"))
    people["income"] = people["income"].where(people.index != 7)
    must_raise(DataError, "1 missing value, the first in row 8; leave .* table.dropna", check_table, people, ROLES)


@pytest.mark.parametrize("name", ["the people.csv", "people.tsv.gz", "people.parquet"])
def test_the_command_that_missing_outcomes_come_with_leaves_those_people_out(people, tmp_path, name):
    path, kept = tmp_path / name, people.drop(index=7).reset_index(drop=True)
    gap = None if name.endswith(".parquet") else "NA"
    table = people.assign(income=people["income"].where(people.index != 7, gap))
    if gap is None:
        pytest.importorskip("pyarrow")
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False, sep="\t" if "tsv" in name else ",")
    roles = ROLES.override(missing=("NA",))
    told = str(must_raise(DataError, "leave those records out, for example with: python -c", check_table, path, roles))
    exec(shlex.split(told.split("with: ")[1])[2], {})
    complete = check_table(tmp_path / name.replace("people", "people-complete"), roles).frame
    pd.testing.assert_frame_equal(complete, kept, check_dtype=False)


def test_hints_can_be_pasted_into_a_shell(people, flags):
    people["birth place; rm"] = [f"town {i}" for i in range(len(people))]
    people["it's"] = 1
    people["rounds won"] = np.random.default_rng(0).choice(10**6, len(people), replace=False)
    people["day off"] = pd.Timestamp("2000-01-01")
    warnings = check_table(people, ROLES.override(ignore=("day off",))).warnings
    hints = [shlex.split(line[line.index("; --") + 2 :])[:2] for line in warnings]
    assert ["--keep", "birth place; rm"] in hints
    assert ["--keep", "it's"] in hints
    assert ["--ignore", "rounds won"] in hints
    must_raise(DataError, r"'day off' holds dates or times.*--ignore 'day off'$", check_table, people, ROLES)
    undecided = Roles(protected=("sex",), target="income", ignore=("day off",))
    must_raise(DataError, r"--positive '[<>]=?50K'$", check_table, people, undecided)
    checked = check_table(people, Roles(protected=("rounds won",), ignore=("day off",)))
    must_raise(DataError, r"--group 'rounds won<[^']*'$", checked.to_dataset)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("person", "'person' is different in every row, like an identifier: it names people, not groups"),
        ("letter", "'letter' is free text .*: it names people, not groups"),
        ("born", "'born' looks like dates.*give an age or a year"),
    ],
)
def test_a_protected_column_that_names_people_is_refused_unless_it_is_kept(people, flags, column, message):
    people["born"] = [f"19{50 + i}-01-02" for i in range(len(people))]
    roles = Roles(protected=("sex", column), target="income", positive=">50K")
    must_raise(DataError, f"protected column {message}.* --keep {column}$", check_table, people, roles)
    told = check_table(people, roles.override(keep=(column,))).warnings
    assert f"column '{column}' has 40 categories, which make 40 columns: kept; lump rare ones first" in told


def test_a_number_that_counts_the_rows_is_protected_or_predicted_but_doubted(people):
    def told_of(**roles):
        return check_table(people.assign(number=np.arange(len(people))), Roles(**roles)).warnings

    told = told_of(protected=("number",), target="income", positive=">50K")
    assert any(line.startswith("protected column 'number' is different in every row") for line in told)
    assert any("protected all the same" in line for line in told)
    doubted = "target 'number' is different in every row, like an identifier: it is predicted as a number"
    assert any(line.startswith(doubted) for line in told_of(protected=("sex",), target="number"))
    assert not any(line.startswith("target") for line in told_of(protected=("sex",), target="age"))


@pytest.mark.parametrize(
    ("column", "positive", "message"),
    [
        ("person", None, "'person' is different in every row, like an identifier: nothing can be learned"),
        ("person", "p001", "'person' is different in every row, like an identifier: nothing can be learned"),
        ("letter", None, "'letter' is free text .*: nothing can be learned"),
        ("pay", None, r"'pay' looks like numbers with signs.*write plain numbers"),
    ],
)
def test_a_target_that_nothing_can_be_learned_about_is_refused(people, column, positive, message):
    people["pay"] = [f"{i},000 €" for i in range(len(people))]
    roles = Roles(protected=("sex",), target=column, positive=positive)
    must_raise(DataError, f"target {message}", check_table, people, roles)


def test_very_many_categories_are_told_with_the_columns_they_make(people, rng, flags):
    many = pd.concat([people] * 10, ignore_index=True)
    many["postcode"] = 10_000 + np.arange(len(many)) % 150
    many["home town"] = [f"town {i % 120}" for i in range(len(many))]
    told = check_table(many, ROLES.override(categorical=("postcode",))).warnings
    assert any("'postcode' has 150 categories, which make 150 columns: kept" in line for line in told)
    assert any("120 columns" in line and line.endswith("--ignore 'home town'") for line in told)
    # As numbers they make one column.
    assert not any("postcode" in line for line in check_table(many, ROLES).warnings)


def test_every_column_is_looked_at_once(people, monkeypatch):
    looked = []

    def watch(column):
        looked.append(column.name)
        return find(column)

    find = column_warnings.find_doubt
    monkeypatch.setattr(column_warnings, "find_doubt", watch)
    monkeypatch.setattr(checked_table, "find_doubt", watch)
    checked = check_table(people, ROLES)
    assert checked.to_dataset().frame.columns.tolist() == checked.attributes
    assert sorted(looked) == sorted(people.columns)
