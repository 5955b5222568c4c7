"""Models in production: files that hold data and no code, one record at a time, and ONNX."""

from ifair.errors import ConversionError, ModelFileError, ModelFileWarning
from ifair.persist.model_file import inspect, load, save
from ifair.persist.onnx_export import onnx_inputs, register_converters, to_onnx
from ifair.persist.scoring import score

__all__ = [
    "ConversionError",
    "ModelFileError",
    "ModelFileWarning",
    "inspect",
    "load",
    "onnx_inputs",
    "register_converters",
    "save",
    "score",
    "to_onnx",
]
