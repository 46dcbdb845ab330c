"""An array on a GPU. Also: `mxlite run --cpu` runs it."""

import mxnet as mx

x = mx.nd.ones((2, 3))
y = mx.nd.ones((2, 3), ctx=mx.gpu())  # stops
print((x + y).asnumpy())
