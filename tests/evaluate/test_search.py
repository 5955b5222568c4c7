"""The search: stopped and run again it is the same search, and another one never takes its trials."""

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
from contextlib import nullcontext

import pytest
from refusals import must_raise

from ifair.errors import MissingExtra
from ifair.evaluate.search import SearchError
from ifair.evaluate.search import search as search_in_portions
from ifair.evaluate.space import Choice, Integer, Share

pytest.importorskip("optuna")

MEASURES = ("AUC", "yNN")
SPACE = {"K": Integer(5, 40), "share": Share()}


@pytest.fixture(scope="module")
def space():
    return {**SPACE, "frozen": Choice((True, False))}


@pytest.fixture(scope="module")
def objective():
    """A problem whose front is known: every share is on it, at K = 12 and frozen."""

    def measured(setting):
        lost = abs(setting["K"] - 12) / 50 + 0.1 * (not setting["frozen"])
        useful, fair = (1 - setting["share"]) ** 0.5 - lost, setting["share"] ** 0.5 - lost
        return {"validation": {"AUC": useful, "yNN": fair}, "test": {"AUC": useful / 2, "yNN": fair / 2}}

    return measured


class Interrupted(Exception):
    pass


def search(objective, *arguments, **options):
    """A search whose settings are measured one after the other."""
    return search_in_portions(lambda settings: map(objective, settings), *arguments, **options)


def interrupting(objective, after):
    """The objective, until it was called so many times."""
    calls = []

    def measured(setting):
        if len(calls) == after:
            raise Interrupted
        calls.append(setting)
        return objective(setting)

    measured.calls = calls
    return measured


@pytest.fixture(scope="module", params=[1, 4])
def at_once(request):
    return request.param


@pytest.fixture(scope="module")
def whole(objective, space, at_once):
    return search(objective, space, measures=MEASURES, n_trials=14, seed=3, at_once=at_once)


@pytest.mark.parametrize("after", [0, 1, 4, 5, 6, 11])
def test_a_search_that_was_interrupted_goes_on_as_if_it_had_not_been(objective, space, whole, at_once, tmp_path, after):
    how = {"measures": MEASURES, "n_trials": 14, "journal": tmp_path / "folder" / "journal.log", "seed": 3}
    broken = interrupting(objective, after)
    with pytest.raises(Interrupted):
        search(broken, space, at_once=at_once, **how)
    again = interrupting(objective, 99)
    assert search(again, space, at_once=at_once, **how) == whole
    assert len(broken.calls) == after
    assert len(again.calls) == 14 - after


@pytest.mark.parametrize("after", [2, 99])
def test_a_search_that_ended_leaves_its_journal_and_nothing_else(objective, space, tmp_path, after):
    measured = interrupting(objective, after)
    with pytest.raises(Interrupted) if after < 3 else nullcontext():
        search(measured, space, measures=MEASURES, n_trials=3, journal=tmp_path / "journal.log", seed=3)
    assert [path.name for path in tmp_path.iterdir()] == ["journal.log"]
    if os.name != "nt":
        assert (tmp_path / "journal.log").stat().st_mode & 0o777 == 0o600


def test_a_finished_search_is_read_and_can_be_extended(objective, space, whole, at_once, tmp_path):
    how = {"measures": MEASURES, "journal": tmp_path / "journal.log", "seed": 3, "at_once": at_once}
    assert search(objective, space, n_trials=6, **how) == whole[:6]
    again = interrupting(objective, 0)
    assert search(again, space, n_trials=6, **how) == whole[:6]
    assert search(again, space, n_trials=2, **how) == whole[:2]
    assert search(objective, space, n_trials=14, **how) == whole


def test_a_portion_is_asked_for_at_once_and_learns_from_earlier_ones_alone(objective, space):
    start = [{"K": 12, "share": 0.5, "frozen": True}]
    how = {"measures": MEASURES, "n_trials": 10, "start": start, "at_once": 4}
    asked = []

    def measured(settings, best=()):
        asked.append(settings)
        for setting in settings:
            yield {"validation": {"AUC": 2.0, "yNN": 2.0}} if setting in best else objective(setting)

    trials = search_in_portions(measured, space, **how)
    assert [len(settings) for settings in asked] == [4, 4, 2]
    assert asked[0][0] == start[0]
    tried = [trial.setting for trial in trials]
    assert tried == [setting for settings in asked for setting in settings]
    # What the second portion measures changes the third one alone.
    other = search_in_portions(lambda settings: measured(settings, best=tried[4:5]), space, **how)
    assert [trial.setting for trial in other[:8]] == tried[:8]
    assert [trial.setting for trial in other[8:]] != tried[8:]


@pytest.mark.parametrize("n_results", [0, 3])
def test_an_objective_must_measure_all_that_it_is_asked_for(space, n_results):
    found = [{"validation": {"AUC": 1.0, "yNN": 1.0}}] * n_results
    with pytest.raises(ValueError, match="argument"):
        search_in_portions(lambda _: found, space, measures=MEASURES, n_trials=2, at_once=2)


def test_killed_at_any_moment_it_goes_on(tmp_path, at_once):
    program = textwrap.dedent("""
        import os, signal, sys
        from ifair.evaluate.search import search
        from ifair.evaluate.space import Choice, Integer, Share

        def objective(setting):
            if os.path.exists(sys.argv[1]) and open(sys.argv[1], "rb").read().count(b"result") == 7:
                os.kill(os.getpid(), signal.SIGKILL)
            return {"validation": {"AUC": setting["share"], "yNN": 1 - setting["share"] ** 2 - setting["K"] / 100}}

        search(lambda settings: map(objective, settings), {"K": Integer(5, 40), "share": Share()},
               measures=("AUC", "yNN"), n_trials=9, journal=sys.argv[1], at_once=int(sys.argv[2]))
    """)
    journal = tmp_path / "journal.log"
    killed = subprocess.run([sys.executable, "-c", program, str(journal), str(at_once)], check=False)
    assert killed.returncode == -signal.SIGKILL
    # What a kill in the middle of a line, and inside of Optuna's lock, leaves behind.
    with journal.open("ab") as file:
        file.write(b'{"op_code": 4, "wor')
    (tmp_path / "journal.log.lock").symlink_to(journal)

    def objective(setting):
        return {"validation": {"AUC": setting["share"], "yNN": 1 - setting["share"] ** 2 - setting["K"] / 100}}

    measured, arguments = interrupting(objective, 2), {"measures": MEASURES, "n_trials": 9, "at_once": at_once}
    resumed = search(measured, SPACE, journal=journal, **arguments)
    assert len(measured.calls) == 2
    assert resumed == search(objective, SPACE, **arguments)


CHANGES = {
    "space": {"space": {"K": Integer(5, 39), "share": Share()}},
    "seed": {"seed": 1},
    "measures": {"measures": ("yNN", "AUC")},
    "start": {"start": [{"K": 10, "share": 0.5}]},
    "portions": {"at_once": 2},
    "what the objective depends on": {"about": {"data": "another"}},
    "version": {},
}


@pytest.mark.parametrize("changed", list(CHANGES))
def test_a_changed_search_begins_anew_and_leaves_the_old_one_as_it_was(objective, tmp_path, monkeypatch, changed):
    measured = interrupting(lambda setting: objective({**setting, "frozen": True}), 6)
    arguments = {"space": SPACE, "measures": MEASURES, "n_trials": 3, "about": {"data": "one"}}
    arguments["journal"] = tmp_path / "journal.log"
    first = search(measured, **arguments)
    with monkeypatch.context() as patched:
        if changed == "version":
            patched.setattr("ifair.evaluate.search.__version__", "0.0.0")
        search(measured, **{**arguments, **CHANGES[changed]})
    assert len(measured.calls) == 6
    assert search(measured, **arguments) == first


def test_two_searches_at_once_in_one_journal_are_refused(objective, space, tmp_path):
    journal = tmp_path / "journal.log"

    def measured(setting):
        with pytest.raises(SearchError, match="another search is using"):
            search(objective, space, measures=MEASURES, n_trials=1, journal=journal)
        return objective(setting)

    search(measured, space, measures=MEASURES, n_trials=1, journal=journal)
    search(objective, space, measures=MEASURES, n_trials=2, journal=journal)


def test_a_file_of_something_else_is_left_alone(objective, space, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("age,sex\n30,f")
    must_raise(SearchError, "not a journal", search, objective, space, measures=MEASURES, n_trials=1, journal=file)
    assert file.read_text() == "age,sex\n30,f"


def test_start_settings_are_tried_first_and_nothing_twice(objective, space):
    start = [{"K": 12, "share": 0.5, "frozen": True}, {"K": 12, "share": 0.0, "frozen": True}]
    trials = search(objective, space, measures=MEASURES, n_trials=40, start=start)
    assert [trial.setting for trial in trials[:2]] == start
    assert len({json.dumps(trial.setting) for trial in trials}) == 40


@pytest.mark.parametrize(
    ("draws", "tried"),
    [((5, 5, 5, 7, 7, 9), [5, 7, 9]), ((5,) * 19 + (7, 5), [5, 7, 7]), ((5,) * 20 + (7,), [5, 5, 5])],
)
def test_what_was_tried_or_is_in_the_same_portion_is_drawn_anew_twenty_times(
    objective, monkeypatch, at_once, draws, tried
):
    import optuna

    class Stubborn(optuna.samplers.RandomSampler):
        """Draws the same numbers one after the other for every trial."""

        def __init__(self, **_):
            super().__init__()
            self.left = iter(draws)

        def sample_independent(self, *_):
            return next(self.left)

    def measured(setting):
        return objective({"K": setting["K"], "share": 0.5, "frozen": True})

    monkeypatch.setattr(optuna.samplers, "TPESampler", Stubborn)
    trials = search(measured, {"K": Integer(5, 16)}, measures=MEASURES, n_trials=3, at_once=at_once)
    assert [trial.setting["K"] for trial in trials] == tried


def test_it_learns_from_what_it_found(objective, space):
    """On average over seeds the last trials are closer to the front than the first ones, which are random."""
    early, late = 0.0, 0.0
    for seed in range(4):
        trials = search(objective, space, measures=MEASURES, n_trials=40, seed=seed)
        lost = [abs(t.setting["K"] - 12) / 50 + 0.1 * (not t.setting["frozen"]) for t in trials]
        early, late = early + sum(lost[:10]), late + sum(lost[-10:])
    assert late < 0.7 * early


def test_a_setting_that_measured_nothing_is_kept(objective, space, tmp_path):
    def undefined_above(setting):
        result = objective(setting)
        if setting["K"] > 12:
            result["validation"]["yNN"] = float("nan")
        return result

    measured = interrupting(undefined_above, 12)
    arguments = {"measures": MEASURES, "n_trials": 12, "journal": tmp_path / "journal.log"}
    trials = search(measured, space, **arguments)
    assert 0 < sum(trial.setting["K"] > 12 for trial in trials) < 12
    assert [t.setting for t in search(measured, space, **arguments)] == [t.setting for t in trials]


def test_how_many_trials_are_known_is_told_before_the_work(objective, space, tmp_path):
    heard = []
    how = {"measures": MEASURES, "journal": tmp_path / "journal.log", "tell_reused": lambda n: heard.append(n)}
    search(lambda setting: heard.append("work") or objective(setting), space, n_trials=1, **how)
    search(objective, space, n_trials=2, **how)
    assert heard == [0, "work", 1]


def test_optuna_speaks_as_loud_as_before(objective, space, capfd):
    import optuna

    before = optuna.logging.get_verbosity()
    search(objective, space, measures=MEASURES, n_trials=2)
    assert optuna.logging.get_verbosity() == before
    assert capfd.readouterr() == ("", "")


def test_without_optuna_the_message_names_the_extra(objective, space, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    must_raise(MissingExtra, r"pip install 'ifair\[tune\]'", search, objective, space, measures=MEASURES, n_trials=1)


@pytest.mark.parametrize("written", [0, 4])
def test_a_full_disk_names_the_journal_and_leaves_no_empty_one(objective, space, tmp_path, monkeypatch, written):
    backend = pytest.importorskip("optuna.storages.journal").JournalFileBackend
    append, calls = backend.append_logs, []

    def fill_up(self, logs):
        calls.append(logs)
        if len(calls) > written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(self, logs)

    monkeypatch.setattr(backend, "append_logs", fill_up)
    journal = tmp_path / "journal.log"
    with pytest.raises(SearchError, match=r"cannot write the journal .*journal\.log: No space left on device"):
        search(objective, space, measures=MEASURES, n_trials=6, journal=journal, seed=3)
    assert [path.name for path in tmp_path.iterdir()] == (["journal.log"] if written else [])
