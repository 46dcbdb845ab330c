"""How symbols become nodes of ONNX: files by kind, each a part of one table (`nodes.OPERATORS`)."""
