"""Models as ONNX graphs: converters for skl2onnx."""
