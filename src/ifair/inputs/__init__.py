"""One door for tables: :func:`ifair.inputs.table.open_table` takes X whatever it is and wherever it lives."""

from ifair.inputs.parquet import ParquetRecords

__all__ = ["ParquetRecords"]
