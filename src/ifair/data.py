"""Where records come from: the datasets of the paper (`ifair.datasets`), and your own tables (`ifair.tables`)."""

from ifair.datasets.applicants import make_applicants
from ifair.datasets.catalogue.airbnb import load_airbnb
from ifair.datasets.catalogue.census import load_census
from ifair.datasets.catalogue.compas import load_compas
from ifair.datasets.catalogue.credit import load_credit
from ifair.datasets.catalogue.synthetic_people import make_synthetic
from ifair.datasets.catalogue.xing import load_xing
from ifair.datasets.dataset import Dataset, describe, encoded_width
from ifair.datasets.registry import dataset_names, load
from ifair.datasets.thirds import Thirds, thirds
from ifair.errors import IfairError as DataError
from ifair.tables.from_table import from_table
from ifair.tables.read import read_table

__all__ = [
    "DataError",
    "Dataset",
    "Thirds",
    "dataset_names",
    "describe",
    "encoded_width",
    "from_table",
    "load",
    "load_airbnb",
    "load_census",
    "load_compas",
    "load_credit",
    "load_xing",
    "make_applicants",
    "make_synthetic",
    "read_table",
    "thirds",
]
