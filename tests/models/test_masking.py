"""Masked data: nothing left of the protected columns."""

import numpy as np
import pandas as pd
import pytest

from ifair.models.masking import Masked


def test_all_columns_of_a_protected_attribute_are_left_out_and_one_at_least_must_be_left(rng):
    frame = pd.DataFrame(rng.normal(size=(5, 3)), columns=["age", "race=Black", "race=White"])
    masked = Masked(["race"]).fit(frame)
    np.testing.assert_array_equal(masked.transform(frame), frame[["age"]])
    assert list(masked.get_feature_names_out()) == ["age"]
    with pytest.raises(ValueError, match="nothing is left"):
        Masked(["age", "race"]).fit(frame)
