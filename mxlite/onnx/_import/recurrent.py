"""RNN, GRU and LSTM: our fused operator where it computes the same, else step by step."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable

import numpy as np

from mxlite.onnx._import.builder import Builder
from mxlite.onnx._import.nodes import Node, reads
from mxlite.onnx._import.tensor import Tensor

Function = Callable[[Tensor], Tensor]

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
#: Our order of the gates in terms of ONNX's: of LSTM input, forget, cell, output of i o f c; of GRU r z n of z r h.
ORDERS = {"RNN": (0,), "GRU": (1, 0, 2), "LSTM": (0, 2, 3, 1)}
USUAL = {"RNN": ["tanh"], "GRU": ["sigmoid", "tanh"], "LSTM": ["sigmoid", "tanh", "tanh"]}


class _Net:
    """What a node says, and its inputs in our layouts: x (T, N, I), states (D, N, H)."""

    def __init__(self, g: Builder, node: Node) -> None:
        self.g, self.node, self.kind = g, node, node.kind
        self.by_batch = bool(node.attr("layout", 0))
        x = node.input(0)
        self.x = g.transpose(x, (1, 0, 2)) if self.by_batch else x
        self.w, self.r, self.b = node.input(1), node.input(2), node.optional(3)
        self.units = int(node.attr("hidden_size", self.r.size_at(-1)))
        self.directions = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}[
            str(node.attr("direction", "forward"))
        ]
        gates = GATES[self.kind]
        inputs = self.w.size_at(-1)
        wanted = (len(self.directions), gates * self.units)
        if self.w.full_shape[:2] != wanted or self.r.full_shape != (*wanted, self.units) or inputs != self.x.sized[2]:
            raise node.refuse(f"weights of shapes {self.w.shape} and {self.r.shape} of an input of shape {x.shape}")
        self.lengths = node.optional(4)
        self.states = [self._state(5)] + ([self._state(6)] if self.kind == "LSTM" else [])
        names = [str(each.decode() if isinstance(each, bytes) else each) for each in node.attr("activations", [])]
        self.names = [each.lower() for each in names] or USUAL[self.kind] * len(self.directions)
        self.clip = node.attr("clip")
        self.peepholes = node.optional(7) if self.kind == "LSTM" else None

    def _state(self, place: int) -> Tensor:
        g, given = self.g, self.node.optional(place)
        if given is not None:
            return g.transpose(given, (1, 0, 2)) if self.by_batch else given
        batch = self.x.sized[1]
        if batch >= 0:
            return g.constant(np.zeros((len(self.directions), batch, self.units)), self.x.dtype)
        first = g.op("zeros_like", g.slice(g.slice(self.x, 0, 0, 1), 2, 0, 1))
        return g.add(first, g.constant(np.zeros((len(self.directions), 1, self.units)), self.x.dtype))

    @property
    def is_fused(self) -> bool:
        """Whether our operator computes it."""
        names = self.names[: len(USUAL[self.kind])]
        usual = self.names == USUAL[self.kind] * len(self.directions)
        relu = self.kind == "RNN" and self.names == ["relu"] * len(self.directions)
        plain = self.clip is None and self.peepholes is None and self.lengths is None
        plain = plain and not self.node.attr("input_forget", 0) and self.directions != (True,)
        if self.kind == "GRU" and not self.node.attr("linear_before_reset", 0):
            return False
        return bool(plain and names and (usual or relu) and self.x.dtype in ("float32", "float64"))

    def parts(self, tensor: Tensor, direction: int, count: int) -> list[Tensor]:
        """The gates' rows of one direction of weights or biases."""
        rows = self.g.reshape(self.g.slice(tensor, 0, direction, direction + 1), tensor.full_shape[1:])
        return self.g.split(rows, 0, [self.units] * count)


@reads("RNN", "GRU", "LSTM")
def recurrent(g: Builder, node: Node) -> list[Tensor]:
    net = _Net(g, node)
    if net.is_fused:
        y, *last = _fused(net)
    else:
        y, *last = _steps(net)
    if net.by_batch:
        y = g.transpose(y, (2, 0, 1, 3))
        last = [g.transpose(each, (1, 0, 2)) for each in last]
    return [y, *last][: len(node.outputs)]


def _fused(net: _Net) -> list[Tensor]:
    g, gates, count = net.g, GATES[net.kind], len(net.directions)
    weights, biases = [], []
    for direction in range(count):
        for tensor in (net.w, net.r):
            rows = net.parts(tensor, direction, gates)
            weights += [g.reshape(rows[each], (-1,)) for each in ORDERS[net.kind]]
        if net.b is None:
            biases.append(g.constant(np.zeros(2 * gates * net.units), net.x.dtype))
        else:
            rows = net.parts(net.b, direction, 2 * gates)
            biases += [rows[each + half] for half in (0, gates) for each in ORDERS[net.kind]]
    packed = g.concat([*weights, *biases], 0)
    mode = {"LSTM": "lstm", "GRU": "gru", "RNN": f"rnn_{net.names[0]}"}[net.kind]
    y, *last = g.ops(
        "RNN", net.x, packed, *net.states, state_size=net.units, num_layers=1, mode=mode, bidirectional=count == 2,
        state_outputs=True,
    )  # fmt: skip
    if count == 1:
        y = g.expand_dims(y, [1])
    else:
        y = g.transpose(g.op("reshape", y, shape=(0, 0, count, -1)), (0, 2, 1, 3))
    return [y, *last]


ACTIVATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "sigmoid": ("sigmoid", {}), "tanh": ("tanh", {}), "relu": ("relu", {}), "softsign": ("softsign", {}),
    "softplus": ("_mxl_softrelu", {}), "elu": ("LeakyReLU", {"act_type": "elu", "slope": 1.0}),
    "hardsigmoid": ("hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    "leakyrelu": ("LeakyReLU", {"act_type": "leaky", "slope": 0.01}), "affine": ("identity", {}),
}  # fmt: skip


def _functions(net: _Net, direction: int) -> list[Function]:
    """The activations of a direction, with their parameters."""
    g, count = net.g, len(USUAL[net.kind])
    alphas, betas = list(net.node.attr("activation_alpha", [])), list(net.node.attr("activation_beta", []))
    found: list[Function] = []
    for name in net.names[direction * count : (direction + 1) * count]:
        operator, params = ACTIVATIONS[name]
        params = dict(params)
        if name in ("elu", "leakyrelu", "hardsigmoid", "affine") and alphas:
            params["alpha" if name in ("hardsigmoid", "affine") else "slope"] = float(alphas.pop(0))
        if name in ("hardsigmoid", "affine") and betas:
            params["beta"] = float(betas.pop(0))
        if name == "affine":
            found.append(partial(_affine, g, params))
        else:
            found.append(partial(_applied, g, operator, params))
    return found


def _affine(g: Builder, params: dict[str, Any], x: Tensor) -> Tensor:
    return g.add(g.mul(x, params.get("alpha", 1.0)), params.get("beta", 0.0))


def _applied(g: Builder, operator: str, params: dict[str, Any], x: Tensor) -> Tensor:
    return g.op(operator, x, **params)


def _steps(net: _Net) -> list[Tensor]:
    """Step by step, for what the fused operator has not."""
    g, node = net.g, net.node
    steps = net.x.size_at(0)
    if steps > 4096:
        raise node.refuse(f"{steps} steps that our recurrent operator cannot compute at once")
    outputs, lasts = [], []
    for direction, back in enumerate(net.directions):
        y, last = _direction(net, direction, back, steps)
        outputs.append(y)
        lasts.append(last)
    y = g.concat([g.expand_dims(each, [1]) for each in outputs], 1)
    return [y, *(g.concat([g.expand_dims(each[number], [0]) for each in lasts], 0) for number in range(len(lasts[0])))]


def _direction(net: _Net, direction: int, back: bool, steps: int) -> tuple[Tensor, list[Tensor]]:
    g, gates, units = net.g, GATES[net.kind], net.units
    shape = net.x.full_shape
    w, r = (g.reshape(g.slice(each, 0, direction, direction + 1), each.full_shape[1:]) for each in (net.w, net.r))
    zeros = g.constant(np.zeros(gates * units), net.x.dtype)
    both = [zeros, zeros]
    if net.b is not None:
        row = g.reshape(g.slice(net.b, 0, direction, direction + 1), (2 * gates * units,))
        both = g.split(row, 0, [gates * units, gates * units])
    states = [g.reshape(g.slice(each, 0, direction, direction + 1), (shape[1], units)) for each in net.states]
    step = _STEPS[net.kind](net, direction, _functions(net, direction))
    inputs = _dense(g, net.x, w, both[0])
    made: list[Tensor] = [states[0]] * steps
    for number in range(steps)[::-1] if back else range(steps):
        x = g.reshape(g.slice(inputs, 0, number, number + 1), (shape[1], gates * units))
        new = step(x, states, r, both[1])
        out = new[0]
        if net.lengths is not None:
            active = g.reshape(g.op("_npi_greater", net.lengths, g.constant(number, net.lengths.dtype)), (shape[1], 1))
            new = [g.where(active, each, old) for each, old in zip(new, states)]
            out = g.where(active, out, g.like(0, out))
        states, made[number] = new, out
    return g.op("_npi_stack", *made, axis=0, num_args=steps), states


def _dense(g: Builder, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return g.op("FullyConnected", x, weight, bias, num_hidden=weight.size_at(0), flatten=False, no_bias=False)


Step = Callable[[Tensor, "list[Tensor]", Tensor, Tensor], "list[Tensor]"]


def _clipped(net: _Net, x: Tensor) -> Tensor:
    return x if net.clip is None else net.g.op("clip", x, a_min=-float(net.clip), a_max=float(net.clip))


def _rnn_step(net: _Net, direction: int, functions: list[Function]) -> Step:
    def step(x: Tensor, states: list[Tensor], r: Tensor, bias: Tensor) -> list[Tensor]:
        return [functions[0](_clipped(net, net.g.add(x, _dense(net.g, states[0], r, bias))))]

    return step


def _gru_step(net: _Net, direction: int, functions: list[Function]) -> Step:
    g, units = net.g, net.units
    after = bool(net.node.attr("linear_before_reset", 0))

    def step(x: Tensor, states: list[Tensor], r: Tensor, bias: Tensor) -> list[Tensor]:
        old = states[0]
        xs, own = g.split(x, 1, [units] * 3), g.split(_dense(g, old, r, bias), 1, [units] * 3)
        z, reset = (functions[0](_clipped(net, g.add(a, b))) for a, b in zip(xs[:2], own[:2]))
        if after:
            inner = g.mul(reset, own[2])
        else:
            last = g.slice(r, 0, 2 * units, 3 * units)
            inner = _dense(g, g.mul(reset, old), last, g.slice(bias, 0, 2 * units, 3 * units))
        new = functions[1](_clipped(net, g.add(xs[2], inner)))
        return [g.add(g.mul(g.op("_rminus_scalar", z, scalar=1.0), new), g.mul(z, old))]

    return step


def _lstm_step(net: _Net, direction: int, functions: list[Function]) -> Step:
    g, units = net.g, net.units
    weights: list[Tensor] = []
    if net.peepholes is not None:
        row = g.reshape(g.slice(net.peepholes, 0, direction, direction + 1), (3 * units,))
        weights = g.split(row, 0, [units] * 3)
    couples = bool(net.node.attr("input_forget", 0))

    def step(x: Tensor, states: list[Tensor], r: Tensor, bias: Tensor) -> list[Tensor]:
        old, cell = states
        i, o, f, c = g.split(g.add(x, _dense(g, old, r, bias)), 1, [units] * 4)
        if weights:
            i, f = g.add(i, g.mul(cell, weights[0])), g.add(f, g.mul(cell, weights[2]))
        i = functions[0](_clipped(net, i))
        f = g.op("_rminus_scalar", i, scalar=1.0) if couples else functions[0](_clipped(net, f))
        cell = g.add(g.mul(f, cell), g.mul(i, functions[1](_clipped(net, c))))
        if weights:
            o = g.add(o, g.mul(cell, weights[1]))
        return [g.mul(functions[0](_clipped(net, o)), functions[2](cell)), cell]

    return step


_STEPS = {"RNN": _rnn_step, "GRU": _gru_step, "LSTM": _lstm_step}
