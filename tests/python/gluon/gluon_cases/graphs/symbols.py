"""mx.sym: Symbols from variables, operators, functions and files; what they are made of."""

from __future__ import annotations

import copy
import operator
import os
import pickle

import numpy as np
from _case import case


def _all_of(symbol):
    """What a symbol tells of itself."""
    return {
        "text": repr(symbol),
        "name": symbol.name,
        "arguments": symbol.list_arguments(),
        "outputs": symbol.list_outputs(),
        "states": symbol.list_auxiliary_states(),
        "inputs": symbol.list_inputs(),
        "json": symbol.tojson(),
    }


def _sorted(attributes):
    """A dictionary of 1.9.1's in an order of our own: its is that of a hash table."""
    return {key: _sorted(attributes[key]) for key in sorted(attributes)} if isinstance(attributes, dict) else attributes


def _parts(mx):
    return mx.sym.var("a"), mx.sym.var("b"), mx.nd.ones((2, 3))


_BINARY = ["add", "sub", "mul", "truediv", "mod", "pow", "eq", "ne", "gt", "ge", "lt", "le"]


@case(name=_BINARY, other=["symbol", 2, 2.5, "number first"])
def python_operators(mx, name, other):
    a, b, _ = _parts(mx)
    function = getattr(operator, name)
    if other == "number first":
        return _all_of(function(3, a))
    return _all_of(function(a, b if other == "symbol" else other))


@case(name=_BINARY, other=["text", "array", "none"])
def python_operators_with_others(mx, name, other):
    a, _, array = _parts(mx)
    return _all_of(getattr(operator, name)(a, {"text": "x", "array": array, "none": None}[other]))


@case(name=["iadd", "isub", "imul", "itruediv", "imod", "ipow", "floordiv", "and_", "or_", "xor"])
def other_operators(mx, name):
    a, b, _ = _parts(mx)
    return _all_of(getattr(operator, name)(a, b))


@case(name=["neg", "abs", "bool", "not_", "inv", "len", "iter", "hash"])
def unary_operators(mx, name):
    a, _, _ = _parts(mx)
    functions = {"bool": bool, "len": len, "iter": lambda each: [str(one) for one in each], "hash": lambda each: 0}
    made = functions.get(name, getattr(operator, name, None))(a)
    return _all_of(made) if isinstance(made, mx.sym.Symbol) else made


@case(name=["pow", "power", "maximum", "minimum", "hypot"], left=["symbol", 2, 2.5], right=["symbol", 3, "text"])
def functions_of_two(mx, name, left, right):
    a, b, _ = _parts(mx)
    first, second = a if left == "symbol" else left, b if right == "symbol" else right
    made = getattr(mx.sym, name)(first, second)
    return _all_of(made) if isinstance(made, mx.sym.Symbol) else made


_MADE = {
    "zeros": lambda mx: mx.sym.zeros((2, 3)),
    "zeros of unknown size": lambda mx: mx.sym.zeros(shape=(0, 3), dtype="float64", name="z"),
    "zeros of a number": lambda mx: mx.sym.zeros(3, dtype=np.int32),
    "ones": lambda mx: mx.sym.ones((2,), dtype="int32"),
    "full": lambda mx: mx.sym.full((2,), 5),
    "full of dtype": lambda mx: mx.sym.full((2,), 5, dtype="float16", name="f"),
    "arange": lambda mx: mx.sym.arange(3),
    "arange of all": lambda mx: mx.sym.arange(0, 6, 2, repeat=2, infer_range=True, name="q", dtype="int32"),
    "eye": lambda mx: mx.sym.eye(3, k=1),
    "eye of two sizes": lambda mx: mx.sym.eye(3, 4, name="e"),
    "linspace": lambda mx: mx.sym.linspace(0, 1, 5),
    "linspace without end": lambda mx: mx.sym.linspace(0, 1, 5, endpoint=False, dtype="float64"),
    "histogram": lambda mx: mx.sym.histogram(mx.sym.var("a"), 5, (0, 1)),
    "histogram of bounds": lambda mx: mx.sym.histogram(mx.sym.var("a"), mx.sym.var("b")),
    "histogram without range": lambda mx: mx.sym.histogram(mx.sym.var("a"), 5),
    "histogram of text": lambda mx: mx.sym.histogram(mx.sym.var("a"), "x"),
    "split_v2": lambda mx: mx.sym.split_v2(mx.sym.var("a"), 2),
    "split_v2 at places": lambda mx: mx.sym.split_v2(mx.sym.var("a"), (1, 2), axis=1, squeeze_axis=True),
    "split_v2 of a list": lambda mx: mx.sym.split_v2(mx.sym.var("a"), [1, 2]),
    "cast": lambda mx: mx.sym.cast(mx.sym.var("a"), dtype=np.float16),
    "clip without a bound": lambda mx: mx.sym.clip(mx.sym.var("a"), a_min=None, a_max=1),
    "sum of axis None": lambda mx: mx.sym.sum(mx.sym.var("a"), axis=None),
    "Concat": lambda mx: mx.sym.Concat(mx.sym.var("a"), mx.sym.var("b"), dim=0, name="c"),
    "Concat of names": lambda mx: mx.sym.concat(*[mx.sym.var(each) for each in "xyz"]),
    "Concat of arg0": lambda mx: mx.sym.Concat(arg0=mx.sym.var("a"), arg1=mx.sym.var("b")),
    "Concat of data": lambda mx: mx.sym.Concat(data=mx.sym.var("a")),
    "Concat of nothing": lambda mx: mx.sym.Concat(),
    "Concat of a number": lambda mx: mx.sym.Concat(mx.sym.var("a"), 3),
    "Concat of a list": lambda mx: mx.sym.Concat([mx.sym.var("a")]),
    "add_n": lambda mx: mx.sym.add_n(mx.sym.var("a"), mx.sym.var("b")),
    "ElementWiseSum": lambda mx: mx.sym.ElementWiseSum(mx.sym.var("a"), mx.sym.var("b"), name="s"),
    "stack": lambda mx: mx.sym.stack(mx.sym.var("a"), mx.sym.var("b"), axis=1),
    "FullyConnected of a number": lambda mx: mx.sym.FullyConnected(3, num_hidden=3),
    "FullyConnected without size": lambda mx: mx.sym.FullyConnected(mx.sym.var("a")),
    "FullyConnected of text": lambda mx: mx.sym.FullyConnected(mx.sym.var("a"), num_hidden="x"),
    "FullyConnected of unknown": lambda mx: mx.sym.FullyConnected(mx.sym.var("a"), num_hidden=3, foo=3),
    "FullyConnected of too much": lambda mx: mx.sym.FullyConnected(*[mx.sym.var(each) for each in "abcdefghijk"]),
    "FullyConnected of weights": lambda mx: mx.sym.FullyConnected(
        mx.sym.var("a"), weight=mx.sym.var("w"), num_hidden=3, no_bias=True, flatten=False
    ),
    "Pooling": lambda mx: mx.sym.Pooling(mx.sym.var("a"), kernel=(2, 2), pool_type="max", name="p0"),
    "BatchNorm": lambda mx: mx.sym.BatchNorm(mx.sym.var("a"), fix_gamma=False, eps=1e-3),
    "RNN": lambda mx: mx.sym.RNN(mx.sym.var("a"), state_size=3, num_layers=1, mode="lstm", state_outputs=True),
    "Dropout": lambda mx: mx.sym.Dropout(mx.sym.var("a"), p=0.3, mode="always"),
    "Embedding": lambda mx: mx.sym.Embedding(mx.sym.var("a"), input_dim=4, output_dim=2, name="emb"),
    "SoftmaxOutput": lambda mx: mx.sym.SoftmaxOutput(mx.sym.var("a"), name="softmax"),
    "gemm2": lambda mx: mx.sym.linalg.gemm2(mx.sym.var("a"), mx.sym.var("b"), transpose_b=True),
    "contrib": lambda mx: mx.sym.contrib.box_nms(mx.sym.var("a"), topk=3),
    "internal": lambda mx: mx.sym._internal._plus_scalar(mx.sym.var("a"), scalar=3),
    "attributes": lambda mx: mx.sym.relu(mx.sym.var("a"), name="r", attr={"ctx_group": "dev1", "__lr_mult__": "3"}),
    "no such operator": lambda mx: mx.sym.no_such_operator(mx.sym.var("a")),
    "one_hot": lambda mx: mx.sym.one_hot(mx.sym.var("a"), depth=3, dtype="int32"),
}


@case(what=list(_MADE))
def functions(mx, what):
    return _all_of(_MADE[what](mx))


_RANDOM = {
    "uniform": lambda random, a, b: random.uniform(0, 1, (2, 3)),
    "uniform of symbols": lambda random, a, b: random.uniform(a, b, shape=2, dtype="float64"),
    "uniform of both": lambda random, a, b: random.uniform(a, 1),
    "uniform of text": lambda random, a, b: random.uniform("x", 1),
    "normal": lambda random, a, b: random.normal(a, b, (2,)),
    "normal of numbers": lambda random, a, b: random.normal(0, 2, (2,), name="n"),
    "randn": lambda random, a, b: random.randn(2, 3),
    "randn of parameters": lambda random, a, b: random.randn(2, 3, loc=1, scale=2, dtype="float16"),
    "exponential": lambda random, a, b: random.exponential(2, shape=3),
    "exponential of a symbol": lambda random, a, b: random.exponential(a, shape=3),
    "shuffle": lambda random, a, b: random.shuffle(a),
    "multinomial": lambda random, a, b: random.multinomial(a, 4),
    "multinomial alone": lambda random, a, b: random.multinomial(a, get_prob=False, dtype="float32"),
    "randint": lambda random, a, b: random.randint(0, 4, shape=(2,)),
    "randint of a symbol": lambda random, a, b: random.randint(a, 4),
    "gamma": lambda random, a, b: random.gamma(1, 2, (2,)),
    "gamma of symbols": lambda random, a, b: random.gamma(a, b),
    "poisson": lambda random, a, b: random.poisson(1),
    "poisson of a symbol": lambda random, a, b: random.poisson(a),
    "negative_binomial": lambda random, a, b: random.negative_binomial(1, 0.5),
    "generalized_negative_binomial": lambda random, a, b: random.generalized_negative_binomial(1, 0.5),
    "uniform_like": lambda random, a, b: random.uniform_like(a, low=2),
}


@case(what=list(_RANDOM))
def random_numbers(mx, what):
    a, b, _ = _parts(mx)
    return _all_of(_RANDOM[what](mx.sym.random, a, b))


_METHODS = {
    "reshape": lambda a: a.reshape((2, 3)),
    "reshape by name": lambda a: a.reshape(shape=(2, 3)),
    "reshape of numbers": lambda a: a.reshape(2, 3),
    "softmax": lambda a: a.softmax(axis=1),
    "sum": lambda a: a.sum(axis=1, keepdims=True),
    "mean": lambda a: a.mean((0, 1)),
    "max": lambda a: a.max(axis=0),
    "astype": lambda a: a.astype("float16"),
    "slice": lambda a: a.slice((0,), (1,)),
    "slice_axis": lambda a: a.slice_axis(0, 1, 2),
    "expand_dims": lambda a: a.expand_dims(1),
    "squeeze": lambda a: a.squeeze(axis=1),
    "swapaxes": lambda a: a.swapaxes(0, 1),
    "transpose": lambda a: a.transpose((1, 0)),
    "flatten": lambda a: a.flatten(),
    "split": lambda a: a.split(num_outputs=2),
    "split_v2": lambda a: a.split_v2(2),
    "take": lambda a: a.take(a, mode="wrap"),
    "one_hot": lambda a: a.one_hot(3),
    "pick": lambda a: a.pick(a, axis=0),
    "broadcast_to": lambda a: a.broadcast_to((2, 2)),
    "broadcast_like": lambda a: a.broadcast_like(a),
    "tile": lambda a: a.tile((2,)),
    "repeat": lambda a: a.repeat(2),
    "pad": lambda a: a.pad("constant", (0, 0, 0, 0, 1, 1, 1, 1)),
    "norm": lambda a: a.norm(ord=1),
    "clip": lambda a: a.clip(0, 1),
    "topk": lambda a: a.topk(k=2),
    "argmax": lambda a: a.argmax(axis=1),
    "exp": lambda a: a.exp(),
    "zeros_like": lambda a: a.zeros_like(),
    "diag": lambda a: a.diag(1),
    "asnumpy": lambda a: a.asnumpy(),
    "asscalar": lambda a: a.asscalar(),
    "copy": lambda a: a.copy(),
    "detach": lambda a: a.detach(),
    "backward": lambda a: a.backward(),
    "wait_to_read": lambda a: a.wait_to_read(),
    "as_nd_ndarray": lambda a: a.as_nd_ndarray(),
    "no such": lambda a: a.no_such_method(),
    "shape": lambda a: a.shape,
    "context": lambda a: a.context,
}


@case(what=list(_METHODS))
def methods(mx, what):
    return _all_of(_METHODS[what](mx.sym.var("a")))


@case(name=["x", "", 3, None])
def variable_names(mx, name):
    return _all_of(mx.sym.var(name))


_ATTRIBUTES = [
    {"shape": (1, 2)},
    {"shape": (0, 2), "dtype": "float16"},
    {"lr_mult": 2, "wd_mult": 0.5},
    {"dtype": np.float64},
    {"init": "zeros"},
    {"stype": "default"},
    {"__foo__": "1"},
    {"__foo__": 1},
    {"foo": "1"},
    {"attr": {"foo": "1"}},
    {"attr": {"foo": 1}},
    {"attr": {"__lr_mult__": "3"}, "lr_mult": 2},
    {"dtype": "no such"},
]


@case(given=_ATTRIBUTES)
def variable_attributes(mx, given):
    made = mx.sym.var("x", **given)
    return _sorted(made.list_attr()), _sorted(made.attr_dict()), made.tojson()


@case
def variable_initializers(mx):
    return [mx.sym.var("x", init=each).attr("__init__") for each in (mx.init.One(), mx.init.Xavier(magnitude=2))]


@case
def scopes_give_attributes(mx):
    with mx.AttrScope(ctx_group="stage1", __lr_mult__="0.1"):
        a = mx.sym.var("a", lr_mult=3)
        with mx.AttrScope(__data__="x"):
            made = mx.sym.FullyConnected(a, num_hidden=2, name="fc", attr={"ctx_group": "own"})
    return _sorted(made.attr_dict()), _sorted(made.list_attr()), made.attr("ctx_group"), made.tojson()


@case
def scopes_give_names(mx):
    with mx.name.Prefix("net_"):
        made = mx.sym.FullyConnected(mx.sym.var("a"), num_hidden=2)
        return _all_of(mx.sym.relu(made) + mx.sym.relu(made, name="r"))


@case
def attributes_are_set(mx):
    a = mx.sym.var("a")
    made = mx.sym.relu(a, name="r")
    made._set_attr(foo="1", __bar__="2")
    return (
        made.attr("foo"),
        made.attr("none"),
        made.attr("name"),
        _sorted(made.list_attr()),
        _sorted(made.attr_dict()),
        a.list_attr(),
    )


@case(what=["number", "recursive"])
def attributes_are_refused(mx, what):
    a = mx.sym.var("a")
    return a._set_attr(foo=1) if what == "number" else a.list_attr(recursive=True)


def _three(mx):
    a, b, _ = _parts(mx)
    return mx.sym.Group([a, b, a + b])


_INDICES = [0, 1, 2, 3, -1, 1.5, "a", "_plus0_output", "_plus0", "x", slice(0, 2), slice(None, None, 2), slice(1, 9)]


@case(index=_INDICES)
def outputs_by_index(mx, index):
    return _all_of(_three(mx)[index])


@case
def outputs_of_a_group(mx):
    three = _three(mx)
    return len(three), [_all_of(each) for each in three], _all_of(three)


@case
def outputs_of_a_split(mx):
    parts = mx.sym.split(mx.sym.var("a"), num_outputs=3, name="sp")
    return _all_of(parts), _all_of(parts[1]), _all_of(parts["sp_output2"]), _all_of(mx.sym.Group(list(parts)))


@case(name=["sp_output", "a", "a_output"])
def outputs_by_wrong_name(mx, name):
    return repr(mx.sym.split(mx.sym.var("a"), num_outputs=3, name="sp")[name])


@case(what=["empty", "number", "text", "nested"])
def groups(mx, what):
    a, b, _ = _parts(mx)
    given = {"empty": [], "number": [a, 3], "text": "ab", "nested": [mx.sym.Group([a, b]), a]}[what]
    return _all_of(mx.sym.Group(given))


def _net(mx):
    data = mx.sym.var("data")
    body = mx.sym.Convolution(data, kernel=(3, 3), num_filter=4, name="conv")
    body = mx.sym.BatchNorm(body, name="bn")
    body = mx.sym.Activation(body, act_type="relu", name="act")
    body = mx.sym.FullyConnected(mx.sym.flatten(body), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(body, name="softmax")


@case
def internals_and_children(mx):
    net = _net(mx)
    inside = net.get_internals()
    return (
        _all_of(inside),
        _all_of(inside["act_output"]),
        _all_of(net.get_children()),
        mx.sym.var("a").get_children(),
        _all_of(inside["fc_output"].get_children()),
        net.debug_str(),
    )


_COMPOSED = {
    "by name": lambda mx, net: net(data=mx.sym.var("q")),
    "of a net": lambda mx, net: net(data=mx.sym.FullyConnected(mx.sym.var("z"), num_hidden=3, name="first")),
    "by position": lambda mx, net: net(mx.sym.var("q")),
    "of both": lambda mx, net: net(mx.sym.var("q"), data=mx.sym.var("q")),
    "of a number": lambda mx, net: net(data=3),
    "of an unknown": lambda mx, net: net(nothing=mx.sym.var("q")),
    "of a label": lambda mx, net: net(softmax_label=mx.sym.var("q"), data=mx.sym.var("r")),
}


@case(what=list(_COMPOSED))
def composed(mx, what):
    net = _net(mx)
    return _all_of(_COMPOSED[what](mx, net)), net.list_arguments()


@case(how=["copy", "deepcopy", "pickle"])
def copies(mx, how):
    net = _net(mx)
    other = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda each: pickle.loads(pickle.dumps(each))}
    made = other[how](net)
    made._set_attr(__foo__="1")
    return _all_of(made), net.attr("__foo__")


@case
def files(mx, folder):
    net = _net(mx)
    path = os.path.join(folder, "net-symbol.json")
    net.save(path)
    with open(path) as file:
        text = file.read()
    return text, _all_of(mx.sym.load(path)), _all_of(mx.sym.load_json(text))


@case(what=["no file", "number", "no json", "json number", "save number", "no graph", "operator"])
def files_are_refused(mx, folder, what):
    if what == "no file":
        return mx.sym.load(os.path.join(folder, "none"))
    if what == "number":
        return mx.sym.load(3)
    if what == "save number":
        return mx.sym.var("a").save(3)
    text = {"no json": "x", "json number": 3, "no graph": "{}"}.get(what)
    return repr(mx.sym.load_json(_net(mx).tojson().replace("Flatten", "NoSuch") if what == "operator" else text))


_SHAPES = {
    "data": lambda net: net.infer_shape(data=(2, 3, 8, 8)),
    "all unknown": lambda net: net.infer_shape(),
    "first axis unknown": lambda net: net.infer_shape(data=(0, 3, 8, 8)),
    "weight": lambda net: net.infer_shape(data=(2, 3, 8, 8), conv_weight=(4, 3, 3, 3)),
    "wrong weight": lambda net: net.infer_shape(data=(2, 3, 8, 8), conv_weight=(5, 3, 3, 3)),
    "unknown name": lambda net: net.infer_shape(nothing=(2,)),
    "number": lambda net: net.infer_shape(data=3),
    "list": lambda net: net.infer_shape([2, 3]),
    "both": lambda net: net.infer_shape((2, 3), data=(2, 3)),
    "too few axes": lambda net: net.infer_shape(data=(2, 3)),
    "partial": lambda net: net.infer_shape_partial(data=(2, 0, 8, 8)),
    "partial of nothing": lambda net: net.infer_shape_partial(),
    "partial from label": lambda net: net.infer_shape_partial(softmax_label=(7,)),
    "types": lambda net: net.infer_type(data="float64"),
    "types of halves": lambda net: net.infer_type(data=np.float16),
    "types of nothing": lambda net: net.infer_type(),
    "types of a wrong name": lambda net: net.infer_type(nothing="float32"),
    "types partial": lambda net: net.infer_type_partial(),
    "types of no dtype": lambda net: net.infer_type(data="no such"),
}


@case(what=list(_SHAPES))
def inference(mx, what):
    def plain(found):
        if isinstance(found, type):
            return np.dtype(found).name
        return [plain(each) for each in found] if isinstance(found, list) else found

    return [plain(each) for each in _SHAPES[what](_net(mx))]


@case(shape=[(2, 0), (0, 0), (2, 3)])
def inference_through_arithmetic(mx, shape):
    a, b, _ = _parts(mx)
    return (a + b).infer_shape_partial(a=shape), (a * b).infer_shape_partial(b=shape)


@case
def variables_have_shapes_and_dtypes(mx):
    a = mx.sym.var("a", shape=(2, 3), dtype="float64")
    made = mx.sym.FullyConnected(a, num_hidden=4, name="fc")
    return made.infer_shape(), [[np.dtype(each).name for each in found] for found in made.infer_type()]


@case(what=["gradient", "load_json"])
def refused(mx, what):
    a = mx.sym.var("a")
    return a.gradient(["a"]) if what == "gradient" else mx.sym.load_json(None)
