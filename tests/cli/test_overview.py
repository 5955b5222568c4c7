"""What a newcomer sees first: quick, in order, with examples."""

import pytest

from ifair.cli import SECTIONS, main
from ifair.cli.roles_options import _OPTIONS

from scripts import do, list_imports, run

VERBS = sorted(main.commands)


LIGHT = [[], ["--help"], *([verb, "--help"] for verb in VERBS), ["datasets", "list"]]


def test_help_and_lists_import_nothing_heavy():
    for arguments, imported in zip(LIGHT, list_imports(*LIGHT), strict=True):
        assert not {"numpy", "pandas", "sklearn", "scipy"} & imported, arguments


def test_without_arguments_there_is_an_overview_in_the_order_of_need():
    done = do()
    wanted = [verb.name for verbs in SECTIONS.values() for verb in verbs]
    listed = done.stdout.split("Options:")[1]
    positions = [listed.index(f"\n  {verb} ") for verb in wanted]
    assert positions == sorted(positions)
    assert set(wanted) == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_help_shows_an_example_of_the_verb_and_no_line_of_the_overview_is_cut_off(verb):
    assert run(verb, "--help").stdout.count(f"  ifair {verb}") >= 2
    line = next(line for line in run().stdout.split("Options:")[1].splitlines() if line.startswith(f"  {verb} "))
    assert not line.endswith("...")


def test_roles_have_the_same_options_in_every_verb():
    told = {}
    for verb in VERBS:
        for option in main.commands[verb].params:
            if (option.name or "").startswith("role_"):
                told.setdefault(option.name, []).append((option.opts, option.help, option.metavar, option.multiple))
    assert {name.removeprefix("role_") for name in told} == set(_OPTIONS)
    assert len(told["role_protected"]) > 3
    assert [name for name, options in told.items() if any(one != options[0] for one in options)] == []
