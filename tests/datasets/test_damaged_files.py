"""Damaged files: a clear error, never a stack trace from the depths, never a silently wrong frame."""

import csv
import hashlib
import io
import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from refusals import must_raise
from small_files import AIRBNB, COMPAS, CREDIT, PARSERS

from ifair.data import DataError, from_table
from ifair.datasets.about import DataFile
from ifair.datasets.catalogue.airbnb import RANGES as LISTING_RANGES
from ifair.datasets.catalogue.airbnb import make_listings
from ifair.datasets.catalogue.census import ATTRIBUTES as CENSUS_ATTRIBUTES
from ifair.datasets.catalogue.compas import KNOWN as COMPAS_KNOWN
from ifair.datasets.catalogue.credit import ATTRIBUTES as CREDIT_ATTRIBUTES
from ifair.datasets.local_files import read_verified

BOUNDED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def damage(draw):
    """A way to damage a file, as a function from bytes to bytes."""
    kind = draw(
        st.sampled_from(["cut", "shuffled lines", "shuffled fields", "binary", "huge", "encoding", "flip", "drop"])
    )
    seed, spot = draw(st.integers(0, 2**32)), draw(st.floats(0, 1))
    junk = draw(st.binary(min_size=1, max_size=40)) if kind == "binary" else b""
    encoding = draw(st.sampled_from(["utf-16", "utf-32", "cp500"]))

    def apply(content):
        rng, at = random.Random(seed), int(spot * len(content))
        lines = content.split(b"\n")
        if kind == "cut":
            return content[:at]
        if kind == "shuffled lines":
            return b"\n".join(rng.sample(lines, len(lines)))
        if kind == "shuffled fields":
            mark = b"," if b"," in content else b" "
            return b"\n".join(mark.join(rng.sample(f := line.split(mark), len(f))) for line in lines)
        if kind == "binary":
            return content[:at] + junk + content[at:]
        if kind == "huge":
            return content[:at] + b"9" * 200_000 + content[at:]
        if kind == "encoding":
            return content.decode().encode(encoding)
        if kind == "flip":
            return content[:at] + bytes([content[at % len(content)] ^ (1 << (seed % 8))]) + content[at + 1 :]
        return content[:at] + content[at + 1 + seed % 50 :]

    return apply


def check_sound(name, parsed):
    """Whatever was accepted is a whole frame with possible values only."""
    if name == "first_names":
        assert all(0 <= share <= 100 for share in parsed.values())
        return
    assert len(parsed)
    if name == "xing":
        assert (parsed[["work_months", "education_months", "profile_views"]] >= 0).all(axis=None)
    attributes = {"credit": CREDIT_ATTRIBUTES, "census": CENSUS_ATTRIBUTES, "airbnb": LISTING_RANGES}.get(name, {})
    for column, held in attributes.items():
        if isinstance(held, tuple):
            assert parsed[column].dropna().between(*held).all()
    known = {
        "credit": {c: set(v.values()) for c, v in CREDIT_ATTRIBUTES.items() if isinstance(v, dict)},
        "census": {c: set(v) for c, v in CENSUS_ATTRIBUTES.items() if isinstance(v, list)},
        "compas": {"race": set(COMPAS_KNOWN["race"]), "charge_degree": {"felony", "misdemeanor"}},
        "xing": {"sex": {"female", "male", "unclear"}},
        "airbnb": {"room_type": {"entire home", "private room", "shared room"}},
    }[name]
    for column, values in known.items():
        assert set(parsed[column].dropna()) <= values


@pytest.mark.parametrize("name", PARSERS)
@given(harm=damage(), noise=st.binary(max_size=300))
@example(harm=lambda content: content, noise=b"")
def test_a_damaged_file_is_refused_clearly_or_read_soundly_and_noise_is_refused(name, harm, noise):
    parse, sample = PARSERS[name]
    try:
        check_sound(name, parse(harm(sample)))
    except DataError:
        assert harm(sample) != sample
    with pytest.raises(DataError):
        parse(noise)


@given(harm=damage())
@BOUNDED
def test_no_altered_byte_passes_the_checksum(harm, tmp_path):
    file = DataFile("german.data", hashlib.sha256(CREDIT).hexdigest(), len(CREDIT))
    path = tmp_path / "german.data"
    path.write_bytes(harm(CREDIT))
    if harm(CREDIT) == CREDIT:
        assert read_verified(path, file) == CREDIT
    else:
        must_raise(DataError, r"german\.data is not the published file", read_verified, path, file)


@given(harm=damage())
def test_a_damaged_listing_is_not_trimmed_into_nonsense(harm):
    try:
        made = make_listings([harm(AIRBNB)], "listings.csv")
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
@pytest.mark.filterwarnings("ignore:protected column 'sex' has one value:UserWarning")
def test_any_bytes_as_a_users_csv_give_a_dataset_or_a_clear_error(content, tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    try:
        dataset = from_table(path, protected="sex")
    except DataError:
        return
    assert len(dataset.frame) == len(dataset.group) > 0
