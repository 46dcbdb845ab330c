"""Everything of modules that are here."""

from mxnet.gluon.nn import *
from mxnet.test_utils import *

net = Dense(2, in_units=2)
net.initialize()
assert_almost_equal(net(mx.nd.zeros((1, 2))), np.zeros((1, 2)))
