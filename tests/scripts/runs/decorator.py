"""A decorator of NumPy's interface."""

import mxnet as mx


@mx.util.use_np
def compute(x):
    return x * 2


print(compute(3))
