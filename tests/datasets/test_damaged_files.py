"""Damaged files: a clear error, never a stack trace from the depths, never a silently wrong frame."""

import csv
import hashlib
import io
import math

import pytest
from damage import damage
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from refusals import must_raise
from small_files import AIRBNB, COMPAS, CREDIT, PARSERS

from ifair.data import DataError, from_table
from ifair.datasets.about import DataFile
from ifair.datasets.catalogue import airbnb, census, compas, credit, xing
from ifair.datasets.local_files import read_verified

BOUNDED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
damages = st.randoms(use_true_random=False)
POSSIBLE = {
    "credit": credit.ATTRIBUTES,
    "census": census.ATTRIBUTES,
    "compas": {"race": list(compas.KNOWN["race"]), "charge_degree": compas.KNOWN["c_charge_degree"]},
    "xing": {"sex": xing.SEXES, **dict.fromkeys(xing.QUALIFICATIONS, (0, math.inf))},
    "airbnb": {**airbnb.RANGES, "room_type": airbnb.ROOMS},
}
"""By dataset and column the range of its numbers, a pair, or its categories, also as values of their codes."""


def check_sound(name, parsed):
    """Whatever was accepted is a whole frame with possible values only."""
    if name == "first_names":
        assert all(0 <= share <= 100 for share in parsed.values())
        return
    assert len(parsed)
    for column, held in POSSIBLE[name].items():
        present = parsed[column].dropna()
        if isinstance(held, tuple):
            assert present.between(*held).all()
        else:
            assert set(present) <= {*(held.values() if isinstance(held, dict) else held)}


@pytest.mark.parametrize("name", PARSERS)
@given(rng=damages, noise=st.binary(max_size=300))
def test_a_damaged_file_is_refused_clearly_or_read_soundly_and_noise_is_refused(name, rng, noise):
    parse, sample = PARSERS[name]
    check_sound(name, parse(sample))
    try:
        parsed = parse(damage(sample, rng))
    except DataError:
        pass
    else:
        check_sound(name, parsed)
    with pytest.raises(DataError):
        parse(noise)


@given(rng=damages)
@BOUNDED
def test_no_altered_byte_passes_the_checksum(rng, tmp_path):
    file = DataFile("german.data", hashlib.sha256(CREDIT).hexdigest(), len(CREDIT))
    path = tmp_path / "german.data"
    path.write_bytes(CREDIT)
    assert read_verified(path, file) == CREDIT
    path.write_bytes(damaged := damage(CREDIT, rng))
    if damaged != CREDIT:
        must_raise(DataError, r"german\.data is not the published file", read_verified, path, file)


@given(rng=damages)
def test_a_damaged_listing_is_not_trimmed_into_nonsense(rng):
    try:
        made = airbnb.make_listings([damage(AIRBNB, rng)], "listings.csv")
    except DataError:
        return
    widths = {len(row) for row in csv.reader(io.StringIO(made.decode(), newline=""))}
    assert len(widths) <= 1


def test_a_huge_field_is_refused():
    for digits in (20_000, 200_000):
        must_raise(DataError, "field|CSV", PARSERS["compas"][0], COMPAS.replace(b"Theft, Grand", b"9" * digits))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of columns that hold nothing to learn from
@given(
    content=st.one_of(
        st.binary(max_size=200),
        st.text(max_size=200).map(str.encode),
        st.lists(st.text('ab1,;"\n\x00é ', max_size=12), max_size=8).map(
            lambda lines: "\n".join(["sex,age", *lines]).encode()
        ),
    )
)
@example(content=b"sex,\n\x00,\x00\n,")
@BOUNDED
def test_any_bytes_as_a_users_csv_give_a_dataset_or_a_clear_error(content, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    try:
        dataset = from_table(path, protected="sex")
    except DataError:
        return
    assert len(dataset.frame) == len(dataset.group) > 0
