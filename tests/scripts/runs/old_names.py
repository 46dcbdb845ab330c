"""Names that NumPy and Python had once, which `mxlite run` puts back."""

import collections
import time

import mxnet as mx
import numpy as np

begun = time.clock()
x = mx.nd.array(np.ones((2, 2), dtype=np.float))
print(isinstance([], collections.Iterable), np.product(x.shape), time.clock() - begun)
