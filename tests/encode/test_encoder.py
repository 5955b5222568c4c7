"""The encoder: tables in, scaled matrix out, and back again."""

import datetime
import decimal
import string

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from pandas.testing import assert_frame_equal, assert_series_equal
from refusals import must_raise
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ifair import Encoder, Similarity
from ifair.encode import columns_of
from ifair.errors import IfairError


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "age": [20, 30, 40, 50],
            "race": ["Black", "White", "White", "Asian"],
            "married": [True, False, False, True],
            "income": [1.5, 2.5, 0.5, 9.0],
        }
    )


@pytest.fixture
def gaps():
    return pd.DataFrame(
        {
            "age": [20.0, np.nan, 40.0, 60.0],
            "race": ["Black", None, "White", "White"],
            "married": pd.array([True, None, True, False], dtype="boolean"),
            "income": [1.0, 2.0, 3.0, 4.0],
        }
    )


# ---- what the columns hold -------------------------------------------------------------------------------


def test_columns_equal_get_dummies_and_scaled_ones_a_pipeline_assembled_by_hand(people):
    encoded = Encoder(scale="none").fit_transform(people)
    dummies = pd.get_dummies(people["race"], prefix="race", prefix_sep="=", dtype=float)
    expected = pd.concat([people[["age"]], dummies, people[["married", "income"]]], axis=1).astype(float)
    assert_frame_equal(encoded, expected)
    assert_allclose(Encoder().fit_transform(people), StandardScaler().fit_transform(expected), atol=1e-14)


@pytest.mark.parametrize("scale", ["unit-variance", "numeric"])
def test_scaled_columns_have_mean_zero_and_unit_variance_and_all_others_hold_zero_and_one(gaps, scale):
    encoded = Encoder(scale=scale).fit_transform(gaps)
    scaled = encoded[["age", "income"]] if scale == "numeric" else encoded
    assert_allclose(scaled.mean(), 0.0, atol=1e-15)
    assert_allclose(scaled.var(ddof=0), 1.0)
    assert set(np.unique(encoded.drop(columns=scaled.columns))) == ({0.0, 1.0} if scale == "numeric" else set())


def test_origin_names_the_attribute_of_every_column_and_columns_of_finds_them(gaps):
    encoder = Encoder().fit(gaps)
    names = ["age", "age=missing", "race=Black", "race=White", "race=missing", "married", "married=missing", "income"]
    assert encoder.get_feature_names_out().tolist() == names
    assert encoder.origin_.tolist() == [name.partition("=")[0] for name in names]
    assert encoder.attributes_ == ["age", "race", "married", "income"]
    for attribute in encoder.attributes_:
        assert_array_equal(columns_of(attribute, names), np.flatnonzero(encoder.origin_ == attribute))
    assert columns_of("rac", names) == []
    assert columns_of("race=Black", names) == [2]


def test_categorical_makes_codes_and_booleans_into_categories(people):
    people["age"] = [1.0, 2.0, np.nan, 1.0]
    encoder = Encoder(categorical=["age", 2]).fit(people)
    names = ["age=1", "age=2", "age=missing", "race=Asian", "race=Black", "race=White"]
    assert encoder.get_feature_names_out().tolist() == [*names, "married=False", "married=True", "income"]


def test_ordered_categories_and_bins_keep_their_order_and_unused_ones_get_no_column():
    ages = pd.cut(pd.Series([17, 70, 30]), [0, 18, 30, 65, 99], labels=["child", "young", "grown", "old"])
    encoder = Encoder().fit(pd.DataFrame({"age": ages}))
    assert encoder.get_feature_names_out().tolist() == ["age=child", "age=young", "age=old"]
    frame = pd.DataFrame({"age": pd.cut([17, 30, 70], [15, 25, 35, 85], right=False)})
    encoder = Encoder().fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["age=[15, 25)", "age=[25, 35)", "age=[35, 85)"]
    assert_frame_equal(encoder.decode(encoder.transform(frame)), frame)


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1, None, 3, 5], dtype="Int64"),
        pd.array([1.0, None, 3.0, 5.0], dtype="Float32"),
        np.array([1, np.nan, 3, 5], dtype=np.float16),
        np.array([1, None, 3.0, pd.NA], dtype=object)[[0, 1, 2, 0]],
        np.array([decimal.Decimal(1), None, decimal.Decimal(3), decimal.Decimal(5)], dtype=object),
        pd.arrays.SparseArray([1.0, np.nan, 3.0, 5.0]),
    ],
    ids=lambda column: f"{type(column).__name__}-{column.dtype}",
)
def test_numbers_of_every_dtype_get_the_median_and_a_flag(column):
    encoded = Encoder(scale="none").fit_transform(pd.DataFrame({"n": column}))
    values = np.array([np.nan if pd.isna(v) else float(v) for v in column])
    assert_array_equal(encoded["n"], np.where(np.isnan(values), np.nanmedian(values), values))
    assert_array_equal(encoded["n=missing"], [0.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT], ids=repr)
def test_every_kind_of_missing_value_is_missing(nothing):
    frame = pd.DataFrame({"a": pd.Series(["x", nothing, "y"], dtype=object)})
    flagged = pd.DataFrame({"a=x": [1.0, 0, 0], "a=y": [0.0, 0, 1], "a=missing": [0.0, 1, 0]})
    assert_frame_equal(Encoder(scale="none").fit_transform(frame), flagged)


# ---- missing values --------------------------------------------------------------------------------------


def test_impute_equals_simple_imputer_and_ignore_gives_a_missing_category_only_zeros(gaps):
    encoded = Encoder(missing="impute", scale="none").fit_transform(gaps)
    by_hand = make_column_transformer(
        (SimpleImputer(strategy="median"), ["age"]),
        (make_pipeline(SimpleImputer(strategy="most_frequent", missing_values=None), OneHotEncoder()), ["race"]),
        (SimpleImputer(strategy="most_frequent"), ["married"]),
        ("passthrough", ["income"]),
    )
    expected = by_hand.fit_transform(gaps.astype({"married": float, "race": object}).replace({"race": {np.nan: None}}))
    assert_array_equal(encoded, expected)
    names = ["age", "race=Black", "race=White", "married", "income"]
    ignored = Encoder(missing="ignore", scale="none").fit_transform(gaps)
    assert encoded.columns.tolist() == ignored.columns.tolist() == names
    assert_frame_equal(ignored[names[1:3]], pd.get_dummies(gaps["race"], prefix="race", prefix_sep="=", dtype=float))
    assert ignored.loc[1, "age"] == 40.0


@pytest.mark.parametrize("missing", ["flag", "impute", "ignore"])
def test_values_missing_only_at_transform_need_no_new_column(people, missing):
    encoder = Encoder(missing=missing, scale="none").fit(people)
    person = pd.DataFrame({"age": [np.nan], "race": [None], "married": [None], "income": [None]})
    encoded = encoder.transform(person)
    frequent = float(missing == "impute")
    assert encoded.columns.tolist() == encoder.get_feature_names_out().tolist()
    # The booleans tie: half of the people are married.
    assert_array_equal(encoded.to_numpy(), [[35.0, 0.0, 0.0, frequent, 0.5, 2.0]])


@pytest.mark.parametrize("nothing", [[None, None], [np.nan, np.nan]], ids=["object", "float"])
@pytest.mark.parametrize("missing", ["flag", "impute", "ignore"])
def test_an_attribute_without_values_is_constant_whatever_comes_later(nothing, missing):
    frame = pd.DataFrame({"age": [20, 30], "void": nothing})
    encoder = Encoder(missing=missing).fit(frame)
    expected = np.zeros((2, len(columns_of("void", encoder.get_feature_names_out()))))
    for later in (nothing, [3.0, 4.0], ["text", None]):
        encoded = encoder.transform(frame.assign(void=later))
        assert_array_equal(encoded.loc[:, encoder.origin_ == "void"], expected)
    assert encoder.decode(encoder.transform(frame))["void"].isna().all()


# ---- categories ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limits", [{}, {"max_categories": 2}], ids=["plain", "lumped"])
@pytest.mark.parametrize("missing", ["flag", "impute", "ignore"])
def test_a_category_never_seen_gets_zeros_in_silence(people, missing, limits):
    encoder = Encoder(missing=missing, scale="none", **limits).fit(people)
    encoded = encoder.transform(people.assign(race="Martian"))
    assert_array_equal(encoded.loc[:, encoder.origin_ == "race"], 0.0)


@pytest.mark.parametrize("limits", [{"min_frequency": 2}, {"max_categories": 2}, {"min_frequency": 0.4}])
def test_rare_categories_are_lumped_but_missing_is_not(limits):
    frame = pd.DataFrame({"a": ["x", "x", "y", "z", None]})
    encoded = Encoder(scale="none", **limits).fit_transform(frame)
    expected = pd.DataFrame(
        {"a=x": [1.0, 1, 0, 0, 0], "a=infrequent": [0.0, 0, 1, 1, 0], "a=missing": [0.0, 0, 0, 0, 1]}
    )
    assert_frame_equal(encoded, expected)
    encoder = Encoder(**limits).fit(frame)
    decoded = encoder.decode(encoder.transform(frame))["a"]
    assert decoded.fillna("nothing").tolist() == ["x", "x", "infrequent", "infrequent", "nothing"]


# ---- forms of tables -------------------------------------------------------------------------------------


def test_polars_in_polars_out_with_the_same_numbers(gaps):
    pl = pytest.importorskip("polars")
    plain = {name: [None if pd.isna(v) else v for v in column.tolist()] for name, column in gaps.items()}
    table = pl.DataFrame(plain).with_columns(pl.col("race").cast(pl.Categorical))
    encoder = Encoder().fit(table)
    encoded = encoder.transform(table)
    expected = Encoder().fit_transform(gaps)
    assert isinstance(encoded, pl.DataFrame)
    assert encoded.columns == expected.columns.tolist()
    assert_array_equal(encoded.to_numpy(), expected)
    decoded = encoder.decode(encoded.to_numpy())
    assert isinstance(decoded, pl.DataFrame)
    assert decoded.columns == table.columns
    for name, values in plain.items():
        assert decoded[name].to_list() == (values if name != "age" else pytest.approx(values))


def test_lazy_polars_tables_and_polars_dates_and_lists_are_refused_by_name():
    pl = pytest.importorskip("polars")
    must_raise(TypeError, "collect", Encoder().fit, pl.LazyFrame({"a": [1]}))
    must_raise(
        ValueError, "'born' holds dates", Encoder().fit, pl.DataFrame({"born": [datetime.date(2000, 1, 1), None]})
    )
    must_raise(TypeError, "'jobs' holds list", Encoder().fit, pl.DataFrame({"jobs": [[1], [2, 3]]}))


def test_array_in_array_out(people):
    frame = Encoder().fit_transform(people)
    for array in (people.to_numpy(dtype=object), people.to_numpy(dtype=object).tolist()):
        encoder = Encoder().fit(array)
        encoded = encoder.transform(array)
        assert type(encoded) is np.ndarray
        assert encoded.dtype == np.float64
        assert_array_equal(encoded, frame)
        assert encoder.get_feature_names_out()[:2].tolist() == ["x0", "x1=Asian"]
        assert encoder.get_feature_names_out(["a", "b", "c", "d"])[:2].tolist() == ["a", "b=Asian"]


@pytest.mark.parametrize("missing", ["flag", "impute"])
@pytest.mark.parametrize("form", ["pandas", "polars"])
def test_set_output_decides_over_the_form_of_the_input(gaps, form, missing):
    library = pytest.importorskip(form)
    expected = Encoder(missing=missing).fit_transform(gaps)
    encoder = Encoder(missing=missing).set_output(transform=form)
    for X in (gaps, gaps.to_numpy(dtype=object)):
        encoded = encoder.fit_transform(X)
        with config_context(transform_output=form):
            also = Encoder(missing=missing).fit_transform(X)
        for table in (encoded, also):
            assert isinstance(table, library.DataFrame)
            assert_array_equal(table.to_numpy(), expected)
            assert list(table.columns) == encoder.get_feature_names_out().tolist()
    assert isinstance(encoder.set_output(transform="default").fit_transform(gaps), pd.DataFrame)


# ---- decoding --------------------------------------------------------------------------------------------

numbers = st.floats(-1e9, 1e9) | st.integers(-(10**6), 10**6)
words = st.text(string.printable, min_size=0, max_size=5)


@st.composite
def complete_tables(draw):
    n = draw(st.integers(1, 12))
    kinds = draw(st.lists(st.sampled_from(["number", "text", "truth", "category", "code"]), min_size=1, max_size=6))
    cells = {
        "number": numbers,
        "text": words,
        "truth": st.booleans(),
        "category": st.sampled_from(["low", "mid", "high"]),
        "code": st.integers(0, 5),
    }
    frame = pd.DataFrame(
        {f"{kind}{i}": draw(st.lists(cells[kind], min_size=n, max_size=n)) for i, kind in enumerate(kinds)}
    )
    levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=draw(st.booleans()))
    return frame.astype({name: levels for name in frame if name.startswith("category")})


@given(
    frame=complete_tables(),
    missing=st.sampled_from(["flag", "impute", "ignore"]),
    scale=st.sampled_from(["unit-variance", "numeric", "none"]),
)
def test_decoding_an_encoded_table_gives_it_back(frame, missing, scale):
    # Also text that differs in every row, which is refused unless it is named.
    codes = [name for name in frame if name.startswith(("code", "text"))]
    encoder = Encoder(missing=missing, scale=scale, categorical=codes).fit(frame)
    encoded = encoder.transform(frame)
    assert np.isfinite(encoded.to_numpy()).all()
    decoded = encoder.inverse_transform(encoded)
    assert decoded.columns.tolist() == frame.columns.tolist()
    for name in frame:
        if name.startswith("number"):
            size = np.abs(frame[name].astype(float)).max()
            assert_allclose(decoded[name], frame[name].astype(float), rtol=0, atol=1e-12 * max(size, 1.0))
        else:
            assert_series_equal(decoded[name], frame[name])


def test_missing_values_that_were_flagged_or_ignored_come_back_missing_and_the_index_too(gaps):
    gaps.index = [7, 5, 3, 1]
    encoder = Encoder().fit(gaps)
    encoded = encoder.transform(gaps)
    assert encoded.index.tolist() == [7, 5, 3, 1]
    assert_frame_equal(encoder.decode(encoded), gaps)
    ignoring = Encoder(missing="ignore").fit(gaps)
    assert_series_equal(ignoring.decode(ignoring.transform(gaps))["race"], gaps["race"])


def test_a_point_between_records_reads_as_its_largest_category_and_shares(people):
    encoder = Encoder().fit(people)
    weights, encoded = np.array([0.1, 0.3, 0.4, 0.2]), encoder.transform(people)
    point = weights @ encoded.to_numpy()
    decoded = encoder.decode(point[None, :])
    assert decoded["race"].tolist() == ["White"]
    assert decoded["married"].tolist() == [False]
    assert_allclose(decoded["age"], weights @ people["age"])
    shares = encoder.decode(point[None, :], proportions=True)
    assert shares.columns.tolist() == encoder.get_feature_names_out().tolist()
    assert_allclose(shares[["race=Asian", "race=Black", "race=White", "married"]], [[0.2, 0.1, 0.7, 0.3]])
    must_raise(ValueError, "have 6 columns, Z has 5", encoder.decode, encoded.to_numpy()[:, 1:])
    must_raise(ValueError, "columns to decode must be", encoder.decode, encoded[encoded.columns[::-1]])
    must_raise(ValueError, "Z contains NaN", encoder.decode, encoded.to_numpy() * np.nan)


# ---- bad input -------------------------------------------------------------------------------------------


def test_constant_columns_and_a_single_record_are_finite_and_no_record_is_refused(people):
    assert_array_equal(Encoder().fit_transform(people.head(1)), np.zeros((1, 4)))
    must_raise(ValueError, "empty: it has 0 records", Encoder().fit(people).transform, people.head(0))


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        ([1.0, np.inf], ValueError, "'c' holds inf in row 2"),
        ([-np.inf, 1.0], ValueError, "'c' holds -inf in row 1"),
        ([1e200, 1.0], ValueError, "'c' holds 1e\\+200 in row 1"),
        (pd.Series([10**400, 1], dtype=object), ValueError, "'c' holds a number too large"),
        (["a", 1], TypeError, "'c' holds str \\('a'\\) and int \\(1\\)"),
        ([True, "a"], TypeError, "'c' holds bool \\(True\\) and str"),
        ([[1], [2, 3]], TypeError, "'c' holds list \\(\\[2, 3\\]\\)"),
        ([{"k": 1}, None], TypeError, "'c' holds dict"),
        ([b"a", b"b"], TypeError, "'c' holds bytes"),
        ([1j, 2j], TypeError, "'c' holds complex"),
        (pd.to_datetime(["2020-01-01", None]), ValueError, "'c' holds dates or times.*turn it into a number"),
        ([datetime.date(2020, 1, 1), None], ValueError, "'c' holds dates or times"),
        (pd.to_timedelta([1, 2]), ValueError, "'c' holds dates or times"),
        (pd.period_range("2020", periods=2), ValueError, "'c' holds dates or times"),
        (pd.Categorical(["a", 1]), TypeError, "'c' holds str"),
    ],
)
def test_cells_that_cannot_be_encoded_are_named_in_fit_and_in_transform(column, error, message):
    bad = pd.DataFrame({"fine": ["x", "y"], "c": column})
    must_raise(error, message, Encoder().fit, bad)
    encoder = Encoder().fit(pd.DataFrame({"fine": ["x", "y"], "c": [1.0, 2.0]}))
    must_raise(error, message, encoder.transform, bad)


@pytest.mark.parametrize(
    ("before", "later", "message"),
    [
        ([1, 2], ["a", "b"], "'c' held numbers in fit and now holds text, such as 'a'"),
        (["1", "2"], [1, 2], "'c' held text in fit and now holds numbers"),
        ([True, False], [0.0, 7.0], "'c' held booleans in fit and now holds 7.0"),
    ],
)
def test_a_column_that_changes_its_nature_is_named(before, later, message):
    encoder = Encoder().fit(pd.DataFrame({"c": before}))
    must_raise(ValueError, message, encoder.transform, pd.DataFrame({"c": later}))


@pytest.mark.parametrize(
    ("frame", "parameters", "message"),
    [
        (pd.DataFrame({"a": []}), {}, "0 records and 1 columns"),
        (pd.DataFrame(index=[0, 1]), {}, "2 records and 0 columns"),
        (pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), {}, r"repeated: \['a'\]"),
        (pd.DataFrame({"a": ["b=c"], "a=b": ["d"]}), {}, "'a=b=c' of attribute 'a' could also belong to attribute 'a="),
        (pd.DataFrame({"a": [1], "a=b": [2]}), {}, "'a=b' of attribute 'a=b' could also belong to attribute 'a'"),
        (pd.DataFrame({"a": ["missing", None]}), {}, "would be called 'a=missing'"),
        (None, {"missing": "drop"}, "missing must be one of 'flag', 'impute', 'ignore', got 'drop'"),
        (None, {"scale": None}, "scale must be one of .* got None"),
        (None, {"categorical": "race"}, "'auto' or a list of columns, got 'race'"),
        (None, {"categorical": ["rase"]}, "no categorical column 'rase', did you mean 'race'?"),
        (None, {"categorical": ["zzz"]}, "no categorical column 'zzz'. Known: 'age', 'race'"),
        (None, {"categorical": [4]}, "positions 0 to 3, got 4"),
        (None, {"categorical": [-1]}, "positions 0 to 3, got -1"),
        (None, {"categorical": [True]}, "positions 0 to 3, got True"),
        (None, {"min_frequency": -1}, "min_frequency"),
        (None, {"max_categories": 0}, "max_categories"),
    ],
)
def test_tables_without_a_meaning_and_parameters_that_make_no_sense_are_refused(people, frame, parameters, message):
    must_raise(ValueError, message, Encoder(**parameters).fit, people if frame is None else frame)


# ---- scales -----------------------------------------------------------------------------------------------


def test_attribute_scaling_gives_the_distances_of_a_similarity():
    """Of a table without gaps; with gaps a flag adds a hundredth."""
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "age": rng.normal(40, 12, 200),
            "gains": np.where(rng.random(200) < 0.1, rng.integers(1, 9, 200) * 1000.0, 0.0),
            "level": rng.choice([1.0, 3.0], 200),
            "job": rng.choice(list("abc"), 200, p=[0.9, 0.08, 0.02]),
            "owner": rng.random(200) < 0.3,
        }
    )
    Z = Encoder(scale="attribute").fit_transform(people).to_numpy()
    expected = Similarity().fit(people).distances(people)
    np.testing.assert_allclose(np.linalg.norm(Z[:, None] - Z[None], axis=2), expected, atol=1e-6)
    gaps = people.assign(job=people["job"].where(rng.random(200) > 0.1), age=people["age"].where(rng.random(200) > 0.1))
    encoder = Encoder(scale="attribute").fit(gaps)
    encoded = encoder.transform(gaps)
    assert np.ptp(encoded["age=missing"]) == np.ptp(encoded["job=missing"]) == pytest.approx(0.1)
    decoded = encoder.decode(encoded)
    # Gaps are None or NaN, by the version of pandas.
    pd.testing.assert_frame_equal(decoded.where(decoded.notna(), np.nan), gaps, check_dtype=False)
    # A missing category is as far from each as half of what two of them are.
    lost, kept = gaps["job"].isna().to_numpy(), gaps["job"].notna().to_numpy()
    jobs = encoded.filter(like="job=").drop(columns="job=missing").to_numpy()
    apart = ((jobs[lost][:, None] - jobs[kept][None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(apart, 0.5)


def test_rescaling_keeps_the_categories_and_takes_the_scale_of_other_records():
    people = pd.DataFrame({"age": [20.0, 30.0, 60.0, 90.0], "city": ["A", "B", "C", "B"]})
    few = people.iloc[:2]
    encoder = Encoder().fit(people).rescale(few)
    encoded = encoder.transform(few)
    assert list(encoded.columns) == ["age", "city=A", "city=B", "city=C"]
    np.testing.assert_allclose(encoded["age"], [-1.0, 1.0])
    np.testing.assert_allclose(encoder.transform(people)["city=C"], [0.0, 0.0, 1.0, 0.0])


DOUBTFUL = pd.DataFrame({"badge": [f"B-{i}" for i in range(60)], "age": [20 + i % 30 for i in range(60)]})


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (DOUBTFUL["badge"], "is different in every row, like an identifier"),
        ([f"A remark about somebody that nobody else got, {i}" for i in range(60)], "is free text"),
        ([f"2020-01-{i:02d}" for i in range(60)], "looks like dates"),
    ],
)
def test_text_that_names_people_is_refused_unless_it_is_called_categorical(cells, reason):
    people = DOUBTFUL.assign(badge=cells)
    must_raise(IfairError, f"column 'badge' {reason}.*60 columns.*categorical=\\['badge'\\]", Encoder().fit, people)
    with pytest.warns(UserWarning, match="'badge' has 60 categories"):
        assert Encoder(categorical=["badge"]).fit_transform(people).shape == (60, 61)
    assert Encoder().fit_transform(people.astype({"badge": "category"})).shape == (60, 61)


def test_very_many_categories_and_numbers_that_name_people_are_warned_of_before_any_work():
    town = DOUBTFUL.assign(badge=[f"town {i % 25}" for i in range(60)])
    with pytest.warns(UserWarning, match="'badge' has 25 categories, which make 25 columns: kept; lump") as caught:
        Encoder().fit(town)
    assert caught[0].filename == __file__
    assert Encoder(max_categories=5).fit_transform(town).shape == (60, 6)
    with pytest.warns(UserWarning, match="'staff_id' is different in every row, like an identifier: encoded as a num"):
        Encoder().fit(DOUBTFUL[["age"]].assign(staff_id=range(60)))
