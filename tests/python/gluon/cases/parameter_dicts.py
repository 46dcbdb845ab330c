"""mx.gluon.ParameterDict, and parameters in files."""

from __future__ import annotations

import numpy as np
from _case import case
from gluon_cases._parts import all_of, array, described


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
