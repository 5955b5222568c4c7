"""From the name of an engine to an engine; packages that only some engines need are imported here, not before."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ifair.engines.local import LocalEngine
from ifair.engines.parquet import ParquetRecords
from ifair.engines.protocol import Engine
from ifair.engines.records import MappedRecords, Records, is_mapped, records_at
from ifair.engines.streamed import StreamedEngine
from ifair.errors import require_extra

NAMES = (
    "'auto', 'local', 'torch' or 'torch:DEVICE' such as 'torch:cuda:0', "
    "'dask' or 'dask:ADDRESS' such as 'dask:tcp://10.0.0.1:8786', "
    "'spark' or 'spark:MASTER' such as 'spark:spark://10.0.0.1:7077'"
)


def check_engine(name: Any) -> None:
    """Refuse what is no engine, or needs what is not installed or not there."""
    family, _, device = name.partition(":") if isinstance(name, str) else ("", "", "")
    known, placed = ("auto", "local", "torch", "dask", "spark"), ("torch", "dask", "spark")
    if family not in known or (device and family not in placed) or str(name).endswith(":"):
        raise ValueError(f"engine must be one of {NAMES}, got {name!r}")
    if family == "dask":
        require_dask(name)
    if family == "spark":
        require_spark(name)
    if family != "torch":
        return
    require_torch(name)
    if device:
        from ifair.engines.torch import check_device

        check_device(device)


def require_torch(name: str) -> None:
    require_extra(f"engine={name!r}", ("torch", "array_api_compat"), "torch")


def require_dask(name: str) -> None:
    require_extra(f"engine={name!r}", ("dask", "distributed"), "dask")


def require_spark(name: str) -> None:
    require_extra(f"engine={name!r}", ("pyspark", "pyarrow", "cloudpickle"), "spark")


def open_engine(
    name: str, X: NDArray[np.floating[Any]], *, given: Any = None, threads: int = 1, workers: int | None = None
) -> Engine:
    """An engine that holds ``X``.

    Parameters
    ----------
    name : str
        ``"local"``; ``"torch"``: the accelerator that ``given`` is on, else the first CUDA device, else the processor;
        ``"torch:DEVICE"``; ``"dask"``: the current client, else a cluster of processes on this machine;
        ``"dask:ADDRESS"``; ``"spark"``: the session of this process, else one in local mode; ``"spark:MASTER"``;
        ``"auto"``: as torch if ``given`` is a tensor on an accelerator, else local.
    X : ndarray of shape (M, N)
    given : array-like, optional
        The table from which X was made.
    threads : int, default=1
        Of the local engine.
    workers : int, optional
        Processes of a cluster on this machine; by default one a core.
    """
    family, _, device = name.partition(":")
    accelerator = given.device if is_tensor(given) and given.device.type != "cpu" else None
    if family == "auto":
        family = "local" if accelerator is None else "torch"
    if family == "local":
        return LocalEngine(X, threads=threads)
    if family == "dask":
        from ifair.engines.cluster import open_client
        from ifair.engines.dask import DaskEngine, from_array

        client, resources = open_client(device, workers)
        with resources:
            shards = from_array(X, client)
            return DaskEngine(shards, client, resources=resources.pop_all())
    if family == "spark":
        from ifair.engines import spark
        from ifair.engines.spark_session import open_session

        session, resources = open_session(device, workers)
        with resources:
            return spark.SparkEngine(spark.from_array(X, session), session, resources=resources.pop_all())
    require_torch(name)
    from ifair.engines.torch import TorchEngine

    return TorchEngine(X, device=device or accelerator)


def on_disk(X: Any, engine: str, columns: Callable[[list[str]], Sequence[str]] | None = None) -> Records | None:
    """The records, where ``X`` says where on disk they are: a path, a memory map, a reader; else None.

    ``columns`` chooses among the names of all columns at a path; a reader knows its columns already.
    """
    streams = engine in ("auto", "local")
    if is_mapped(X):
        return MappedRecords(X) if streams else None
    if isinstance(X, str | os.PathLike):
        if engine.partition(":")[0] == "spark":
            raise ValueError(f"engine={engine!r} takes data frames of Spark: pass spark.read.parquet(path), not a path")
        X = records_at(X, columns)
    elif not isinstance(X, MappedRecords | ParquetRecords):
        return None
    if not streams:
        raise ValueError(
            f"engine={engine!r} keeps all records on the device and cannot read them from disk as it goes; "
            "use engine='local', or load the table into memory and pass that"
        )
    records: Records = X
    return records


def open_streamed(records: Records, centre: NDArray[np.float64] | None, *, threads: int = 1) -> Engine:
    """An engine that reads records from disk as it goes, less ``centre``."""
    return StreamedEngine(records, centre, threads=threads)


def is_tensor(x: Any) -> bool:
    """Whether this is a tensor of PyTorch; does not import it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def is_collection(x: Any) -> bool:
    """Whether this is an array or a data frame of Dask; does not import it."""
    return "dask" in sys.modules and sys.modules["dask"].is_dask_collection(x)


def is_spark_frame(x: Any) -> bool:
    """Whether this is a data frame of Spark; does not import it."""
    return "pyspark" in sys.modules and type(x).__module__.startswith("pyspark.sql.") and hasattr(x, "mapInPandas")


def is_elsewhere(name: str, x: Any) -> bool:
    """Whether the engine of this name leaves the table where it is: with Dask or Spark, or at a path given to Dask."""
    family = name.partition(":")[0]
    if is_spark_frame(x):
        if family not in ("auto", "spark"):
            raise ValueError(
                f"engine={name!r} cannot read a data frame of Spark: use engine='spark', or pass its toPandas()"
            )
        return True
    if is_collection(x):
        return family in ("auto", "dask")
    return family == "dask" and isinstance(x, str | os.PathLike)


def on_host(x: Any) -> Any:
    """A tensor as a NumPy array; anything else as it is."""
    return x.detach().cpu().numpy() if is_tensor(x) else x
