"""RNN: recurrent networks."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _size(mode, features, state_size, num_layers, directions, projection_size):
    """The number of parameters."""
    out, gates, total = projection_size or state_size, _GATES[mode], 0
    for layer in range(num_layers):
        width = features if layer == 0 else directions * out
        total += directions * (gates * state_size * (width + out + 2) + (projection_size or 0) * state_size)
    return total


class _Parameters:
    """Takes matrices and vectors off the front of the parameters."""

    def __init__(self, flat: np.ndarray) -> None:
        self.flat, self.at = flat, 0

    def take(self, *shape: int) -> np.ndarray:
        size = int(np.prod(shape))
        self.at += size
        return self.flat[self.at - size : self.at].reshape(shape)


def _step(mode, x, h, c, weights, clip):
    """One step: from the input's share of the gates to the new states."""
    state = h @ weights["h"].T + weights["h_bias"]
    if mode == "gru":
        (xr, xz, xn), (sr, sz, sn) = np.split(x, 3, axis=1), np.split(state, 3, axis=1)
        z = _sigmoid(xz + sz)
        return (1 - z) * np.tanh(xn + _sigmoid(xr + sr) * sn) + z * h, c
    if mode != "lstm":
        return (np.tanh(x + state) if mode == "rnn_tanh" else np.maximum(x + state, 0)), c
    i, f, g, o = np.split(x + state, 4, axis=1)
    c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
    low, high, nan_too = clip
    if nan_too and low is not None:
        c = np.where(np.isnan(c), low, c)
    if low is not None or high is not None:
        c = np.clip(c, low, high)
    h = _sigmoid(o) * np.tanh(c)
    return (h if weights["project"] is None else h @ weights["project"].T), c


def _run(mode, x, h, c, weights, reverse, lengths, clip):
    """All steps of one direction."""
    share = x @ weights["x"].T + weights["x_bias"]
    y = np.zeros((*x.shape[:2], h.shape[1]), x.dtype)
    for t in range(len(x))[:: -1 if reverse else 1]:
        new_h, new_c = _step(mode, share[t], h, c, weights, clip)
        going = (t < lengths)[:, None]
        y[t], h = np.where(going, new_h, 0), np.where(going, new_h, h)
        if c is not None:
            c = np.where(going, new_c, c)
    return y, h, c


def _rnn(data, parameters, state, *more, state_size, num_layers, mode, bidirectional=False, p=0, state_outputs=False,
         projection_size=None, lstm_state_clip_min=None, lstm_state_clip_max=None, lstm_state_clip_nan=False,
         use_sequence_length=False):  # fmt: skip
    dtype, wide = data.dtype, np.float64 if data.dtype != np.float64 else data.dtype
    x, flat, state, *more = (a.astype(wide) for a in (data, parameters, state, *more))
    cell = more.pop(0) if mode == "lstm" else None
    lengths = more.pop(0) if use_sequence_length else np.full(x.shape[1], len(x))
    size, out, gates = state_size, projection_size or state_size, _GATES[mode] * state_size
    ways, packed, weights = 2 if bidirectional else 1, _Parameters(flat), []
    for run in range(num_layers * ways):
        width = x.shape[2] if run < ways else ways * out
        weights.append({"x": packed.take(gates, width), "h": packed.take(gates, out),
                        "project": packed.take(out, size) if projection_size else None})  # fmt: skip
    for each in weights:
        each.update(x_bias=packed.take(gates), h_bias=packed.take(gates))
    last_h, last_c = [], []
    for layer in range(num_layers):
        sides = []
        for way in range(ways):
            run = layer * ways + way
            y, h, c = _run(mode, x, state[run], None if cell is None else cell[run], weights[run], way == 1, lengths,
                           (lstm_state_clip_min, lstm_state_clip_max, lstm_state_clip_nan))  # fmt: skip
            sides.append(y)
            last_h.append(h)
            last_c.append(c)
        x = np.concatenate(sides, axis=2)
    results = [x, np.stack(last_h)] + ([np.stack(last_c)] if cell is not None else [])
    return [a.astype(dtype) for a in results[: None if state_outputs else 1]]


def _inputs(mode, steps=3, batch=2, features=4, state_size=3, num_layers=1, directions=1, projection_size=None,
            dtype="float32", lengths=None, length_dtype=None):  # fmt: skip
    count = _size(mode, features, state_size, num_layers, directions, projection_size)
    runs = num_layers * directions
    rows = [In((steps, batch, features), dtype), In((count,), dtype, "unit"),
            In((runs, batch, projection_size or state_size), dtype, "unit")]  # fmt: skip
    if mode == "lstm":
        rows.append(In((runs, batch, state_size), dtype, "unit"))
    if lengths is not None:
        rows.append(In(dtype=length_dtype or dtype, values=lengths))
    return tuple(rows)


def _params(mode, state_size=3, num_layers=1, directions=1, **more):
    return {"state_size": state_size, "num_layers": num_layers, "mode": mode, "bidirectional": directions == 2,
            "state_outputs": True, **more}  # fmt: skip


_NEAR = {"float32": (1e-4, 1e-4), "float16": (1e-2, 1e-2)}
#: the vanilla cells of 1.9.1 compute float64 in float32
_SINGLE = {**_NEAR, "float64": (1e-4, 1e-5)}
_IGNORED = (
    "differs: the lengths, the clipping and the dropout of 1.9.1 are those of its GPU library; its CPU ignores them"
)

for _mode in _GATES:
    _diff = (0, 1, 2, 3) if _mode == "lstm" else (0, 1, 2)
    _close = _SINGLE if _mode.startswith("rnn") else _NEAR

    def _row(_label, _sizes, _order=1, _np_shape=False, _oracle="", _mode=_mode, _diff=_diff, _close=_close, **_more):
        _own = {k: v for k, v in _sizes.items() if k in ("state_size", "num_layers", "directions", "projection_size")}
        CASES.append(Case("RNN", f"{_mode}-{_label}", _inputs(_mode, **_sizes), _params(_mode, **_own, **_more), _rnn,
                          order=_order, diff=_diff, tolerance=_close, np_shape=_np_shape, oracle=_oracle))  # fmt: skip

    _row("plain", {}, 2)
    _row("output-only", {}, 2, state_outputs=False)
    _row("layers", {"num_layers": 2, "steps": 2, "state_size": 2}, 2)
    _row("both", {"num_layers": 2, "directions": 2, "steps": 2, "state_size": 2, "features": 2}, 2)
    _row("three-layers", {"num_layers": 3, "directions": 2, "batch": 1})
    _row("ones", {"steps": 1, "batch": 1, "features": 1, "state_size": 1}, 2)
    _row("odd", {"steps": 5, "batch": 3, "features": 17, "state_size": 33}, 0)
    _row("batch", {"steps": 4, "batch": 37, "features": 3, "state_size": 5, "directions": 2}, 0)
    _row("float64", {"dtype": "float64", "num_layers": 2})
    _row("not-training", {"num_layers": 2}, p=0.5)
    _row("float16", {"dtype": "float16", "num_layers": 2}, 0,
         _oracle="differs: has no float16 product on the CPU")  # fmt: skip
    _row("lengths", {"lengths": [1.0, 3.0], "num_layers": 2, "directions": 2, "state_size": 2}, 2, _oracle=_IGNORED,
         use_sequence_length=True)  # fmt: skip
    _row("lengths-int", {"lengths": [3, 2], "length_dtype": "int32"}, _oracle=_IGNORED, use_sequence_length=True)
    _row("lengths-full", {"lengths": [3.0, 3.0], "directions": 2}, 2, use_sequence_length=True)
    _row("lengths-zero", {"lengths": [0.0, 2.0], "directions": 2}, _oracle=_IGNORED, use_sequence_length=True)
    _row("no-batch", {"batch": 0}, _np_shape=True, _oracle="skip: divides by zero")
    _row("no-steps", {"steps": 0, "directions": 2}, _np_shape=True, _oracle="differs: rejects arrays without elements")
    _row("no-features", {"features": 0}, _np_shape=True, _oracle="skip: divides by zero")

for _label, _sizes in (
    ("projection", {"projection_size": 2}),
    ("projection-layers", {"projection_size": 2, "num_layers": 2, "directions": 2, "steps": 2, "features": 2}),
    ("projection-wider", {"projection_size": 5}),
    ("projection-lengths", {"projection_size": 2, "directions": 2, "lengths": [2.0, 1.0]}),
):
    _own = {k: v for k, v in _sizes.items() if k in ("num_layers", "directions", "projection_size")}
    _extra = {"use_sequence_length": True} if "lengths" in _sizes else {}
    CASES.append(Case("RNN", f"lstm-{_label}", _inputs("lstm", **_sizes), _params("lstm", **_own, **_extra), _rnn,
                      order=2, diff=(0, 1, 2, 3), tolerance=_NEAR,
                      oracle=_IGNORED if _extra else "forward: no gradient of a projection on the CPU"))  # fmt: skip
for _label, _extra in (
    ("clip", {"lstm_state_clip_min": -0.25, "lstm_state_clip_max": 0.375}),
    ("clip-below", {"lstm_state_clip_min": -0.25}),
    ("clip-above", {"lstm_state_clip_max": 0.25}),
):
    CASES.append(Case("RNN", f"lstm-{_label}", _inputs("lstm", num_layers=2, directions=2),
                      _params("lstm", num_layers=2, directions=2, **_extra), _rnn, order=2, diff=(0, 1, 2, 3),
                      tolerance=_NEAR, oracle=_IGNORED))  # fmt: skip


def _with_nan(mode, **sizes):
    rows = list(_inputs(mode, **sizes))
    rows[0] = In(values=[[[np.nan, 0.5], [0.25, 0.5]], [[0.5, 1.0], [-1.0, 0.5]]])
    return tuple(rows)


for _nan, _label in ((False, "nan"), (True, "clip-nan")):
    CASES.append(Case("RNN", f"lstm-{_label}", _with_nan("lstm", steps=2, features=2),
                      _params("lstm", lstm_state_clip_min=-0.25, lstm_state_clip_max=0.5, lstm_state_clip_nan=_nan),
                      _rnn, tolerance=_NEAR, oracle=_IGNORED))  # fmt: skip


def _dropped(outputs, inputs, params):
    """The second layer copies the ones of the first: elements are 0 or doubled, about half of each."""
    y = outputs[0]
    zeros = (y == 0).mean()
    if not np.isin(np.round(y, 4), (0.0, 2.0)).all():
        return f"elements besides 0 and 2: {np.unique(y)[:5]}"
    return "" if 0.4 < zeros < 0.6 else f"{zeros} of the elements are 0"


def _copying(size):
    """Parameters of rnn_relu: the first layer gives ones, the second copies what it reads."""
    zeros, first = np.zeros((size, size)), np.full((size, 1), 1.0)
    return np.concatenate([first.ravel(), zeros.ravel(), np.eye(size).ravel(), zeros.ravel(), np.zeros(4 * size)])


_drop_inputs = (In(values=np.ones((4, 10, 1)).tolist()), In(values=_copying(20).tolist()),
                In(values=np.zeros((2, 10, 20)).tolist()))  # fmt: skip
CASES += [
    Case("RNN", "dropout", _drop_inputs, _params("rnn_relu", 20, 2, p=0.5, state_outputs=False), random=True,
         train=True, check=_dropped, oracle=_IGNORED),
    Case("RNN", "dropout-last-layer", _inputs("gru"), _params("gru", p=0.5), _rnn, train=True, order=0, diff=(0, 1, 2),
         tolerance=_NEAR),
]  # fmt: skip


def _wrong(label, position, shape, mode="lstm", oracle="", dtype=None, **more):
    rows = list(_inputs(mode, lengths=[1.0, 2.0] if more.get("use_sequence_length") else None))
    rows[position] = In(shape, dtype or "float32")
    CASES.append(Case("RNN", label, tuple(rows), _params(mode, **more), error=True, oracle=oracle))


_wrong("few-parameters", 1, (107,))
_wrong("many-parameters", 1, (109,))
_wrong("parameters-matrix", 1, (108, 1))
_wrong("data-matrix", 0, (3, 2))
_wrong("state-layers", 2, (2, 2, 3))
_wrong("state-batch", 2, (1, 1, 3))
_wrong("state-size", 2, (1, 2, 4))
_wrong("cell-size", 3, (1, 2, 4))
_wrong("cell-axes", 3, (2, 3))
_wrong("length-batch", 4, (3,), use_sequence_length=True)
_wrong("length-axes", 4, (2, 1), use_sequence_length=True)
_wrong("parameters-dtype", 1, (108,), dtype="float64")
_wrong("state-dtype", 2, (1, 2, 3), dtype="float64")
CASES.append(
    Case("RNN", "no-axes", tuple(In(values=0.5) for _ in range(4)), _params("lstm"), error=True, np_shape=True)
)
for _label, _inputs_of, _extra, _oracle in (
    ("int32", tuple(row.like("int32") for row in _inputs("lstm")), {}, ""),
    ("cell-missing", _inputs("lstm")[:3], {}, ""),
    ("length-missing", _inputs("lstm"), {"use_sequence_length": True}, ""),
    ("length-unwanted", _inputs("lstm", lengths=[1.0, 2.0]), {}, ""),
    ("length-too-large", _inputs("lstm", lengths=[1.0, 4.0]), {"use_sequence_length": True}, _IGNORED),
    ("length-negative", _inputs("lstm", lengths=[1.0, -1.0]), {"use_sequence_length": True}, _IGNORED),
    ("unknown-mode", _inputs("lstm"), {"mode": "lstn"}, ""),
    ("p-above-one", _inputs("lstm"), {"p": 1.5}, ""),
    ("p-negative", _inputs("lstm"), {"p": -0.5}, ""),
    ("no-layers", _inputs("lstm"), {"num_layers": 0}, ""),
    ("no-state", _inputs("lstm"), {"state_size": 0}, ""),
    ("negative-layers", _inputs("lstm"), {"num_layers": -1}, ""),
    ("projection-zero", _inputs("lstm"), {"projection_size": 0}, ""),
    ("huge-state", _inputs("lstm"), {"state_size": 1 << 30}, ""),
    ("clip-crossed", _inputs("lstm"), {"lstm_state_clip_min": 1.0, "lstm_state_clip_max": -1.0}, _IGNORED),
    ("unknown-parameter", _inputs("lstm"), {"foo": 1}, ""),
):
    CASES.append(Case("RNN", _label, _inputs_of, {**_params("lstm"), **_extra}, error=True, oracle=_oracle))
for _mode in ("gru", "rnn_tanh"):
    CASES.append(Case("RNN", f"{_mode}-projection", _inputs(_mode), _params(_mode, projection_size=3), error=True,
                      oracle="skip: reads and writes out of bounds"))  # fmt: skip


def _join(*arrays, num_args, dim=1):
    return np.concatenate(arrays, axis=dim)


_op = "_rnn_param_concat"
CASES += [
    Case(_op, "vectors", (In((3,)), In((5,)), In((1,))), {"num_args": 3, "dim": 0}, _join, order=2, diff=(0, 1, 2)),
    Case(_op, "matrices", (In((2, 3)), In((2, 1))), {"num_args": 2}, _join, order=2, diff=(0, 1)),
    Case(_op, "float16", (In((3,), "float16"), In((5,), "float16")), {"num_args": 2, "dim": -1}, _join),
    Case(_op, "float64", (In((3,), "float64"),), {"num_args": 1, "dim": 0}, _join, order=2, diff=(0,)),
    Case(_op, "empty", (In((0,)), In((2,))), {"num_args": 2, "dim": 0}, _join, np_shape=True),
    Case(_op, "special-float32", (In(values=[np.nan, np.inf]), In(values=[-np.inf, -0.0])), {"num_args": 2, "dim": 0},
         _join, diff=(0, 1)),
    Case(_op, "dtypes", (In((3,)), In((5,), "float64")), {"num_args": 2, "dim": 0}, error=True),
    Case(_op, "shapes", (In((2, 3)), In((3, 2))), {"num_args": 2}, error=True),
    Case(_op, "dim-too-large", (In((3,)), In((2,))), {"num_args": 2}, error=True),
    Case(_op, "too-few", (In((3,)),), {"num_args": 2, "dim": 0}, error=True),
    Case(_op, "0-axes", (In(values=0.5), In(values=1.5)), {"num_args": 2, "dim": 0}, error=True, np_shape=True),
]  # fmt: skip
