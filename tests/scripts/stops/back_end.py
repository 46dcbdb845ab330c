"""Another back end for a symbol."""

import mxnet as mx

mx.sym.var("data").optimize_for("TensorRT")  # stops
