"""Census Income ("Adult"): who earned more than 50,000 dollars in 1994?"""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ifair.data.catalogue import CATALOGUE
from ifair.data.dataset import Dataset, GroupRule, assign_group
from ifair.data.errors import unknown
from ifair.data.reading import categories, numbers, read_plain
from ifair.data.sources import data_files
from ifair.data.store import read

RECIPES = ("paper", "all")
RANGES = {
    "age": (0, 120),
    "sampling_weight": (0, 10_000_000),
    "education_years": (1, 16),
    "capital_gain": (0, 1_000_000),
    "capital_loss": (0, 1_000_000),
    "hours_per_week": (1, 168),
}
# The values that the documentation of the dataset names; "?" in the file stands for a missing one.
KNOWN = {
    "workclass": (
        "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, Without-pay, Never-worked"
    ),
    "education": (
        "Preschool, 1st-4th, 5th-6th, 7th-8th, 9th, 10th, 11th, 12th, HS-grad, Some-college, "
        "Assoc-voc, Assoc-acdm, Bachelors, Masters, Prof-school, Doctorate"
    ),
    "marital_status": (
        "Never-married, Married-civ-spouse, Married-spouse-absent, Married-AF-spouse, Separated, Divorced, Widowed"
    ),
    "occupation": (
        "Adm-clerical, Armed-Forces, Craft-repair, Exec-managerial, Farming-fishing, "
        "Handlers-cleaners, Machine-op-inspct, Other-service, Priv-house-serv, Prof-specialty, "
        "Protective-serv, Sales, Tech-support, Transport-moving"
    ),
    "relationship": "Husband, Wife, Own-child, Other-relative, Not-in-family, Unmarried",
    "race": "White, Black, Asian-Pac-Islander, Amer-Indian-Eskimo, Other",
    "sex": "Female, Male",
    "native_country": (
        "United-States, Cambodia, Canada, China, Columbia, Cuba, Dominican-Republic, Ecuador, "
        "El-Salvador, England, France, Germany, Greece, Guatemala, Haiti, Holand-Netherlands, "
        "Honduras, Hong, Hungary, India, Iran, Ireland, Italy, Jamaica, Japan, Laos, Mexico, "
        "Nicaragua, Outlying-US(Guam-USVI-etc), Peru, Philippines, Poland, Portugal, Puerto-Rico, "
        "Scotland, South, Taiwan, Thailand, Trinadad&Tobago, Vietnam, Yugoslavia"
    ),
}
# In the order of the file, where the sampling weight is `fnlwgt` and the years of education `education-num`.
ATTRIBUTES = (
    *("age", "workclass", "sampling_weight", "education", "education_years", "marital_status", "occupation"),
    *("relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country"),
)


def load_census(
    *,
    recipe: str = "paper",
    protected: Sequence[str] | str | None = None,
    group: GroupRule | None = None,
    return_X_y: bool = False,
    as_frame: bool = True,
    download_if_missing: bool = True,
) -> Any:
    """Load Census Income: 48,842 adults in 1994, does the person earn over 50,000 dollars?

    Parameters
    ----------
    recipe : {"paper", "all"}, default="paper"
        "paper" leaves out the sampling weight and the years of education (a copy of the education), which
        gives the paper's 101 columns after encoding with ``sex`` on top; "all" keeps all 14 attributes.
    protected : str or sequence of str, default=None
        Names of the protected columns; ``("sex",)``, or the columns of ``group`` where it names some.
    group : mapping, callable or array of bool, default=None
        Another protected group than ``{"sex": "Female"}``.
    return_X_y, as_frame : bool
        As in scikit-learn's loaders, see :meth:`Dataset.deliver`.
    download_if_missing : bool, default=True
        False raises DataError where a file is not on this machine.

    Returns
    -------
    Dataset
        ``target`` is 1 for an income over 50,000 dollars; unknown values of the attributes are missing. Or
        what ``return_X_y`` and ``as_frame`` ask for.
    """
    if recipe not in RECIPES:
        raise unknown("recipe", recipe, RECIPES)
    contents = {file.name: read(file, download_if_missing) for file in data_files("census")}
    frame, target = parse_census(list(contents.values()), " + ".join(contents))
    if recipe == "paper":
        frame = frame.drop(columns=["sampling_weight", "education_years"])
    roles = assign_group(frame, {"sex": "Female"}, ("sex",), group, protected)
    dataset = Dataset(name="census", frame=frame, target=target, **roles, **CATALOGUE["census"].about)
    return dataset.deliver(return_X_y, as_frame)


def parse_census(contents: Sequence[bytes], where: str) -> tuple[pd.DataFrame, pd.Series]:
    """Turn the bytes of ``adult.data`` and ``adult.test``, in a row, into attributes and the outcome."""
    # adult.test starts with a comment line and ends every label with a dot.
    lines = b"\n".join(c.removeprefix(b"|1x3 Cross validator\n") for c in contents)
    columns = read_plain(lines, where, [*ATTRIBUTES, "income"], separator=", ")
    parts = {}
    for name in ATTRIBUTES:
        if name in RANGES:
            parts[name] = numbers(columns, name, where, *RANGES[name])
        else:
            parts[name] = categories(columns, name, where, KNOWN[name].split(", "), missing=["?"])
    label = categories(columns, "income", where, {"<=50K": "0", ">50K": "1", "<=50K.": "0.", ">50K.": "1."})
    outcome = label.str.startswith("1").astype("int64").rename("income_over_50k")
    return pd.DataFrame(parts), outcome
