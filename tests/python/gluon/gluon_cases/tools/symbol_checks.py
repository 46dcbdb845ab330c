"""mx.test_utils of symbols: results and gradients against expected ones, differences, and other bindings."""

from __future__ import annotations

import numpy as np
from _case import case


def _numbers(*shape, low=-1.0):
    return np.random.uniform(low, 1, shape).astype("float32")


def _symbols(mx, kind):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    return {
        "product": lambda: mx.sym.broadcast_mul(x, y, name="product"),
        "two": lambda: mx.sym.Group([mx.sym.elemwise_mul(x, y, name="a"), mx.sym.elemwise_add(x, y, name="b")]),
        "norm": lambda: mx.sym.BatchNorm(x, name="norm", fix_gamma=False),
        "dense": lambda: mx.sym.FullyConnected(x, num_hidden=2, name="dense"),
        "loss": lambda: mx.sym.SoftmaxOutput(x, y, name="loss"),
        "blocked": lambda: mx.sym.broadcast_mul(mx.sym.BlockGrad(x), x, name="blocked"),
    }[kind]()


@case(form=["list", "dict", "NDArrays"], dtype=["float32", "float64", "asnumpy"], shift=[0, 0.5])
def forward(mx, form, dtype, shift):
    x, y = _numbers(2, 3), _numbers(2, 3)
    given = {"list": [x, y], "dict": {"x": x, "y": y}, "NDArrays": [mx.nd.array(x), mx.nd.array(y)]}[form]
    dtype = dtype if dtype == "asnumpy" else np.dtype(dtype).type
    return mx.test_utils.check_symbolic_forward(_symbols(mx, "product"), given, [x * y + shift], dtype=dtype)


@case(
    location=["names", "missing", "more", "fewer", "array"],
    states=["none", "list", "dict", "names"],
)
def forward_of_other_names(mx, location, states):
    x, gamma, beta = _numbers(3, 2), np.ones(2, "float32"), np.zeros(2, "float32")
    given = {
        "names": {"x": x, "norm_gamma": gamma, "norm_beta": beta},
        "missing": {"x": x},
        "more": {"x": x, "norm_gamma": gamma, "norm_beta": beta, "z": x},
        "fewer": [x],
        "array": x,
    }[location]
    aux = {
        "none": None,
        "list": [beta, gamma],
        "dict": {"norm_moving_mean": beta, "norm_moving_var": gamma},
        "names": {"moving_mean": beta, "moving_var": gamma},
    }[states]
    return mx.test_utils.check_symbolic_forward(_symbols(mx, "norm"), given, [x], 1e-2, 1e-2, aux)


@case(expected=["list", "dict", "one", "other"])
def forward_of_two(mx, expected):
    x, y = _numbers(4), _numbers(4)
    wanted = {"list": [x * y, x + y], "dict": {"a_output": x * y, "b_output": x + y}, "one": [x * y], "other": {"a": x}}
    return mx.test_utils.check_symbolic_forward(_symbols(mx, "two"), [x, y], wanted[expected])


@case(equal_nan=[False, True])
def forward_of_nan(mx, equal_nan):
    x, y = np.full(2, np.nan, "float32"), _numbers(2)
    return mx.test_utils.check_symbolic_forward(_symbols(mx, "product"), [x, y], [x], equal_nan=equal_nan)


@case(request=["write", "add", "null", ["write", "add"], {"x": "write", "y": "null"}], form=["list", "dict", "one"])
def backward(mx, request, form):
    x, y, head = _numbers(2, 3), _numbers(2, 3), _numbers(2, 3)
    expected = {"list": [head * y, head * x], "dict": {"y": head * x, "x": head * y}, "one": {"x": head * y}}[form]
    np.random.seed(5)
    net = _symbols(mx, "product")
    return mx.test_utils.check_symbolic_backward(net, [x, y], [head], expected, grad_req=request)


@case(wrong=["values", "names", "heads", "head names"])
def backward_of_others(mx, wrong):
    x, y, head = _numbers(3), _numbers(3), _numbers(3)
    expected = {"values": {"x": head * y + 1}, "names": {"z": head * y}}.get(wrong, {"x": head * y})
    heads = {"heads": head, "head names": {"a": head}}.get(wrong, {"product_output": head})
    return mx.test_utils.check_symbolic_backward(_symbols(mx, "product"), [x, y], heads, expected)


@case
def backward_of_a_loss(mx):
    x, y = _numbers(3, 4), np.array([0, 3, 1], "float32")
    wanted = np.exp(x) / np.exp(x).sum(1, keepdims=True) - np.eye(4)[[0, 3, 1]]
    return mx.test_utils.check_symbolic_backward(_symbols(mx, "loss"), [x, y], None, {"x": wanted})


@case(nodes=[None, ["x"], {"x": "write", "y": "null"}, {"x": "add"}, 3], form=["list", "dict", "missing"])
def numeric_gradient(mx, nodes, form):
    given = {"x": _numbers(2, 3), "y": _numbers(2, 3)}
    given = {"list": list(given.values()), "dict": given, "missing": {"x": given["x"]}}[form]
    mx.test_utils.check_numeric_gradient(_symbols(mx, "product"), given, grad_nodes=nodes)
    return "near"


@case(states=["list", "dict"], train=[True, False])
def numeric_gradient_with_states(mx, states, train):
    given = [_numbers(4, 2), _numbers(2, low=0.5), _numbers(2)]
    aux = [np.zeros(2, "float32"), np.ones(2, "float32")]
    aux = aux if states == "list" else {"norm_moving_mean": aux[0], "norm_moving_var": aux[1]}
    mx.test_utils.check_numeric_gradient(
        _symbols(mx, "norm"), given, aux, numeric_eps=1e-2, rtol=0.1, atol=0.1, use_forward_train=train
    )
    return "near"


@case(kind=["dense", "blocked"], dtype=["float32", "float64"])
def numeric_gradient_of_symbols(mx, kind, dtype):
    given = [_numbers(2, 3), _numbers(2, 3), _numbers(2)][: 3 if kind == "dense" else 1]
    mx.test_utils.check_numeric_gradient(
        _symbols(mx, kind), given, numeric_eps=1e-2, rtol=1e-2, atol=1e-2, dtype=np.dtype(dtype).type
    )
    return "near"


@case(rtol=1e-2, atol=1e-2)
def differences_of_an_executor(mx):
    x, y = _numbers(2, 3), _numbers(2, 3)
    executor = _symbols(mx, "product").bind(mx.cpu(), {"x": mx.nd.array(x), "y": mx.nd.array(y)})
    return mx.test_utils.numeric_grad(executor, {"x": x, "y": y}, eps=1e-2)


@case(request=["write", "add", "null"], kind=["dense", "norm"], dtype=["float32", "float64"])
def consistency(mx, request, kind, dtype):
    places = [
        {"ctx": mx.cpu(0), "x": (3, 4)},
        {"ctx": mx.cpu(1), "x": (3, 4), "type_dict": {"x": np.dtype(dtype).type}},
    ]
    return mx.test_utils.check_consistency(_symbols(mx, kind), places, scale=0.5, grad_req=request)


@case(kind=["params", "uniform", "one", "shapes", "names", "values", "printed"])
def consistency_of_others(mx, kind):
    x = mx.sym.var("x")
    net = mx.sym.sin(x, name="net")
    places = [{"ctx": mx.cpu(), "x": (2, 2)}] * 2
    other = mx.sym.cos(x, name="other" if kind == "names" else "net")
    check = mx.test_utils.check_consistency
    return {
        "params": lambda: check(net, places, arg_params={"x": np.ones((2, 2), "float32")}),
        "uniform": lambda: check(net, places, use_uniform=True, rand_type=np.float32),
        "one": lambda: check(net, places[:1]),
        "shapes": lambda: check(net, [places[0], {"ctx": mx.cpu(), "x": (2, 3)}]),
        "names": lambda: check([net, other], places),
        "values": lambda: check([net, other], places),
        "printed": lambda: sorted(check([net, other], places, raise_on_err=False)),
    }[kind]()


@case(kind=["product", "two", "dense", "missing"], train=[False, True])
def simple_results(mx, kind, train):
    given = {"x": _numbers(2, 3), "y": _numbers(2, 3)}
    if kind == "dense":
        given = {"x": given["x"], "dense_weight": given["y"], "dense_bias": _numbers(2)}
    if kind == "missing":
        del given["y"]
    return mx.test_utils.simple_forward(_symbols(mx, "two" if kind == "two" else kind.replace("missing", "product")),
                                        is_train=train, **given)  # fmt: skip


@case(kind=["whole", "forward", "other", "list", "dict"])
def speed(mx, kind):
    given = {"list": {"location": [_numbers(2)]}, "dict": {"location": {"x": _numbers(2)}}}.get(kind, {"x": (2,)})
    typ = kind if kind in ("forward", "other") else "whole"
    return mx.test_utils.check_speed(mx.sym.var("x") * 2, N=2, typ=typ, **given) > 0


@case
def structures(mx):
    x, y = mx.sym.var("x"), mx.sym.var("y")
    dense = mx.sym.FullyConnected
    same = mx.test_utils.same_symbol_structure
    return [
        same(x * 2, x * 2), same(x * 2, y * 3), same(x * 2, x + 2), same(x * y, x * x), same(x * y, y * x),
        same(dense(x, num_hidden=2), dense(y, num_hidden=3)), same(mx.sym.exp(x * y), mx.sym.exp(y * x)),
    ]  # fmt: skip
