"""The command line, here or in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import click
from click.testing import CliRunner

import ifair
from ifair.cli import main
from ifair.plain_data import parse_json

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(ifair.__file__).parents[1])}
ENVIRONMENT.pop("PYTHONUNBUFFERED", None)
"""Of a process that imports this very package, and whose output is held back until there is enough of it."""


def run(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def do(*arguments):
    """Run a command that must succeed."""
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done


def ask(*arguments):
    """What a command that must succeed prints for scripts, read strictly."""
    return parse_json(do(*arguments, "--json").stdout.encode())


def refuse(*arguments, code=1):
    """Run a command that must end with this exit code; what it says on standard error, without the ends of lines."""
    done = run(*arguments)
    assert done.exit_code == code, done.output
    return " ".join(done.stderr.split())


def list_commands(group=main, words=""):
    """All commands, by the words that call them."""
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from list_commands(command, f"{words}{name} ")
        else:
            yield f"{words}{name}", command


def stop_when(said, code, *arguments, folder, number=signal.SIGINT):
    """Run code until it says so on standard error, and send a signal: the exit code, and what it says then."""
    running = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=folder, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True
    )
    try:
        next(line for line in running.stderr if said in line)
        running.send_signal(number)
        rest = running.communicate(timeout=60)[1]
    finally:
        running.kill()
        running.communicate()
    return running.returncode, rest


def list_imports(*commands):
    """Modules that commands import, run one after the other in a fresh process: for each all that are there then."""
    code = (
        "import json, sys; from ifair.cli import main\n"
        "for command in json.loads(sys.argv[1]):\n"
        "    main(command, standalone_mode=False); print(*sys.modules, file=sys.stderr)"
    )
    given = json.dumps([[str(argument) for argument in command] for command in commands])
    done = subprocess.run(
        [sys.executable, "-c", code, given], env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    return [set(line.split()) for line in done.stderr.splitlines()]
