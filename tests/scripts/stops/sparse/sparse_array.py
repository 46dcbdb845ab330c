"""An array of another storage type, by a method."""

from mxnet import nd as array

dense = array.ones((2, 2))
print(dense.tostype("csr"))  # stops
