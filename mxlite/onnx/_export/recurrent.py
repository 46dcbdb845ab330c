"""Writes the fused recurrent operator as RNN, GRU and LSTM, one for each layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.onnx._export.nodes import Operation, writes
from mxlite.onnx._import.recurrent import GATES, ORDERS


@writes("RNN", "_npx_rnn")
def rnn(op: Operation) -> None:
    mode = op.text("mode")
    kind = {"lstm": "LSTM", "gru": "GRU"}.get(mode, "RNN")
    units, layers = op.whole("state_size"), op.whole("num_layers")
    count = 2 if op.flag("bidirectional") else 1
    if (
        op.value("projection_size") is not None
        or op.flag("use_sequence_length")
        or op.value("lstm_state_clip_min") is not None
    ):
        raise op.refuse("projection_size, use_sequence_length or clipped states")
    packed = op.inputs[1]
    width = (op.x.shape or (-1,))[-1]
    if width < 0:
        raise op.refuse("the size of the inputs must be known")
    cut = _Cut(op, packed.name, GATES[kind], units)
    weights = []
    for layer in range(layers):
        size = width if not layer else units * count
        weights.append([(cut.matrix(size), cut.matrix(units)) for _ in range(count)])
    biases = [[(cut.vector(), cut.vector()) for _ in range(count)] for _ in range(layers)]
    x: Any = op.x
    lasts: list[list[str]] = [[], []]
    states = 2 if kind == "LSTM" else 1
    for layer in range(layers):
        w, r = (cut.joined([pair[side] for pair in weights[layer]], 0) for side in (0, 1))
        b = cut.joined([op.add("Concat", list(pair), axis=1) for pair in biases[layer]], 0)
        given_states = op.inputs[2 : 2 + states]
        first = ["" if each.is_zeros else _rows(op, each.name, layer * count, count) for each in given_states]
        given: dict[str, Any] = {"hidden_size": units, "direction": "bidirectional" if count == 2 else "forward"}
        if kind == "GRU":
            given["linear_before_reset"] = 1
        if kind == "RNN":
            given["activations"] = ["Relu" if mode == "rnn_relu" else "Tanh"] * count
        made = op.add(kind, [x, w, r, b, "", *first], 1 + states, **given)
        for number in range(states):
            lasts[number].append(made[1 + number])
        turned = op.add("Transpose", [made[0]], perm=[0, 2, 1, 3])
        x = op.add("Reshape", [turned, op.ints([0, 0, units * count])])
    op.writer.add("Identity", [x], outputs=[op.outputs[0].name])
    for number, output in enumerate(op.outputs[1:]):
        op.writer.add("Concat", lasts[number], outputs=[output.name], axis=0)


def _rows(op: Operation, name: str, begin: int, count: int) -> str:
    return str(op.add("Slice", [name, op.ints([begin]), op.ints([begin + count]), op.ints([0])]))


class _Cut:
    """Takes weights from the vector that holds them all, one after another, with ONNX's order of the gates."""

    def __init__(self, op: Operation, name: str, gates: int, units: int) -> None:
        self.op = op
        self.name = name
        self.gates = gates
        self.units = units
        self.at = 0
        kind = {1: "RNN", 3: "GRU", 4: "LSTM"}[gates]
        self.order = list(np.argsort(ORDERS[kind]))
        self.held = op.writer.parameters.get(name)

    def _take(self, size: int, shape: list[int]) -> str:
        begin, self.at = self.at, self.at + size
        if self.held is not None:
            part = self.held[begin : self.at].reshape(self.gates, *shape[1:])[self.order]
            return self.op.writer.constant(
                part.reshape(1, self.gates * self.units, *shape[2:]), str(part.dtype), self.name
            )
        op = self.op
        part = op.add("Slice", [self.name, op.ints([begin]), op.ints([self.at]), op.ints([0])])
        rows = op.add(
            "Gather", [op.add("Reshape", [part, op.ints(shape)]), op.ints([int(each) for each in self.order])], axis=0
        )
        return str(op.add("Reshape", [rows, op.ints([1, self.gates * self.units, *shape[2:]])]))

    def matrix(self, width: int) -> str:
        return self._take(self.gates * self.units * width, [self.gates, self.units, width])

    def vector(self) -> str:
        return self._take(self.gates * self.units, [self.gates, self.units])

    def joined(self, names: list[str], axis: int) -> str:
        return names[0] if len(names) == 1 else str(self.op.add("Concat", names, axis=axis))


@writes("_rnn_param_concat", "_npi_rnn_param_concat")
def rnn_parameters(op: Operation) -> None:
    """The parameters of a recurrent layer put into one vector: here where they are known."""
    held = [op.writer.parameters.get(each.name) for each in op.inputs]
    if any(each is None for each in held):
        op.end("Concat", op.inputs, axis=op.whole("dim", 0))
        return
    whole = np.concatenate([each.reshape(-1) for each in held if each is not None])
    op.writer.parameters[op.outputs[0].name] = whole
