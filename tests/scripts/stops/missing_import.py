"""A module that is not there, imported."""

import mxnet as mx
from mxnet import rtc  # stops

print(mx.nd.ones(1), rtc)
