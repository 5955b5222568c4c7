"""From a table of people to a matrix of numbers, and back."""

from ifair.encode.encoder import Encoder
from ifair.encode.names import columns_of

__all__ = ["Encoder", "columns_of"]
