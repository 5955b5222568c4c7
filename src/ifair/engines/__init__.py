"""Hold blocks of records and sum functions of them: on this machine, a device of torch, Dask or Spark."""
