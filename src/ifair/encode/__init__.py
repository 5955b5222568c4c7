"""From a table of people to a matrix of numbers, and back."""

from ifair.encode.column_names import columns_of
from ifair.encode.encoder import Encoder

__all__ = ["Encoder", "columns_of"]
