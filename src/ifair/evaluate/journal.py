"""A file that a search writes every finished trial to, and reads when it goes on: Optuna's journal.

Killed at any moment, a search loses no more than the trial under way: a trial is one line, written when it is
finished. Studies are named after all that may change their trials, so that a changed search never goes on from the
trials of another one, and both may share a file. One process at a time may use it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ifair.errors import IfairError
from ifair.files import hold


class SearchError(IfairError):
    """A search that cannot be begun or went wrong; the message says what to do."""


@contextmanager
def hold_journal(journal: Path | None) -> Iterator[None]:
    """Hold a journal for this search; the system lets go of it when the process ends, however it ends."""
    if journal is None:
        yield
        return
    place = journal.with_name(f"{journal.name}.in-use")
    try:
        journal.parent.mkdir(parents=True, exist_ok=True)
        file = place.open("a+")
    except OSError as error:
        raise SearchError(f"cannot use the journal {journal}: {error.strerror}") from error
    try:
        with file:
            _hold_file(file, place, journal)
            try:
                _mend_journal(journal)
                yield
            finally:
                # While it is held, so that nobody else's is taken away; Windows removes no open file.
                if os.name != "nt":
                    place.unlink(missing_ok=True)
    finally:
        if os.name == "nt":
            with suppress(OSError):  # held by another search
                place.unlink(missing_ok=True)


def _hold_file(file: IO[str], place: Path, journal: Path) -> None:
    try:
        hold(file)
        # Whoever ended between opening and holding took the file away: another search may hold the next one.
        is_there = os.name == "nt" or os.path.samestat(os.fstat(file.fileno()), place.stat())
    except OSError:
        is_there = False
    if not is_there:
        raise SearchError(f"another search is using {journal}; wait for it, or name another journal")


def open_study(journal: Path | None, name: str, n_measures: int, about: Any) -> Any:
    """The Optuna study of this name, in the journal or, without one, in memory; all measures are maximised."""
    import optuna

    storage: Any = None
    if journal is not None:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        storage = JournalStorage(JournalFileBackend(str(journal)))
    study = optuna.create_study(
        storage=storage, study_name=name, directions=["maximize"] * n_measures, load_if_exists=True
    )
    if journal is not None and not study.user_attrs:
        # For whoever opens the journal with Optuna's own tools.
        study.set_user_attr("about", about)
    return study


def _mend_journal(journal: Path) -> None:
    """Take away what a killed process leaves behind: a line cut short, and Optuna's own lock."""
    journal.with_name(f"{journal.name}.lock").unlink(missing_ok=True)
    if not journal.exists():
        return
    try:
        with journal.open("r+b") as file:
            content = file.read()
            whole = content.rfind(b"\n") + 1
            if content and not content.startswith(b"{"):
                raise SearchError(f"{journal} is not a journal of a search; name another file")
            if whole < len(content):
                file.truncate(whole)
    except OSError as error:
        raise SearchError(f"cannot use the journal {journal}: {error.strerror}") from error
