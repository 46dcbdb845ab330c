"""gluon.rnn: layers and cells, values, gradients, names, states, reprs."""

from __future__ import annotations

import inspect

import numpy as np
from _case import case

_LAYERS = ["RNN", "LSTM", "GRU"]
_CELLS = ["RNNCell", "LSTMCell", "GRUCell"]


def _filled(mx, block):
    """The block with parameters of NumPy's."""
    for each in block.collect_params().values():
        if each.shape and 0 not in each.shape:
            each.initialize(init="zeros", force_reinit=True)
            each.set_data(mx.nd.array(np.random.normal(0, 0.3, each.shape)))
    return block


def _trained(mx, block, *inputs):
    """Outputs, and gradients of the inputs and all parameters."""
    for each in inputs:
        each.attach_grad()
    with mx.autograd.record():
        out = block(*inputs)
        first = out[0] if isinstance(out, (list, tuple)) else out
        loss = (first * first).sum()
    loss.backward()
    grads = [p.grad() for p in block.collect_params().values()]
    return [out if not isinstance(out, tuple) else list(out), [each.grad for each in inputs], grads]


_OPTIONS = {
    "plain": {},
    "two": {"num_layers": 2},
    "both": {"bidirectional": True},
    "two both": {"num_layers": 2, "bidirectional": True},
    "NTC": {"layout": "NTC"},
}


@case(layer=_LAYERS, options=list(_OPTIONS))
def layer(mx, layer, options):
    made = _filled(mx, getattr(mx.gluon.rnn, layer)(3, input_size=4, **_OPTIONS[options]))
    return _trained(mx, made, mx.nd.array(np.random.normal(0, 1, (5, 2, 4))))


@case(layer=_LAYERS, options=list(_OPTIONS), given=["list", "array"])
def layer_with_states(mx, layer, options, given):
    made = _filled(mx, getattr(mx.gluon.rnn, layer)(3, input_size=4, **_OPTIONS[options]))
    batch = 5 if options == "NTC" else 2
    states = [mx.nd.array(np.random.normal(0, 1, each["shape"])) for each in made.state_info(batch)]
    inputs = mx.nd.array(np.random.normal(0, 1, (5, 2, 4)))
    if given == "array" and len(states) == 1:
        states = states[0]
    out, following = made(inputs, states)
    return out, following


@case(activation=["relu", "tanh", "other"])
def activations_of_rnn(mx, activation):
    made = _filled(mx, mx.gluon.rnn.RNN(3, activation=activation, input_size=4))
    return made(mx.nd.ones((2, 2, 4)))


@case
def projection(mx):
    made = _filled(mx, mx.gluon.rnn.LSTM(5, projection_size=3, input_size=4))
    names = [[p.name, p.shape] for p in made.collect_params().values()]
    return names, made.state_info(2), made(mx.nd.array(np.random.normal(0, 1, (5, 2, 4))))


@case(layer=_LAYERS, layout=["TNC", "NTC"], differs="lengths are ignored there on the CPU")
def lengths(mx, layer, layout):
    made = _filled(mx, getattr(mx.gluon.rnn, layer)(3, input_size=4, layout=layout, use_sequence_length=True))
    states = made.begin_state(2)
    inputs = np.random.normal(0, 1, (5, 2, 4))
    inputs = mx.nd.array(inputs if layout == "TNC" else inputs.swapaxes(0, 1))
    out, following = made(inputs, states, mx.nd.array([3, 5]))
    return out, following


@case(layer=_LAYERS)
def input_size_is_found(mx, layer):
    made = getattr(mx.gluon.rnn, layer)(3, 2, bidirectional=True)
    before = repr(made)
    made.initialize(mx.init.One())
    out = made(mx.nd.ones((2, 2, 4)) / 10)
    return before, repr(made), out, [p.shape for p in made.collect_params().values()]


@case(layer=_LAYERS, options=list(_OPTIONS))
def names_of_parameters(mx, layer, options):
    made = getattr(mx.gluon.rnn, layer)(3, input_size=4, **_OPTIONS[options])
    files = made._collect_params_with_prefix()
    params = [[p.name, p.shape, str(p.init)] for p in made.collect_params().values()]
    return params, sorted(files), repr(made), made.state_info(2), made._unfuse().__repr__(), made.name


@case(layer=_LAYERS, options=list(_OPTIONS))
def unfused(mx, layer, options):
    made = _filled(mx, getattr(mx.gluon.rnn, layer)(3, input_size=4, **_OPTIONS[options]))
    stack = made._unfuse()
    layout = made._layout
    out, states = stack.unroll(2 if layout == "NTC" else 5, mx.nd.ones((5, 2, 4)), layout=layout, merge_outputs=True)
    return out, states, sorted(stack.collect_params().keys())


@case(layer=_LAYERS)
def saved_and_loaded(mx, folder, layer):
    made = _filled(mx, getattr(mx.gluon.rnn, layer)(3, 2, input_size=4, bidirectional=True))
    made.save_parameters(f"{folder}/a")
    again = getattr(mx.gluon.rnn, layer)(3, 2, input_size=4, bidirectional=True)
    again.load_parameters(f"{folder}/a")
    return again(mx.nd.ones((2, 1, 4))), sorted(mx.nd.load(f"{folder}/a"))


@case(dtype=["float64", "float32"])
def cast(mx, dtype):
    made = _filled(mx, mx.gluon.rnn.LSTM(3, input_size=4))
    made.cast(dtype)
    return made(mx.nd.ones((2, 1, 4), dtype=dtype)), made.begin_state(1)[0].dtype.__name__


@case
def begin_state(mx):
    made = mx.gluon.rnn.LSTM(3, 2, input_size=4)
    return made.begin_state(2), made.begin_state(1, func=mx.nd.ones), made.begin_state(batch_size=1, dtype="float64")


@case
def dropout_between_layers(mx):
    made = _filled(mx, mx.gluon.rnn.GRU(3, 2, dropout=0.5, input_size=4))
    out = made(mx.nd.ones((2, 1, 4)))
    with mx.autograd.train_mode():
        drawn = made(mx.nd.ones((2, 1, 4)))
    return repr(made), out, drawn.shape, repr(made._unfuse())


def _wrong(mx, wrong):
    made = _filled(mx, mx.gluon.rnn.LSTM(3, input_size=4))
    inputs = mx.nd.ones((2, 2, 4))
    return {
        "layout": lambda: mx.gluon.rnn.GRU(3, layout="CNT"),
        "state": lambda: made(inputs, [mx.nd.ones((1, 2, 2)), mx.nd.ones((1, 2, 3))]),
        "input": lambda: made(mx.nd.ones((2, 2, 5))),
        "argument": lambda: mx.gluon.rnn.LSTM(3, other=1),
        "unfuse projection": lambda: mx.gluon.rnn.LSTM(3, projection_size=2)._unfuse(),
        "unfuse clipping": lambda: mx.gluon.rnn.LSTM(3, state_clip_min=-1, state_clip_max=1)._unfuse(),
        "step of both": lambda: mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.LSTMCell(3), mx.gluon.rnn.LSTMCell(3))(
            inputs, []
        ),
        "modified twice": lambda: [mx.gluon.rnn.ResidualCell(c) for c in [mx.gluon.rnn.GRUCell(3)] * 2],
        "base of a modifier": lambda: mx.gluon.rnn.ResidualCell(mx.gluon.rnn.GRUCell(3)).base_cell.begin_state(1),
        "zoneout of both": lambda: mx.gluon.rnn.ZoneoutCell(
            mx.gluon.rnn.BidirectionalCell(mx.gluon.rnn.LSTMCell(3), mx.gluon.rnn.LSTMCell(3))
        ),
        "rate": lambda: mx.gluon.rnn.DropoutCell("1"),
        "length": lambda: _filled(mx, mx.gluon.rnn.RNNCell(3, input_size=4)).unroll(3, inputs),
        "no inputs": lambda: _filled(mx, mx.gluon.rnn.RNNCell(3, input_size=4)).unroll(3, None),
        "base cell": lambda: mx.gluon.rnn.RecurrentCell().state_info(),
    }[wrong]()


_WRONG = ["layout", "state", "input", "argument", "unfuse projection", "unfuse clipping", "step of both"]
_WRONG += ["modified twice", "base of a modifier", "zoneout of both", "rate", "length", "no inputs", "base cell"]


@case(wrong=_WRONG)
def wrong_use(mx, wrong):
    _wrong(mx, wrong)


@case(cell=_CELLS)
def one_step(mx, cell):
    made = _filled(mx, getattr(mx.gluon.rnn, cell)(3, input_size=4))
    states = [mx.nd.array(np.random.normal(0, 1, each["shape"])) for each in made.state_info(2)]
    inputs = mx.nd.array(np.random.normal(0, 1, (2, 4)))
    for each in (inputs, *states):
        each.attach_grad()
    with mx.autograd.record():
        out, following = made(inputs, states)
        loss = (out * out).sum()
    loss.backward()
    grads = [inputs.grad, *(each.grad for each in states), *(p.grad() for p in made.collect_params().values())]
    return out, following, grads, [[p.name, p.shape] for p in made.collect_params().values()], repr(made)


@case(activation=["relu", "sigmoid", "softsign", "softrelu", "leaky"])
def activations_of_a_cell(mx, activation):
    kind = {"leaky": lambda: mx.gluon.nn.LeakyReLU(0.3)}
    made = _filled(mx, mx.gluon.rnn.RNNCell(3, input_size=4, activation=kind.get(activation, lambda: activation)()))
    return made(mx.nd.array(np.random.normal(0, 1, (2, 4))), made.begin_state(2))[0]


@case(one=["tanh", "relu"], gate=["sigmoid", "softsign"])
def activations_of_lstm(mx, one, gate):
    made = _filled(mx, mx.gluon.rnn.LSTMCell(3, input_size=4, activation=one, recurrent_activation=gate))
    return made(mx.nd.array(np.random.normal(0, 1, (2, 4))), made.begin_state(2))[0]


@case(cell=_CELLS)
def size_of_a_cell_is_found(mx, cell):
    made = getattr(mx.gluon.rnn, cell)(3)
    made.initialize(mx.init.One())
    out, _ = made(mx.nd.ones((2, 4)) / 10, made.begin_state(2))
    return out, repr(made), [p.shape for p in made.collect_params().values()]


def _made_cells(mx, kind):
    rnn = mx.gluon.rnn
    if kind in _CELLS:
        return getattr(rnn, kind)(4, input_size=4)
    if kind in ("SequentialRNNCell", "HybridSequentialRNNCell"):
        made = getattr(rnn, kind)()
        made.add(rnn.LSTMCell(3, input_size=4))
        made.add(rnn.DropoutCell(0.5))
        made.add(rnn.GRUCell(4, input_size=3))
        return made
    if kind == "BidirectionalCell":
        return rnn.BidirectionalCell(rnn.LSTMCell(4, input_size=4), rnn.GRUCell(4, input_size=4))
    if kind == "DropoutCell":
        return rnn.DropoutCell(0.3)
    if kind == "ZoneoutCell":
        return rnn.ZoneoutCell(rnn.LSTMCell(4, input_size=4, prefix="a_"), 0.3, 0.2)
    if kind == "ResidualCell":
        return rnn.ResidualCell(rnn.GRUCell(4, input_size=4))
    if kind == "nested":
        made = rnn.SequentialRNNCell()
        made.add(rnn.BidirectionalCell(rnn.GRUCell(2, input_size=4), rnn.GRUCell(2, input_size=4)))
        made.add(rnn.ResidualCell(rnn.LSTMCell(4, input_size=4)))
        return made
    raise KeyError(kind)


_KINDS = [*_CELLS, "SequentialRNNCell", "HybridSequentialRNNCell", "BidirectionalCell", "DropoutCell", "ZoneoutCell"]
_KINDS += ["ResidualCell", "nested"]


@case(kind=_KINDS)
def facts(mx, kind):
    made = _made_cells(mx, kind)
    return (
        repr(made),
        made.name,
        made.prefix,
        made.state_info(3),
        [[p.name, p.shape] for p in made.collect_params().values()],
    )


@case(kind=_KINDS, layout=["NTC", "TNC"], merge=[None, True, False], form=["array", "list"])
def unroll(mx, kind, layout, merge, form):
    made = _filled(mx, _made_cells(mx, kind))
    inputs = np.random.normal(0, 1, (2, 3, 4) if layout == "NTC" else (3, 2, 4))
    if form == "list":
        steps = inputs.swapaxes(0, 1) if layout == "NTC" else inputs
        inputs = [mx.nd.array(each) for each in steps]
    else:
        inputs = mx.nd.array(inputs)
    out, states = made.unroll(3, inputs, layout=layout, merge_outputs=merge)
    return list(out) if isinstance(out, (list, tuple)) else out, list(states)


@case(kind=[each for each in _KINDS if each != "nested"], layout=["NTC", "TNC"], merge=[True, False])
def unroll_with_lengths(mx, kind, layout, merge):
    return _unrolled_with_lengths(mx, kind, layout, merge)


@case(kind=["BidirectionalCell", "nested"], differs="there an error about shapes")
def unroll_both_ways_with_lengths(mx, kind):
    return _unrolled_with_lengths(mx, kind, "NTC", None)


def _unrolled_with_lengths(mx, kind, layout, merge):
    made = _filled(mx, _made_cells(mx, kind))
    inputs = mx.nd.array(np.random.normal(0, 1, (2, 3, 4) if layout == "NTC" else (3, 2, 4)))
    lengths = mx.nd.array([2, 3])
    out, states = made.unroll(3, inputs, layout=layout, merge_outputs=merge, valid_length=lengths)
    return list(out) if isinstance(out, (list, tuple)) else out, list(states)


@case(kind=_CELLS)
def unroll_from_states(mx, kind):
    made = _filled(mx, _made_cells(mx, kind))
    states = [mx.nd.array(np.random.normal(0, 1, each["shape"])) for each in made.state_info(2)]
    out, following = made.unroll(3, mx.nd.ones((2, 3, 4)), begin_state=states, merge_outputs=True)
    return out, following


@case(kind=_KINDS)
def first_states(mx, kind):
    if kind == "DropoutCell":
        return _made_cells(mx, kind).begin_state(batch_size=2)
    made = _made_cells(mx, kind)
    return made.begin_state(batch_size=2, func=mx.nd.zeros), made.begin_state(batch_size=1, func=mx.nd.ones)


@case(kind=["SequentialRNNCell", "HybridSequentialRNNCell"])
def sequence_of_cells(mx, kind):
    made = _filled(mx, _made_cells(mx, kind))
    out, states = made(mx.nd.ones((2, 4)), made.begin_state(batch_size=2))
    return len(made), repr(made[0]), repr(made[2]), out, states


@case(name=[*_LAYERS, *_CELLS, "SequentialRNNCell", "HybridSequentialRNNCell", "DropoutCell", "ModifierCell",
            "ZoneoutCell", "ResidualCell", "BidirectionalCell", "RecurrentCell", "HybridRecurrentCell"])  # fmt: skip
def signature(mx, name):
    kind = getattr(mx.gluon.rnn, name)
    return [
        [each.name, str(each.default) if each.default is not each.empty else "-"]
        for each in inspect.signature(kind.__init__).parameters.values()
    ]


@case
def steps_are_counted(mx):
    made = _filled(mx, _made_cells(mx, "SequentialRNNCell"))
    states = made.begin_state(batch_size=1)
    for _ in range(2):
        _, states = made(mx.nd.ones((1, 4)), states)
    counts = made._counter, made[0]._counter, made[0]._init_counter
    made.reset()
    return counts, made._counter, made[0]._counter


@case
def shared_parameters(mx):
    first = mx.gluon.rnn.LSTMCell(3, input_size=4, prefix="a_")
    second = mx.gluon.rnn.LSTMCell(3, input_size=4, prefix="a_", params=first.params)
    return first.i2h_weight is second.i2h_weight, sorted(second.collect_params().keys())


@case
def own_cell(mx):
    class Adding(mx.gluon.rnn.HybridRecurrentCell):
        def state_info(self, batch_size=0):
            return [{"shape": (batch_size, 4), "__layout__": "NC"}]

        def _alias(self):
            return "adding"

        def hybrid_forward(self, F, inputs, states):
            out = inputs + states[0]
            return out, [out]

    made = Adding()
    return made.unroll(3, mx.nd.ones((2, 3, 4)), merge_outputs=True), made.name
