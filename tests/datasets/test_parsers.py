"""What the parsers make of a file, and what they leave behind."""

import json

import pandas as pd
import pytest
from refusals import must_raise

from ifair.data import DataError, load_airbnb, load_xing
from ifair.datasets.catalogue.airbnb import name_queries, parse_airbnb
from ifair.datasets.catalogue.census import parse_census
from ifair.datasets.catalogue.compas import parse_compas
from ifair.datasets.catalogue.xing import count_months, count_work_months, parse_xing
from ifair.datasets.first_names import infer_genders
from ifair.errors import MissingExtra

# Small files in the formats of the real ones, about people who do not exist.
CENSUS = b"""39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, \
2174, 0, 40, United-States, <=50K
50, ?, 83311, Masters, 14, Married-civ-spouse, ?, Husband, Black, Female, 0, 0, 13, ?, >50K.
"""
COMPAS = b"""id,name,first,last,dob,sex,age,age_cat,race,juv_fel_count,juv_misd_count,juv_other_count,\
priors_count,days_b_screening_arrest,c_case_number,c_charge_degree,c_charge_desc,priors_count,two_year_recid
1,jo doe,jo,doe,1980-01-01,Male,36,25 - 45,Other,0,0,0,2,-1,13001CF,F,"Theft, Grand",2,1
2,al roe,al,roe,1995-01-01,Female,21,Less than 25,Caucasian,0,1,0,0,3,13002MM,M,,0,0
"""
XING = json.dumps(
    {
        "category": "Gardener",
        "dominantSexXing": "m",
        "profiles": [
            {
                "profile": [
                    {
                        "sex": "f",
                        "memberSince_Hits": "16. September 2008 / 2418",
                        "jobs": [{"jobDates": "03/2013 - 01/2017"}, {}, {"jobDates": "2009 - 2012"}],
                    }
                ],
                "education": [{"eduDuration": "09/2002 - 05/2006"}, {}],
            },
            {"profile": [{"sex": "m", "jobs": [{}, {"jobDates": "bis heute"}]}]},
        ],
    }
).encode()
AIRBNB = b"""id,host_name,host_response_time,host_is_superhost,neighbourhood_cleansed,latitude,longitude,\
property_type,room_type,accommodates,bathrooms,bedrooms,beds,price,number_of_reviews,last_review,\
review_scores_rating,minimum_nights,reviews_per_month,calculated_host_listings_count,availability_365
7,Mary & Linda,N/A,t,"Dock, East",42.3,-71.1,Yurt,Hotel room,2,1.5,1,1,"$1,050.00 ",6,2019-12-01,95,3,0.8,6,27
8,Jo,within a day,,Dock,42.3,-71.1,House,Shared room,2,,1,1,$10.00,0,,,3,,1,365
"""

# The paper's table of people found for "Brand Strategist": rank -> (months of work, of education, sex).
# Its ranks 30 and 40 are the 29th and 39th of the 39 profiles published.
BRAND_STRATEGISTS = {
    1: (146, 57, "male"),
    2: (327, 0, "female"),
    3: (502, 74, "male"),
    4: (444, 56, "female"),
    5: (139, 25, "male"),
    6: (110, 65, "female"),
    7: (12, 73, "male"),
    8: (99, 41, "male"),
    9: (42, 51, "female"),
    10: (220, 102, "female"),
    20: (3, 107, "female"),
    29: (123, 56, "female"),
    39: (3, 3, "male"),
}


@pytest.mark.data
def test_all_xing_profiles_agree_with_the_derived_table_and_some_with_the_paper(real_data):
    frame = load_xing().frame
    derived = pd.read_csv(real_data / "xing" / "xing_profiles.csv")
    for name in ("work_months", "education_months", "profile_views"):
        assert frame[name].tolist() == derived[name].tolist()
    assert frame["job_search"].astype(str).tolist() == derived["query"].tolist()
    people = frame.query("job_search == 'Brand Strategist'")
    assert len(people) == 39
    listed = people.iloc[[rank - 1 for rank in BRAND_STRATEGISTS]][["work_months", "education_months", "sex"]]
    assert dict(zip(BRAND_STRATEGISTS, listed.itertuples(index=False, name=None))) == BRAND_STRATEGISTS


def test_a_period_is_counted_in_begun_months():
    months = {"03/2013 - 01/2017": 47, "2009 - 2012": 36, "2010 - 2010": 0, "bis heute": 3}
    assert {dates: count_months(dates) for dates in months} == months
    # A job without dates is as long as the one before.
    assert count_work_months(["2009 - 2012", None, None]) == 3 * 36
    assert count_work_months([None, "bis heute"]) == 3


def test_a_profile_without_views_counts_one_and_undated_education_three_months():
    first, second = (row for _, row in parse_xing(XING).iterrows())
    assert first["education_months"] == count_months("09/2002 - 05/2006") + 3
    assert first["profile_views"] == 2418
    assert (second["work_months"], second["education_months"], second["profile_views"]) == (3, 0, 1)


@pytest.mark.data
def test_the_weights_choose_what_the_score_says_and_senseless_settings_are_refused(real_data):
    views = load_xing(weights=(0, 0, 1))
    assert (views.target == views.frame["profile_views"]).all()
    work = load_xing(weights=(2, 0, 0), scale="unit-variance")
    assert work.target.corr(work.frame["work_months"]) == pytest.approx(1)
    assert work.target.std(ddof=0) == pytest.approx(2)
    assert load_xing(scale="range").target.between(0, 3).all()
    assert "job_search" not in load_xing(job_attribute=False).frame
    must_raise(DataError, "3 numbers", load_xing, weights=(1, 1))
    must_raise(DataError, "not all zero", load_xing, weights=(0, 0, 0))
    must_raise(DataError, "did you mean 'lawyer'", load_xing, recipe="56-queries", left_out="lawyers")


def test_personal_data_of_compas_does_not_reach_the_frame():
    frame, _ = parse_compas(COMPAS, within_days=1_000)
    text = frame.to_csv()
    assert not [secret for secret in ("doe", "roe", "1980", "1995", "13001", "13002") if secret in text]
    assert {"name", "first", "last", "dob", "c_case_number", "id"}.isdisjoint(frame.columns)
    must_raise(DataError, "within_days=0: no defendant is left", parse_compas, COMPAS, within_days=0)


def test_question_marks_of_the_census_are_missing_and_both_spellings_of_the_label_count():
    frame, outcome = parse_census([CENSUS, b"|1x3 Cross validator\n" + CENSUS])
    assert outcome.tolist() == [0, 1, 0, 1]
    assert frame.loc[1, ["workclass", "occupation", "native_country"]].isna().all()
    assert frame["sex"].tolist() == ["Male", "Female"] * 2


def test_a_listing_is_read_with_its_price_and_types():
    listing = parse_airbnb(AIRBNB, "boston_2019-12", "five-cities").iloc[0]
    assert listing["price"] == 1050
    assert (listing["room_type"], listing["home_type"]) == ("private room", "other")
    assert listing["days_since_last_review"] == 3
    assert pd.isna(listing["host_response_time"])


def test_a_query_is_named_by_its_columns_and_has_enough_listings():
    listings = pd.DataFrame({"city": "Boston", "neighbourhood": ["Dock"] * 10 + ["Hill"] * 9, "home_type": "loft"})
    named = name_queries(listings, ["city", "neighbourhood", "home_type"], 10)
    assert named.notna().sum() == 10
    assert named.iloc[0] == "Boston / Dock / loft"
    assert name_queries(listings, ["city"], 10).notna().all()
    assert name_queries(listings, ["city", "neighbourhood"], 9).nunique() == 2
    # Senseless ones are refused before anything is read.
    must_raise(DataError, "sequence of columns", load_airbnb, query_by="city", download_if_missing=False)
    must_raise(DataError, "no query_by .town.. Known", load_airbnb, query_by=["town"], download_if_missing=False)
    must_raise(DataError, "at least 1", load_airbnb, smallest_query=0, download_if_missing=False)


@pytest.mark.data
def test_a_name_tells_a_gender_only_if_it_is_clear_and_all_people_agree(real_data):
    names = ["Mary", "José", "Mary Ann Smith", "Mary & Linda", "Mary and John", "Sonder", "", "Kelly & Zzyzx"]
    expected = ["female", "male", "female", "female", None, None, None, None]
    assert infer_genders(names) == expected


def test_a_missing_list_of_names_says_what_to_install(monkeypatch):
    monkeypatch.setattr("ifair.errors.find_spec", lambda name: None)
    install = r"needs nomquamgender, .*pip install 'ifair\[names\]'"
    must_raise(MissingExtra, install, infer_genders, ["Mary"], names_list="nomquamgender")
    must_raise(DataError, "did you mean 'census'", infer_genders, ["Mary"], names_list="Censsus")
