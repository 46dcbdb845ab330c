"""How much memory a GPU has."""

import mxnet as mx

print(mx.context.gpu_memory_info(0))  # stops
