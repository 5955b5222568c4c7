"""Which Dask cluster to compute on, and how to wait for it without waiting for ever."""

import multiprocessing
import time
from concurrent.futures import CancelledError
from contextlib import ExitStack
from typing import Any

NO_WORKER_SECONDS = 60.0
"""How long a cluster may be without any worker before a fit gives up."""

LOOK_SECONDS = 5.0
"""How often to look whether there still is a worker."""

CONNECT_SECONDS = 15
"""How long to wait for a scheduler to answer."""

REUSED_BYTES = 2**25
"""Arrays up to this size take memory freed before, and so much of it is kept. Dask has the C library give it back to
the system from 64 KB on and ask for it anew, which costs up to a third of an evaluation in page faults."""


def open_client(address: str = "", workers: int | None = None) -> tuple[Any, ExitStack]:
    """A client of the scheduler at an address, and what to close when it is no longer needed.

    Without an address: the client that is current in this process, if there is one, else one of a cluster of so many
    processes on this machine, by default as many as there are cores, which ends with the fit.
    """
    from distributed import Client
    from distributed.client import _get_global_client

    resources = ExitStack()
    if address:
        try:
            client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ConnectionError(
                f"engine='dask:{address}': no Dask scheduler answers at {address!r} ({error}); start one with "
                "'dask scheduler', or use plain 'dask' for a cluster on this machine"
            ) from error
        return resources.enter_context(client), resources
    current = _get_global_client()
    if current is not None:
        return current, resources
    cluster = resources.enter_context(local_cluster(workers))
    return resources.enter_context(Client(cluster, set_as_default=False)), resources


def local_cluster(workers: int | None = None) -> Any:
    """A cluster of processes of one thread each on this machine; by default as many as there are cores."""
    import dask
    from distributed import LocalCluster

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        # A worker that runs the script which started it: that one tells why.
        raise SystemExit(1)
    keep = {
        f"distributed.nanny.pre-spawn-environ.{name}": REUSED_BYTES
        for name in ("MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")
    }
    with dask.config.set(keep):
        try:
            return LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
        except RuntimeError as error:
            raise RuntimeError(
                f"engine='dask': the worker processes did not start ({error!s:.60}). Each of them runs your script "
                'again: put what it does under `if __name__ == "__main__":`, or start a cluster yourself and name its '
                "address"
            ) from error


def results_of(client: Any, futures: list[Any]) -> list[Any]:
    """The results of tasks, in their order; tasks are forgotten when waiting for them ends otherwise."""
    from distributed.scheduler import KilledWorker

    try:
        _wait(client, futures)
        return client.gather(futures)
    except KilledWorker as error:
        raise RuntimeError(
            "engine='dask': workers died again and again over the same part of the records, most likely for want of "
            f"memory ({error}); give them more, or cut the table into smaller partitions"
        ) from error
    except CancelledError as error:
        raise ConnectionError(
            f"engine='dask': the tasks of this fit were cancelled, or the scheduler was lost ({error})"
        ) from error
    except ModuleNotFoundError as error:
        raise ImportError(f"engine='dask': the workers need what this process has: {error}", name=error.name) from error
    except BaseException:
        forget(client, futures)
        raise


def _wait(client: Any, futures: list[Any]) -> None:
    from distributed import wait

    last_seen = time.monotonic()
    while True:
        try:
            with client.as_current():
                wait(futures, timeout=LOOK_SECONDS)
            return
        except TimeoutError:
            if client.status != "running":
                raise ConnectionError("engine='dask': the scheduler no longer answers") from None
            if client.scheduler_info()["workers"]:
                last_seen = time.monotonic()
        if time.monotonic() - last_seen > NO_WORKER_SECONDS:
            raise TimeoutError(
                f"engine='dask': the cluster has had no worker for {NO_WORKER_SECONDS:g} seconds; start some with "
                "'dask worker ADDRESS', or look why they end"
            )


def forget(client: Any, futures: list[Any], name: str | None = None) -> None:
    """Leave no task behind, whoever else holds its future, as far as there is anybody to tell.

    What ``Client.cancel`` does, without asking the scheduler to cancel: there, a task that is known but wanted by
    nobody any more, such as a sum that only waits to be added to others, ends in a failed assertion, and that in the
    loss of the client's connection (distributed 2026.8). What else the client holds under names that begin with
    ``name`` is forgotten too.
    """
    if client.status == "running":
        client.sync(_release, client, [future.key for future in futures], name)


async def _release(client: Any, keys: list[Any], name: str | None) -> None:
    """On the client's own thread, where what it holds does not change meanwhile."""
    if name is not None:
        keys = [*keys, *(key for key in client.futures if str(key).startswith(name))]
    for key in set(keys):
        client._release_key(key)
