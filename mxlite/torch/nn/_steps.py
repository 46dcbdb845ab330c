"""One step of each kind of recurrent network."""

from __future__ import annotations

from typing import Callable

from mxlite.torch._tensor import Tensor

#: How many gates a network has, by what the operator calls it.
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}


def lstm_step(first: Tensor, second: Tensor, states: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The states h and c after a step of long short-term memory, as STEPS."""
    i, f, g, o = (first + second).chunk(4, -1)
    c = f.sigmoid() * states[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_step(first: Tensor, second: Tensor, states: list[Tensor]) -> Tensor:
    """The state after a step of gated recurrent units, as STEPS."""
    (r, z, n), (s, y, m) = first.chunk(3, -1), second.chunk(3, -1)
    n = (n + (r + s).sigmoid() * m).tanh()
    return n + (z + y).sigmoid() * (states[0] - n)


#: One step: of what the weights make of the input and of the first state, and the states, the new states.
STEPS: dict[str, Callable] = {
    "rnn_tanh": lambda first, second, _: (first + second).tanh(),
    "rnn_relu": lambda first, second, _: (first + second).relu(),
    "lstm": lstm_step,
    "gru": gru_step,
}
