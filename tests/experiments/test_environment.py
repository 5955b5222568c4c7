"""Where a result comes from."""

from ifair import __version__
from ifair.experiments.environment import environment, joined


def test_a_result_tells_the_kind_of_machine_and_the_versions():
    found = environment()
    assert found["ifair"] == __version__
    assert "cores" in found["machine"]
    assert {"python", "numpy", "scikit-learn"} <= set(found)


def test_what_differs_between_machines_stands_side_by_side():
    here, there = {"machine": "2 cores", "numpy": "2.4"}, {"machine": "16 cores, a GPU", "numpy": "2.4"}
    assert joined([here, there, here]) == {"machine": "16 cores, a GPU and 2 cores", "numpy": "2.4"}
