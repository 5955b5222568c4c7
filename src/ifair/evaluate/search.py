"""A multi-objective search over settings with Optuna that stops and goes on without a difference.

What is tried next is a function of the trials so far, their number and the seed, and of nothing else: samplers are
made anew for every trial. A search that was killed and run again therefore tries what it would have tried. Settings may
be tried in portions, so that what is dear about them is done at once: those of a portion are proposed before any of
them is measured, and portions begin at the same numbers whenever a search goes on.

Finished trials are kept in a file, Optuna's journal, a line each: killed at any moment, a search loses no more than the
portion under way. Studies are named after all that may change their trials, so that a changed search never goes on from
the trials of another one, and both may share a file. One process at a time may use it.
"""

import hashlib
import json
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ifair import __version__
from ifair.errors import IfairError, require_extra
from ifair.evaluate.space import Space, describe_space, to_distributions, to_positions, to_setting
from ifair.files import create_file, hold

RANDOM_TRIALS = 2
"""Trials before the sampler begins to learn from them, start settings included.

So few because fits are dear: on measured settings of German Credit, learning at once covered more on validation data
within 6 to 20 trials than Optuna's default of 10 random trials, NSGA-II and a Sobol sequence did.
"""

REDRAWS = 20
"""How often a setting that was tried before is drawn anew, before it is tried again after all."""


class SearchError(IfairError):
    """A search that cannot be begun or went wrong; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting and what the objective said about it."""

    number: int
    setting: dict[str, Any]
    result: dict[str, Any]


def search(
    objective: Callable[[list[dict[str, Any]]], Iterable[Mapping[str, Any]]],
    space: Space,
    *,
    measures: Sequence[str],
    n_trials: int,
    start: Sequence[Mapping[str, Any]] = (),
    journal: str | Path | None = None,
    about: Any = None,
    seed: int = 0,
    at_once: int = 1,
    tell_reused: Callable[[int], None] = lambda _: None,
) -> list[Trial]:
    """Look for the settings that are best in several measures at once; all trials, in the order of being tried.

    The objective gets settings, such as ``[{"K": 10, "share": 0.5}]``, as many as are tried ``at_once``, and gives for
    each, as soon as it is known, plain data with the measures under ``"validation"``; whatever else is there is kept as
    well. Larger is better. A setting of which a measure is NaN is kept and learned nothing from.

    There are ``n_trials`` in all, with the ``start``, which is tried first, and those that the journal, a file, has
    kept. They are only taken from it where the space, the measures, the start, the seed, the versions of ifair and
    Optuna and ``about``, whatever else the objective depends on, are the same; their number is told before the work.

    Examples
    --------
    ::

        def objective(settings):
            return ({"validation": measure(**setting)} for setting in settings)

        trials = search(objective, {"K": Integer(5, 40), "share": Share()}, measures=("AUC", "yNN"), n_trials=10)
    """
    first = [to_positions(space, setting) for setting in start]
    path = None if journal is None else Path(journal)
    with _optuna() as optuna, _hold_journal(path):
        facts = _to_plain(
            {
                "space": describe_space(space),
                "measures": list(measures),
                "start": first,
                "seed": seed,
                "about": about,
                "versions": {"ifair": __version__, "optuna": optuna.__version__},
                **({} if at_once == 1 else {"at_once": at_once}),
            }
        )
        name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:24]
        with _explain_journal_errors(path):
            study = _open_study(path, name, len(measures), facts)
        kept = study.get_trials(deepcopy=False)[:n_trials]
        trials = [Trial(one.number, one.user_attrs["setting"], one.user_attrs["result"]) for one in kept]
        tell_reused(len(trials))
        while len(trials) < n_trials:
            kept = study.get_trials(deepcopy=False)
            begin = len(kept) - len(kept) % at_once
            portion = [one.params for one in kept[begin:]]
            for number in range(len(kept), min(begin + at_once, n_trials)):
                learned = kept[:begin], portion, space, len(measures), number, seed
                portion.append(first[number] if number < len(first) else _propose(*learned))
            asked = portion[len(kept) - begin :]
            settings = [to_setting(space, proposed) for proposed in asked]
            for proposed, setting, found in zip(asked, settings, objective(settings), strict=True):
                trials.append(Trial(len(trials), setting, _to_plain(dict(found))))
                finished = _make_trial(optuna, space, proposed, trials[-1], measures)
                with _explain_journal_errors(path):
                    study.add_trial(finished)
    return trials


def _propose(
    finished: Sequence[Any],
    pending: Sequence[Mapping[str, Any]],
    space: Space,
    n_measures: int,
    number: int,
    seed: int,
) -> dict[str, Any]:
    """Where to look next, given what was found, and what is about to be tried."""
    import optuna

    distributions = to_distributions(space)
    tried = [*(trial.user_attrs["setting"] for trial in finished), *(to_setting(space, one) for one in pending)]
    stream = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        # The liar takes what is pending for bad, so that a portion spreads out.
        sampler = optuna.samplers.TPESampler(
            seed=stream, n_startup_trials=RANDOM_TRIALS, multivariate=False, constant_liar=bool(pending)
        )
    running = optuna.trial.TrialState.RUNNING
    # A copy, since asking leaves unfinished trials behind.
    copy = optuna.create_study(sampler=sampler, directions=["maximize"] * n_measures)
    copy.add_trials(finished)
    copy.add_trials(
        optuna.trial.create_trial(state=running, params=dict(one), distributions=distributions) for one in pending
    )
    for _ in range(REDRAWS):
        proposed = copy.ask(distributions).params
        if to_setting(space, proposed) not in tried:
            break
    return dict(proposed)


def _make_trial(optuna: Any, space: Space, proposed: Mapping[str, Any], trial: Trial, measures: Sequence[str]) -> Any:
    numbers = [float(trial.result["validation"][name]) for name in measures]
    known = not any(math.isnan(number) for number in numbers)
    return optuna.trial.create_trial(
        state=optuna.trial.TrialState.COMPLETE if known else optuna.trial.TrialState.FAIL,
        params=dict(proposed),
        distributions=to_distributions(space),
        values=numbers if known else None,
        user_attrs={"setting": trial.setting, "result": trial.result},
    )


@contextmanager
def _explain_journal_errors(journal: Path | None) -> Iterator[None]:
    """Name the journal that cannot be written, and leave no empty one behind."""
    try:
        yield
    except OSError as error:
        if journal is not None and journal.exists() and not journal.stat().st_size:
            journal.unlink()
        raise SearchError(
            f"cannot write the journal {journal}: {error.strerror}. What was finished before is kept; "
            "make room and run again."
        ) from error


@contextmanager
def _optuna() -> Iterator[Any]:
    """Optuna, not talking; its voice is given back afterwards."""
    require_extra("the search", ("optuna",), "tune")
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield optuna
    finally:
        optuna.logging.set_verbosity(before)


def _to_plain(data: Any) -> Any:
    """The data as it comes back from a file, so that kept and new trials are the same."""
    return json.loads(json.dumps(data))


@contextmanager
def _hold_journal(journal: Path | None) -> Iterator[None]:
    """Hold a journal for this search, and mend what a killed one left of it."""
    if journal is None:
        yield
        return
    mark = journal.with_name(f"{journal.name}.in-use")
    with hold(journal, "journal", mark=mark, user="search", error=SearchError):
        _mend_journal(journal)
        yield


def _open_study(journal: Path | None, name: str, n_measures: int, about: Any) -> Any:
    """The Optuna study of this name, in the journal or, without one, in memory; all measures are maximised."""
    import optuna

    storage: Any = None
    if journal is not None:
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        if not journal.exists():
            create_file(journal)  # for its owner alone; Optuna leaves that to the umask
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
