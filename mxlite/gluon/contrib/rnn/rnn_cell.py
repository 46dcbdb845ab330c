"""Cells with dropout masks that all steps share, and with a projection; a loop over a sequence of any length."""

from __future__ import annotations

from typing import Any

from mxlite._public import show
from mxlite.error import WrongStateError, WrongTypeError
from mxlite.gluon.rnn import BidirectionalCell, HybridRecurrentCell, ModifierCell, SequentialRNNCell
from mxlite.gluon.rnn._cells import _split
from mxlite.gluon.rnn._sequences import _format_sequence
from mxlite.gluon.rnn._steps import ask_base, lstm_step
from mxlite.ndarray import NDArray
from mxlite.ndarray._kinds import functions_for

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]


class VariationalDropoutCell(ModifierCell):
    """Dropout around a cell with the same masks in all steps (Gal and Ghahramani 2016), until `reset` or `unroll`.

    Args: drop_inputs, drop_states, drop_outputs: rates; of the states the first alone, the output, is masked.

    Raises: MXNetError: states of a BidirectionalCell, or the cell is in a modifier already.
    """

    def __init__(
        self, base_cell: Any, drop_inputs: float = 0.0, drop_states: float = 0.0, drop_outputs: float = 0.0
    ) -> None:
        inner = list(base_cell._children.values()) if isinstance(base_cell, SequentialRNNCell) else [base_cell]
        if drop_states and any(isinstance(each, BidirectionalCell) for each in inner):
            raise WrongStateError(
                "a BidirectionalCell has no states to drop: put a VariationalDropoutCell around each of its cells"
            )
        super().__init__(base_cell)
        self.drop_inputs = drop_inputs
        self.drop_states = drop_states
        self.drop_outputs = drop_outputs

    def _alias(self) -> str:
        return "vardrop"

    def reset(self) -> None:
        """Forgets the masks and the steps done."""
        super().reset()
        self.drop_inputs_mask: Any = None
        self.drop_states_mask: Any = None
        self.drop_outputs_mask: Any = None

    def _masked(self, F: Any, which: str, values: Any) -> Any:  # noqa: N803
        """Values times the mask of inputs, states or outputs, which is made where there is none."""
        rate = getattr(self, which)
        if not rate:
            return values
        if getattr(self, f"{which}_mask") is None:
            setattr(self, f"{which}_mask", F.Dropout(F.ones_like(values), p=rate))
        return values * getattr(self, f"{which}_mask")

    def hybrid_forward(self, F: Any, inputs: Any, states: list) -> tuple[Any, list]:  # noqa: N803, D102
        states = list(states)
        if self.drop_states:
            states[0] = self._masked(F, "drop_states", states[0])
        output, states = self.base_cell(self._masked(F, "drop_inputs", inputs), states)
        return self._masked(F, "drop_outputs", output), states

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})"

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: list | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """As RecurrentCell.unroll; without dropout of states the cell within does it, and None is one array."""
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        self.reset()
        inputs, axis, F, _ = _format_sequence(length, inputs, layout, True)  # noqa: N806
        if self.drop_inputs:
            inputs = F.Dropout(inputs, p=self.drop_inputs, axes=(axis,))
        outputs, states = ask_base(self.base_cell, "unroll", length, inputs, begin_state, layout, True, valid_length)
        if self.drop_outputs:
            outputs = F.Dropout(outputs, p=self.drop_outputs, axes=(axis,))
        return _format_sequence(length, outputs, layout, merge_outputs)[0], states


class LSTMPCell(HybridRecurrentCell):
    """An LSTM whose output is projected to fewer features (Sak et al. 2014).

    Args:
        hidden_size: features of the memory.
        projection_size: features of the output.
        input_size: features of the input; 0: the first batch tells.
    """

    def __init__(
        self,
        hidden_size: int,
        projection_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        h2r_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ) -> None:
        super().__init__(prefix=prefix, params=params)
        self._hidden_size = hidden_size
        self._input_size = input_size
        self._projection_size = projection_size
        for name, shape, init in (
            ("i2h_weight", (4 * hidden_size, input_size), i2h_weight_initializer),
            ("h2h_weight", (4 * hidden_size, projection_size), h2h_weight_initializer),
            ("h2r_weight", (projection_size, hidden_size), h2r_weight_initializer),
            ("i2h_bias", (4 * hidden_size,), i2h_bias_initializer),
            ("h2h_bias", (4 * hidden_size,), h2h_bias_initializer),
        ):
            setattr(self, name, self.params.get(name, shape=shape, init=init, allow_deferred_init=True))

    def state_info(self, batch_size: int = 0) -> list[dict[str, Any]]:
        """The shape and the layout of each state: the output, and the memory."""
        sizes = (self._projection_size, self._hidden_size)
        return [{"shape": (batch_size, size), "__layout__": "NC"} for size in sizes]

    def _alias(self) -> str:
        return "lstmp"

    def __repr__(self) -> str:
        rows, features = self.i2h_weight.shape
        return f"{type(self).__name__}({features or None} -> {rows} -> {self.h2r_weight.shape[0]})"

    _node_names = {
        "fullyconnected0": "i2h",
        "fullyconnected1": "h2h",
        "split0": "slice",
        "sigmoid0": "i",
        "sigmoid1": "f",
        "tanh0": "c",
        "_plus1": "state",
        "sigmoid2": "o",
        "_mul2": "hidden",
        "fullyconnected2": "out",
    }

    def hybrid_forward(self, F: Any, inputs: Any, states: list, **arrays: Any) -> tuple[Any, list]:  # noqa: N803, D102
        rows = 4 * self._hidden_size
        i2h = F.FullyConnected(inputs, arrays["i2h_weight"], arrays["i2h_bias"], num_hidden=rows)
        h2h = F.FullyConnected(states[0], arrays["h2h_weight"], arrays["h2h_bias"], num_hidden=rows)
        act, gate = self._activate(F, "tanh"), self._activate(F, "sigmoid")
        hidden, (_, memory) = lstm_step(i2h, h2h, states[1], _split(F, 4), act, gate)
        output = F.FullyConnected(hidden, arrays["h2r_weight"], num_hidden=self._projection_size, no_bias=True)
        return output, [output, memory]


def dynamic_unroll(
    cell: Any,
    inputs: NDArray,
    begin_state: list,
    drop_inputs: float = 0,
    drop_outputs: float = 0,
    layout: str = "TNC",
    valid_length: NDArray | None = None,
) -> tuple[NDArray, list]:
    """Runs a cell along a sequence of any length.

    Args:
        inputs: one array with the axes of `layout`, "TNC" or "NTC".
        begin_state: the first states.
        drop_inputs, drop_outputs: rates of dropout, with one mask for all steps.
        valid_length: the length of each sample; outputs from there on are zeros.

    Returns: the outputs, one array, and the states after the last valid step.
    """
    if not isinstance(inputs, NDArray):
        raise WrongTypeError(f"dynamic_unroll: inputs must be one NDArray, got {type(inputs).__name__}")
    axis, F = layout.find("T"), functions_for(inputs._kind)  # noqa: N806
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(axis,))
    cell.reset()
    outputs, states = cell.unroll(inputs.shape[axis], inputs, begin_state, layout, True, valid_length)
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(axis,))
    return outputs, states


show(globals())
