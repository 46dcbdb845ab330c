"""A symbol's variable of another storage type."""

import mxnet as mx


def network(features):
    x = mx.symbol.Variable("data", stype="csr")  # stops
    return mx.symbol.FullyConnected(x, num_hidden=features)


network(3)
