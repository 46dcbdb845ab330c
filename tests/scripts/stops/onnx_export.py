"""An export: the module can be imported, what is in it says why not."""

import numpy as np
from mxnet.contrib import onnx as onnx_mxnet

onnx_mxnet.export_model("a.json", "a.params", [(1, 3)], np.float32, "a.onnx")  # stops
