"""Runs the units of an experiment, writes each result as it comes, and goes on from there the next time.

A unit is a function with plain arguments whose result is plain data. Its result is kept in a file named after a hash
of the function, the arguments and the version of ifair: killed at any moment, a run loses no more than the units under
way, and a changed setting makes other units, never a mixture.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from ifair import __version__


class RunError(Exception):
    """A run that cannot be begun or went wrong; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of work.

    Attributes
    ----------
    label : str
        What a person is told of it.
    function : str
        ``"module:name"``; called with the arguments, returns plain data (numbers, strings, lists, dicts).
    arguments : dict
        Plain data.
    """

    label: str
    function: str
    arguments: dict[str, Any]

    @property
    def key(self) -> str:
        """A name that changes with whatever may change the result."""
        text = json.dumps([__version__, self.function, self.arguments], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def run(self) -> Any:
        module, _, name = self.function.partition(":")
        return getattr(import_module(module), name)(**self.arguments)


@dataclass(frozen=True, slots=True)
class Progress:
    """What an observer is told when a unit is finished, and once at the beginning."""

    label: str
    done: int
    total: int
    reused: int
    seconds_left: float | None


Observer = Callable[[Progress], None]


def run_units(
    units: Sequence[Unit], folder: Path, *, n_jobs: int = 1, observer: Observer | None = None
) -> list[dict[str, Any]]:
    """Run what is not yet in the folder, and return all results in the order of the units.

    Parameters
    ----------
    units : sequence of Unit
    folder : Path
        Made if need be. Only one run at a time may use it.
    n_jobs : int, default=1
        Processes; -1 for one a core.
    observer : callable, optional

    Returns
    -------
    list of dict
        For each unit ``{"label": ..., "arguments": ..., "result": ..., "seconds": ...}``.
    """
    with only_run(folder):
        kept = folder / "units"
        kept.mkdir(exist_ok=True)
        distinct = {unit.key: unit for unit in units}.values()
        missing = [unit for unit in distinct if read_result(kept, unit) is None]
        total, reused = len(distinct), len(distinct) - len(missing)
        began = time.perf_counter()
        if observer is not None:
            observer(Progress("", reused, total, reused, None))
        jobs = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
            delayed(_run_and_keep)(unit, kept) for unit in missing
        )
        for finished, label in enumerate(jobs, start=1):
            if observer is not None:
                left = (time.perf_counter() - began) / finished * (len(missing) - finished)
                observer(Progress(label, reused + finished, total, reused, left))
        return [_needed(kept, unit) for unit in units]


def _run_and_keep(unit: Unit, kept: Path) -> str:
    began = time.perf_counter()
    result = unit.run()
    took = round(time.perf_counter() - began, 3)
    record = {"label": unit.label, "arguments": unit.arguments, "result": result, "seconds": took}
    write_json(kept / f"{unit.key}.json", record)
    return unit.label


def read_result(kept: Path, unit: Unit) -> dict[str, Any] | None:
    """The kept result of a unit, or None; a file that cannot be read counts as none and is made anew."""
    try:
        record: dict[str, Any] = json.loads((kept / f"{unit.key}.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return record


def _needed(kept: Path, unit: Unit) -> dict[str, Any]:
    record = read_result(kept, unit)
    if record is None:
        raise RunError(f"the result of {unit.label!r} is gone from {kept}; run again")
    return record


def write_json(path: Path, data: Any) -> None:
    """Write beside, then move into place: whoever reads sees all of it or nothing."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        raise RunError(
            f"cannot write {path}: {error.strerror}. What was finished before is kept; make room and run again."
        ) from error
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold the folder for this run; the system lets go of it when the process ends, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("a+")
    except OSError as error:
        raise RunError(f"cannot use the folder {folder}: {error.strerror}") from error
    with file:
        try:
            _lock(file)
        except OSError as error:
            raise RunError(f"another run is using {folder}; wait for it, or choose another folder") from error
        yield


def _lock(file: Any) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
