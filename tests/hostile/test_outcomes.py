"""The hostile trial counts what it should: commands that misbehave are told from those that do not."""

import random
import time
from pathlib import Path

import click
import pytest
from hostile.altered_files import alter
from hostile.bad_tables import QUICK, SLOW
from hostile.kills import list_verbs
from hostile.outcomes import Hung, Tally, time_limit, try_command

import ifair.cli

FAULTS = {
    "accepted": lambda folder: None,
    "refused clearly": lambda folder: (_ for _ in ()).throw(click.ClickException("no")),
    "traceback": lambda folder: {}["key"],
    "silently wrong": lambda folder: (folder / "people.csv").write_text("gone"),
}


@pytest.mark.parametrize("expected", FAULTS)
def test_every_outcome_is_told_from_the_others(expected, tmp_path, monkeypatch):
    @click.command()
    def misbehave():
        FAULTS[expected](tmp_path)

    monkeypatch.setitem(ifair.cli.main.commands, "misbehave", misbehave)
    (tmp_path / "people.csv").write_text("a,b\n1,2\n")
    assert try_command(tmp_path, ["misbehave"], lambda _: "")[0] == expected


def test_what_an_accepted_command_got_wrong_is_counted(tmp_path):
    assert try_command(tmp_path, ["--version"], lambda _: "two rows are gone")[0] == "silently wrong"
    tally = Tally()
    tally.add("tables", "accepted")
    tally.add("tables", "hung", "fit")
    assert tally.bad == ["hung: tables: fit"]
    assert tally.table().splitlines()[-1].split() == ["in", "all", "2", "1", "0", "0", "0", "1"]


def test_a_run_that_takes_too_long_is_ended():
    with pytest.raises(Hung), time_limit(0.05):
        time.sleep(5)


def test_every_verb_that_reads_a_table_gets_bad_ones_and_every_verb_that_writes_is_killed():
    commands = ifair.cli.main.commands
    names = {verb: {parameter.name for parameter in command.params} for verb, command in commands.items()}
    assert {verb for verb, has in names.items() if has & {"table", "source"}} == {*QUICK, *SLOW}
    writing = {verb for verb, has in names.items() if has & {"output", "onnx"}}
    assert set(list_verbs(Path())) == {*writing, "datasets fetch"}


def test_every_place_can_be_altered():
    data = {"a": [1, 2], "b": {"c": None}}
    seen = {alter(data, random.Random(seed)) for seed in range(200)}
    assert len(seen) > 40
    assert {b'{"b": {"c": null}}', b'{"a": [1], "b": {"c": null}}', b'{"a": [1, 2], "b": {}}'} <= seen
