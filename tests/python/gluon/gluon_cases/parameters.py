"""mx.gluon.Parameter, Constant and ParameterDict."""

from __future__ import annotations

import warnings

import numpy as np
from _case import case

from gluon_cases._parts import array, described, numbers, signature

SHAPES = [3, (2, 3), (0, 3), (2, 0), (0,), (1,), None]


@case(
    name=["Parameter", "Constant", "ParameterDict"],
)
def signature_of_class(mx, name):
    return signature(getattr(mx.gluon, name))


@case(
    path=[
        *("Parameter." + name for name in "initialize cast data grad list_ctx list_data list_grad".split()),
        *("Parameter." + name for name in "list_row_sparse_data reset_ctx row_sparse_data set_data var".split()),
        *("Parameter." + name for name in "zero_grad _load_init _reduce".split()),
        *("ParameterDict." + name for name in "get get_constant initialize items keys list_ctx load".split()),
        *("ParameterDict." + name for name in "load_dict reset_ctx save setattr update values zero_grad".split()),
    ]
)
def signature_of_method(mx, path):
    kind, name = path.split(".")
    return signature(getattr(getattr(mx.gluon, kind), name))


@case
def public_names(mx):
    own = [each for each in dir(mx.gluon.Parameter) if each[0] != "_"]
    more = [each for each in dir(mx.gluon.ParameterDict) if each[0] != "_"]
    return own, more, sorted(mx.gluon.parameter.__all__)


@case
def deferred_error_is_an_error_of_mxnet(mx):
    kinds = mx.gluon.parameter.DeferredInitializationError.__mro__
    return [each.__name__ for each in kinds if each.__name__ != "object"], len(mx.gluon.tensor_types)


# ---- what a parameter is ----


@case(shape=SHAPES)
def parameter_prints_its_shape(mx, shape):
    param = mx.gluon.Parameter("w", shape=shape)
    return repr(param), param.shape


@case(dtype=["float32", "float16", "float64", "int32", "int64", "uint8", "int8"])
def parameter_of_dtype(mx, dtype):
    param = mx.gluon.Parameter("w", shape=(2,), dtype=dtype, init="ones")
    param.initialize()
    return repr(param), param.dtype, param.data()


@case(grad_req=["write", "add", "null", "bogus", None], differentiable=[True, False])
def request_of_gradient(mx, grad_req, differentiable):
    param = mx.gluon.Parameter("w", grad_req=grad_req, shape=(2,), differentiable=differentiable)
    param.initialize(init="ones")
    return param.grad_req, param.data().grad is None


@case(kind=["stype", "grad_stype"], value=["default", "bogus", None])
def storage_type(mx, kind, value):
    return repr(mx.gluon.Parameter("w", shape=(2,), **{kind: value}))


@case(kind=["stype", "grad_stype"], value=["row_sparse"])
def sparse_parameter(mx, kind, value):
    return repr(mx.gluon.Parameter("w", shape=(2,), **{kind: value}))


@case(kind=["stype", "grad_stype"], value=["csr"])
def csr_parameter(mx, kind, value):
    return repr(mx.gluon.Parameter("w", shape=(2,), **{kind: value}))


@case
def multipliers(mx):
    param = mx.gluon.Parameter("w", lr_mult=2, wd_mult=0.5)
    return param.lr_mult, param.wd_mult, param.init, param.name


@case(old=[None, (0, 4), (3, 0), (3, 4), (0, 0), (-1, 4)], new=[(3, 4), (3, 5), (3, 4, 5), (3,)])
def shape_is_set(mx, old, new):
    param = mx.gluon.Parameter("w", shape=old)
    param.shape = new
    return param.shape


# ---- initialize ----


@case(shape=SHAPES, deferred=[False, True])
def initialize_with_shape(mx, shape, deferred):
    param = mx.gluon.Parameter("w", shape=shape, allow_deferred_init=deferred)
    param.initialize(init="ones")
    return param.data()


@case(shape=[(-1, 3), (), "ab", (2.5,)])
def initialize_with_no_shape(mx, shape):
    mx.gluon.Parameter("w", shape=shape).initialize(init="ones")


@case(init=["zeros", "ones", "bogus", 3], place=["init", "own", "default"])
def initializer_by_name(mx, init, place):
    param = mx.gluon.Parameter("w", shape=(2, 3), init=init if place == "own" else None)
    if place == "own":
        param.initialize()
    else:
        param.initialize(**{"init" if place == "init" else "default_init": init})
    return param.data(), param.init


@case(name=["w_weight", "w_bias", "gamma", "beta", "w_moving_mean", "running_var", "w"])
def initializer_does_not_look_at_names(mx, name):
    param = mx.gluon.Parameter(name, shape=(2, 3))
    param.initialize(default_init=mx.init.Constant(3))
    return param.data()


@case
def initialize_twice_warns(mx):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize(init="ones")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        param.initialize(init="zeros")
    first = param.data().asnumpy()
    param.initialize(init="zeros", force_reinit=True)
    return [each.category.__name__ for each in found], first, param.data()


@case(numbers_of=[[0], [1], [0, 1], [2, 0, 1], []])
def initialize_in_contexts(mx, numbers_of):
    ctx = [mx.cpu(each) for each in numbers_of]
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize(init="ones", ctx=ctx)
    return [str(each) for each in param.list_ctx()], [[str(each.context), each] for each in param.list_data()]


@case
def initialize_on_gpu(mx):
    mx.gluon.Parameter("w", shape=(2,)).initialize(ctx=mx.gpu(0))


@case
def initialize_in_current_context(mx):
    param = mx.gluon.Parameter("w", shape=(2,))
    with mx.Context(mx.cpu(1)):
        param.initialize(init="ones")
    return str(param.list_ctx()), str(param.data().context)


# ---- arrays ----


NOT_READY = "data grad list_data list_grad list_ctx zero_grad _reduce".split()


@case(method=NOT_READY)
def before_initialize(mx, method):
    return str(getattr(mx.gluon.Parameter("w", shape=(2,)), method)())


@case(method=NOT_READY)
def before_the_shape_is_known(mx, method):
    param = mx.gluon.Parameter("w", shape=(0,), allow_deferred_init=True)
    param.initialize()
    found = getattr(param, method)()
    return str(found)


@case(method=NOT_READY)
def without_gradient(mx, method):
    param = mx.gluon.Parameter("w", shape=(2,), grad_req="null")
    param.initialize(init="ones")
    return str(getattr(param, method)())


@case(number=[0, 1, 2])
def data_of_context(mx, number):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize(init="ones", ctx=[mx.cpu(0), mx.cpu(1)])
    return str(param.data(mx.cpu(number)).context), param.grad(mx.cpu(number))


@case(number=[0, 1, 2])
def data_of_current_context(mx, number):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize(init="ones", ctx=[mx.cpu(0), mx.cpu(1)])
    with mx.Context(mx.cpu(number)):
        return str(param.data().context)


@case
def data_is_one_object(mx):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize()
    return param.data() is param.data(), param.list_data()[0] is param.data(), param.grad() is param.list_grad()[0]


@case
def set_data(mx):
    param = mx.gluon.Parameter("w", shape=(2, 3))
    param.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    param.set_data(array(mx, (2, 3)))
    return param.list_data()


@case(kind=["numpy", "float64", "other shape", "no array"])
def set_data_of_kind(mx, kind):
    param = mx.gluon.Parameter("w", shape=(2, 3))
    param.initialize()
    values = {
        "numpy": numbers((2, 3)),
        "float64": mx.nd.array(numbers((2, 3)), dtype="float64"),
        "other shape": mx.nd.ones((3, 2)),
        "no array": 3,
    }
    param.set_data(values[kind])
    return param.data()


@case(initialized=[True, False], shape=[(2, 3), (2, 4), (3, 3)])
def set_data_before_the_shape_is_known(mx, initialized, shape):
    param = mx.gluon.Parameter("w", shape=(2, 0), allow_deferred_init=True)
    if initialized:
        param.initialize()
    param.set_data(mx.nd.ones(shape))
    param._finish_deferred_init()
    return param.shape, param.data()


@case(req=["write", "add", "null"], new=["write", "add", "null", "bogus"])
def request_is_changed(mx, req, new):
    param = mx.gluon.Parameter("w", shape=(2,), grad_req=req)
    param.initialize(init="ones")
    param.grad_req = new
    x = mx.nd.array([2, 3])
    x.attach_grad()
    for _ in range(2):
        with mx.autograd.record():
            y = param.data() * x
        y.backward()
    return param.grad_req, None if param.data().grad is None else param.grad(), x.grad


@case(req=["write", "add"])
def zero_grad(mx, req):
    param = mx.gluon.Parameter("w", shape=(2,), grad_req=req)
    param.initialize(init="ones", ctx=[mx.cpu(0), mx.cpu(1)])
    for ctx in param.list_ctx():
        with mx.autograd.record():
            y = param.data(ctx) * 3
        y.backward()
    before = [each.asnumpy() for each in param.list_grad()]
    return before, param.zero_grad(), param.list_grad()


@case(dtype=["float16", "float64", "int32"])
def cast(mx, dtype):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.cast(dtype)
    before = repr(param)
    param.initialize(init="ones")
    param.cast("float32")
    param.cast(dtype)
    return before, param.data(), param.grad(), param.dtype


@case
def dtype_is_set(mx):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize(init="ones")
    param.dtype = "float64"
    return param.data(), repr(param)


@case
def cast_to_no_dtype(mx):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize()
    param.cast("bogus")


@case(to=[[1], [0, 1], None])
def reset_ctx(mx, to):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize(ctx=[mx.cpu(0), mx.cpu(2)])
    param.data(mx.cpu(0))[:] = 1
    param.data(mx.cpu(2))[:] = 3
    param.reset_ctx(None if to is None else [mx.cpu(each) for each in to])
    return str(param.list_ctx()), param.list_data(), param.list_grad()


@case(initialized=[True, False])
def reset_ctx_before_the_shape_is_known(mx, initialized):
    param = mx.gluon.Parameter("w", shape=(0,), allow_deferred_init=True)
    if initialized:
        param.initialize()
    param.reset_ctx(mx.cpu(1))
    param.shape = (2,)
    param._finish_deferred_init()
    return str(param.list_ctx())


@case
def mean_of_contexts(mx):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize(ctx=[mx.cpu(1), mx.cpu(2)])
    param.data(mx.cpu(1))[:] = 1
    param.data(mx.cpu(2))[:] = 4
    mean = param._reduce()
    return mean, str(mean.context)


@case(method=["row_sparse_data", "list_row_sparse_data"])
def rows_of_a_dense_parameter(mx, method):
    param = mx.gluon.Parameter("w", shape=(2,))
    param.initialize()
    return getattr(param, method)(mx.nd.array([0]))


@case
def finish_without_shape(mx):
    param = mx.gluon.Parameter("w", allow_deferred_init=True)
    param.initialize()
    param._finish_deferred_init()


# ---- constants ----


@case(kind=["list", "numpy", "int array", "float16 array"])
def constant(mx, kind):
    values = {
        "list": [[1, 2], [3, 4]],
        "numpy": np.ones((2,)),
        "int array": mx.nd.array([1, 2], dtype="int32"),
        "float16 array": mx.nd.array([1, 2], dtype="float16"),
    }
    param = mx.gluon.Constant("c", values[kind])
    param.initialize()
    return described(param), repr(param), param.value, param.data()


@case(method=["data", "grad", "list_grad"], initialized=[False, True])
def constant_method(mx, method, initialized):
    param = mx.gluon.Constant("c", [1, 2])
    if initialized:
        param.initialize()
    return getattr(param, method)()


@case(req=["write", "null"])
def constant_keeps_its_request(mx, req):
    param = mx.gluon.Constant("c", [1, 2])
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        param.grad_req = req
    return param.grad_req, [each.category.__name__ for each in found]


@case
def constant_of_text(mx):
    mx.gluon.Constant("c", "a")


# ---- what other programs do with private names ----


@case(how=["item", "list"], hybridize=[False, True])
def array_replaced_by_a_computed_one(mx, how, hybridize):
    """Networks whose weights another network computes, variational ones and those of meta-learning put them so."""
    layer, x, scale = mx.gluon.nn.Dense(2, in_units=3, use_bias=False), array(mx, (2, 3)), array(mx, (2, 3), 1)
    layer.initialize()
    layer.weight.set_data(array(mx, (2, 3), 2))
    if hybridize:
        layer.hybridize()
    scale.attach_grad()
    outputs = [layer(x)]
    for factor in (2, 3):
        with mx.autograd.record():
            weight = scale * factor
            if how == "item":
                layer.weight._data[0] = weight
            else:
                layer.weight._data = [weight]
            outputs.append(layer(x))
        outputs[-1].backward()
        outputs.append(scale.grad.copy())
    return outputs, layer.weight.data()


@case(devices=[[0], [2, 0], [1, 3]])
def places_of_contexts(mx, devices):
    param = mx.gluon.Parameter("w", shape=(1,))
    param.initialize(ctx=[mx.cpu(each) for each in devices])
    return param._ctx_map


@case(run_before=[False, True])
def parameter_of_another_class(mx, run_before):
    """A dropout of weights is a parameter whose `data` computes, over the arrays of another parameter."""

    class Counting(mx.gluon.Parameter):
        def __init__(self, param):
            super().__init__(param.name, shape=param.shape)
            for name in ("_data", "_grad", "_ctx_list", "_ctx_map", "_trainer", "_var"):
                setattr(self, name, getattr(param, name))
            self.calls = 0

        def data(self, ctx=None):
            self.calls += 1
            return super().data(ctx) * self.calls

    layer, x = mx.gluon.nn.Dense(2, in_units=3), array(mx, (2, 3))
    layer.initialize()
    layer.weight.set_data(array(mx, (2, 3), 2))
    outputs = [layer(x)] if run_before else []
    param = layer._reg_params["weight"]
    layer._reg_params["weight"] = Counting(param)
    outputs += [layer(x), layer(x)]
    param.set_data(array(mx, (2, 3), 3))
    return [*outputs, layer(x), layer._reg_params["weight"]._data is param._data]


@case(kind=["cpu_pinned", "cpu_shared"])
def memory_of_the_host(mx, kind):
    """Batches of loaders are in such memory; parameters there are those of cpu."""
    net = mx.gluon.nn.Dense(2, in_units=3, weight_initializer="ones")
    net.initialize(ctx=[mx.cpu(0), mx.cpu(1)])
    found = []
    for number in (0, 1) if kind == "cpu_pinned" else (0,):
        place = mx.Context(kind, number)
        y = net(mx.nd.ones((1, 3)).as_in_context(place))
        found.append([str(each.context) for each in (net.weight.data(place), net.weight.grad(place), y)])
        found.append(y)
    return found


@case
def memory_of_the_host_with_another_number(mx):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize(ctx=mx.cpu(0))
    return net.weight.data(mx.cpu_pinned(1))
