"""Blocks over mx.np: layers, containers, blocks of the user's with F.np and F.npx, networks."""

from __future__ import annotations

import numpy
from _case import case
from gluon_cases.numpy_arrays._mode import array, classes, fill, in_numpy, integers, ready, trained

#: A layer, and the shape of its input.
LAYERS = {
    "Dense(3)": (2, 4),
    "Dense(3, activation='relu')": (2, 4),
    "Dense(3, use_bias=False, flatten=False)": (2, 3, 4),
    "Dense(3, flatten=True)": (2, 3, 4),
    "Activation('sigmoid')": (2, 3),
    "Activation('softrelu')": (2, 3),
    "Activation('softsign')": (2, 3),
    "Activation('tanh')": (),
    "LeakyReLU(0.1)": (2, 3),
    "PReLU()": (2, 3),
    "ELU()": (2, 3),
    "GELU()": (2, 3),
    "Swish()": (2, 3),
    "Flatten()": (2, 3, 4),
    "Dropout(0.0)": (2, 3),
    "BatchNorm()": (3, 4, 2),
    "BatchNorm(axis=-1, center=False, scale=False)": (3, 4, 2),
    "LayerNorm()": (2, 3, 4),
    "LayerNorm(axis=1, epsilon=1e-2)": (2, 3, 4),
    "Conv1D(2, 3)": (2, 3, 7),
    "Conv2D(2, 3, padding=1, activation='relu')": (2, 3, 5, 5),
    "Conv2D(4, (1, 2), strides=2, groups=2, use_bias=False)": (1, 2, 5, 6),
    "Conv3D(2, 2)": (1, 2, 3, 3, 3),
    "Conv1DTranspose(2, 3)": (2, 3, 4),
    "Conv2DTranspose(2, 3, strides=2, padding=1)": (1, 2, 3, 3),
    "MaxPool1D(2)": (1, 2, 6),
    "MaxPool2D(3, 1, padding=1)": (1, 2, 5, 5),
    "AvgPool2D(2)": (1, 2, 4, 4),
    "AvgPool3D(2)": (1, 2, 4, 4, 4),
    "GlobalAvgPool2D()": (2, 3, 4, 4),
    "GlobalMaxPool1D()": (2, 3, 4),
}


@case(text=list(LAYERS), hybrid=[False, True])
@in_numpy
def layer(mx, text, hybrid):
    x = array(mx, LAYERS[text])
    block = ready(mx, eval(f"nn.{text}", {"nn": mx.gluon.nn}), x)
    if hybrid:
        block.hybridize()
    return trained(mx, block, x), classes(block(x))


@case(hybrid=[False, True], dtype=["int32", "int64"])
@in_numpy
def embedding(mx, hybrid, dtype):
    x = integers(mx, (2, 3), 5, dtype=dtype)
    block = ready(mx, mx.gluon.nn.Embedding(5, 4), x)
    if hybrid:
        block.hybridize()
    return trained(mx, block, x)


@case(hybrid=[False, True])
@in_numpy
def dropout_in_training(mx, hybrid):
    block = mx.gluon.nn.Dropout(0.5)
    if hybrid:
        block.hybridize()
    with mx.autograd.record():
        out = block(mx.np.ones((100, 100)))
    return type(out).__name__, out.dtype.name, sorted(set(out.asnumpy().ravel().tolist())), block(mx.np.ones(3))


def net_of(mx):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(4, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(2), nn.Flatten(), nn.Dense(5), nn.LayerNorm()
    )
    return net


@case(hybrid=[False, True])
@in_numpy
def convolutional_net(mx, hybrid):
    x = array(mx, (2, 1, 8, 8))
    net = ready(mx, net_of(mx), x)
    if hybrid:
        net.hybridize(static_alloc=True)
    return trained(mx, net, x), [each.shape for each in net.collect_params().values()]


@case
@in_numpy
def shapes_before_and_after(mx):
    net = mx.gluon.nn.Dense(3)
    before = net.weight.shape, repr(net)
    net.initialize()
    net(mx.np.ones((2, 4)))
    return before, net.weight.shape, repr(net)


def own_block(mx):
    class Own(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.scale = self.params.get("scale", shape=(3,))
                self.inner = mx.gluon.nn.Dense(3, in_units=3, flatten=False)

        def hybrid_forward(self, F, x, scale):
            y = F.npx.relu(self.inner(x)) * scale + F.np.exp(-x)
            return F.np.concatenate([y, F.npx.softmax(x, axis=-1)], axis=1), F.np.sum(y)

    return Own()


@case
@in_numpy
def block_of_the_user(mx):
    x = array(mx, (2, 3))
    return trained(mx, ready(mx, own_block(mx), x), x)


@case
@in_numpy
def F_is_mx_nd(mx):  # noqa: N802
    found = []

    class Own(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            found.append([F is mx.nd, hasattr(F, "np"), hasattr(F, "npx")])
            return F.np.sin(x)

    out = Own()(array(mx, (2,)))
    return found, classes(out)


@case
@in_numpy
def block_with_forward(mx):
    class Own(mx.gluon.Block):
        def __init__(self):
            super().__init__()
            self.weight = self.params.get("weight", shape=(3, 2))
            self.dense = mx.gluon.nn.Dense(2, in_units=2)

        def forward(self, x, extra=None):
            y = mx.np.dot(x, self.weight.data())
            while mx.np.abs(y).sum() > 1:
                y = y / 2
            return self.dense(y).sum()

    x = array(mx, (2, 3))
    return trained(mx, ready(mx, Own(), x), x)


@case
@in_numpy
def layer_derived_by_the_user(mx):
    class Centered(mx.gluon.nn.Dense):
        def hybrid_forward(self, F, x, weight, bias=None):
            return super().hybrid_forward(F, x - F.np.mean(x), weight, bias)

    x = array(mx, (2, 3))
    return trained(mx, ready(mx, Centered(2, in_units=3), x), x)


@case
@in_numpy
def lambda_blocks(mx):
    nn = mx.gluon.nn
    x = array(mx, (2, 3))
    blocks = nn.Lambda(lambda x: mx.np.exp(x)), nn.HybridLambda(lambda F, x: F.npx.relu(x)), nn.Lambda(mx.npx.sigmoid)
    return classes([block(x) for block in blocks])


@case
@in_numpy
def sequential_by_index(mx):
    net = mx.gluon.nn.Sequential()
    net.add(mx.gluon.nn.Dense(4, in_units=3), mx.gluon.nn.Dense(2, in_units=4))
    fill(mx, (net.initialize(), net)[1])
    x = array(mx, (1, 3))
    return classes([net(x), net[0](x), net[1](net[0](x)), net[1:](net[0](x))])


@case
@in_numpy
def hooks(mx):
    net = mx.gluon.nn.Dense(2, in_units=3)
    fill(mx, (net.initialize(), net)[1])
    seen = []
    net.register_forward_pre_hook(lambda block, inputs: seen.append(type(inputs[0]).__name__))
    net.register_forward_hook(lambda block, inputs, output: seen.append(type(output).__name__))
    return classes(net(array(mx, (1, 3)))), seen


# ---- parameters ----


@case
@in_numpy
def parameter(mx):
    param = mx.gluon.Parameter("w", shape=(2, 3), init=mx.init.Constant(2))
    param.initialize()
    same = param.data() is param.data(), param.grad() is param.grad(), param.list_data()[0] is param.data()
    with mx.autograd.record():
        loss = (param.data() ** 2).sum()
    loss.backward()
    first = classes([loss, param.data(), param.grad(), param.data().grad, *param.list_data(), *param.list_grad()])
    param.set_data(mx.np.ones((2, 3)) * 5)
    return same, first, classes([param.data(), param.grad()])


@case
@in_numpy
def parameter_changed_in_place(mx):
    param = mx.gluon.Parameter("w", shape=(2, 3), init="ones")
    param.initialize()
    param.data()[:] += 1
    param.data()[0, 1] = 7
    param.cast("float64")
    return classes([param.data(), param.grad()])


@case
@in_numpy
def constant(mx):
    found = []
    for value in ([[1.0, 2], [3, 4]], mx.np.array([1, 2], dtype="float64"), numpy.ones(2)):
        param = mx.gluon.Constant("c", value)
        param.initialize()
        found.append([type(param.value).__name__, param.shape, type(param.data()).__name__, param.data()])
    return found


@case
@in_numpy
def parameters_in_files(mx, folder):
    x = array(mx, (2, 1, 8, 8))
    net = ready(mx, net_of(mx), x)
    expected = net(x)
    net.save_parameters(f"{folder}/net.params")
    kinds = sorted({type(each).__name__ for each in mx.npx.load(f"{folder}/net.params").values()})
    again = net_of(mx)
    again.load_parameters(f"{folder}/net.params")
    return kinds, float(mx.np.abs(again(x) - expected).max())


@case(kind=["Zero()", "One()", "Constant(3)", "Bilinear()", "LSTMBias(2.0)"])
@in_numpy
def initializer(mx, kind):
    shape = (2, 2, 4, 4) if kind == "Bilinear()" else (8,)
    param = mx.gluon.Parameter("w", shape=shape)
    param.initialize(init=eval(f"init.{kind}", {"init": mx.init}))
    return classes(param.data())


@case(kind=["Uniform(0.5)", "Normal(0.5)", "Xavier()", "Xavier('gaussian', 'in', 2)", "Orthogonal()", "MSRAPrelu()"])
@in_numpy
def random_initializer(mx, kind):
    param = mx.gluon.Parameter("w", shape=(100, 100))
    param.initialize(init=eval(f"init.{kind}", {"init": mx.init}))
    found = param.data()
    return type(found).__name__, round(float(found.std()), 1), abs(float(found.mean())) < 0.05


@case
@in_numpy
def initializer_of_the_user(mx):
    seen = []

    class Mine(mx.init.Initializer):
        def _init_weight(self, name, data):
            seen.append([str(name), type(data).__name__, data.shape])
            data[:] = mx.np.arange(6).reshape(2, 3)
            data *= mx.np.abs(data) >= 3

    net = mx.gluon.nn.Dense(2, in_units=3, weight_initializer=Mine(), prefix="own_")
    net.initialize()
    return seen, classes(net.weight.data())
