"""For Python 2 and 3."""

from __future__ import print_function

import sys

import mxnet as mx

try:
    import cPickle as pickle
except ImportError:
    import pickle
try:
    xrange
except NameError:
    xrange = range
if sys.version_info[0] < 3:
    text = unicode
else:
    text = str
for i in xrange(2):
    print(text(i), pickle.dumps(i), mx.nd.ones(2).shape)
