"""Mixed precision of a symbol."""

import mxnet as mx
from mxnet.contrib import amp

amp.convert_model(mx.sym.var("data"), {}, {})  # stops
