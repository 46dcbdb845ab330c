"""mx.rnn: symbolic cells, their weights, sentences in buckets, checkpoints."""

from __future__ import annotations

import os
import random

import numpy as np
from _case import case

from gluon_cases._parts import array, signature
from gluon_cases.graphs.block_graphs import _graph_of

_PUBLIC = """
BaseConvRNNCell BaseRNNCell BidirectionalCell BucketSentenceIter ConvGRUCell ConvLSTMCell ConvRNNCell DropoutCell
FusedRNNCell GRUCell LSTMCell ModifierCell RNNCell RNNParams ResidualCell SequentialRNNCell ZoneoutCell
do_rnn_checkpoint encode_sentences load_rnn_checkpoint rnn_unroll save_rnn_checkpoint
""".split()


@case(name=_PUBLIC)
def signatures(mx, name):
    return signature(getattr(mx.rnn, name))


@case
def names(mx):
    modules = [mx.rnn, mx.rnn.rnn_cell, mx.rnn.io, mx.rnn.rnn]
    own = [[name for name in _PUBLIC if hasattr(module, name)] for module in modules]
    return own, [mx.rnn.rnn.BaseRNNCell is mx.rnn.BaseRNNCell, mx.rnn.init is mx.init, mx.rnn.symbol is mx.sym]


def _stack(rnn):
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(4, prefix="a_"))
    stack.add(rnn.ResidualCell(rnn.GRUCell(4, prefix="b_")))
    stack.add(rnn.DropoutCell(0.0))
    stack.add(rnn.ZoneoutCell(rnn.RNNCell(3, prefix="c_")))
    return stack


def _mixed(rnn):
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.FusedRNNCell(2, 2, "lstm", bidirectional=True, prefix="f_"))
    stack.add(rnn.BidirectionalCell(rnn.LSTMCell(2, prefix="l_"), rnn.GRUCell(3, prefix="r_"), output_prefix="o_"))
    return stack


_CELLS = {
    "rnn": lambda rnn: rnn.RNNCell(4),
    "rnn relu": lambda rnn: rnn.RNNCell(4, activation="relu", prefix="q_"),
    "lstm": lambda rnn: rnn.LSTMCell(4, forget_bias=2.0),
    "gru": lambda rnn: rnn.GRUCell(4),
    "one unit": lambda rnn: rnn.LSTMCell(1, prefix=""),
    "residual": lambda rnn: rnn.ResidualCell(rnn.GRUCell(6)),
    "residual lstm": lambda rnn: rnn.ResidualCell(rnn.ZoneoutCell(rnn.LSTMCell(6))),
    "zoneout": lambda rnn: rnn.ZoneoutCell(rnn.LSTMCell(4), 0.2, 0.3),
    "zoneout of outputs": lambda rnn: rnn.ZoneoutCell(rnn.GRUCell(4), 0.5),
    "dropout": lambda rnn: rnn.DropoutCell(0.3),
    "no dropout": lambda rnn: rnn.DropoutCell(0),
    "both ways": lambda rnn: rnn.BidirectionalCell(rnn.LSTMCell(4, prefix="l_"), rnn.GRUCell(3, prefix="r_")),
    "both ways fused": lambda rnn: rnn.BidirectionalCell(
        rnn.FusedRNNCell(4, prefix="l_"), rnn.FusedRNNCell(3, mode="gru", prefix="r_")
    ),
    "stack": _stack,
    "mixed": _mixed,
    "empty": lambda rnn: rnn.SequentialRNNCell(),
    "fused lstm": lambda rnn: rnn.FusedRNNCell(4, 2, "lstm", True, 0.1),
    "fused gru": lambda rnn: rnn.FusedRNNCell(3, 1, "gru", get_next_state=True),
    "fused states": lambda rnn: rnn.FusedRNNCell(3, 3, "lstm", get_next_state=True, forget_bias=2.0, prefix="f_"),
    "fused tanh": lambda rnn: rnn.FusedRNNCell(3, 2, "rnn_tanh", bidirectional=True),
    "unfused lstm": lambda rnn: rnn.FusedRNNCell(4, 2, "lstm", True, 0.1).unfuse(),
    "unfused gru": lambda rnn: rnn.FusedRNNCell(3, 3, "gru", dropout=0.5, prefix="u_").unfuse(),
    "unfused relu": lambda rnn: rnn.FusedRNNCell(3, 1, "rnn_relu").unfuse(),
}
#: Cells whose outputs are drawn at random while training.
_RANDOM = ("zoneout", "zoneout of outputs", "dropout", "fused lstm", "unfused lstm", "unfused gru")


def _flat(value):
    return [part for each in value for part in _flat(each)] if isinstance(value, (list, tuple)) else [value]


def _shape_of(states):
    return [_shape_of(each) for each in states] if isinstance(states, list) else states.list_outputs()


@case(what=list(_CELLS), merge=[None, True, False], layout=["NTC", "TNC"])
def graphs(mx, what, merge, layout):
    cell = _CELLS[what](mx.rnn)
    found = []
    for length in (1, 3):
        outputs, states = cell.unroll(length, mx.sym.var("x"), layout=layout, merge_outputs=merge)
        whole = mx.sym.Group([*_flat(outputs), *_flat(states)])
        found.append((isinstance(outputs, list), _shape_of(states), _graph_of(whole.tojson())))
    return found


@case(what=list(_CELLS))
def facts(mx, what):
    cell = _CELLS[what](mx.rnn)
    return cell.state_info, cell.state_shape, list(cell.params._params), cell.params._prefix


def _bound(mx, outputs, **shapes):
    """An executor with given numbers as arguments, and what it computes forward and backward."""
    one = mx.sym.Group(_flat(outputs)).simple_bind(mx.cpu(), **shapes)
    for i, (_, value) in enumerate(sorted(one.arg_dict.items())):
        value[:] = array(mx, value.shape, i)
    out = one.forward(True)
    one.backward([array(mx, each.shape, i) for i, each in enumerate(out)])
    return out, [list(each) for each in sorted(one.grad_dict.items())]


@case(what=[name for name in _CELLS if name not in (*_RANDOM, "empty")], layout=["NTC", "TNC"], length=[1, 4])
def numbers_of_cells(mx, what, layout, length):
    outputs, states = _CELLS[what](mx.rnn).unroll(length, mx.sym.var("x"), layout=layout, merge_outputs=True)
    shape = (2, length, 6) if layout == "NTC" else (length, 2, 6)
    return _bound(mx, [outputs, *_flat(states)], x=shape)


@case(kind=["RNNCell", "LSTMCell", "GRUCell"], length=[200])
def long_sequences(mx, kind, length):
    outputs, states = getattr(mx.rnn, kind)(3).unroll(length, mx.sym.var("x"), layout="TNC", merge_outputs=True)
    return _bound(mx, [mx.sym.sum(outputs), *states], x=(length, 1, 2))


@case(mode=["rnn_relu", "rnn_tanh", "lstm", "gru"], both=[False, True], layers=[1, 3])
def fused_numbers(mx, mode, both, layers):
    cell = mx.rnn.FusedRNNCell(3, layers, mode, both, get_next_state=True, prefix="f_")
    outputs, states = cell.unroll(4, mx.sym.var("x"), layout="TNC")
    return _bound(mx, [outputs, *states], x=(4, 2, 5))


@case(kind=["ConvRNNCell", "ConvLSTMCell", "ConvGRUCell"], activation=["leaky", "tanh"])
def convolutions(mx, kind, activation):
    given = {} if activation == "leaky" else {"activation": activation, "i2h_stride": (2, 1), "i2h_kernel": (3, 1)}
    cell = getattr(mx.rnn, kind)((1, 3, 8, 6), 2, h2h_kernel=(3, 5), h2h_dilate=(2, 1), i2h_pad=(1, 0), **given)
    steps = [mx.sym.var(f"x{i}") for i in range(2)]
    outputs, states = cell.unroll(2, steps)
    nodes, _ = _graph_of(mx.sym.Group([*outputs, *states]).tojson())
    drawn = [(op, name, inputs) for op, name, _, inputs in nodes]
    weights = {name: value for name, value in zip(*_inferred(mx, outputs[-1])) if name[0] != "x"}
    unpacked = cell.unpack_weights(weights)
    packed = cell.pack_weights(unpacked)
    shapes = [[[name, each.shape] for name, each in some.items()] for some in (unpacked, packed)]
    shape = (2, 3, 8, 6)
    return cell.state_info, list(cell.params._params), drawn, shapes, _bound(mx, outputs, x0=shape, x1=shape)


def _inferred(mx, outputs):
    names = outputs.list_arguments()
    shapes, _, _ = outputs.infer_shape(x0=(2, 3, 8, 6), x1=(2, 3, 8, 6))
    return names, [mx.nd.zeros(shape) for shape in shapes]


@case(kind=["RNNCell", "LSTMCell", "GRUCell"])
def steps(mx, kind):
    """Calls by hand: counters in names, and what `reset` does to them."""
    cell, x = getattr(mx.rnn, kind)(4, prefix="s_"), mx.sym.var("x")
    found, states = [], cell.begin_state(func=mx.sym.var)
    for turn in range(4):
        if turn == 2:
            cell.reset()
            states = cell.begin_state()
        output, states = cell(x, states)
        found.append(mx.sym.Group([output, *states]).get_internals().list_outputs())
    return found


@case
def functions_as_activations(mx):
    seen = []

    def squared(x, **given):
        seen.append(given)
        return x * x + x

    cells = [mx.rnn.RNNCell(2, squared), mx.rnn.ConvLSTMCell((1, 1, 3, 3), 2, activation=squared)]
    outputs = [cell.unroll(2, [mx.sym.var("x")] * 2)[0][-1].get_internals().list_outputs() for cell in cells]
    return seen, outputs


@case
def shared_parameters(mx):
    params = mx.rnn.RNNParams("p_")
    first, second = mx.rnn.LSTMCell(4, prefix="a_", params=params), mx.rnn.LSTMCell(4, prefix="b_", params=params)
    x, weight = mx.sym.var("x"), params.get("w", shape=(2, 3), lr_mult=2)
    out = mx.sym.Group([first.unroll(2, x)[0][-1], second.unroll(2, x)[0][-1]])
    again = weight is params.get("w"), weight.attr_dict()
    return list(params._params), again, out.list_arguments(), first.params is params


@case
def prefixes_and_attributes(mx):
    with mx.name.Prefix("pre_"), mx.AttrScope(ctx_group="g"):
        out, _ = mx.rnn.GRUCell(2).unroll(2, mx.sym.var("x"))
    return _graph_of(out[-1].tojson())


@case
def both_ways_of_two_forms(mx):
    cell = mx.rnn.BidirectionalCell(mx.rnn.FusedRNNCell(2, prefix="l_"), mx.rnn.RNNCell(2, prefix="r_"))
    return cell.unroll(2, mx.sym.var("x"), layout="TNC", merge_outputs=True)[0].list_outputs()


# ---- weights ----


@case(what=["rnn", "lstm", "gru", "stack", "mixed", "both ways", "residual", "unfused lstm", "dropout"])
def unpacked_weights(mx, what):
    cell = _CELLS[what](mx.rnn)
    outputs, _ = cell.unroll(2, mx.sym.var("x"), merge_outputs=True)
    shapes, _, _ = outputs.infer_shape(x=(2, 2, 6))
    given = {name: array(mx, shape, i) for i, (name, shape) in enumerate(zip(outputs.list_arguments(), shapes))}
    before = list(given)
    unpacked = cell.unpack_weights(given)
    return unpacked, cell.pack_weights(unpacked), list(given) == before


@case(mode=["rnn_relu", "rnn_tanh", "lstm", "gru"], both=[False, True], layers=[1, 2], features=[1, 5])
def fused_weights(mx, mode, both, layers, features):
    cell = mx.rnn.FusedRNNCell(2, layers, mode, both, prefix="f_")
    outputs, _ = cell.unroll(1, mx.sym.var("x"), layout="TNC")
    (_, (size,), *_), _, _ = outputs.infer_shape(x=(1, 1, features))
    given = {"f_parameters": mx.nd.arange(size), "other": mx.nd.ones(1)}
    unpacked = cell.unpack_weights(given)
    loose = cell.unfuse().pack_weights(unpacked)
    return unpacked, cell.pack_weights(unpacked), loose, cell._num_gates, list(cell._gate_names)


@case
def dtypes_of_weights(mx):
    cell = mx.rnn.FusedRNNCell(2, prefix="f_")
    unpacked = cell.unpack_weights({"f_parameters": mx.nd.ones(40, dtype="float64")})
    return {np.dtype(each.dtype).name for each in unpacked.values()} == {"float64"}, cell.pack_weights(unpacked)


@case(mode=["lstm", "gru", "rnn_tanh"], both=[False, True])
def fused_initializer(mx, mode, both):
    outputs, _ = mx.rnn.FusedRNNCell(2, 2, mode, both, forget_bias=3.0).unroll(2, mx.sym.var("x"), layout="TNC")
    module = mx.mod.Module(outputs, data_names=["x"], label_names=None)
    module.bind([("x", (2, 1, 3))], for_training=False)
    module.init_params(mx.init.Constant(0.5))
    kind = mx.init.FusedRNN(mx.init.Constant(1.5), 2, 2, mode, both, 3.0)
    values = mx.nd.zeros(module.get_params()[0][f"{mode}_parameters"].shape)
    kind._init_weight(mx.init.InitDesc("x_parameters"), values)
    return module.get_params()[0], kind.dumps(), values


@case
def initializers_of_parts(mx):
    seen = []

    class Seen(mx.init.Initializer):
        def _init_weight(self, name, values):
            seen.append((str(name), values.shape))
            values[:] = len(seen)

        def _init_bias(self, name, values):
            self._init_weight(name, values)

    values = mx.nd.zeros(56)
    mx.init.FusedRNN(Seen(), 2, 1, "lstm")._init_weight(mx.init.InitDesc("f_parameters"), values)
    return seen, values


@case
def initial_biases(mx):
    outputs, _ = mx.rnn.LSTMCell(2, forget_bias=4).unroll(2, mx.sym.var("x"), merge_outputs=True)
    module = mx.mod.Module(outputs, data_names=["x"], label_names=None)
    module.bind([("x", (1, 2, 3))], for_training=False)
    module.init_params(mx.init.One())
    return module.get_params()[0]


# ---- errors ----

_CALLS = {
    "no step": lambda rnn, sym: rnn.BaseRNNCell()(sym("x"), []),
    "no states": lambda rnn, sym: rnn.BaseRNNCell().state_info,
    "no step of a modifier": lambda rnn, sym: rnn.ModifierCell(rnn.RNNCell(4))(sym("x"), [sym("s")]),
    "no step of convolutions": lambda rnn, sym: _base_convolution(rnn)(sym("x"), [sym("s")]),
    "a step of a fused cell": lambda rnn, sym: rnn.FusedRNNCell(4)(sym("x"), []),
    "a step both ways": lambda rnn, sym: rnn.BidirectionalCell(rnn.RNNCell(4), rnn.RNNCell(4))(sym("x"), []),
    "a step both ways in a stack": lambda rnn, sym: _stacked(rnn)(sym("x"), [sym("a"), sym("b")]),
    "too few states": lambda rnn, sym: rnn.LSTMCell(4)(sym("x"), [sym("s")]),
    "inside a modifier": lambda rnn, sym: _modified(rnn).begin_state(),
    "zoneout of a fused cell": lambda rnn, sym: rnn.ZoneoutCell(rnn.FusedRNNCell(4)),
    "zoneout both ways": lambda rnn, sym: rnn.ZoneoutCell(rnn.BidirectionalCell(rnn.RNNCell(4), rnn.RNNCell(4))),
    "dropout by text": lambda rnn, sym: rnn.DropoutCell("half"),
    "no inputs": lambda rnn, sym: rnn.RNNCell(4).unroll(2, None),
    "no inputs of a fused cell": lambda rnn, sym: rnn.FusedRNNCell(4).unroll(2, None),
    "no step at all": lambda rnn, sym: rnn.RNNCell(4).unroll(0, sym("x")),
    "fewer than no steps": lambda rnn, sym: rnn.RNNCell(4).unroll(-1, sym("x")),
    "another length": lambda rnn, sym: rnn.RNNCell(4).unroll(2, [sym("x")]),
    "another length of a fused cell": lambda rnn, sym: rnn.FusedRNNCell(4).unroll(2, [sym("x")]),
    "a group": lambda rnn, sym: rnn.RNNCell(4).unroll(2, rnn.symbol.Group([sym("x"), sym("y")])),
    "an array": lambda rnn, sym: rnn.RNNCell(4).unroll(2, rnn.ndarray.ones((1, 2, 3))),
    "no state to begin with": lambda rnn, sym: rnn.RNNCell(4).unroll(2, sym("x"), begin_state=[]),
    "layout": lambda rnn, sym: rnn.FusedRNNCell(4).unroll(2, sym("x"), layout="CNT"),
    "mode": lambda rnn, sym: rnn.FusedRNNCell(4, mode="x").unroll(2, sym("x")),
    "mode, unfused": lambda rnn, sym: rnn.FusedRNNCell(4, mode="x").unfuse(),
    "activation": lambda rnn, sym: rnn.RNNCell(4, "no such").unroll(2, sym("x")),
    "no units": lambda rnn, sym: rnn.RNNCell(0).unroll(2, sym("x")),
    "prefix": lambda rnn, sym: rnn.RNNCell(4, prefix=None),
    "params twice": lambda rnn, sym: rnn.SequentialRNNCell(rnn.RNNParams("x_")).add(rnn.RNNCell(4)),
    "params of both ways": lambda rnn, sym: rnn.BidirectionalCell(rnn.RNNCell(4), rnn.GRUCell(4), rnn.RNNParams()),
    "even kernel": lambda rnn, sym: rnn.ConvRNNCell((1, 3, 8, 6), 2, h2h_kernel=(2, 3)),
    "axes of a convolution": lambda rnn, sym: rnn.ConvRNNCell((3, 8, 6), 2),
    "unpacked from nothing": lambda rnn, sym: rnn.LSTMCell(4).unpack_weights({}),
    "packed from nothing": lambda rnn, sym: rnn.LSTMCell(4).pack_weights({}),
    "unpacked from nothing, fused": lambda rnn, sym: rnn.FusedRNNCell(4).unpack_weights({}),
    "packed from nothing, fused": lambda rnn, sym: rnn.FusedRNNCell(4).pack_weights({}),
    "another number of weights": lambda rnn, sym: _of_size(rnn, 57),
    "the vocabulary": lambda rnn, sym: rnn.encode_sentences([["a"]], {"b": 1}),
    "no sentence": lambda rnn, sym: rnn.BucketSentenceIter([], 2, [3]),
    "no bucket": lambda rnn, sym: rnn.BucketSentenceIter([[1, 2], [3]], 2),
    "batches of none": lambda rnn, sym: rnn.BucketSentenceIter([[1, 2]], 0, [3]),
    "layout of batches": lambda rnn, sym: rnn.BucketSentenceIter([[1, 2]], 1, [3], layout="XX"),
    "no checkpoint": lambda rnn, sym: rnn.load_rnn_checkpoint([], "/no/such/file", 1),
    "no cells": lambda rnn, sym: rnn.save_rnn_checkpoint(5, "/no/such/file", 1, sym("x"), {}, {}),
}


def _base_convolution(rnn):
    ones, given = (1, 1), ("zeros",) * 4
    return rnn.BaseConvRNNCell((1, 3, 8, 6), 2, ones, ones, ones, ones, ones, ones, *given, "tanh")


def _stacked(rnn):
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.BidirectionalCell(rnn.RNNCell(4), rnn.RNNCell(4, prefix="r_")))
    return stack


def _modified(rnn):
    cell = rnn.RNNCell(4)
    rnn.ZoneoutCell(cell)
    return cell


def _of_size(rnn, size):
    return rnn.FusedRNNCell(2, prefix="").unpack_weights({"parameters": rnn.ndarray.ones(size)})


@case(call=list(_CALLS))
def errors(mx, call):
    return str(_CALLS[call](mx.rnn, mx.sym.var))


# ---- what 1.9.1 refuses without a reason, or does otherwise ----


@case(differs="1.9.1 passes an argument that no cell takes, and always fails")
def unrolled_by_a_function(mx):
    return mx.rnn.rnn_unroll(mx.rnn.RNNCell(2), 2, mx.sym.var("x"))[0][-1].list_outputs()


@case(differs="1.9.1 looks for an attribute that a stack does not have")
def zoneout_of_a_stack(mx):
    stack = mx.rnn.SequentialRNNCell()
    stack.add(mx.rnn.RNNCell(2))
    return mx.rnn.ZoneoutCell(stack, 0.5).unroll(2, mx.sym.var("x"))[0][-1].list_arguments()


@case(differs="1.9.1 calls it init_sym there alone")
def states_of_modifiers(mx):
    return len(mx.rnn.ResidualCell(mx.rnn.LSTMCell(2)).begin_state(func=mx.sym.var))


@case(differs="1.9.1 does not find the initializer within")
def fused_initializer_from_text(mx):
    return mx.init.create(mx.init.FusedRNN(mx.init.One(), 2, 1, "lstm").dumps()).dumps()


@case(differs="1.9.1 gives each unknown word a number of its own, which words of the vocabulary may have")
def unknown_words(mx):
    return mx.rnn.encode_sentences([["a", "x", "b"], ["y", "x"]], {"a": 1, "b": 0}, unknown_token="?")


# ---- sentences ----

_SENTENCES = [["a", "b", "c"], ["b", "a"], [], ["d"]]


@case(start=[0, 1, 3], invalid=[-1, 0, 4], key=["\n", "b"])
def encoded_sentences(mx, start, invalid, key):
    return mx.rnn.encode_sentences(_SENTENCES, None, invalid, key, start)


@case
def known_sentences(mx):
    vocabulary = {"a": 5, "b": 7}
    found, same = mx.rnn.encode_sentences([iter("ab"), "ba"], vocabulary)
    return found, same is vocabulary, mx.rnn.encode_sentences([]), mx.rnn.encode_sentences(["ab", ["ab"]])


_NUMBERS = [[1, 2, 3], [4, 5], [6], [7, 8], [9, 1, 2], [3, 4], [5, 6, 7, 8, 9]]


def _batches(source):
    for batch in source:
        described = [(each.name, each.shape, each.layout) for each in (*batch.provide_data, *batch.provide_label)]
        yield batch.bucket_key, batch.data, batch.label, batch.pad, batch.index, described


@case(
    batch=[1, 2, 3],
    buckets=[None, [3], [5, 2], [1, 3, 9]],
    layout=["NT", "TN"],
    dtype=["float32", "int32"],
)
def batches_of_sentences(mx, batch, buckets, layout, dtype):
    random.seed(3)
    np.random.seed(3)
    source = mx.rnn.BucketSentenceIter(
        _NUMBERS, batch, buckets and list(buckets), 0, "words", "next", dtype=dtype, layout=layout
    )
    wanted = [(each.name, each.shape, each.layout) for each in (*source.provide_data, *source.provide_label)]
    facts = source.batch_size, source.buckets, source.default_bucket_key, source.major_axis, wanted
    first = list(_batches(source))
    source.reset()
    return facts, first, list(_batches(source)), isinstance(source, mx.io.DataIter)


# ---- checkpoints ----


@case(listed=[False, True], period=[1, 2, 0])
def checkpoints(mx, listed, period, folder):
    cell = _mixed(mx.rnn)
    outputs, _ = cell.unroll(2, mx.sym.var("x"), layout="TNC", merge_outputs=True)
    shapes, _, _ = outputs.infer_shape(x=(2, 1, 3))
    given = {name: array(mx, shape, i) for i, (name, shape) in enumerate(zip(outputs.list_arguments(), shapes))}
    del given["x"]
    where, cells = os.path.join(folder, "model"), [cell] if listed else cell
    save = mx.rnn.do_rnn_checkpoint(cells, where, period)
    for epoch in range(3):
        save(epoch, outputs, given, {"state": mx.nd.ones(2)})
    written = sorted(os.listdir(folder))
    last = int(written[-2][-len("0000.params") :][:4])
    held = mx.nd.load(os.path.join(folder, written[-2]))
    network, arguments, states = mx.rnn.load_rnn_checkpoint(cells, where, last)
    loose = mx.rnn.load_rnn_checkpoint([], where, last)[1]
    same = all(np.array_equal(arguments[name].asnumpy(), each.asnumpy()) for name, each in given.items())
    return written, sorted(held), network.list_outputs(), list(arguments), states, sorted(loose), same
