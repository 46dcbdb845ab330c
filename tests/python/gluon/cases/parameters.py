"""mx.gluon.Parameter, Constant and ParameterDict."""

from __future__ import annotations

import warnings

import numpy as np
from _case import case

from cases._parts import all_of, array, described, numbers, signature

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


@case(kind=["stype", "grad_stype"], value=["row_sparse", "csr"], differs="mxlite has no sparse arrays")
def sparse_parameter(mx, kind, value):
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
    return [str(each.message) for each in found], first, param.data()


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
    return param.grad_req, [str(each.message) for each in found]


@case
def constant_of_text(mx):
    mx.gluon.Constant("c", "a")


# ---- ParameterDict ----


def _dict(mx, prefix="net_"):
    params = mx.gluon.ParameterDict(prefix)
    params.get("w", shape=(2, 3), init="ones")
    params.get("b", shape=(3,), init="zeros")
    return params


@case(prefix=["net_", ""])
def dict_prints(mx, prefix):
    return repr(mx.gluon.ParameterDict(prefix)), repr(_dict(mx, prefix)), str(_dict(mx, prefix))


@case
def dict_is_a_mapping(mx):
    params = _dict(mx)
    named = [[name, each.name] for name, each in params.items()]
    return (
        list(params),
        list(params.keys()),
        named,
        "net_w" in params,
        "w" in params,
        params["net_w"].name,
        params.prefix,
    )


@case(key=["w", "net_x", 3])
def dict_lacks_key(mx, key):
    return _dict(mx)[key]


@case
def dict_has_no_length(mx):
    return len(_dict(mx))


@case(
    kwargs=[
        {},
        {"shape": (2, 3)},
        {"shape": (2, 0)},
        {"shape": (0, 0)},
        {"shape": (2, 4)},
        {"shape": (2, 3, 4)},
        {"dtype": "float32"},
        {"dtype": "float16"},
        {"grad_req": "null"},
        {"lr_mult": 3},
        {"init": "ones"},
        {"init": "zeros"},
        {"init": None},
        {"allow_deferred_init": True},
    ]
)
def dict_get_what_is_there(mx, kwargs):
    params = _dict(mx)
    return params.get("w", **kwargs) is params["net_w"], described(params["net_w"])


@case(first=[(0, 3), (2, 0), None, (0, 0)], second=[(2, 3), (2, 0), (0, 4)])
def dict_get_merges_shapes(mx, first, second):
    params = mx.gluon.ParameterDict()
    params.get("w", shape=first)
    return params.get("w", shape=second).shape, params["w"].shape


@case
def dict_get_without_such_a_keyword(mx):
    mx.gluon.ParameterDict().get("w", bogus=3)


@case
def dict_get_sets_what_was_none(mx):
    params = mx.gluon.ParameterDict()
    params.get("w", shape=(2,))
    return params.get("w", init="ones").init


@case
def dict_shares(mx):
    params = _dict(mx)
    other = mx.gluon.ParameterDict("net_", shared=params)
    before = list(other)
    same = other.get("w") is params.get("w")
    other.get("v", shape=(1,))
    return before, same, list(other), list(params), repr(other)


@case(name=["c", "nope", "w"], value=[None, "same", "other", "longer"])
def dict_get_constant(mx, name, value):
    params = _dict(mx)
    params.get_constant("c", mx.nd.array([1, 2]))
    values = {None: None, "same": mx.nd.array([1, 2]), "other": mx.nd.array([1, 3]), "longer": mx.nd.array([1, 2, 3])}
    return repr(params.get_constant(name, values[value])), list(params)


@case(clash=[False, True])
def dict_update(mx, clash):
    params, other = _dict(mx), mx.gluon.ParameterDict("net_" if clash else "other_")
    other.get("w", shape=(1,))
    params.update(other)
    params.update(other)
    return list(params), params[other.prefix + "w"] is other.get("w")


@case
def dict_initialize(mx):
    params = _dict(mx)
    return params.initialize(), params["net_w"].data(), params["net_b"].data()


@case(ctx=[None, [1], [0, 1]])
def dict_contexts(mx, ctx):
    params = _dict(mx)
    params.initialize(ctx=ctx and [mx.cpu(each) for each in ctx])
    before = sorted(str(each) for each in params.list_ctx())
    params.reset_ctx(mx.cpu(3))
    return before, str(params.list_ctx()), params["net_w"].data()


@case
def dict_contexts_of_what_is_not_initialized(mx):
    return _dict(mx).list_ctx()


@case
def dict_without_parameters(mx):
    params = mx.gluon.ParameterDict()
    return params.initialize(), params.list_ctx(), params.zero_grad(), list(params.items())


@case
def dict_setattr(mx):
    params = _dict(mx)
    params.setattr("grad_req", "null")
    params.setattr("lr_mult", 3)
    params.setattr("own", 5)
    return all_of(params), params["net_w"].own


@case
def dict_zero_grad(mx):
    params = _dict(mx)
    params.initialize()
    with mx.autograd.record():
        y = params["net_w"].data() * 2
    y.backward()
    before = params["net_w"].grad().asnumpy()
    return before, params.zero_grad(), params["net_w"].grad()


# ---- files ----


@case(prefix=["", "net_", "n", "other_"])
def dict_save(mx, folder, prefix):
    params = _dict(mx)
    params.initialize()
    params.save(folder + "/a", strip_prefix=prefix)
    with open(folder + "/a", "rb") as file:
        return mx.nd.load(folder + "/a"), file.read()


@case(state=["new", "deferred"])
def dict_save_without_values(mx, folder, state):
    params = mx.gluon.ParameterDict()
    params.get("w", shape=(0,), allow_deferred_init=True)
    if state == "deferred":
        params.initialize()
    params.save(folder + "/a")


@case(
    names=[["net_w", "net_b"], ["net_w"], ["net_w", "net_b", "net_x"], ["arg:net_w", "aux:net_b"], ["w", "b"]],
    allow_missing=[False, True],
    ignore_extra=[False, True],
)
def dict_load(mx, folder, names, allow_missing, ignore_extra):
    values = {name: array(mx, (2, 3) if name[-1] == "w" else (3,), 1) for name in names}
    mx.nd.save(folder + "/a", values)
    params = _dict(mx)
    params.initialize()
    params.load(folder + "/a", allow_missing=allow_missing, ignore_extra=ignore_extra)
    return [each.data() for each in params.values()]


@case(prefix=["net_", "other_"])
def dict_load_with_prefix(mx, folder, prefix):
    mx.nd.save(folder + "/a", {"w": array(mx, (2, 3)), "b": array(mx, (3,))})
    params = _dict(mx)
    params.load(folder + "/a", restore_prefix=prefix)
    return [each.data() for each in params.values()], str(params.list_ctx())


@case(shape=[(3, 3), (2,)])
def dict_load_of_other_shape(mx, folder, shape):
    mx.nd.save(folder + "/a", {"net_w": mx.nd.ones(shape), "net_b": mx.nd.ones(3)})
    _dict(mx).load(folder + "/a")


@case(
    dtype=["float16", "float32", "float64"],
    cast_dtype=[False, True],
    dtype_source=["current", "saved", "bogus"],
    initialized=[False, True],
)
def load_casts(mx, dtype, cast_dtype, dtype_source, initialized):
    params = mx.gluon.ParameterDict()
    param = params.get("w", shape=(2,), dtype=dtype)
    if initialized:
        params.initialize(init="ones")
    values = {"w": mx.nd.array([1.5, 2.5])}
    params.load_dict(values, cast_dtype=cast_dtype, dtype_source=dtype_source)
    return param.data(), np.dtype(param.dtype).name, param.grad()


@case(values=[["w", "b"], ["w"], ["w", "b", "x"]], filename=[None, "F"])
def dict_load_dict(mx, values, filename):
    params = _dict(mx, "")
    values = {name: array(mx, (2, 3) if name == "w" else (3,), 2) for name in values}
    params.load_dict(values, filename=filename)
    return [each.data() for each in params.values()]


@case(before=[None, [0], [0, 1]], ctx=[None, [0], [1], [1, 0]])
def load_in_contexts(mx, before, ctx):
    param = mx.gluon.Parameter("w", shape=(2,))
    if before:
        param.initialize(ctx=[mx.cpu(each) for each in before])
    param._load_init(mx.nd.array([1, 2]), ctx and [mx.cpu(each) for each in ctx])
    return str(param.list_ctx()), param.list_data()


@case(shape=[(0, 3), (2, 0), (0, 0), (3, 0)], initialized=[False, True])
def load_tells_the_shape(mx, shape, initialized):
    param = mx.gluon.Parameter("w", shape=shape, allow_deferred_init=True)
    if initialized:
        param.initialize(ctx=mx.cpu(1))
    param._load_init(mx.nd.ones((2, 3)), None)
    return str(param.shape), param.data(), str(param.list_ctx())


@case
def load_of_no_file(mx, folder):
    _dict(mx).load(folder + "/nope")


@case
def load_of_a_list(mx, folder):
    mx.nd.save(folder + "/a", [mx.nd.ones(2)])
    _dict(mx).load(folder + "/a")
