"""Rows of a stored array."""

import mxnet as mx

store = mx.kv.create("local")
store.init("w", mx.nd.ones((3, 2)))
store.row_sparse_pull("w", out=mx.nd.zeros((3, 2)), row_ids=mx.nd.array([0]))  # stops
