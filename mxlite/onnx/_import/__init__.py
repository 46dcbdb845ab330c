"""How operators of ONNX become symbols: files by kind, each a part of one table (`nodes.OPERATORS`)."""
