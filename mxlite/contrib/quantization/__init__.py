"""`mx.contrib.quantization`: networks of float32 as networks of int8, with MXNet 1.9.1's functions.

    qsym, qarg_params, aux_params = quantize_model(sym, arg_params, aux_params, calib_mode="naive", calib_data=batches)
    qnet = quantize_net(net, calib_mode="entropy", calib_data=batches)

The graph is changed in C (`MXQuantizeSymbol`); the weights become bytes here, and calibration finds the limits of
activations from data. `mxlite help quantization` tells what becomes of which operator, and how fast it is.
"""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.contrib.quantization._calibrate import combine_histogram
from mxlite.contrib.quantization._graph import calib_graph, quantize_graph, quantize_model, quantize_model_mkldnn
from mxlite.contrib.quantization._net import quantize_net, quantize_net_v2

__all__ = [
    "calib_graph",
    "combine_histogram",
    "quantize_graph",
    "quantize_model",
    "quantize_model_mkldnn",
    "quantize_net",
    "quantize_net_v2",
]

_show(globals())
