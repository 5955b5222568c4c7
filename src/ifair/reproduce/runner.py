"""Runs the units of an experiment, writes each result as it comes, and goes on from there the next time.

A unit is a function of a case whose result is plain data. It is kept in a file named after a hash of the function, the
case and the version of ifair: killed at any moment, a run loses no more than the units under
way, and a changed setting makes other units, never a mixture.
"""

import hashlib
import json
import os
import platform
import sys
import time
import traceback
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky import get_reusable_executor

from ifair import __version__
from ifair.errors import IfairError
from ifair.files import hold, write_whole
from ifair.plain_data import format_json
from ifair.reproduce.case import Case
from ifair.results import list_versions

RUNNING, FAILED = ".running", ".failed"
"""Endings of the files that mark what is being worked on, and that tell why it failed."""

MOST_FAILED = 20
"""So many failures are no accident: then nothing more is begun."""


class RunError(IfairError):
    """A run that cannot be begun or went wrong; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of work, with what a person is told of it (``label``).

    The function, as ``"module:name"``, is called with the case and returns plain data.
    """

    label: str
    function: str
    case: Case

    @property
    def kind(self) -> str:
        """The function, and the label without the split: units of one kind take about as long."""
        return f"{self.function} {self.label.rpartition(', ')[0]}"

    @property
    def key(self) -> str:
        """A name that changes with whatever may change the result."""
        text = json.dumps([__version__, self.function, asdict(self.case)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def run(self) -> Any:
        module, _, name = self.function.partition(":")
        return getattr(import_module(module), name)(self.case)


@dataclass(frozen=True, slots=True)
class Record:
    """A finished unit: what it worked on, what came out, how long it took and where."""

    label: str
    case: Case
    result: Any
    seconds: float
    environment: dict[str, str]


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
    units: Sequence[Unit], folder: Path, *, n_jobs: int = 1, observer: Observer = lambda _: None
) -> list[Record]:
    """Run what is not yet in the folder, and return all results in the order of the units.

    The folder is made if need be; only one run at a time may use it. Where a unit fails the others are finished, and
    then its error is raised; one that found no memory beside others is tried again before.
    """
    with hold(folder, "folder", mark=folder / ".lock", user="run", error=RunError):
        kept = folder / "units"
        kept.mkdir(exist_ok=True)
        for left_behind in kept.glob(f"*{RUNNING}"):
            left_behind.unlink()  # by a run that was killed
        distinct = {unit.key: unit for unit in units}
        known = {key: read_record(kept, unit) for key, unit in distinct.items()}
        missing = {key: unit for key, unit in distinct.items() if known[key] is None}
        total, reused = len(distinct), len(distinct) - len(missing)
        took = [(distinct[key], record.seconds) for key, record in known.items() if record is not None]
        observer(Progress("", reused, total, reused, None))
        n_jobs, failed = effective_n_jobs(n_jobs), list[str]()
        with warnings.catch_warnings():
            # joblib replaces processes that hold on to memory of a large unit, which costs a second.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given")
            for key, seconds, trouble in _run_missing(dict(missing), kept, n_jobs):
                unit = missing.pop(key)
                took.append((unit, seconds))
                left = seconds_left(list(missing.values()), took, n_jobs)
                observer(Progress(unit.label, total - len(missing), total, reused, left))
                failed += [f"{unit.label}: {trouble}"] if trouble else []
                if len(failed) == MOST_FAILED:
                    break
        if failed:
            raise RunError(
                f"{len(failed)} of {total} units failed, the first {failed[0]} (all are told in {kept}/*{FAILED}); "
                "what was finished is kept: mend this and run again"
            )
        records = [read_record(kept, unit) for unit in units]
        for unit in [unit for unit, record in zip(units, records) if record is None]:
            raise RunError(f"the result of {unit.label!r} is gone from {kept}; run again")
        return [record for record in records if record is not None]


def run_plans(
    plans: Mapping[str, Sequence[Unit]],
    folder: Path,
    *,
    seconds: Callable[[str, Unit], float] = lambda *_: 1.0,
    n_jobs: int = 1,
    observer: Observer = lambda _: None,
) -> dict[str, list[Record]]:
    """Run the units of several experiments as one work, and return the results of each; see :func:`run_units`.

    They take turns, in proportion to how many units they have: what waits for a GPU and what keeps a processor busy
    goes on at the same time until the end. ``seconds`` says about how long a unit of an experiment takes: those that
    take long begin so much earlier that at the end nobody waits for them.
    """
    lasting = {name: [seconds(name, unit) for unit in units] for name, units in plans.items()}
    whole = sum(map(sum, lasting.values())) / effective_n_jobs(n_jobs)
    placed = [
        ((i + 0.5) / len(units) * whole - lasting[name][i], unit)
        for name, units in plans.items()
        for i, unit in enumerate(units)
    ]
    mixed = [unit for _, unit in sorted(placed, key=itemgetter(0))]
    records = run_units(mixed, folder, n_jobs=n_jobs, observer=observer)
    found = {unit.key: record for unit, record in zip(mixed, records)}
    return {name: [found[unit.key] for unit in units] for name, units in plans.items()}


def _run_missing(units: Mapping[str, Unit], kept: Path, n_jobs: int) -> Iterator[tuple[str, float, str]]:
    """What :func:`_run_and_keep` says of units, as they are finished.

    Those that find no memory beside others are run again when these are done, fewer at a time.
    """
    crowded_out, in_a_row = dict[str, Unit](), 0
    jobs = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(_run_and_keep)(unit, kept) for unit in units.values()
    )
    for key, seconds, trouble in jobs:
        # So say Python, NumPy, PyTorch and its BLAS. Where very many do, one after the other, no others are to blame.
        starved = any(word in trouble.lower() for word in ("memory", "alloc_failed"))
        in_a_row = in_a_row + 1 if starved else 0
        if n_jobs > 1 and starved and in_a_row <= MOST_FAILED:
            crowded_out[key] = units[key]
        else:
            yield key, seconds, trouble
    if crowded_out:
        get_reusable_executor().shutdown(wait=True)  # idle processes hold on to what they know
        yield from _run_missing(crowded_out, kept, max(1, n_jobs // 3))


def _run_and_keep(unit: Unit, kept: Path) -> tuple[str, float, str]:
    """The key of the unit, how long it took, and what went wrong, if anything."""
    mark, told = kept / f"{unit.key}{RUNNING}", kept / f"{unit.key}{FAILED}"
    began = time.perf_counter()
    try:
        mark.write_text(unit.label, encoding="utf-8")
        told.unlink(missing_ok=True)
        try:
            result = unit.run()
        except Exception as error:
            write_text(told, f"{unit.label}\n\n{traceback.format_exc()}")
            return unit.key, time.perf_counter() - began, f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        took = round(time.perf_counter() - began, 3)
        record = Record(unit.label, unit.case, result, took, describe_environment())
        write_json(kept / f"{unit.key}.json", asdict(record))
    finally:
        mark.unlink(missing_ok=True)
    return unit.key, took, ""


def list_running(folder: Path) -> list[str]:
    """Labels of the units that are running in a folder now."""
    found = []
    for mark in sorted((folder / "units").glob(f"*{RUNNING}")):
        with suppress(FileNotFoundError):  # finished since
            found.append(mark.read_text(encoding="utf-8"))
    return found


def seconds_left(missing: Sequence[Unit], took: Sequence[tuple[Unit, float]], n_jobs: int) -> float:
    """How long what is missing will take, from what units of the same kind took, and the mean for a new kind."""
    by_kind = defaultdict(list)
    for unit, seconds in took:
        by_kind[unit.kind].append(seconds)
    everything = [seconds for _, seconds in took]
    expected = [fmean(by_kind.get(unit.kind, everything)) for unit in missing]
    return sum(expected) / min(n_jobs, max(len(missing), 1))


def read_record(kept: Path, unit: Unit) -> Record | None:
    """The kept result of a unit, or None; a file that cannot be read counts as none and is made anew."""
    try:
        data = json.loads((kept / f"{unit.key}.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return Record(**{**data, "case": Case(**data["case"])})


def write_json(path: Path, data: Any) -> None:
    """Whoever reads sees all of it or nothing; a measure that is not defined (NaN) is written as null."""
    write_text(path, format_json(data, indent=1) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a whole file or none; what stands in the way is told as a :class:`RunError`."""
    try:
        write_whole(path, text)
    except OSError as error:
        raise RunError(
            f"cannot write {path}: {error.strerror}. What was finished before is kept; make room and run again."
        ) from error


def describe_environment() -> dict[str, str]:
    """What a result may depend on besides its case: kind of machine (a GPU where PyTorch sees one) and versions."""
    machine = f"{platform.machine()}, {os.cpu_count()} cores"
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        machine += f", {torch.cuda.get_device_name()}"
    return {"machine": machine, "system": platform.system(), **list_versions()}
