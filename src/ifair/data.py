"""Where records come from: the datasets of the paper (`ifair.datasets`), and your own tables (`ifair.tables`)."""

from typing import TYPE_CHECKING

from ifair.errors import IfairError as DataError
from ifair.lazy_names import load_on_first_use

if TYPE_CHECKING:
    from ifair.datasets.applicants import make_applicants as make_applicants
    from ifair.datasets.catalogue.airbnb import load_airbnb as load_airbnb
    from ifair.datasets.catalogue.census import load_census as load_census
    from ifair.datasets.catalogue.compas import load_compas as load_compas
    from ifair.datasets.catalogue.credit import load_credit as load_credit
    from ifair.datasets.catalogue.synthetic_people import make_synthetic as make_synthetic
    from ifair.datasets.catalogue.xing import load_xing as load_xing
    from ifair.datasets.dataset import Dataset as Dataset
    from ifair.datasets.dataset import describe as describe
    from ifair.datasets.dataset import encoded_width as encoded_width
    from ifair.datasets.registry import dataset_names as dataset_names
    from ifair.datasets.registry import load as load
    from ifair.datasets.thirds import Thirds as Thirds
    from ifair.datasets.thirds import thirds as thirds
    from ifair.tables.from_table import from_table as from_table
    from ifair.tables.read import read_table as read_table

# Where each public name lives. Loaded on first use, so that `ifair datasets list` needs no pandas.
_HOME = {
    "Dataset": "datasets.dataset",
    "Thirds": "datasets.thirds",
    "dataset_names": "datasets.registry",
    "describe": "datasets.dataset",
    "encoded_width": "datasets.dataset",
    "from_table": "tables.from_table",
    "load": "datasets.registry",
    "load_airbnb": "datasets.catalogue.airbnb",
    "load_census": "datasets.catalogue.census",
    "load_compas": "datasets.catalogue.compas",
    "load_credit": "datasets.catalogue.credit",
    "load_xing": "datasets.catalogue.xing",
    "make_applicants": "datasets.applicants",
    "make_synthetic": "datasets.catalogue.synthetic_people",
    "read_table": "tables.read",
    "thirds": "datasets.thirds",
}

__all__ = ["DataError", *_HOME]
__getattr__, __dir__ = load_on_first_use(__name__, _HOME, __all__)
