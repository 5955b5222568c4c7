"""Small files in the formats of the real ones, about people who do not exist."""

import json

from ifair.datasets.catalogue.airbnb import parse_airbnb
from ifair.datasets.catalogue.census import parse_census
from ifair.datasets.catalogue.compas import parse_compas
from ifair.datasets.catalogue.credit import parse_credit
from ifair.datasets.catalogue.xing import parse_xing
from ifair.datasets.first_names import parse_first_names

CREDIT = b"""A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1
A12 48 A32 A43 5951 A61 A73 2 A92 A101 2 A121 22 A143 A152 1 A173 1 A191 A201 2
"""
CENSUS = b"""39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, \
2174, 0, 40, United-States, <=50K
50, ?, 83311, Masters, 14, Married-civ-spouse, ?, Husband, Black, Female, 0, 0, 13, ?, >50K.
"""
FIRST_NAMES = b"""MARY           2.629  2.629      1
LINDA          1.035  4.736      3
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

PARSERS = {
    "credit": (lambda content: parse_credit(content, "german.data")[0], CREDIT),
    "census": (lambda content: parse_census([content], "adult.data")[0], CENSUS),
    "compas": (lambda content: parse_compas(content, "compas.csv", within_days=1_000)[0], COMPAS),
    "xing": (lambda content: parse_xing(content, "query.json"), XING),
    "airbnb": (lambda content: parse_airbnb(content, "boston_2019-12", "five-cities"), AIRBNB),
    "first_names": (lambda content: parse_first_names(content, "dist.female.first"), FIRST_NAMES),
}
"""Every parser as a function of the content of its file, and a small file of it, by name."""
