"""Which Spark session to compute in, and how to wait for its jobs."""

import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeVar

from ifair.errors import IfairError

Result = TypeVar("Result")

LOCAL_FAILURES = 4
"""How often a task is tried in a session made for a fit: as on a cluster, where Spark's local mode would give up."""


def open_session(master: str = "", workers: int | None = None) -> tuple[Any, ExitStack]:
    """A session at a master such as ``local[4]``, and what to close when it is no longer needed.

    Without a master: the session that this process has, if there is one, else one in local mode of so many threads, by
    default as many as there are cores, which ends with the fit.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    resources = ExitStack()
    # Which session is active Spark knows by the thread, which it may have lost with an interrupt.
    if SparkContext._active_spark_context is not None:
        current = SparkSession.builder.getOrCreate()
        check_master(current, master)
        return current, resources
    check_java()
    _restore_interrupts(resources)
    cores = "*" if workers is None else workers
    where = master or f"local[{cores},{LOCAL_FAILURES}]"
    builder = SparkSession.builder.appName("ifair").master(where)
    for name, value in {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}.items():
        builder = builder.config(name, value)
    with _environment(local=not master):
        try:
            session = builder.config("spark.log.level", "ERROR").getOrCreate()
        except Exception as error:
            raise ConnectionError(
                f"engine='spark': no Spark session could be started on {where!r} ({_first_line(error)}); is the master "
                "there, and does its version fit pyspark's? Plain 'spark' computes on this machine"
            ) from error
    resources.callback(session.stop)
    return session, resources


def _restore_interrupts(resources: ExitStack) -> None:
    """Spark answers interrupts in its own way from its start on; afterwards they shall be as they were."""
    if threading.current_thread() is threading.main_thread():
        resources.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))


def check_master(session: Any, master: str) -> None:
    """Refuse a session that is not where ``engine`` asks for: a process has one at a time."""
    there = context_of(session).master
    if master and there != master:
        raise IfairError(
            f"engine='spark:{master}': this process already has a Spark session, on {there!r}; use engine='spark' to "
            "compute there, or stop it first"
        )


def context_of(session: Any) -> Any:
    """The Spark context of a session."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise TypeError(
            "engine='spark': a fit keeps records on the executors, for which Spark Connect has no interface; use a "
            "session on the cluster itself (`transform` works with both)"
        )
    return session.sparkContext


def check_java() -> None:
    """Refuse to start a session where Spark would find no Java."""
    home = os.environ.get("JAVA_HOME")
    if home and os.access(os.path.join(home, "bin", "java"), os.X_OK):
        return
    if home:
        raise RuntimeError(f"engine='spark' needs Java: JAVA_HOME={home!r} holds no bin/java")
    if shutil.which("java") is None:
        raise RuntimeError(
            "engine='spark' needs Java, and there is neither JAVA_HOME nor java on the PATH: install a Java runtime, "
            "version 17 for Spark 4"
        )


def _first_line(error: Exception) -> str:
    return str(getattr(error, "java_exception", error)).partition("\n")[0]


@contextmanager
def _environment(*, local: bool) -> Iterator[None]:
    """What Spark reads from the environment while a session starts: workers run this Python, and talk to no network."""
    wanted = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"} if local else {}
    added = {name: value for name, value in wanted.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextmanager
def quiet() -> Iterator[None]:
    """Without Spark's caution about pandas 3, which nobody who calls `fit` or `transform` can act on."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


def results_of(context: Any, action: Callable[[], Result], tag: str) -> Result:
    """The result of an action of Spark; its jobs, known by a tag, are cancelled when waiting ends otherwise."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    if context._jsc is None:
        raise ConnectionError("engine='spark': the Spark session was lost (it has been stopped)")
    try:
        context.addJobTag(tag)
        return action()
    except (Py4JJavaError, PySparkException) as error:
        raise _translate_error(str(getattr(error, "java_exception", error))) from error
    except (Py4JError, ConnectionError, EOFError) as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            # The interrupt came while a command was being sent, and Py4J failed to cancel what it had not sent yet.
            with suppress(Py4JError, OSError):
                context.cancelJobsWithTag(tag)
            raise KeyboardInterrupt from error
        raise ConnectionError(f"engine='spark': the Spark session was lost ({error})") from error
    except BaseException:
        context.cancelJobsWithTag(tag)
        raise
    finally:
        with suppress(Py4JError, OSError, AttributeError):
            context.removeJobTag(tag)


def _translate_error(message: str) -> Exception:
    """An error of a job in words: what Python said on the executor, if it did, else the first line of Java's."""
    lines = message.splitlines()
    said = [line.strip() for line in _python_part(lines) if line and not line[0].isspace()]
    reason = said[-1] if said else lines[0]
    if "ModuleNotFoundError" in reason:
        return ImportError(f"engine='spark': the executors need what this process has: {reason}")
    if "cancelled" in lines[0]:
        return ConnectionError(f"engine='spark': the jobs of this fit were cancelled ({reason})")
    if not said and ("Lost task" in message or "ExecutorLostFailure" in message):
        return RuntimeError(
            "engine='spark': executors died again and again over the same part of the records, most likely for want "
            f"of memory ({reason}); give them more, or cut the table into smaller partitions"
        )
    return RuntimeError(f"engine='spark': a task failed as often as Spark tries it: {reason}")


def _python_part(lines: list[str]) -> Iterator[str]:
    """The lines of the first Python traceback in what Java says, from its first to its last."""
    inside = False
    for line in lines:
        if line.startswith("Traceback"):
            inside = True
        elif inside and line.startswith("\tat "):
            return
        if inside:
            yield line
