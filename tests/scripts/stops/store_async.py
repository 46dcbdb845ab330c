"""A store whose servers update at once, made by name."""

import mxnet as mx

kind = "dist_async"
store = mx.kv.create(kind)  # stops
