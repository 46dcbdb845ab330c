"""A module of Python 2."""

import cPickle as pickle  # stops
import mxnet as mx

print(pickle.dumps(mx.nd.ones(2)))
