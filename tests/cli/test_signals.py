"""Ctrl-C and SIGTERM: exit codes that a shell knows, one line, and no litter."""

import signal
import sys
import textwrap

import pytest

from scripts import run, stop_when

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")

# A verb that has a file half-written when the signal comes.
PROGRAM = textwrap.dedent("""
    import sys, time
    from pathlib import Path
    import click
    from ifair.cli import main
    from ifair.files import replace_file

    @click.command()
    def slow():
        with replace_file(Path("out.csv")) as place:
            place.write_text("half")
            assert len(list(Path().iterdir())) == 1
            print("writing", file=sys.stderr, flush=True)
            for _ in range(600):  # a signal that comes just before a long sleep would be slept over
                time.sleep(0.1)

    name = sys.argv[1]
    slow.name = name
    main.add_command(slow, name)
    main([name])
""")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_no_half_written_file_and_says_so_in_one_line(number, code, tmp_path):
    found = stop_when("writing", PROGRAM, "slow", folder=tmp_path, number=number)
    assert found == (code, "\nStopped; nothing half-written is left.\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["tune", "reproduce"])
def test_verbs_that_go_on_say_so(verb, tmp_path):
    said = "\nStopped; nothing half-written is left; the same command goes on where it stopped.\n"
    assert stop_when("writing", PROGRAM, verb, folder=tmp_path) == (130, said)


def test_handlers_are_given_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    run("inspect", "nothing")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
