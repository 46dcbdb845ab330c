"""Gradients that a store compresses."""

import mxnet as mx

store = mx.kv.create("local")
store.set_gradient_compression({"type": "2bit", "threshold": 0.5})  # stops
