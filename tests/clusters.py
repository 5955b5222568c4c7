"""Small Dask clusters for tests."""

import atexit
from functools import cache


@cache
def two_workers():
    """A client of two workers in this process, shared by all tests."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None, silence_logs=50)
    client = Client(cluster, set_as_default=False)
    atexit.register(cluster.close)
    atexit.register(client.close)
    return client
