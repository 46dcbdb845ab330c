"""RNN, LSTM and GRU, by the library's operator RNN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mxlite.torch._basic import stacked
from mxlite.torch._calls import prepare, run_many
from mxlite.torch._errors import warn
from mxlite.torch._shape.parts import cat
from mxlite.torch._tensor import Tensor, from_values, zeros_of
from mxlite.torch.nn import functional
from mxlite.torch.nn._linear import Layer
from mxlite.torch.nn._steps import GATES, STEPS, gru_step, lstm_step
from mxlite.torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence


class RNNBase(Layer):
    """Layers of a recurrent network: (step, batch, input_size) becomes (step, batch, hidden_size).

    Args:
        mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".
        batch_first: Whether inputs and outputs begin with the dimension of the batch.
        dropout: The probability that an element between two layers is 0 while training.
        bidirectional: Whether each layer also runs from the last step to the first.
    """

    _shown = "{0.input_size}, {0.hidden_size}"
    _usual = {
        "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0.0, "bidirectional": False,
    }  # fmt: skip

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if not 0 <= dropout <= 1:
            raise ValueError(f"{mode}: dropout is a number from 0 to 1, got {dropout}")
        if dropout > 0 and num_layers == 1:
            warn(f"{mode}: dropout is between layers, and there is one")
        for name, size in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
            if size <= 0:
                raise ValueError(f"{mode}: {name} is 1 or more, got {size}")
        if proj_size and mode != "LSTM" or not 0 <= proj_size < hidden_size:
            raise ValueError(f"{mode}: proj_size, of LSTM alone, is from 0 to below hidden_size, got {proj_size}")
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout, self.bidirectional = bias, batch_first, dropout, bidirectional
        self.proj_size = proj_size
        state = proj_size or hidden_size
        rows = GATES[mode.lower()] * hidden_size
        for layer in range(num_layers):
            width = input_size if layer == 0 else state * (1 + bidirectional)
            shapes = {"weight_ih": (rows, width), "weight_hh": (rows, state)}
            if bias:
                shapes.update(bias_ih=(rows,), bias_hh=(rows,))
            if proj_size:
                shapes["weight_hr"] = (proj_size, hidden_size)
            for suffix in self._suffixes(layer):
                for name, shape in shapes.items():
                    self._parameter(name + suffix, shape, dtype, device)
        self.reset_parameters()

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: 1 + self.bidirectional]

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        suffixes = [suffix for layer in range(self.num_layers) for suffix in self._suffixes(layer)]
        return [[getattr(self, name + suffix) for name in self._names()] for suffix in suffixes]

    def _names(self) -> list[str]:
        """What the parameters of a layer and direction are called."""
        names = [f"{word}_{side}" for word in ("weight", "bias")[: 1 + self.bias] for side in ("ih", "hh")]
        return names + ["weight_hr"] * bool(self.proj_size)

    def reset_parameters(self) -> None:
        """Draws the parameters anew: uniform, up to 1 / sqrt(hidden_size)."""
        self._uniform(1 / math.sqrt(self.hidden_size))

    def flatten_parameters(self) -> None:
        """Does nothing: the operator reads its parameters from a vector in any case."""

    def _states(self, hx: Any, batch: int, kind: Any, batched: bool) -> list[Tensor]:
        """The first states, each (layer and direction, batch, unit): zeros, where none are given."""
        count = 1 + (self.mode == "LSTM")
        rows = self.num_layers * (1 + self.bidirectional), batch
        shapes = [(*rows, self.proj_size or self.hidden_size), (*rows, self.hidden_size)][:count]
        if hx is None:
            return [zeros_of(shape, kind) for shape in shapes]
        states = [each if batched else each.unsqueeze(1) for each in (hx if count == 2 else [hx])]
        for word, each, shape in zip(("hidden", "cell"), states, shapes):
            if each.shape != shape:
                word = "hidden" if count == 1 else {"hidden": "hidden[0]", "cell": "hidden[1]"}[word]
                raise RuntimeError(
                    f"{self.mode}: {word} has shape {list(shape)} for this input, got {list(each.shape)}"
                )
        return states

    def _weights(self, layers: range, kind: Any) -> Tensor:
        """All parameters of layers in one vector, as the operator reads them: matrices, then biases."""
        parts = []
        for word in ("weight", "bias"):
            for layer in layers:
                for suffix in self._suffixes(layer):
                    if word == "weight" or self.bias:
                        parts += [getattr(self, f"{word}_{side}{suffix}").reshape(-1) for side in ("ih", "hh")]
        if not self.bias:
            count = 2 * len(layers) * (1 + self.bidirectional) * GATES[self.mode.lower()] * self.hidden_size
            parts.append(zeros_of((count,), kind))
        return cat(parts, 0)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The states of the last layer after each step, and the last states of all layers (of lstm: and the cells).

        Of a packed sequence they are one, too.
        """
        if isinstance(input, PackedSequence):
            return self._of_packed(input, hx)
        if input.ndim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: the input has 2 dimensions, or 3 with a batch, got {input.ndim}")
        batched = input.ndim == 3
        x = (input.transpose(0, 1) if self.batch_first else input) if batched else input.unsqueeze(1)
        if x.shape[2] != self.input_size:
            raise RuntimeError(
                f"{self.mode}: the input's last dimension is input_size ({self.input_size}), got {x.shape[2]}"
            )
        if x.shape[0] == 0:
            raise RuntimeError(f"{self.mode}: a sequence must have 1 step or more, got shape {list(input.shape)}")
        states = self._states(hx, x.shape[1], x._dtype, batched)
        if self.training and self.dropout > 0 and self.num_layers > 1:
            x, last = self._one_by_one(x, states)
        else:
            x, *last = self._run(range(self.num_layers), x, states)
        if not batched:
            x, last = x.squeeze(1), [each.squeeze(1) for each in last]
        elif self.batch_first:
            x = x.transpose(0, 1)
        return x, tuple(last) if len(last) == 2 else last[0]

    def _of_packed(self, packed: PackedSequence, hx: Any) -> Any:
        """Sequences of each length by themselves."""
        x, lengths = pad_packed_sequence(packed)
        counts = lengths._values()
        rows = [np.flatnonzero(counts == count) for count in np.unique(counts)]
        order = from_values(np.argsort(np.concatenate(rows)))
        made, last = [], []
        for each in rows:
            index, steps = from_values(each), int(counts[each[0]])
            part = x.narrow(0, 0, steps).index_select(1, index)
            given = hx if isinstance(hx, tuple) else (hx,)
            states = [state if state is None else state.index_select(1, index) for state in given]
            part = part.transpose(0, 1) if self.batch_first else part
            y, state = self.forward(part, tuple(states) if len(states) == 2 else states[0])
            y = y.transpose(0, 1) if self.batch_first else y
            made.append(functional.pad(y, (0, 0, 0, 0, 0, x.shape[0] - steps)))
            last.append(state if isinstance(state, tuple) else (state,))
        joined = [cat(list(each), 1).index_select(1, order) for each in (made, *zip(*last))]
        again = pack_padded_sequence(joined[0], lengths, enforce_sorted=packed.sorted_indices is None)
        return again, tuple(joined[1:]) if len(joined) == 3 else joined[1]

    def _run(self, layers: range, x: Tensor, states: list[Tensor]) -> list[Tensor]:
        if self.proj_size:
            return self._projected(layers, x, states)
        kind = x._dtype
        call = prepare(
            None,
            "RNN",
            state_size=self.hidden_size,
            num_layers=len(layers),
            bidirectional=self.bidirectional,
            mode=self.mode.lower(),
            state_outputs=True,
        )
        return run_many(call, [x, self._weights(layers, kind), *states], kinds=[kind] * (1 + len(states)))

    def _projected(self, layers: range, x: Tensor, states: list[Tensor]) -> list[Tensor]:
        """The same step by step, with each state projected by `weight_hr`."""
        last: list[tuple[Tensor, Tensor]] = []
        for layer in layers:
            made = []
            for suffix in self._suffixes(layer):
                ih, hh, hr = (getattr(self, f"weight_{side}{suffix}") for side in ("ih", "hh", "hr"))
                b, d = (getattr(self, f"bias_{side}{suffix}") if self.bias else None for side in ("ih", "hh"))
                h, c = (each.select(0, len(last)) for each in states)
                steps = functional.linear(x, ih, b).unbind(0)
                rows = []
                for step in steps[:: -1 if suffix.endswith("reverse") else 1]:
                    h, c = lstm_step(step, functional.linear(h, hh, d), [h, c])
                    h = functional.linear(h, hr)
                    rows.append(h)
                last.append((h, c))
                made.append(stacked(rows[:: -1 if suffix.endswith("reverse") else 1], 0))
            x = cat(made, 2)
        return [x, *(stacked(list(each), 0) for each in zip(*last))]

    def _one_by_one(self, x: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """The layers with dropout between them."""
        width, found = 1 + self.bidirectional, []
        for layer in range(self.num_layers):
            x = functional.dropout(x, self.dropout) if layer else x
            own = [each.narrow(0, layer * width, width) for each in states]
            x, *last = self._run(range(layer, layer + 1), x, own)
            found.append(last)
        return x, [cat(list(each), 0) for each in zip(*found)]


def of_weights(mode: str, *given: Any) -> tuple[Tensor, ...]:
    """torch.lstm and its kin: the network of a mode with all weights in a list, of sequences, or of packed ones.

    Args:
        given: Input, or data and batch_sizes; hx, params, has_biases, num_layers, dropout, train, bidirectional;
            without batch_sizes also batch_first.
    Returns: The states of the last layer after each step, and the last states.
    """
    layer = RNNBase.__new__(RNNBase)
    Layer.__init__(layer)
    packed = len(given) > 3 and not isinstance(given[3], bool)
    hx, params, *options = given[1 + packed :]
    layer.bias, layer.num_layers, layer.dropout, layer.training, layer.bidirectional, *first = options
    layer.mode, layer.batch_first, layer.input_size = mode.upper(), bool(first and first[0]), params[0].shape[1]
    layer.hidden_size, state = params[0].shape[0] // GATES[mode], params[1].shape[1]
    layer.proj_size = state if state != layer.hidden_size else 0
    suffixes = [suffix for number in range(layer.num_layers) for suffix in layer._suffixes(number)]
    layer.__dict__.update(zip((name + suffix for suffix in suffixes for name in layer._names()), params))
    hx = tuple(hx) if mode == "lstm" else hx
    made, last = layer.forward(PackedSequence(given[0], given[1], None, None) if packed else given[0], hx)
    return made.data if packed else made, *(last if mode == "lstm" else [last])


class RNN(RNNBase):
    """h' = tanh(W x + b + R h + d), or relu."""

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", *args: Any,
        **more: Any,
    ) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"RNN: nonlinearity is 'tanh' or 'relu', got {nonlinearity!r}")
        self.__dict__["nonlinearity"] = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", input_size, hidden_size, num_layers, *args, **more)


class LSTM(RNNBase):
    """Long short-term memory; its state is a pair, (h, c)."""

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **more: Any) -> None:
        super().__init__("LSTM", input_size, hidden_size, *args, **more)


class GRU(RNNBase):
    """Gated recurrent units."""

    def __init__(self, input_size: int, hidden_size: int, *args: Any, **more: Any) -> None:
        super().__init__("GRU", input_size, hidden_size, *args, **more)


class RNNCellBase(Layer):
    """One step of a recurrent network: (batch, input_size) or (input_size,), and a state."""

    _gates = 1
    nonlinearity = "tanh"
    _shown, _usual = "{0.input_size}, {0.hidden_size}", {"bias": True, "nonlinearity": "tanh"}

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:  # fmt: skip
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self._gates * hidden_size
        shapes = {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size)}
        for name, shape in {**shapes, **dict.fromkeys(("bias_ih", "bias_hh"), (rows,) if bias else None)}.items():
            self._parameter(name, shape, dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew: uniform, up to 1 / sqrt(hidden_size)."""
        self._uniform(1 / math.sqrt(self.hidden_size) if self.hidden_size else 0.0)

    def _parts(self, input: Tensor, *states: Tensor | None) -> tuple[Tensor, Tensor, list[Tensor]]:
        """What the weights make of the input and of the first state, and the states."""
        if input.ndim not in (1, 2):
            raise ValueError(f"{type(self).__name__}: the input has 1 dimension, or 2 with a batch, got {input.ndim}")
        shape = (*input.shape[:-1], self.hidden_size)
        found = [zeros_of(shape, input._dtype) if each is None else each for each in states]
        if input.shape[-1] != self.input_size or any(each.shape != shape for each in found):
            kind = ValueError if any(each.ndim not in (1, 2) for each in found) else RuntimeError
            raise kind(f"{type(self).__name__}: {self.input_size} features and states of shape {list(shape)} are "
                       f"expected, got {list(input.shape)} and {[list(each.shape) for each in found]}")  # fmt: skip
        first = functional.linear(input, self.weight_ih, self.bias_ih)
        return first, functional.linear(found[0], self.weight_hh, self.bias_hh), found


class RNNCell(RNNCellBase):
    """h' = tanh(W x + b + R h + d), or relu."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", *args: Any,
        **more: Any,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, *args, **more)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The state after the step."""
        parts = self._parts(input, hx)
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"RNNCell: nonlinearity is 'tanh' or 'relu', got {self.nonlinearity!r}")
        return STEPS[f"rnn_{self.nonlinearity}"](*parts)


class LSTMCell(RNNCellBase):
    """A step of long short-term memory; its state is a pair, (h, c)."""

    _gates = 4

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The state after the step."""
        return lstm_step(*self._parts(input, *(hx or (None, None))))


class GRUCell(RNNCellBase):
    """A step of gated recurrent units."""

    _gates = 3

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The state after the step."""
        return gru_step(*self._parts(input, hx))
