"""Cases of symbols: functions of a library whose results, as JSON, are those of the real 1.9.1.

A function is one case, or, if it yields, one for each (name, symbol): then everything that can be asked of a symbol is
asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from _control import control_facts, control_predicting, controls, cuts
from _graph import GraphError, Library, Symbol
from _predict import Predictor, params_bytes
from _several import missing, mixed_dtypes

Named = Iterator[tuple[str, Symbol]]


def _said(ask: Callable[[], Any]) -> Any:
    """What a call gives; of an error only that it is one: the lines differ."""
    try:
        return ask()
    except GraphError:
        return "error"


def describe(symbol: Symbol) -> dict[str, Any]:
    """All that can be asked without shapes."""
    return {
        "name": symbol.name(),
        "arguments": symbol.arguments(),
        "auxiliary": symbol.auxiliary(),
        "outputs": symbol.outputs(),
        "internals": symbol.internals().outputs(),
        "attrs": symbol.attrs(),
        "json": symbol.json(),
        "printed": symbol.printed(),
        "read again": symbol.library.read(symbol.json()).json() == symbol.json(),
        "copied": symbol.copy().json() == symbol.json(),
    }


def net(g: Library) -> Symbol:
    """Two layers with a normalisation between."""
    out = g.op("FullyConnected", "fc1", g.variable("data"), num_hidden="4")
    out = g.op("Activation", "relu", g.op("BatchNorm", "bn", out), act_type="relu")
    return g.op("SoftmaxOutput", "softmax", g.op("FullyConnected", "fc2", out, num_hidden="3"))


def structure(g: Library) -> Named:
    data = g.variable("data")
    yield "variable", data
    yield "variable with attributes", g.variable("data", lr_mult="2", __shape__="(0, 3)", note='a "b" \\ \n c')
    yield "net", net(g)
    parts = g.op("SliceChannel", "parts", net(g), num_outputs="3")
    yield "several outputs", parts
    yield "one of several", parts.output(1)
    yield "group", g.group(parts, net(g), data)
    yield "internals", net(g).internals()
    yield "of twelve", g.op("Concat", "join", *[g.variable(f"x{i}") for i in range(12)], dim="1", num_args="12")
    yield "shared input", g.op("elemwise_add", "sum", data, data)
    yield "composed of nets", g.op("broadcast_mul", "product", net(g), net(g))
    yield "by name", g.op("FullyConnected", "fc", named={"weight": g.variable("w"), "data": data}, num_hidden="2")
    yield "attributes", g.op("FullyConnected", "fc", data, num_hidden="2", __x__="1", lr_mult="0.5", ctx_group="g")
    yield "without inputs", g.op("_zeros", "z", shape="(2, 3)")


def layers(g: Library) -> Named:
    d = g.variable("data")
    for op, params in LAYERS:
        text = ", ".join(f"{key}={value}" for key, value in params.items())
        yield f"{op}({text})", g.op(op, "it", d, **params)


LAYERS: list[tuple[str, dict[str, str]]] = [
    ("Convolution", {"kernel": "(3, 3)", "num_filter": "4"}),
    ("Convolution", {"kernel": "(3,)", "num_filter": "4", "no_bias": "True"}),
    ("Deconvolution", {"kernel": "(2, 2)", "num_filter": "4", "no_bias": "False"}),
    ("Pooling", {"kernel": "(2, 2)", "pool_type": "max"}),
    ("Pooling", {"kernel": "(2, 2)", "pool_type": "avg"}),
    ("BatchNorm", {"axis": "1", "output_mean_var": "True"}),
    ("BatchNorm_v1", {"eps": "0.01"}),
    ("IdentityAttachKLSparseReg", {}),
    ("Pooling_v1", {"kernel": "(2, 2)"}),
    ("Correlation", {"max_displacement": "2"}),
    ("_contrib_PSROIPooling", {"spatial_scale": "1.0", "output_dim": "1", "pooled_size": "2"}),
    ("_contrib_ModulatedDeformableConvolution", {"kernel": "(3, 3)", "num_filter": "4"}),
    (
        "_contrib_DeformablePSROIPooling",
        {"spatial_scale": "1.0", "output_dim": "1", "pooled_size": "2", "group_size": "2"},
    ),
    ("LayerNorm", {"axis": "-1"}),
    ("GroupNorm", {"num_groups": "2"}),
    ("InstanceNorm", {}),
    ("L2Normalization", {}),
    ("LRN", {"nsize": "3"}),
    ("Dropout", {"p": "0.5"}),
    ("LeakyReLU", {"act_type": "prelu"}),
    ("LeakyReLU", {"act_type": "leaky"}),
    ("Embedding", {"input_dim": "5", "output_dim": "3"}),
    ("RNN", {"state_size": "3", "num_layers": "2", "mode": "lstm", "state_outputs": "True"}),
    ("RNN", {"state_size": "3", "num_layers": "1", "mode": "gru", "use_sequence_length": "True"}),
    ("RNN", {"state_size": "3", "num_layers": "1", "mode": "rnn_tanh", "bidirectional": "True"}),
    ("UpSampling", {"scale": "2", "sample_type": "bilinear", "num_filter": "4", "num_args": "2"}),
    ("SequenceMask", {"use_sequence_length": "True"}),
    ("LinearRegressionOutput", {}),
    ("LogisticRegressionOutput", {}),
    ("MAERegressionOutput", {}),
    ("SVMOutput", {}),
    ("SoftmaxOutput", {"preserve_shape": "True"}),
    ("SoftmaxOutput", {"multi_output": "True"}),
    ("softmax", {"axis": "1"}),
    ("topk", {"ret_typ": "both"}),
    ("sort", {}),
    ("_split_v2", {"indices": "(0, 2)"}),
    ("SliceChannel", {"num_outputs": "1"}),
    ("moments", {}),
    ("norm", {}),
    ("sum", {"axis": "1"}),
    ("transpose", {}),
    ("expand_dims", {"axis": "1"}),
    ("Flatten", {}),
    ("Cast", {"dtype": "float16"}),
    ("argmax", {"axis": "1"}),
    ("one_hot", {"depth": "3"}),
    ("shape_array", {}),
]

SHAPES: list[tuple[int, ...]] = [(4, 6), (2, 4, 6), (2, 4, 6, 8), (0, 4, 6, 8), (0, 6)]


def layer_shapes(g: Library) -> dict[str, Any]:
    """Shapes of all layers for several shapes of the data, some with unknown sizes."""
    found = {}
    for name, symbol in layers(g):
        for shape in SHAPES:
            found[f"{name} of {shape}"] = _said(lambda at=symbol, shape=shape: at.shapes(data=shape))
    return found


#: Here every float dtype is taken, and follows from one input; 1.9.1 wants float32, or the dtypes of all inputs.
_OTHER_DTYPES = ("IdentityAttachKLSparseReg", "_contrib_PSROIPooling", "_contrib_DeformablePSROIPooling", "Correlation")


def layer_dtypes(g: Library) -> dict[str, Any]:
    return {
        f"{name} of {dtype}": _said(lambda at=symbol, dtype=dtype: at.dtypes(data=dtype))
        for name, symbol in layers(g)
        if not name.startswith(_OTHER_DTYPES)
        for dtype in (0, 1, 2)
    }


def inference(g: Library) -> dict[str, Any]:
    """What follows backward, from attributes, and from several places."""
    a, b, whole = g.variable("a"), g.variable("b"), net(g)
    total = g.op("elemwise_add", "sum", a, b)
    chain = g.op("elemwise_mul", "p", g.op("FullyConnected", "fc", a, num_hidden="3"), b)
    state = g.op("_zeros", "state", shape="(0, 3)")
    stepped = g.op("elemwise_add", "step", state, g.op("FullyConnected", "fc", a, num_hidden="3"))
    return {
        "net": whole.shapes(data=(2, 5)),
        "net, nothing known": whole.shapes(),
        "net, partial": whole.shapes(partial=True, data=(2, 5)),
        "net, nothing known, partial": whole.shapes(partial=True),
        "sum backward": total.shapes(b=(2, 3)),
        "sum merged": total.shapes(a=(2, 0), b=(0, 3)),
        "sum contradicts": _said(lambda: total.shapes(a=(2, 4), b=(2, 3))),
        "batch backward": chain.shapes(a=(0, 5), b=(7, 3)),
        "state completed": stepped.shapes(a=(4, 5)),
        "unknown name": _said(lambda: total.shapes(c=(1,))),
        "wrong weight": _said(lambda: whole.shapes(data=(2, 5), fc1_weight=(4, 6))),
        "from attributes": g.op("exp", "e", g.variable("x", __shape__="(2, 3)")).shapes(),
        "types": whole.dtypes(data=0),
        "types of float16": whole.dtypes(data=2),
        "types, nothing known": whole.dtypes(partial=True),
        "types contradict": _said(lambda: total.dtypes(a=0, b=1)),
    }


def composing(g: Library) -> dict[str, Any]:
    """Names, replaced variables, errors."""

    def composed(symbol: Symbol, *args: Symbol, **named: Symbol) -> str:
        symbol.compose("new", *args, **named)
        return symbol.json()

    x, y = g.variable("x"), g.variable("y")
    two = g.op("elemwise_add", "sum", g.variable("a"), g.variable("b"))
    return {
        "replaced": composed(two.copy(), a=x),
        "replaced both": composed(net(g), data=y),
        "by a graph": composed(two.copy(), a=g.op("exp", "e", x), b=y),
        "too many": _said(lambda: composed(g.atomic("exp"), x, y)),
        "several outputs": _said(lambda: composed(g.atomic("exp"), g.group(x, y))),
        "unknown input": _said(lambda: composed(g.atomic("exp"), nosuch=x)),
        "missing parameter": _said(lambda: g.atomic("FullyConnected").arguments()),
        "unknown parameter": _said(lambda: g.atomic("FullyConnected", num_hidden="2", foo="1").arguments()),
        "variable's attribute": _said(
            lambda: g.atomic("FullyConnected", num_hidden="2", weight_lr_mult="1").arguments()
        ),
        "children": net(g).children().outputs(),
        "children of a variable": x.children().outputs(),
        "attr": [net(g).attr("nosuch"), g.variable("v", lr_mult="3").attr("lr_mult")],
        "attrs of one node": g.variable("v", lr_mult="3").attrs(deep=False),
        "output out of range": _said(lambda: two.output(1).outputs()),
    }


def _node(op: str, name: str, inputs: str = "[]", **more: str) -> str:
    members = "".join(f', "{key}": {value}' for key, value in more.items())
    return f'{{"op": "{op}", "name": "{name}"{members}, "inputs": {inputs}}}'


def _graph(*nodes: str, heads: str, more: str = "") -> str:
    return f'{{"nodes": [{", ".join(nodes)}], "arg_nodes": [0], "heads": {heads}{more}}}'


def old_files(g: Library) -> dict[str, Any]:
    """JSON as older versions wrote it."""
    old = _graph(
        _node("null", "data", param="{}", backward_source_id="-1"),
        _node("null", "bn_gamma", param="{}", attr='{"lr_mult": "2.0"}'),
        _node("null", "bn_beta", param="{}"),
        _node("BatchNorm", "bn", "[[0, 0], [1, 0], [2, 0]]", param='{"eps": "0.1", "momentum": "0.9"}'),
        heads="[[3, 0]]",
    )
    layer = _graph(
        _node("null", "data"),
        _node("null", "fc_weight"),
        _node("null", "fc_bias"),
        _node(
            "FullyConnected",
            "fc",
            "[[0, 0], [1, 0], [2, 0]]",
            param='{"num_hidden": "2"}',
            attr='{"weight_lr_mult": "3", "ctx_group": "a"}',
        ),
        heads="[[3, 0]]",
    )
    version = ', "attrs": {"mxnet_version": ["int", %d]}'
    attr = [_node("null", "x", attr='{"__lr_mult__": "2"}'), _node("argmax", "m", "[[0, 0, 0]]", attr='{"axis": "-1"}')]
    attrs = [_node("null", "x"), _node("argmax", "m", "[[0, 0, 0]]", attrs='{"axis": "-1"}')]
    found = {
        "0.8": describe(g.read(old)),
        "0.8, attributes of inputs": describe(g.read(layer)),
        "0.9.3": describe(g.read(_graph(*attr, heads="[[1, 0, 0]]", more=version % 903))),
        "1.0": describe(g.read(_graph(*attr, heads="[[1, 0, 0]]", more=version % 10000))),
        "1.3": describe(g.read(_graph(*attrs, heads="[[1, 0, 0]]", more=version % 10300))),
    }
    for text in ("", "{", "[]", "{}", '{"nodes": []}', _graph(_node("nosuch", "x"), heads="[[0, 0, 0]]")):
        found[f"damaged: {text[:40]}"] = _said(lambda text=text: g.read(text).outputs())
    return found


def _values(count: int, step: float) -> list[float]:
    """Numbers between -1 and 1."""
    return [((i * step) % 2) - 1 for i in range(count)]


def predicting(g: Library) -> dict[str, Any]:
    """The Predict API: numbers rounded to five places."""
    arrays = {
        "arg:fc1_weight": ((4, 5), _values(20, 0.37)),
        "arg:fc1_bias": ((4,), _values(4, 0.81)),
        "arg:bn_gamma": ((4,), [1.0, 2.0, 0.5, 1.5]),
        "arg:bn_beta": ((4,), _values(4, 0.3)),
        "aux:bn_moving_mean": ((4,), _values(4, 0.9)),
        "aux:bn_moving_var": ((4,), [1.0, 0.5, 2.0, 1.0]),
        "arg:fc2_weight": ((3, 4), _values(12, 0.53)),
        "arg:fc2_bias": ((3,), _values(3, 0.7)),
        "arg:not_there": ((3,), [0.0] * 3),
    }
    params, json, data = params_bytes(arrays), net(g).json(), _values(10, 0.29)

    def rounded(values: list[float]) -> list[float]:
        return [round(value, 5) + 0.0 for value in values]

    one = Predictor.made(g, json, params, data=(2, 5))
    inside = Predictor.made(g, json, params, ["relu", "fc1"], data=(2, 5))
    inside_values = rounded(inside(data=data))
    pair = Predictor.many(2, g, json, params, data=(2, 5))
    for each, values in zip(pair, (data, data[::-1])):
        each.set("data", values)
    for each in pair:
        each.forward()
    return {
        "shape": one.shape(),
        "output": rounded(one(data=data)),
        "again": rounded(one(data=data[::-1])),
        "inside": [inside.shape(0), inside_values, inside.shape(1), rounded(inside.output(1))],
        "reshaped": rounded(one.reshaped(data=(3, 5), softmax_label=(3,))(data=_values(15, 0.29))),
        "several": [rounded(each.output()) for each in pair],
        "unknown input": _said(lambda: one.set("nosuch", [0.0])),
        "wrong size": _said(lambda: one.set("data", [0.0])),
        "wrong parameter": _said(
            lambda: Predictor.made(
                g, json, params_bytes({**arrays, "arg:fc2_bias": ((4,), [0.0] * 4)}), data=(2, 5)
            ).shape()
        ),
        "no such output": _said(lambda: Predictor.made(g, json, params, ["nosuch"], data=(2, 5)).shape()),
        "damaged parameters": _said(lambda: Predictor.made(g, json, params[:100], data=(2, 5)).shape()),
    }


def run(g: Library) -> dict[str, Any]:
    """The answers of all cases."""
    answers: dict[str, Any] = {}
    for case in (structure, layers, controls, missing):
        for name, symbol in case(g):
            answers[f"{case.__name__}: {name}"] = describe(symbol)
    for case in (
        layer_shapes,
        layer_dtypes,
        inference,
        composing,
        old_files,
        predicting,
        cuts,
        control_facts,
        control_predicting,
        mixed_dtypes,
    ):
        for name, value in case(g).items():
            answers[f"{case.__name__}: {name}"] = value
    return answers
