"""Small Dask clusters for tests."""

import atexit
from contextlib import contextmanager
from functools import cache


@cache
def two_workers():
    """A client of two workers in this process, shared by all tests."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50)
    client = Client(cluster, set_as_default=False)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client


@contextmanager
def processes(n_workers, allowed_failures=3):
    """A client of workers that are processes and can be killed; a nanny starts them again."""
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": allowed_failures}),
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0", silence_logs=60) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def tasks_left(client):
    """What the scheduler still knows of, given a moment to forget."""
    import time

    for _ in range(100):
        left = client.run_on_scheduler(lambda dask_scheduler: sorted(map(str, dask_scheduler.tasks)))
        if not left:
            break
        time.sleep(0.05)
    return left
