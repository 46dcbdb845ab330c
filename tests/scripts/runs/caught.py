"""What is not there, and is caught."""

import mxnet as mx

try:
    from mxnet import rtc
except ImportError:
    rtc = None
try:
    store = mx.kv.create("dist_async")
except Exception as error:
    print(error)
    store = mx.kv.create("local")
print(store.type, rtc)
