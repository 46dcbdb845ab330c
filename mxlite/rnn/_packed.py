"""The one array of weights that the operator RNN takes, and its parts for each layer, direction and gate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mxlite.error import WrongValueError

#: What the names of parts have for each gate, by the mode of the operator.
_GATES = {
    "rnn_relu": ("",),
    "rnn_tanh": ("",),
    "lstm": ("_i", "_f", "_c", "_o"),
    "gru": ("_r", "_z", "_o"),
}


def gates_of(mode: str) -> tuple[str, ...]:
    """What names have for each gate. Raises KeyError: there is no such mode."""
    if mode not in _GATES:
        raise KeyError(f"mode is one of {', '.join(_GATES)}, not {mode!r}")
    return _GATES[mode]


@dataclass(frozen=True)
class Packing:
    """How the weights of layers are packed."""

    num_hidden: int
    num_layers: int
    mode: str
    bidirectional: bool

    @property
    def directions(self) -> list[str]:
        """What names have for each direction."""
        return ["l", "r"] if self.bidirectional else ["l"]

    def size(self, num_input: int) -> int:
        """The number of weights, for inputs with so many features."""
        rows = len(self.directions) * len(gates_of(self.mode)) * self.num_hidden
        later = (self.num_layers - 1) * (len(self.directions) + 1) * self.num_hidden
        return rows * (num_input + self.num_hidden + later + 2 * self.num_layers)

    def num_input(self, size: int) -> int:
        """The number of features that so many weights are for. Raises ValueError: it cannot be."""
        rows = self.size(1) - self.size(0)
        found, rest = divmod(size - self.size(0), rows)
        if rest or found < 1:
            raise WrongValueError(
                f"{self.num_layers} layers of {self.mode} have {self.size(1)} weights and {rows} more for each feature"
                f" of the input but one, not {size}"
            )
        return found

    def parts(self, num_input: int) -> Iterator[tuple[str, int, tuple[int, ...]]]:
        """The name of each part, `l0_i2h_i_weight`; where it begins; and its shape: (hidden, features), (hidden,)."""
        start = 0
        for kind in ("weight", "bias"):
            for layer in range(self.num_layers):
                features = self.num_hidden * len(self.directions) if layer else num_input
                for direction in self.directions:
                    for product, columns in (("i2h", features), ("h2h", self.num_hidden)):
                        shape = (self.num_hidden, columns) if kind == "weight" else (self.num_hidden,)
                        for gate in gates_of(self.mode):
                            yield f"{direction}{layer}_{product}{gate}_{kind}", start, shape
                            start += self.num_hidden * (columns if kind == "weight" else 1)
