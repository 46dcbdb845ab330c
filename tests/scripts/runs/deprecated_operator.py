"""An operator of the kind before CustomOp."""

import mxnet as mx


class Doubled(mx.operator.NumpyOp):
    def forward(self, in_data, out_data):
        out_data[0][:] = in_data[0] * 2

    def backward(self, out_grad, in_data, out_data, in_grad):
        in_grad[0][:] = out_grad[0] * 2


net = Doubled()(mx.sym.Variable("data"), name="doubled")
bound = net.simple_bind(mx.cpu(), data=(2, 3))
bound.forward(is_train=True, data=mx.nd.ones((2, 3)))
bound.backward([mx.nd.ones((2, 3))])
assert (bound.grad_dict["data"].asnumpy() == 2).all()
