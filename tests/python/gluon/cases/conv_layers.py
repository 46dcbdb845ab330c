"""mx.gluon.nn: convolutions, their transposes, pooling, padding; and contrib.cnn."""

from __future__ import annotations

import inspect

import numpy as np
from _case import case, summary
from gluon_cases._parts import all_of, array, fill, ready, signature, trained

CONVS = [f"Conv{n}D{more}" for n in (1, 2, 3) for more in ("", "Transpose")]
POOLS = [f"{whole}{kind}Pool{n}D" for n in (1, 2, 3) for kind in ("Max", "Avg") for whole in ("", "Global")]
DEFORMABLE = ["DeformableConvolution", "ModulatedDeformableConvolution"]


@case(name=[*CONVS, *POOLS, "ReflectionPad2D"])
def signature_of_layer(mx, name):
    layer = getattr(mx.gluon.nn, name)
    return signature(layer), layer.__name__, inspect.isclass(layer), bool(layer.__doc__), layer.__mro__[1].__name__


@case(name=["_Conv", "_Pooling"])
def signature_of_base(mx, name):
    return signature(getattr(mx.gluon.nn.conv_layers, name))


@case(name=DEFORMABLE)
def signature_of_deformable(mx, name):
    return signature(getattr(mx.gluon.contrib.cnn, name))


def _size(name):
    return int(name.replace("Transpose", "")[-2])


def _is(block):
    read = ["_channels", "_in_channels", "_op_name", "_kwargs", "outpad", "_padding"]
    return (
        repr(block),
        block.name,
        all_of(block.collect_params()),
        [[each, getattr(block, each)] for each in read if hasattr(block, each)],
    )


@case(name=CONVS, in_channels=[0, 4])
def conv_is(mx, name, in_channels):
    return _is(getattr(mx.gluon.nn, name)(2, 3, in_channels=in_channels))


@case(name=CONVS, groups=[1, 2], use_bias=[True, False])
def conv_of_groups(mx, name, groups, use_bias):
    return _is(getattr(mx.gluon.nn, name)(4, 2, groups=groups, in_channels=2, use_bias=use_bias, activation="relu"))


@case(name=CONVS, layout=["NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC", "bogus", None])
def conv_of_layout(mx, name, layout):
    return _is(getattr(mx.gluon.nn, name)(2, 3, layout=layout, in_channels=4))


@case(name=POOLS, layout=["NCW", "NWC", "NCHW", "NHWC", "NCDHW", "NDHWC", "bogus", None])
def pool_of_layout(mx, name, layout):
    return _is(getattr(mx.gluon.nn, name)(layout=layout))


CONV2D = [
    {"strides": [2, 3]},
    {"strides": (2,)},
    {"padding": (1, 1, 1)},
    {"padding": 1, "dilation": 2},
    {"dilation": [2, 2]},
    {"groups": 3},
    {"in_channels": 3, "groups": 2},
    {"activation": "bogus"},
    {"weight_initializer": "ones", "bias_initializer": "ones"},
    {"prefix": "own_"},
    {"bogus": 1},
]


@case(kwargs=CONV2D)
def conv_with(mx, kwargs):
    return _is(mx.gluon.nn.Conv2D(4, 3, **kwargs))


@case(kernel=[0, 3, (3, 2), [3, 2], (3,), (3, 3, 3), 3.5, "a"])
def conv_of_kernel(mx, kernel):
    if kernel == 0:
        return _is(mx.gluon.nn.Conv2D(channels=2, kernel_size=1))
    return _is(mx.gluon.nn.Conv2D(2, kernel))


@case
def conv_of_numpy_number(mx):
    return [int(each) for each in mx.gluon.nn.Conv2D(2, np.int64(3)).weight.shape]


@case(count=[0, 1])
def conv_without_arguments(mx, count):
    mx.gluon.nn.Conv2D(*[2][:count])


@case(
    kwargs=[
        {"output_padding": (1, 1), "strides": 2, "padding": 1, "dilation": 2, "groups": 2, "in_channels": 2},
        {"output_padding": 1, "strides": 2, "use_bias": False, "activation": "relu"},
        {"output_padding": (1, 1, 1)},
        {"output_padding": 1, "strides": 2},
        {"in_channels": 6, "groups": 2},
        {"in_channels": 6, "layout": "NHWC"},
    ]
)
def transpose_with(mx, kwargs):
    return _is(mx.gluon.nn.Conv2DTranspose(4, 3, **kwargs))


@case(
    args=[((2, 3),), (2, (1, 2)), (2, None, (1, 1)), (3, 2, 1), ((2,),), ((2, 2, 2),)], name=["MaxPool2D", "AvgPool2D"]
)
def pool_with(mx, name, args):
    return _is(getattr(mx.gluon.nn, name)(*args))


# ---- values ----


@case(name=CONVS, strides=[1, 2], padding=[0, 1], activation=[None, "tanh"])
def conv(mx, name, strides, padding, activation):
    n = _size(name)
    x = array(mx, (2, 2, *(5, 4, 3)[-n:]))
    net = getattr(mx.gluon.nn, name)(3, 2, strides=strides, padding=padding, activation=activation)
    out, grad, grads = trained(mx, ready(mx, net, x), x)
    return summary(out), summary(grad), [summary(each) for each in grads], net.weight.shape


@case(name=CONVS, groups=[1, 2], dilation=[1, 2], use_bias=[True, False])
def conv_of_more(mx, name, groups, dilation, use_bias):
    n = _size(name)
    x = array(mx, (1, 4, *(5, 4, 4)[-n:]))
    if name == "Conv3DTranspose":
        dilation = 1
    given = {"groups": groups, "dilation": dilation, "use_bias": use_bias}
    net = getattr(mx.gluon.nn, name)(2, 2, in_channels=4 if groups > 1 and "Transpose" in name else 0, **given)
    out, grad, grads = trained(mx, ready(mx, net, x), x)
    return summary(out), summary(grad), [summary(each) for each in grads], net.weight.shape


@case(n=[1, 2, 3], differs="1.9.1 wants to know the channels")
def transpose_of_groups(mx, n):
    net = getattr(mx.gluon.nn, f"Conv{n}DTranspose")(2, 2, groups=2)
    net.initialize("ones")
    return net(mx.nd.ones((1, 4, *(2,) * n))).shape


@case(differs="1.9.1 lacks it in three dimensions")
def transpose_with_dilation(mx):
    net = mx.gluon.nn.Conv3DTranspose(2, 2, dilation=2, in_channels=1)
    net.initialize("ones")
    return net(mx.nd.ones((1, 1, 2, 2, 2))).shape


@case(n=[1, 2, 3])
def transpose_with_output_padding(mx, n):
    x = array(mx, (1, 2, *(3, 4, 2)[-n:]))
    net = getattr(mx.gluon.nn, f"Conv{n}DTranspose")(2, 3, strides=2, padding=1, output_padding=1)
    return summary(ready(mx, net, x)(x)), net.weight.shape


@case(name=["Conv2D", "Conv2DTranspose"], layout=["NCHW"], in_channels=[0, 3])
def conv_of_other_channels(mx, name, layout, in_channels):
    net = getattr(mx.gluon.nn, name)(2, 3, in_channels=in_channels)
    net.initialize("ones")
    net(mx.nd.ones((1, 3, 4, 4)))
    net(mx.nd.ones((1, 2, 4, 4)))


@case(n=[1, 2, 3], shape=[(2, 3), (2,)])
def conv_of_other_axes(mx, n, shape):
    net = getattr(mx.gluon.nn, f"Conv{n}D")(2, 3, in_channels=3)
    net.initialize("ones")
    net(mx.nd.ones(shape))


@case(name=[each for each in POOLS if "Global" not in each], size=[2, 3], strides=[None, 1], padding=[0, 1])
def pool(mx, name, size, strides, padding):
    x = array(mx, (1, 2, *(5, 6, 4)[-_size(name) :]))
    out, grad, _ = trained(mx, getattr(mx.gluon.nn, name)(size, strides, padding), x)
    return summary(out), summary(grad)


@case(name=[each for each in POOLS if "Global" not in each], ceil_mode=[False, True])
def pool_rounds(mx, name, ceil_mode):
    x = array(mx, (1, 2, *(5, 6, 4)[-_size(name) :]))
    return summary(getattr(mx.gluon.nn, name)(3, 2, ceil_mode=ceil_mode)(x))


@case(name=[each for each in POOLS if "Avg" in each and "Global" not in each], count_include_pad=[False, True])
def pool_counts_padding(mx, name, count_include_pad):
    x = array(mx, (1, 1, *(4, 4, 2)[-_size(name) :]))
    net = getattr(mx.gluon.nn, name)(2, 2, 1, count_include_pad=count_include_pad)
    return summary(net(x)), repr(net)


@case(name=[each for each in POOLS if "Global" in each])
def pool_of_all(mx, name):
    x = array(mx, (2, 3, *(5, 6, 4)[-_size(name) :]))
    out, grad, _ = trained(mx, getattr(mx.gluon.nn, name)(), x)
    return out, summary(grad)


@case(padding=[0, 1, 2, (0, 0, 0, 0, 1, 2, 3, 1), (1, 2)])
def reflection_pad(mx, padding):
    net = mx.gluon.nn.ReflectionPad2D(padding)
    x = array(mx, (1, 2, 4, 5))
    out, grad, _ = trained(mx, net, x)
    return summary(out, 40), summary(grad), _is(net)


@case
def network(mx):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(), nn.Conv2D(2, 2, groups=2))
        net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.LayerNorm(), nn.Dense(3))
    x = array(mx, (4, 2, 8, 8))
    out, grad, grads = trained(mx, ready(mx, net, x), x, array(mx, (4, 3), 3))
    return out, summary(grad), [summary(each) for each in grads], all_of(net.collect_params()), repr(net)


# ---- deformable ----


DEFORMED = [
    {},
    {"kernel_size": 3},
    {"kernel_size": (3, 3), "strides": 2, "padding": 1, "dilation": 2},
    {"kernel_size": (3, 2), "groups": 2, "num_deformable_group": 2, "use_bias": False, "offset_use_bias": False},
    {"kernel_size": (3, 3), "in_channels": 2, "activation": "relu"},
    {"layout": "NHWC"},
    {"layout": "NCW"},
    {"kernel_size": (3,)},
    {"prefix": "own_", "weight_initializer": "ones", "offset_weight_initializer": "ones"},
]


@case(name=DEFORMABLE, kwargs=DEFORMED)
def deformable_is(mx, name, kwargs):
    block = getattr(mx.gluon.contrib.cnn, name)(4, **kwargs)
    params = [
        [each.name, list(each.shape), each.init if isinstance(each.init, str) else None]
        for each in block.params.values()
    ]
    given = block._kwargs_offset, block._kwargs_deformable_conv
    return repr(block), block.name, params, given, list(block._reg_params), repr(block.act)


@case(name=DEFORMABLE)
def name_of_deformable(mx, name):
    return getattr(mx.gluon.contrib.cnn, name).__name__, fill(mx, mx.gluon.nn.Sequential()).name
