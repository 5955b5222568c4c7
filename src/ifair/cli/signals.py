"""Ctrl-C and SIGTERM: a command ends as if it had failed, so that nothing half-written stays behind."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

# What a shell reports of a program that a signal ended.
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
# Verbs that keep what they have done.
RESUMABLE = ("tune", "reproduce")


class Stopped(SystemExit):
    """Raised where the program is when a signal comes.

    No KeyboardInterrupt: on that, learning ends early and keeps what it has, and the command would go on with it.
    """


@contextmanager
def stop_cleanly(ctx: click.Context) -> Iterator[None]:
    """Within it, Ctrl-C and SIGTERM unwind the command, say so in one line, and exit with 130 and 143."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Signals belong to the main thread.
        return
    before = {number: signal.getsignal(number) for number in CODES}
    for number, handler in before.items():
        # Who started us may have asked to be left in peace, as nohup and `&` do.
        if handler is not signal.SIG_IGN:
            signal.signal(number, _raise_stopped)
    try:
        yield
    except (Stopped, KeyboardInterrupt) as stopped:
        goes_on = "; the same command goes on where it stopped" if ctx.invoked_subcommand in RESUMABLE else ""
        click.echo(f"\nStopped; nothing half-written is left{goes_on}.", err=True)
        code = stopped.code if isinstance(stopped, Stopped) else CODES[signal.SIGINT]
        raise SystemExit(code) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise_stopped(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    # A second signal means at once.
    signal.signal(number, signal.SIG_DFL)
    raise Stopped(CODES[signal.Signals(number)])
