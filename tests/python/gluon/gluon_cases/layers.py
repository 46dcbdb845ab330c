"""mx.gluon.nn: dense layers, activations, normalization, containers, embeddings; and contrib.nn."""

from __future__ import annotations

import warnings

import numpy as np
from _case import case

from gluon_cases._parts import all_of, array, described, fill, numbers, ready, signature, trained

NN = """
    Sequential HybridSequential Dense Dropout Embedding BatchNorm BatchNormReLU InstanceNorm LayerNorm GroupNorm Flatten
    Lambda HybridLambda Activation LeakyReLU PReLU ELU SELU Swish GELU
""".split()
CONTRIB = """
    Concurrent HybridConcurrent Identity SparseEmbedding SyncBatchNorm PixelShuffle1D PixelShuffle2D PixelShuffle3D
""".split()


@case(name=NN)
def signature_of_layer(mx, name):
    layer = getattr(mx.gluon.nn, name)
    return signature(layer), [each.__name__ for each in layer.__mro__ if each.__name__ in ("Block", "HybridBlock")]


@case(name=CONTRIB)
def signature_of_contrib_layer(mx, name):
    layer = getattr(mx.gluon.contrib.nn, name)
    bases = {"Block", "HybridBlock", "Sequential", "HybridSequential", "BatchNorm"}
    return signature(layer), [each.__name__ for each in layer.__mro__ if each.__name__ in bases]


@case
def names_of_modules(mx):
    nn = mx.gluon.nn
    found = [sorted(getattr(nn, each).__all__) for each in ("basic_layers", "activations", "conv_layers")]
    return found, sorted(mx.gluon.contrib.nn.basic_layers.__all__)


# ---- what a layer is ----


LAYERS = {
    "Dense(3)": lambda nn: nn.Dense(3),
    "Dense(3, in)": lambda nn: nn.Dense(3, in_units=2),
    "Dense(3, relu)": lambda nn: nn.Dense(3, activation="relu"),
    "Dense(3, no bias)": lambda nn: nn.Dense(3, use_bias=False, in_units=2),
    "Dense(3, float16)": lambda nn: nn.Dense(3, dtype="float16", in_units=2),
    "Dense(3, init)": lambda nn: nn.Dense(3, weight_initializer="ones", bias_initializer="ones", in_units=2),
    "Dense(3, prefix)": lambda nn: nn.Dense(3, prefix="own_", activation="tanh"),
    "Activation": lambda nn: nn.Activation("relu"),
    "Activation(bogus)": lambda nn: nn.Activation("bogus"),
    "Activation(prefix)": lambda nn: nn.Activation("relu", prefix="own_"),
    "Dropout": lambda nn: nn.Dropout(0.5),
    "Dropout(axes)": lambda nn: nn.Dropout(0.3, axes=(1,)),
    "BatchNorm": lambda nn: nn.BatchNorm(),
    "BatchNorm(in)": lambda nn: nn.BatchNorm(in_channels=4, axis=-1, momentum=0.5, epsilon=0.1),
    "BatchNorm(no scale)": lambda nn: nn.BatchNorm(scale=False, in_channels=2),
    "BatchNorm(no center)": lambda nn: nn.BatchNorm(center=False, in_channels=2),
    "BatchNorm(global)": lambda nn: nn.BatchNorm(use_global_stats=True, in_channels=2),
    "BatchNorm(init)": lambda nn: nn.BatchNorm(
        in_channels=2, beta_initializer="ones", gamma_initializer="zeros", running_variance_initializer="zeros"
    ),
    "BatchNormReLU": lambda nn: nn.BatchNormReLU(in_channels=3),
    "LayerNorm": lambda nn: nn.LayerNorm(),
    "LayerNorm(in)": lambda nn: nn.LayerNorm(in_channels=3, axis=1, center=False),
    "LayerNorm(no scale)": lambda nn: nn.LayerNorm(scale=False, epsilon=0.1),
    "GroupNorm": lambda nn: nn.GroupNorm(),
    "GroupNorm(2)": lambda nn: nn.GroupNorm(num_groups=2, scale=False),
    "InstanceNorm": lambda nn: nn.InstanceNorm(),
    "InstanceNorm(in)": lambda nn: nn.InstanceNorm(in_channels=3, axis=2, scale=True),
    "Embedding": lambda nn: nn.Embedding(3, 4),
    "Embedding(float16)": lambda nn: nn.Embedding(3, 4, dtype="float16", weight_initializer="ones"),
    "Flatten": lambda nn: nn.Flatten(),
    "Lambda": lambda nn: nn.Lambda("relu"),
    "Lambda(print)": lambda nn: nn.Lambda(print),
    "Lambda(lambda)": lambda nn: nn.Lambda(lambda x: x),
    "Lambda(3)": lambda nn: nn.Lambda(3),
    "Lambda(bogus)": lambda nn: nn.Lambda("bogus"),
    "HybridLambda": lambda nn: nn.HybridLambda("relu"),
    "HybridLambda(lambda)": lambda nn: nn.HybridLambda(lambda F, x: x),
    "HybridLambda(3)": lambda nn: nn.HybridLambda(3),
    "HybridLambda(bogus)": lambda nn: nn.HybridLambda("bogus"),
    "LeakyReLU": lambda nn: nn.LeakyReLU(0.1),
    "LeakyReLU(-1)": lambda nn: nn.LeakyReLU(-1),
    "PReLU": lambda nn: nn.PReLU(),
    "PReLU(4)": lambda nn: nn.PReLU(in_channels=4, alpha_initializer="ones"),
    "ELU": lambda nn: nn.ELU(),
    "ELU(2)": lambda nn: nn.ELU(2.0),
    "SELU": lambda nn: nn.SELU(),
    "GELU": lambda nn: nn.GELU(),
    "Swish": lambda nn: nn.Swish(),
    "Sequential": lambda nn: nn.Sequential(),
    "HybridSequential": lambda nn: nn.HybridSequential(),
    "Dense()": lambda nn: nn.Dense(),
    "Dense(bogus)": lambda nn: nn.Dense(2, bogus=1),
    "Dropout()": lambda nn: nn.Dropout(),
    "Embedding(3)": lambda nn: nn.Embedding(3),
    "LayerNorm(bogus)": lambda nn: nn.LayerNorm(bogus=1),
}
#: Attributes of layers that programs read.
READ = """
    _kwargs _units _in_units _flatten _act_type _rate _axes _alpha _beta _axis _epsilon _center _scale _num_groups
    in_channels fuse_relu _func_name axis _factor
""".split()


def _read(block):
    return [[each, getattr(block, each)] for each in READ if hasattr(block, each)]


@case(layer=list(LAYERS))
def layer_is(mx, layer):
    block = LAYERS[layer](mx.gluon.nn)
    inner = getattr(block, "act", None)
    return repr(block), block.name, all_of(block.collect_params()), _read(block), list(block._reg_params), repr(inner)


@case(layer=[each for each in LAYERS if "(3" not in each and "bogus" not in each and "()" not in each])
def layer_initializers(mx, layer):
    block = LAYERS[layer](mx.gluon.nn)
    kinds = [
        type(each.init).__name__ if not isinstance(each.init, str) else each.init for each in block.params.values()
    ]
    more = [[each._allow_deferred_init, each._differentiable] for each in block.params.values()]
    return kinds, more, list(block._children)


CONTRIB_LAYERS = {
    "Concurrent": lambda nn: nn.Concurrent(),
    "HybridConcurrent": lambda nn: nn.HybridConcurrent(axis=1),
    "Identity": lambda nn: nn.Identity(),
    "SyncBatchNorm": lambda nn: nn.SyncBatchNorm(),
    "SyncBatchNorm(3)": lambda nn: nn.SyncBatchNorm(in_channels=3, num_devices=2, scale=False),
    "PixelShuffle1D": lambda nn: nn.PixelShuffle1D(2),
    "PixelShuffle2D": lambda nn: nn.PixelShuffle2D(2),
    "PixelShuffle2D(2, 3)": lambda nn: nn.PixelShuffle2D((2, 3)),
    "PixelShuffle2D(1)": lambda nn: nn.PixelShuffle2D((2,)),
    "PixelShuffle3D": lambda nn: nn.PixelShuffle3D(2),
    "PixelShuffle3D(1, 2, 3)": lambda nn: nn.PixelShuffle3D((1, 2, 3)),
    "PixelShuffle3D(2)": lambda nn: nn.PixelShuffle3D((1, 2)),
    "PixelShuffle1D(a)": lambda nn: nn.PixelShuffle1D("a"),
}


@case(layer=list(CONTRIB_LAYERS))
def contrib_layer_is(mx, layer):
    block = CONTRIB_LAYERS[layer](mx.gluon.contrib.nn)
    return repr(block), block.name, all_of(block.collect_params()), _read(block)


@case(sparse=["SparseEmbedding", "sparse_grad"])
def sparse_embedding(mx, sparse):
    if sparse == "SparseEmbedding":
        return repr(mx.gluon.contrib.nn.SparseEmbedding(3, 4))
    return repr(mx.gluon.nn.Embedding(3, 4, sparse_grad=True))


# ---- dense ----


@case(
    units=[1, 3],
    flatten=[True, False],
    use_bias=[True, False],
    activation=[None, "relu", "sigmoid", "softsign"],
)
def dense(mx, units, flatten, use_bias, activation):
    x = array(mx, (2, 3, 4))
    net = mx.gluon.nn.Dense(units, activation=activation, flatten=flatten, use_bias=use_bias)
    return trained(mx, ready(mx, net, x), x), repr(net), [described(each) for each in net.params.values()]


def _dense_of(mx, dtype):
    net = mx.gluon.nn.Dense(2, dtype=dtype, in_units=3)
    net.initialize("ones")
    return net(array(mx, (2, 3)).astype(dtype)), np.dtype(net.weight.data().dtype).name


@case
def dense_of_float64(mx):
    return _dense_of(mx, "float64")


@case(differs="1.9.1 refuses it on the CPU")
def dense_of_float16(mx):
    return _dense_of(mx, "float16")


@case(shape=[(2, 3), (2, 3, 4), (5,), (1, 2, 1, 3)])
def dense_of_shape(mx, shape):
    net = mx.gluon.nn.Dense(2)
    net.initialize("ones")
    return net(array(mx, shape)), net.weight.shape


@case
def dense_of_other_dtype(mx):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize("ones")
    return net(mx.nd.ones((2, 3), dtype="int32"))


# ---- activations ----


@case(name=["relu", "sigmoid", "tanh", "softrelu", "softsign"])
def activation(mx, name):
    x = array(mx, (2, 6), low=-3, high=3)
    return trained(mx, mx.gluon.nn.Activation(name), x)


@case
def activation_of_no_function(mx):
    mx.gluon.nn.Activation("bogus")(mx.nd.ones(2))


@case(differs="1.9.1's gradient below 0 is not that of the function")
def selu(mx):
    return trained(mx, mx.gluon.nn.SELU(), array(mx, (2, 6), low=-3, high=3))


@case
def selu_forward(mx):
    return mx.gluon.nn.SELU()(array(mx, (2, 6), low=-3, high=3))


@case(name=["LeakyReLU", "ELU", "GELU", "Swish"], value=[None, 0.5, 2.0])
def activation_layer(mx, name, value):
    kinds = {"LeakyReLU": "alpha", "ELU": "alpha", "Swish": "beta"}
    kwargs = {kinds[name]: value} if value is not None and name in kinds else {}
    if name == "LeakyReLU" and value is None:
        kwargs["alpha"] = 0.1
    layer = getattr(mx.gluon.nn, name)(**kwargs)
    return trained(mx, layer, array(mx, (2, 6), low=-3, high=3)), repr(layer)


@case(in_channels=[1, 3], shape=[(2, 3), (2, 3, 2)])
def prelu(mx, in_channels, shape):
    layer = mx.gluon.nn.PReLU(in_channels=in_channels)
    layer.initialize()
    first = layer.alpha.data().asnumpy()
    layer.alpha.set_data(array(mx, (in_channels,)))
    return first, trained(mx, layer, array(mx, shape, low=-3))


# ---- normalization ----


@case(
    axis=[1, -1, 2],
    scale=[True, False],
    center=[True, False],
    use_global_stats=[False, True],
)
def batch_norm(mx, axis, scale, center, use_global_stats):
    x = array(mx, (2, 3, 4))
    net = mx.gluon.nn.BatchNorm(axis=axis, scale=scale, center=center, use_global_stats=use_global_stats)
    weight = array(mx, (2, 3, 4), 5)
    ready(mx, net, x)
    before = net(x)
    return before, trained(mx, net, x, weight), net.running_mean.data(), net.running_var.data(), net(x)


@case(momentum=[0.0, 0.5, 0.9], epsilon=[1e-5, 0.1])
def batch_norm_parameters(mx, momentum, epsilon):
    x = array(mx, (4, 3))
    net = ready(mx, mx.gluon.nn.BatchNorm(momentum=momentum, epsilon=epsilon), x)
    found = trained(mx, net, x, array(mx, (4, 3), 5))
    return found, net.running_mean.data(), net.running_var.data()


@case(dtype=["float16", "float64"])
def batch_norm_cast(mx, dtype):
    net = mx.gluon.nn.BatchNorm(in_channels=2)
    net.initialize()
    net.cast(dtype)
    return [np.dtype(each.data().dtype).name for each in net.params.values()]


@case(differs="1.9.1 has it for MKL-DNN alone")
def batch_norm_relu(mx):
    x = array(mx, (4, 3))
    net = ready(mx, mx.gluon.nn.BatchNormReLU(), x)
    return trained(mx, net, x, array(mx, (4, 3), 5)), net(x)


@case(axis=[-1, 1, 2], scale=[True, False], center=[True, False])
def layer_norm(mx, axis, scale, center):
    x = array(mx, (2, 3, 4))
    net = ready(mx, mx.gluon.nn.LayerNorm(axis=axis, scale=scale, center=center, epsilon=1e-3), x)
    return trained(mx, net, x, array(mx, (2, 3, 4), 5)), repr(net)


@case(num_groups=[1, 2, 4], scale=[True, False])
def group_norm(mx, num_groups, scale):
    x = array(mx, (2, 4, 3))
    net = mx.gluon.nn.GroupNorm(num_groups=num_groups, scale=scale, epsilon=1e-3)
    net.initialize()
    fill(mx, net)
    return trained(mx, net, x, array(mx, (2, 4, 3), 5)), repr(net)


@case(axis=[1, 2, 3], scale=[True, False])
def instance_norm(mx, axis, scale):
    x = array(mx, (2, 3, 4, 5))
    net = ready(mx, mx.gluon.nn.InstanceNorm(axis=axis, scale=scale, epsilon=1e-3), x)
    return trained(mx, net, x, array(mx, (2, 3, 4, 5), 5)), repr(net)


@case(name=["LayerNorm", "InstanceNorm"])
def norm_of_other_width(mx, name):
    net = getattr(mx.gluon.nn, name)(in_channels=3)
    net.initialize()
    return net(mx.nd.ones((2, 4, 5)))


# ---- dropout, embedding, flatten ----


@case(rate=[0, 0.5, 0.9], axes=[(), (1,)])
def dropout_out_of_training(mx, rate, axes):
    net, x = mx.gluon.nn.Dropout(rate, axes=axes), array(mx, (3, 4))
    return net(x), repr(net)


@case(rate=[0, 0.5])
def dropout_in_training(mx, rate):
    net, x = mx.gluon.nn.Dropout(rate), mx.nd.ones((10, 10))
    with mx.autograd.record():
        out = net(x)
    values = out.asnumpy()
    return sorted({float(each) for each in values.ravel()})


@case
def dropout_along_axes(mx):
    with mx.autograd.record():
        out = mx.gluon.nn.Dropout(0.5, axes=(1,))(mx.nd.ones((20, 10)))
    return bool((out.asnumpy() == out.asnumpy()[:, :1]).all())


@case(rate=[-0.5, 1.5])
def dropout_of_no_rate(mx, rate):
    with mx.autograd.record():
        return [mx.gluon.nn.Dropout(rate)(mx.nd.ones(2)).shape]


@case(dtype=["float32", "float64"], shape=[(3,), (2, 3), (1, 1, 2)])
def embedding(mx, dtype, shape):
    net = mx.gluon.nn.Embedding(5, 2, dtype=dtype)
    net.initialize()
    net.weight.set_data(mx.nd.array(numbers((5, 2))))
    x = mx.nd.array(np.arange(np.prod(shape)).reshape(shape) % 5)
    with mx.autograd.record():
        out = net(x)
        loss = (out * out).sum()
    loss.backward()
    return out, net.weight.grad()


@case
def embedding_out_of_range(mx):
    net = mx.gluon.nn.Embedding(3, 2)
    net.initialize("ones")
    net.weight.set_data(mx.nd.array(numbers((3, 2))))
    return net(mx.nd.array([0, 5, -1]))


@case(shape=[(2,), (2, 3), (2, 3, 4), (1, 2, 3, 4)])
def flatten(mx, shape):
    return mx.gluon.nn.Flatten()(array(mx, shape))


# ---- containers ----


def _chain(mx, kind, **kwargs):
    nn = mx.gluon.nn
    net = getattr(nn, kind)(**kwargs)
    net.add(*(nn.Dense(each, in_units=2) for each in range(1, 5)))
    return net


KINDS = ["Sequential", "HybridSequential"]


@case(kind=KINDS, key=[0, 3, -1, slice(1, 3), slice(None, None, 2), slice(5, 9), 7, "zero"])
def container_by_key(mx, kind, key):
    net = _chain(mx, kind, prefix="n_")
    part = net[key]
    same = part[0] is net[1] if isinstance(key, slice) and len(part) and key.start == 1 else None
    return repr(part), part.prefix, type(part).__name__, same, list(part.collect_params())


@case(kind=KINDS)
def container_is_a_list(mx, kind):
    net = _chain(mx, kind)
    net.add(net[0])
    return len(net), [each.name for each in net], list(net._children), repr(net), repr(getattr(mx.gluon.nn, kind)())


@case(kind=KINDS)
def container_runs(mx, kind):
    nn = mx.gluon.nn
    net = getattr(nn, kind)()
    x = array(mx, (2, 3))
    empty = net(x)
    net.add(nn.Dense(4, activation="tanh"), nn.Dense(2))
    net.add()
    return empty, trained(mx, ready(mx, net, x), x), list(net.collect_params())


@case(kind=KINDS, inputs=[1, 2])
def container_of_several_inputs(mx, kind, inputs):
    nn = mx.gluon.nn
    net = getattr(nn, kind)()
    net.add(nn.HybridLambda(lambda F, x, *more: [x + 1, *more]), nn.HybridLambda(lambda F, x: x[0]))
    return net(*[mx.nd.ones(2)] * inputs)


@case
def sequential_of_plain_blocks(mx):
    nn = mx.gluon.nn
    net = nn.Sequential()
    net.add(nn.Lambda("relu"), nn.Lambda(lambda x: x * 2), nn.HybridLambda("exp"))
    return net(array(mx, (2, 3)))


@case(name=["relu", "exp", "flatten", "sigmoid"])
def lambdas(mx, name):
    nn, x = mx.gluon.nn, array(mx, (2, 3, 1))
    return nn.Lambda(name)(x), nn.HybridLambda(name)(x), repr(nn.HybridLambda(name))


@case
def lambda_of_several_inputs(mx):
    nn, x = mx.gluon.nn, mx.nd.ones(2)
    return nn.Lambda(lambda x, y: x + y)(x, x), nn.HybridLambda(lambda F, x, y: F.broadcast_add(x, y))(x, x)


@case
def lambda_is_not_a_block_without_name(mx):
    return mx.gluon.nn.Lambda("relu", prefix="own_").prefix, mx.gluon.nn.HybridLambda("relu", "own_").prefix


# ---- contrib ----


@case(kind=["Concurrent", "HybridConcurrent"], axis=[1, -1, 0])
def concurrent(mx, kind, axis):
    nn, contrib = mx.gluon.nn, mx.gluon.contrib.nn
    net = getattr(contrib, kind)(axis=axis)
    net.add(nn.Dense(3), contrib.Identity(), nn.Dense(3))
    x = array(mx, (2, 3))
    return trained(mx, ready(mx, net, x), x), repr(net), len(net), repr(net[0:2])


@case
def concurrent_of_nothing(mx):
    mx.gluon.contrib.nn.Concurrent()(mx.nd.ones((1, 2)))


@case
def identity(mx):
    x = array(mx, (2, 3))
    block = mx.gluon.contrib.nn.Identity()
    return block(x), block(x) is x


@case(num_devices=[None, 1])
def sync_batch_norm(mx, num_devices):
    x = array(mx, (4, 3, 2))
    net = mx.gluon.contrib.nn.SyncBatchNorm(num_devices=num_devices, momentum=0.5)
    ready(mx, net, x)
    before = net(x)
    return before, trained(mx, net, x, array(mx, (4, 3, 2), 5))


@case
def sync_batch_norm_warns(mx):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        mx.gluon.contrib.nn.SyncBatchNorm(in_channels=1)
        mx.gluon.contrib.nn.SyncBatchNorm(in_channels=1, num_devices=1)
    return [each.category.__name__ for each in found]


@case(factor=[1, 2, 3])
def pixel_shuffle_1d(mx, factor):
    x = mx.nd.arange(2 * 6 * 2).reshape((2, 6, 2))
    return mx.gluon.contrib.nn.PixelShuffle1D(factor)(x)


@case(factor=[1, 2, (1, 2), (2, 1), (4, 1)])
def pixel_shuffle_2d(mx, factor):
    x = mx.nd.arange(4 * 2 * 3).reshape((1, 4, 2, 3))
    return mx.gluon.contrib.nn.PixelShuffle2D(factor)(x)


@case(factor=[1, 2, (1, 2, 4), (2, 2, 1)])
def pixel_shuffle_3d(mx, factor):
    x = mx.nd.arange(8 * 2 * 1 * 3).reshape((1, 8, 2, 1, 3))
    return mx.gluon.contrib.nn.PixelShuffle3D(factor)(x)


@case
def pixel_shuffle_of_other_channels(mx):
    mx.gluon.contrib.nn.PixelShuffle1D(4)(mx.nd.ones((1, 6, 2)))
