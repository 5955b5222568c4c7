"""Every dataset has the records, columns and base rates that the documentation says it has."""

from functools import cache

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from ifair import Encoder
from ifair.data import describe, encoded_width, load, make_synthetic
from ifair.datasets.registry import find_about

REAL = ["compas", "census", "airbnb", "xing"]
load_once = cache(load)


@pytest.fixture(params=[*(pytest.param(name, marks=pytest.mark.data) for name in REAL), "credit", "synthetic"])
def loaded(request):
    if request.param in REAL:
        request.getfixturevalue("real_data")
        return load_once(request.param, download_if_missing=False)
    return load_once(request.param)


def test_the_figures_of_the_documentation_are_reached_exactly(loaded):
    about = find_about(loaded.name)
    assert describe(loaded, about.counts_protected) == about.reached


def test_the_encoder_gives_the_columns_that_were_counted_in_unit_variance_and_the_records_back(loaded):
    about = find_about(loaded.name)
    counted = loaded.frame if about.counts_protected else loaded.masked
    encoder = Encoder(missing="ignore").fit(counted)
    encoded = encoder.transform(counted)
    assert encoded.shape == (about.reached.rows, about.reached.columns)
    assert_allclose(encoded.var(ddof=0), 1.0)
    decoded, categories = encoder.decode(encoded), counted.select_dtypes("category").columns
    assert decoded[categories].equals(counted[categories])
    numbers = counted.columns.drop(categories)
    assert_allclose(decoded[numbers].astype(float), counted[numbers].astype(float), atol=1e-8)


def test_every_column_is_a_number_a_boolean_or_a_category(loaded):
    kinds = {c: loaded.frame[c].dtype for c in loaded.frame}
    wrong = [c for c, k in kinds.items() if not (k == "category" or pd.api.types.is_numeric_dtype(k))]
    assert not wrong
    assert loaded.frame.index.equals(pd.RangeIndex(len(loaded)))
    assert all((loaded.description, loaded.licence, loaded.citation, loaded.source))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "options", "rows", "columns", "with_protected"),
    [
        ("compas", {"recipe": "race-inside"}, 6900, 429, 431),
        ("compas", {"within_days": 30}, 6172, 400, 406),
        pytest.param("census", {"recipe": "all"}, 48842, 103, 105, marks=pytest.mark.slow),
        ("xing", {"recipe": "56-queries"}, 2208, 59, 62),
        pytest.param("airbnb", {"recipe": "four-cities"}, 7224, 33, 35, marks=pytest.mark.slow),
    ],
    ids=lambda value: str(value),
)
def test_the_other_recipes_reach_their_counts(real_data, name, options, rows, columns, with_protected):
    dataset = load(name, **options)
    assert len(dataset) == rows
    assert (encoded_width(dataset.masked), encoded_width(dataset.frame)) == (columns, with_protected)


@pytest.mark.slow
@pytest.mark.data
def test_the_other_queries_of_airbnb_reach_their_counts(real_data):
    assert load("airbnb", smallest_query=51).query.nunique() == 43
    assert load("airbnb", query_by=("city", "neighbourhood", "home_type", "room_type")).query.nunique() == 283


@pytest.mark.data
def test_no_host_name_reaches_the_airbnb_frame(real_data):
    airbnb = load_once("airbnb", download_if_missing=False)
    assert not [c for c in airbnb.frame if "name" in c or c in ("id", "host_id")]
    assert set(airbnb.frame["host_gender"]) == {"female", "male"}
    assert airbnb.query.value_counts().min() >= 10
    assert (airbnb.target * airbnb.frame["price"]).to_numpy() == pytest.approx(
        airbnb.frame["review_scores_rating"].to_numpy()
    )


@pytest.mark.data
def test_the_larger_list_of_first_names_gives_more_listings(real_data):
    pytest.importorskip("nomquamgender")
    airbnb = load("airbnb", names_list="nomquamgender")
    assert (len(airbnb), airbnb.query.nunique()) == (11819, 284)
    assert airbnb.group.mean() == pytest.approx(0.475, abs=5e-4)


def test_the_synthetic_variants_differ_only_in_the_group_which_a_threshold_splits_by_outcome():
    random, *others = (make_synthetic(variant, n_records=100_000) for variant in ("random", "x1", "x2"))
    assert (random.frame["A"] == random.group).all()
    for other, axis in zip(others, ("X1", "X2")):
        pd.testing.assert_frame_equal(random.masked, other.masked)
        pd.testing.assert_series_equal(random.target, other.target)
        assert (other.group == (other.frame[axis] <= 3)).all()
        shares = [other.group.mean(), other.group[other.target == 0].mean(), other.group[other.target == 1].mean()]
        assert shares == pytest.approx([0.5, 0.841, 0.159], abs=0.01)
    assert (others[0].group != others[1].group).any()


def test_the_synthetic_clouds_have_the_covariances_of_the_paper():
    many = make_synthetic(n_records=200_000, random_state=3)
    for outcome, covariance in [(0, 0.0), (1, 0.95)]:
        cloud = many.frame.loc[many.target == outcome, ["X1", "X2"]]
        spread = cloud.cov().to_numpy().ravel()
        assert spread == pytest.approx([1, covariance, covariance, 1], abs=0.02)
    assert many.group.mean() == pytest.approx(0.3, abs=0.005)
