"""What differs from the paper stands in a table with its effect, computed from the results."""

import pytest
from reproduce.made_up import results_of, spread

from ifair.report.blocks import markdown
from ifair.reproduce.deviations import DEVIATIONS, FEW, NOT_RUN, describe_deviations


def find_effect(results, beginning):
    """The second cell of the one row whose first begins so."""
    rows = [line.strip("| ").split(" | ") for line in markdown(describe_deviations(results)).splitlines()]
    (effect,) = [row[1] for row in rows if row[0].startswith(beginning)]
    return effect.replace("\N{NO-BREAK SPACE}", " ")


def test_every_deviation_has_an_effect_in_the_committed_results(committed):
    for what, effect in DEVIATIONS:
        said = effect if isinstance(effect, str) else effect(committed)
        assert said != NOT_RUN, what
        assert isinstance(effect, str) == said.startswith(("none", "there is nothing to compare")), what


def test_deviations_that_were_not_measured_say_so(committed):
    kinds = committed["experiments"]["lfr"]["compas"]["kinds"]
    few = {kind: kinds[kind] for kind in ("another_start", "kinked_parity")}
    results = results_of(lfr={"compas": {"records": 1000, "kinds": few}})
    rows = [line for line in markdown(describe_deviations(results)).splitlines() if line.startswith("| LFR")]
    assert ["not measured" in row for row in rows] == ["smoothed at its kink" not in row for row in rows]


@pytest.mark.parametrize(
    ("experiment", "dataset", "utility"), [("classification", "compas", "AUC"), ("ranking", "xing", "MAP")]
)
def test_the_first_splits_are_compared_with_all(committed, experiment, dataset, utility):
    chosen = committed["experiments"][experiment][dataset]["rules"]["balanced"]["ifair-b"]
    chosen["test"][utility]["mean"] = 0.5
    for number, reached in enumerate(chosen["by_split"]):
        reached[utility] = 0.75 if number < FEW else 0.0
    assert f"{utility} +0.25" in find_effect(committed, "Adversary")


def test_a_dataset_of_no_more_splits_is_not_compared_with_itself(committed):
    assert "Census" not in find_effect(committed, "Adversary")


def test_the_penalty_that_validation_chose_is_compared_with_the_default(committed):
    variants = committed["experiments"]["ablation"]["credit"]["variants"]
    variants["masked"]["yNN"], variants["masked+scaled"]["yNN"] = spread(0.5), spread(0.8)
    effect = find_effect(committed, "The classifier is")
    assert "yNN +0.30" in effect.partition("Credit")[2]
    assert "Xing" not in effect  # nothing is classified there


def test_protocols_of_the_rankings_are_compared_as_queries_are_made_in_the_tables(committed):
    def change(held_out, neighbours, **means):
        reading = committed["experiments"]["readings"]["airbnb"]
        reached = [
            one["methods"]["ifair-b"]
            for one in reading
            if (one["variant"], one["held_out"], one["neighbours"]) == ("home-type", held_out, neighbours)
        ]
        reached[0].update({name: spread(mean) for name, mean in means.items()})

    change("thirds", "yNN", MAP=0.5, yNN=0.5)
    change("nothing", "yNN", MAP=0.6, yNN=0.7)
    change("thirds", "yNN_of_all", MAP=0.5, yNN=0.9)
    assert find_effect(committed, "Rankings are split").endswith("Airbnb MAP +0.10, yNN +0.20")
    assert find_effect(committed, "yNN of rankings").endswith("Airbnb MAP 0.00, yNN +0.40")
    del committed["experiments"]["readings"]["xing"][:]
    assert "Xing" not in find_effect(committed, "Rankings are split")
