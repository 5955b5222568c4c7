"""Ctrl-C and SIGTERM: exit codes that a shell knows, one line, and no litter."""

import signal
import subprocess
import sys
import textwrap

import pytest

from scripts import ENVIRONMENT, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")

# A verb that has a file half-written when the signal comes.
PROGRAM = """
    import sys, time
    from pathlib import Path
    import click
    from ifair.cli import main
    from ifair.files import replace_file

    @click.command()
    def slow():
        with replace_file(Path("out.csv")) as place:
            place.write_text("half")
            print("writing", flush=True)
            for _ in range(600):  # a signal that comes just before a long sleep would be slept over
                time.sleep(0.1)

    name = sys.argv[1]
    slow.name = name
    main.add_command(slow, name)
    main([name])
"""


def stopped(number, folder, name="slow"):
    running = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), name],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stdout.readline() == "writing\n"
        assert len(list(folder.iterdir())) == 1
        running.send_signal(number)
        said = running.communicate(timeout=60)[1]
    finally:
        running.kill()
        running.communicate()
    return running.returncode, said.strip()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_no_half_written_file_and_says_so_in_one_line(number, code, tmp_path):
    assert stopped(number, tmp_path) == (code, "Stopped; nothing half-written is left.")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", ["tune", "reproduce"])
def test_verbs_that_go_on_say_so(verb, tmp_path):
    code, said = stopped(signal.SIGINT, tmp_path, verb)
    assert code == 130
    assert said == "Stopped; nothing half-written is left; the same command goes on where it stopped."


def test_handlers_are_given_back():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    run("inspect", "nothing")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
