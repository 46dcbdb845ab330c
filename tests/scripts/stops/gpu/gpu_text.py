"""A device as text, and a `with` block's."""

from mxnet import Context, nd

with Context("gpu", 0):  # told
    nd.zeros((2,))  # raised
