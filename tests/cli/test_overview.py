"""What a newcomer sees first: quick, in order, with examples."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import ifair
from ifair.cli import SECTIONS, main

VERBS = sorted(main.commands)


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


@pytest.mark.parametrize("arguments", [[], *([verb, "--help"] for verb in VERBS)], ids=" ".join)
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys; from ifair.cli import main; main(sys.argv[1:], standalone_mode=False); "
        "heavy = {'numpy', 'pandas', 'sklearn', 'scipy'} & set(sys.modules); "
        "sys.exit(str(heavy) if heavy else 0)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(ifair.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_arguments_there_is_an_overview_in_the_order_of_need():
    done = run()
    assert done.exit_code == 0
    wanted = [verb for names in SECTIONS.values() for verb in names if verb in VERBS]
    listed = done.stdout.split("Options:")[1]
    positions = [listed.index(f"\n  {verb} ") for verb in wanted]
    assert positions == sorted(positions)
    assert set(wanted) == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_every_help_shows_an_example_of_the_verb(verb):
    text = run(verb, "--help").stdout
    assert text.count(f"  ifair {verb}") >= 2


@pytest.mark.parametrize("verb", VERBS)
def test_no_line_of_the_overview_is_cut_off(verb):
    line = next(line for line in run().stdout.split("Options:")[1].splitlines() if line.startswith(f"  {verb} "))
    assert not line.endswith("...")


@pytest.mark.parametrize("verb", ["fit", "transform", "rank", "inspect", "export"])
def test_wrong_usage_exits_with_2(verb):
    assert run(verb).exit_code == 2
    assert run(verb, "--no-such-option").exit_code == 2


def test_roles_have_the_same_options_in_every_verb():
    from ifair.cli.roles_options import _OPTIONS

    for verb in VERBS:
        for option in main.commands[verb].params:
            role = (option.name or "").removeprefix("role_")
            if role != option.name:
                assert set(_OPTIONS[role][0]) <= set(option.opts)
                assert option.help == _OPTIONS[role][1]["help"]
