"""An array of another storage type, by an argument."""

from mxnet import nd

nd.zeros((2, 2), stype="row_sparse")  # stops
