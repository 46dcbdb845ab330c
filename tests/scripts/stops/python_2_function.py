"""A function of Python 2."""

import mxnet as mx

for i in xrange(3):  # stops
    print(mx.nd.ones(i + 1))
