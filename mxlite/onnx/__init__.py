"""`mx.onnx`: models of ONNX, read as symbols or blocks, and written from them."""
