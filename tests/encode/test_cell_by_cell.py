"""A few people, encoded cell by cell, get what they get among many, whom pandas reads by columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ifair import Encoder
from ifair.encode.table_forms import FEW
from ifair.errors import IfairError


def make_people(rng, n=2 * FEW):
    """Columns of every kind and type of pandas that an encoder takes."""

    def draw(values, dtype=None, gaps=0.2):
        cells = [None if rng.random() < gaps else values[i] for i in rng.integers(len(values), size=n)]
        return pd.Series(cells, dtype=dtype)

    return pd.DataFrame(
        {
            "number": draw([0, -1, 2.5, 1e6], float),
            "single precision": draw([0.1, 0.2], np.float32),
            "whole number": draw([0, 1, 2, 3], int, gaps=0.0),
            "number with gaps": draw([1, 2, 3], "Int64"),
            "text": draw(list("abcd")),
            "object text": draw(list("ab"), object),
            "levels": pd.Series(pd.Categorical(draw(list("xyz")), categories=list("zyxw"), ordered=True)),
            "code": draw([0, 1, 2, 3, 4], int, gaps=0.0),
            "code with gaps": draw([0, 1, 2, 3], float),
            "truth": draw([True, False], bool, gaps=0.0),
            "truth with gaps": draw([True, False], "boolean"),
            "nothing": draw([None], object),
        }
    )


OPTIONS = st.fixed_dictionaries(
    {
        "missing": st.sampled_from(["flag", "impute", "ignore"]),
        "scale": st.sampled_from(["unit-variance", "attribute", "none"]),
        "max_categories": st.sampled_from([None, 2]),
    }
)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), OPTIONS)
def test_a_person_alone_is_encoded_as_among_many(seed, options):
    rng = np.random.default_rng(seed)
    encoder = Encoder(categorical=["code", "code with gaps"], **options).fit(make_people(rng))
    people = make_people(rng)
    together = encoder.transform(people)
    assert len(people) > FEW
    pd.testing.assert_frame_equal(pd.concat([encoder.transform(people.iloc[[i]]) for i in range(5)]), together[:5])
    pd.testing.assert_frame_equal(encoder.transform(people.iloc[:FEW]), together[:FEW])


@pytest.fixture(scope="module")
def encoder():
    learned = pd.DataFrame({"age": np.arange(40.0), "trade": ["cook", "smith"] * 20, "owner": [True, False] * 20})
    return Encoder(scale="none").fit(learned)


UNREADABLE = {"age": ["forty", np.inf, 10**400, pd.Timestamp(0)], "trade": [3, ["cook"]], "owner": [2, "yes"]}


@pytest.mark.parametrize(("column", "cell"), [(name, cell) for name, cells in UNREADABLE.items() for cell in cells])
def test_an_unreadable_cell_is_refused_in_the_words_that_many_people_get(encoder, column, cell):
    person = {"age": 40.0, "trade": "cook", "owner": True, column: cell}
    one = pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in person.items()})
    many = pd.concat([one] * (FEW + 1), ignore_index=True)
    with pytest.raises((IfairError, TypeError)) as among_many:
        encoder.transform(many)
    with pytest.raises(type(among_many.value)) as alone:
        encoder.transform(one)
    assert str(alone.value) == str(among_many.value)


def test_numbers_may_stand_for_booleans_and_an_encoder_that_learns_anew_forgets_where_cells_went(encoder):
    person = pd.DataFrame({"age": [True], "trade": ["baker"], "owner": [1]})
    assert encoder.transform(person).to_numpy().tolist() == [[1.0, 0.0, 0.0, 1.0]]
    again = Encoder(scale="none")
    for trades, expected in ((["baker", "cook"], [1.0, 0.0]), (["actor", "baker"], [0.0, 1.0])):
        again.fit(pd.DataFrame({"trade": trades}))
        assert again.transform(person[["trade"]]).to_numpy().tolist() == [expected]
