"""A problem whose front is known, quick enough for hundreds of trials."""

import pytest

from ifair.evaluate.space import Choice, Integer, Share


@pytest.fixture(scope="session")
def space():
    return {"K": Integer(5, 40), "share": Share(0.01, 0.99), "frozen": Choice((True, False))}


@pytest.fixture(scope="session")
def objective():
    """Every share is on the front, at K = 12 and frozen."""

    def measured(setting):
        lost = abs(setting["K"] - 12) / 50 + 0.1 * (not setting["frozen"])
        useful, fair = (1 - setting["share"]) ** 0.5 - lost, setting["share"] ** 0.5 - lost
        return {"validation": {"AUC": useful, "yNN": fair}, "test": {"AUC": useful / 2, "yNN": fair / 2}}

    return measured
