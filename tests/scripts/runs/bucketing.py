"""A loop of bucketed sequences, a custom operator by its name, an iterator of the program's own."""

import mxnet as mx


class Batches(mx.io.DataIter):
    def __init__(self):
        super().__init__(batch_size=2)
        self.left = 3
        self.provide_data = [mx.io.DataDesc("data", (2, 4))]
        self.provide_label = [mx.io.DataDesc("softmax_label", (2,))]

    def reset(self):
        self.left = 3

    def next(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return mx.io.DataBatch(
            [mx.nd.ones((2, 4))], [mx.nd.zeros((2,))], 0, None, 4, self.provide_data, self.provide_label
        )


class Square(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])


@mx.operator.register("square_of")
class SquareProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Square()


def network(length):
    data = mx.sym.Variable("data")
    squared = mx.sym.Custom(data, op_type="square_of")
    return (
        mx.sym.SoftmaxOutput(mx.sym.FullyConnected(squared, num_hidden=2), name="softmax"),
        ["data"],
        ["softmax_label"],
    )


batches = Batches()
batches.default_bucket_key = 4
model = mx.mod.BucketingModule(network, default_bucket_key=4)
model.fit(batches, num_epoch=1, kvstore=None)
