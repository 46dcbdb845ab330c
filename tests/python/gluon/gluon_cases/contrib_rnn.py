"""gluon.contrib.rnn: convolutional cells, shared dropout masks, projections, loops."""

from __future__ import annotations

import numpy as np
from _case import case

from gluon_cases._parts import all_of, array, fill, signature

_DIMS = [1, 2, 3]
_KINDS = ["RNN", "LSTM", "GRU"]
_SIZES = (6, 5, 4)
_LAYOUTS = {1: "NTCW", 2: "NTCHW", 3: "NTCDHW"}


def _conv(mx, kind, dims, channels=3, **options):
    """A convolutional cell, initialized, whose states have the sizes of the inputs."""
    cell = getattr(mx.gluon.contrib.rnn, f"Conv{dims}D{kind}Cell")
    given = {"i2h_kernel": 3, "h2h_kernel": 3, "i2h_pad": 1, **options}
    made = cell((channels, *_SIZES[:dims]), 2, **given)
    made.initialize()
    return made


def _step(mx, cell, x, states):
    """One step: outputs, states, and the gradients of everything."""
    for each in (x, *states):
        each.attach_grad()
    with mx.autograd.record():
        out, following = cell(x, states)
        loss = (out * out).sum() + sum((each * 0.5).sum() for each in following)
    loss.backward()
    return out, following, [each.grad for each in (x, *states)], [p.grad() for p in cell.collect_params().values()]


def _states(mx, cell, batch=2):
    return [array(mx, info["shape"], i + 3) for i, info in enumerate(cell.state_info(batch))]


@case
def names(mx):
    rnn = mx.gluon.contrib.rnn
    return rnn.__all__ if isinstance(rnn.__all__, str) else sorted({*rnn.__all__} - {"conv_rnn_cell", "rnn_cell"})


@case(kind=_KINDS, dims=_DIMS)
def conv_signatures(mx, kind, dims):
    return signature(getattr(mx.gluon.contrib.rnn, f"Conv{dims}D{kind}Cell"))


@case(name=["LSTMPCell", "VariationalDropoutCell"])
def signatures(mx, name):
    return signature(getattr(mx.gluon.contrib.rnn, name))


@case
def signature_of_dynamic_unroll(mx):
    return signature(mx.gluon.contrib.rnn.rnn_cell.dynamic_unroll)


@case(kind=_KINDS, dims=_DIMS, channels=[3, 0])
def conv_parameters(mx, kind, dims, channels):
    cell = _conv(mx, kind, dims, channels, prefix="c_")
    shown, before = repr(cell), all_of(cell.collect_params())
    cell(mx.nd.ones((2, 3, *_SIZES[:dims])), cell.begin_state(2))
    return shown, before, repr(cell), all_of(cell.collect_params()), cell.state_info(), cell.state_info(4)


@case(kind=_KINDS, dims=_DIMS)
def conv_step(mx, kind, dims):
    cell = fill(mx, _conv(mx, kind, dims))
    return _step(mx, cell, array(mx, (2, 3, *_SIZES[:dims])), _states(mx, cell))


@case(kind=_KINDS, activation=["relu", "sigmoid", "tanh", "softsign", "softrelu"])
def conv_activations(mx, kind, activation):
    cell = fill(mx, _conv(mx, kind, 1, activation=activation))
    return repr(cell), cell(array(mx, (2, 3, 6)), _states(mx, cell))


@case(kind=_KINDS, slope=[0.01, 0.3])
def conv_activation_leaky(mx, kind, slope):
    cell = fill(mx, _conv(mx, kind, 1, activation=mx.gluon.nn.LeakyReLU(slope)))
    return repr(cell), cell(array(mx, (2, 3, 6)), _states(mx, cell))


@case(
    kind=_KINDS, activation=["ELU", "Swish"], differs="there a cell calls a block in a way that only LeakyReLU allows"
)
def conv_activation_blocks(mx, kind, activation):
    block = getattr(mx.gluon.nn, activation)()
    block.initialize()
    cell = fill(mx, _conv(mx, kind, 1, activation=block))
    return cell(array(mx, (2, 3, 6)), _states(mx, cell))


_CONVOLUTIONS = {
    "wide": {"i2h_kernel": (5, 3), "i2h_pad": (2, 1)},
    "no pad": {"i2h_pad": 0},
    "dilated": {"i2h_dilate": 2, "i2h_pad": (2, 1)},
    "dilated state": {"h2h_dilate": (1, 2)},
    "point": {"h2h_kernel": 1},
    "long state": {"h2h_kernel": (5, 1)},
}


@case(kind=_KINDS, options=list(_CONVOLUTIONS))
def conv_options(mx, kind, options):
    cell = fill(mx, _conv(mx, kind, 2, **_CONVOLUTIONS[options]))
    shapes = [each.shape for each in cell.collect_params().values()]
    return shapes, cell.state_info(1), _step(mx, cell, array(mx, (1, 3, 6, 5)), _states(mx, cell, 1))[:2]


@case(layout=["NHWC", "NCHW"])
def conv_layouts(mx, layout):
    shape = (4, 6, 3) if layout == "NHWC" else (3, 4, 6)
    cell = mx.gluon.contrib.rnn.Conv2DGRUCell(shape, 2, (3, 5), 3, conv_layout=layout)
    return repr(cell), cell.state_info(2), [each.shape for each in cell.collect_params().values()]


@case(given=["even", "even in one", "few", "many", "pad", "dilate"])
def conv_errors(mx, given):
    options = {
        "even": {"h2h_kernel": 2},
        "even in one": {"h2h_kernel": (3, 4)},
        "few": {"i2h_kernel": (3,)},
        "many": {"i2h_kernel": (3, 3, 3)},
        "pad": {"i2h_pad": (1, 1, 1)},
        "dilate": {"h2h_dilate": (1,)},
    }[given]
    return _conv(mx, "LSTM", 2, **options)


@case(dims=_DIMS)
def conv_of_another_number_of_axes(mx, dims):
    cell = fill(mx, _conv(mx, "RNN", 2))
    return cell(mx.nd.ones((2, 3, *_SIZES[:dims])), _states(mx, cell))[0].shape


@case(kind=_KINDS, dims=_DIMS, merge=[True, False, None])
def conv_unroll(mx, kind, dims, merge):
    cell = fill(mx, _conv(mx, kind, dims))
    x = array(mx, (2, 3, 3, *_SIZES[:dims]))
    return cell.unroll(3, x, layout=_LAYOUTS[dims], merge_outputs=merge)


@case(kind=_KINDS)
def conv_unroll_of_lengths(mx, kind):
    cell = fill(mx, _conv(mx, kind, 1))
    x = array(mx, (2, 3, 3, 6))
    return cell.unroll(3, x, layout="NTCW", valid_length=mx.nd.array([1, 3]))


@case(kind=_KINDS)
def conv_hybridized(mx, kind):
    cell = fill(mx, _conv(mx, kind, 2))
    cell.hybridize()
    out, states = cell(array(mx, (2, 3, 6, 5)), _states(mx, cell))
    return out, states


@case
def conv_in_a_sequence(mx):
    cells = mx.gluon.rnn.SequentialRNNCell()
    cells.add(_conv(mx, "LSTM", 1, prefix="a_"))
    cells.add(_conv(mx, "RNN", 1, channels=2, prefix="b_"))
    fill(mx, cells)
    return [repr(cells), cells.unroll(2, array(mx, (2, 2, 3, 6)), layout="NTCW"), all_of(cells.collect_params())]


@case(
    initializer=["i2h_weight_initializer", "h2h_weight_initializer", "i2h_bias_initializer", "h2h_bias_initializer"],
    cell=["conv", "projected"],
)
def initializers(mx, initializer, cell):
    if cell == "conv":
        made = _conv(mx, "GRU", 1, **{initializer: mx.init.Constant(0.5)})
    else:
        made = mx.gluon.contrib.rnn.LSTMPCell(3, 2, input_size=2, **{initializer: mx.init.Constant(0.5)})
        made.initialize()
    return getattr(made, initializer[:-12]).data()


# ---- LSTMPCell ----


def _projected(mx, **options):
    cell = mx.gluon.contrib.rnn.LSTMPCell(5, 3, input_size=4, **options)
    cell.initialize()
    return fill(mx, cell)


@case(size=[4, 0])
def projected_parameters(mx, size):
    cell = mx.gluon.contrib.rnn.LSTMPCell(5, 3, input_size=size, prefix="p_")
    cell.initialize()
    shown, before = repr(cell), all_of(cell.collect_params())
    cell(mx.nd.ones((2, 4)), cell.begin_state(2))
    return shown, before, repr(cell), all_of(cell.collect_params()), cell.state_info(), cell.state_info(3)


@case
def projected_step(mx):
    cell = _projected(mx)
    return _step(mx, cell, array(mx, (2, 4)), _states(mx, cell))


@case(layout=["NTC", "TNC"], merge=[True, False, None], lengths=[False, True])
def projected_unroll(mx, layout, merge, lengths):
    cell = _projected(mx)
    x = array(mx, (2, 3, 4) if layout == "NTC" else (3, 2, 4))
    given = mx.nd.array([1, 3]) if lengths else None
    return cell.unroll(3, x, layout=layout, merge_outputs=merge, valid_length=given)


@case
def projected_hybridized(mx):
    cell = _projected(mx)
    cell.hybridize()
    out, states = cell(array(mx, (2, 4)), _states(mx, cell))
    return out, states


@case(features=[3, 5])
def projected_with_other_features(mx, features):
    cell = _projected(mx)
    return cell(mx.nd.ones((2, features)), _states(mx, cell))[0].asnumpy()


# ---- VariationalDropoutCell ----


def _inner(mx, kind="LSTMCell", **options):
    return getattr(mx.gluon.rnn, kind)(3, input_size=4, **options)


def _dropped(mx, *rates, kind="LSTMCell"):
    cell = mx.gluon.contrib.rnn.VariationalDropoutCell(_inner(mx, kind, prefix="in_"), *rates)
    cell.initialize()
    return fill(mx, cell)


def _masks(cell):
    return [
        None if each is None else each.shape
        for each in (cell.drop_inputs_mask, cell.drop_states_mask, cell.drop_outputs_mask)
    ]


@case(kind=["RNNCell", "LSTMCell", "GRUCell"])
def dropout_cell(mx, kind):
    cell = _dropped(mx, 0.1, 0.2, 0.3, kind=kind)
    return repr(cell), cell.prefix, cell.name, cell.state_info(2), all_of(cell.collect_params()), _masks(cell)


@case(inputs=[0, 0.5], states=[0, 0.5], outputs=[0, 0.5])
def dropout_masks_of_steps(mx, inputs, states, outputs):
    """Which masks there are, of which values, and that the next step has the same."""
    cell = _dropped(mx, inputs, states, outputs)
    with mx.autograd.record():
        first = cell.begin_state(batch_size=2, func=mx.nd.zeros)
        cell(mx.nd.ones((2, 4)), first)
        shapes = _masks(cell)
        before = [cell.drop_inputs_mask, cell.drop_states_mask, cell.drop_outputs_mask]
        cell(mx.nd.ones((2, 4)), first)
    after = [cell.drop_inputs_mask, cell.drop_states_mask, cell.drop_outputs_mask]
    values = [None if each is None else set(each.asnumpy().ravel().tolist()) <= {0.0, 2.0} for each in after]
    cell.reset()
    return shapes, [a is b for a, b in zip(before, after)], values, _masks(cell)


@case(rates=["none", "inputs", "outputs", "states"], layout=["NTC", "TNC"], merge=[None, True, False])
def dropout_unroll(mx, rates, layout, merge):
    """Outside of training nothing is dropped: the values are those of the cell within."""
    given = {"none": (), "inputs": (0.5,), "outputs": (0, 0, 0.5), "states": (0, 0.5)}[rates]
    cell = _dropped(mx, *given)
    x = array(mx, (2, 3, 4) if layout == "NTC" else (3, 2, 4))
    return cell.unroll(3, x, layout=layout, merge_outputs=merge), _masks(cell)


@case(rates=["inputs", "states"], merge=[None, True, False])
def dropout_unroll_of_lengths(mx, rates, merge):
    cell = _dropped(mx, *{"inputs": (0.5, 0, 0.5), "states": (0, 0.5)}[rates])
    x = array(mx, (2, 3, 4))
    return cell.unroll(3, x, merge_outputs=merge, valid_length=mx.nd.array([1, 3]))


@case(rates=["inputs", "outputs", "states"])
def dropout_is_the_same_in_all_steps(mx, rates):
    given = {"inputs": (0.5,), "outputs": (0, 0, 0.5), "states": (0, 0.5)}[rates]
    cell = _dropped(mx, *given, kind="RNNCell")
    for each in cell.collect_params().values():
        each.set_data(mx.nd.zeros(each.shape) if "weight" not in each.name else mx.nd.ones(each.shape))
    with mx.autograd.record():
        outputs, _ = cell.unroll(20, mx.nd.ones((8, 20, 4)), merge_outputs=True)
    gone = outputs.asnumpy() == 0
    return bool((gone == gone[:, :1]).all()), rates == "inputs" or bool(gone.any()) == (rates == "outputs")


@case(given=["list", "merged", "short", "long"], rates=["inputs", "states"])
def dropout_unroll_of_lists(mx, given, rates):
    cell = _dropped(mx, *{"inputs": (0.5,), "states": (0, 0.5)}[rates])
    steps = [array(mx, (2, 4), i) for i in range(3)]
    length = {"short": 2, "long": 4}.get(given, 3)
    return cell.unroll(length, steps, merge_outputs=True if given == "merged" else None)


@case(states=[0, 0.5])
def dropout_of_both_directions(mx, states):
    cell = mx.gluon.rnn.BidirectionalCell(_inner(mx, prefix="l_"), _inner(mx, prefix="r_"))
    made = mx.gluon.contrib.rnn.VariationalDropoutCell(cell, 0.1, states, 0.1)
    made.initialize()
    fill(mx, made)
    return made.unroll(3, array(mx, (2, 3, 4)), merge_outputs=True), made.prefix


@case(what=["twice", "in a sequence", "state of the inner"])
def dropout_errors(mx, what):
    rnn = mx.gluon.contrib.rnn
    if what == "twice":
        inner = _inner(mx)
        rnn.VariationalDropoutCell(inner, 0.1)
        return rnn.VariationalDropoutCell(inner, 0.1)
    if what == "in a sequence":
        cells = mx.gluon.rnn.SequentialRNNCell()
        cells.add(mx.gluon.rnn.BidirectionalCell(_inner(mx), _inner(mx)))
        return rnn.VariationalDropoutCell(cells, 0, 0.5)
    inner = _inner(mx)
    rnn.VariationalDropoutCell(inner, 0.1)
    return inner.begin_state(2)


# ---- dynamic_unroll ----


@case(kind=["RNNCell", "LSTMCell", "GRUCell"], layout=["NTC", "TNC"], lengths=[False, True])
def dynamic_unroll(mx, kind, layout, lengths):
    cell = _inner(mx, kind)
    cell.initialize()
    fill(mx, cell)
    x = array(mx, (2, 3, 4) if layout == "NTC" else (3, 2, 4))
    given = mx.nd.array([1, 3]) if lengths else None
    run = mx.gluon.contrib.rnn.rnn_cell.dynamic_unroll
    return run(cell, x, _states(mx, cell), layout=layout, valid_length=given)


@case(which=["inputs", "outputs"])
def dynamic_unroll_with_dropout(mx, which):
    cell = _inner(mx)
    cell.initialize()
    fill(mx, cell)
    run = mx.gluon.contrib.rnn.rnn_cell.dynamic_unroll
    given = {f"drop_{which}": 0.5}
    plain = run(cell, array(mx, (3, 2, 4)), _states(mx, cell), **given)
    with mx.autograd.record():
        outputs, _ = run(cell, mx.nd.ones((20, 8, 4)), _states(mx, cell, 8), **given)
    gone = outputs.asnumpy() == 0
    return plain, bool((gone == gone[:1]).all()), bool(gone.any()) == (which == "outputs")


@case(what=["list", "batch", "features"])
def dynamic_unroll_errors(mx, what):
    cell = _inner(mx)
    cell.initialize()
    run = mx.gluon.contrib.rnn.rnn_cell.dynamic_unroll
    x = [mx.nd.ones((2, 4))] * 3 if what == "list" else mx.nd.ones((3, 2, 5 if what == "features" else 4))
    outputs, _ = run(cell, x, cell.begin_state(3 if what == "batch" else 2))
    return np.shape(outputs.asnumpy())
