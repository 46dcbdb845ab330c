"""Cells made of cells: one behind the other, in both directions, with dropout, zoneout or a residual connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

from mxlite import ndarray as nd
from mxlite.error import WrongStateError, WrongTypeError
from mxlite.gluon.rnn._cells import _MODIFIED, HybridRecurrentCell, RecurrentCell, Step, _get_begin_state
from mxlite.gluon.rnn._sequences import _format_sequence, _mask_sequence_variable_length, _reverse_sequences
from mxlite.gluon.rnn._steps import ask_base, own_states, zoneout
from mxlite.ndarray import NDArray
from mxlite.symbol import Symbol


def _cells_state_info(cells: Any, batch_size: int) -> list:
    return [info for cell in cells for info in cell.state_info(batch_size)]


def _cells_begin_state(cells: Any, **kwargs: Any) -> list:
    return [state for cell in cells for state in cell.begin_state(**kwargs)]


class _Several:
    """What cells with several children share."""

    _children: dict[str, Any]
    _modified: bool

    def state_info(self, batch_size: int = 0) -> list:
        """What the states of all cells are, one cell after the other."""
        return _cells_state_info(self._children.values(), batch_size)

    def begin_state(self, **kwargs: Any) -> list:
        """The first states of all cells. Raises: MXNetError: the cell is part of a modifier."""
        if self._modified:
            raise WrongStateError(_MODIFIED)
        return _cells_begin_state(self._children.values(), **kwargs)

    def _with_states(self, states: Any) -> Iterator[tuple[Any, Any]]:
        """Each cell with the states that are its own."""
        return own_states(self._children.values(), lambda cell: len(cell.state_info()), states)


class _Sequence(_Several):
    """Cells one behind the other."""

    def __repr__(self) -> str:
        rows = "\n".join(
            f"({name}): {str(cell).replace(chr(10), chr(10) + '  ')}" for name, cell in self._children.items()
        )
        return f"{type(self).__name__}(\n{rows}\n)"

    def add(self, cell: Any) -> None:
        """Adds a cell behind the others."""
        self.register_child(cell)  # type: ignore[attr-defined]

    def __getitem__(self, i: int) -> Any:
        return self._children[str(i)]

    def __len__(self) -> int:
        return len(self._children)

    def __call__(self, inputs: NDArray, states: list[NDArray]) -> Step:
        self._counter += 1
        if any(isinstance(cell, BidirectionalCell) for cell in self._children.values()):
            raise WrongStateError("a BidirectionalCell has no single step; use unroll")
        following = []
        for cell, own in self._with_states(states):
            inputs, some = cell(inputs, own)
            following.extend(some)
        return inputs, following

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: list | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """As RecurrentCell.unroll: the whole sequence through one cell, then through the next."""
        self.reset()  # type: ignore[attr-defined]
        inputs, _, F, batch_size = _format_sequence(length, inputs, layout, None)  # noqa: N806
        states = _get_begin_state(self, F, begin_state, inputs, batch_size)
        following = []
        for number, (cell, own) in enumerate(self._with_states(states), 1):
            merge = merge_outputs if number == len(self) else None
            inputs, some = cell.unroll(length, inputs, own, layout, merge, valid_length)
            following.extend(some)
        return inputs, following


class SequentialRNNCell(_Sequence, RecurrentCell):
    """Cells one behind the other."""

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)


class HybridSequentialRNNCell(_Sequence, HybridRecurrentCell):
    """Hybrid cells one behind the other."""

    def __init__(self, prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix=prefix, params=params)

    def hybrid_forward(self, F: Any, inputs: NDArray, states: list[NDArray]) -> Step:  # noqa: N803, D102
        return self(inputs, states)


class DropoutCell(HybridRecurrentCell):
    """Dropout of the input; there are no states.

    Args:
        axes: the axes that share a mask.
    """

    def __init__(self, rate: float, axes: Any = (), prefix: str | None = None, params: Any = None) -> None:
        super().__init__(prefix, params)
        if not isinstance(rate, (int, float)):
            raise WrongTypeError(f"dropout: rate is a number, not {rate!r}")
        self._rate = rate
        self._axes = axes

    def __repr__(self) -> str:
        return f"{type(self).__name__}(rate={self._rate}, axes={self._axes})"

    def state_info(self, batch_size: int = 0) -> list:
        return []

    def _alias(self) -> str:
        return "dropout"

    _node_names = {"dropout": "fwd"}

    def hybrid_forward(self, F: Any, inputs: NDArray, states: list[NDArray]) -> Step:  # noqa: N803, D102
        if self._rate > 0:
            inputs = F.Dropout(inputs, p=self._rate, axes=self._axes)
        return inputs, states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: list | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """As RecurrentCell.unroll; one array is done in one call. Lengths change nothing, as in 1.9.1."""
        self.reset()
        inputs, _, F, _ = _format_sequence(length, inputs, layout, merge_outputs)  # noqa: N806
        if isinstance(inputs, NDArray):
            return self.hybrid_forward(F, inputs, begin_state or [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(HybridRecurrentCell):
    """The base class of cells around another one, whose parameters they have.

    Raises: MXNetError: the other cell is in a modifier already.
    """

    def __init__(self, base_cell: Any) -> None:
        if base_cell._modified:
            raise WrongStateError(f"cell {base_cell.name} is inside a modifier cell already")
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self) -> Any:
        """The parameters of the cell within."""
        return self.base_cell.params

    def state_info(self, batch_size: int = 0) -> list:
        return self.base_cell.state_info(batch_size)

    def begin_state(self, func: Callable[..., Any] = nd.zeros, **kwargs: Any) -> list:  # type: ignore[override]
        """The first states of the cell within."""
        if self._modified:
            raise WrongStateError(_MODIFIED)
        return ask_base(self.base_cell, "begin_state", func=func, **kwargs)

    def hybrid_forward(self, F: Any, inputs: Any, states: list) -> Any:  # type: ignore[override] # noqa: N803
        """One step; kinds override it."""
        raise NotImplementedError(f"{type(self).__name__}: a cell must have hybrid_forward")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_cell})"


class ZoneoutCell(ModifierCell):
    """Leaves random elements of outputs and states as they were a step before (Krueger et al. 2016)."""

    def __init__(self, base_cell: Any, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        if isinstance(base_cell, BidirectionalCell):
            raise WrongStateError(
                "a BidirectionalCell cannot run single steps: put a ZoneoutCell around each of its cells"
            )
        super().__init__(base_cell)
        self._zoneout_outputs = zoneout_outputs
        self._zoneout_states = zoneout_states
        self._prev_output: Any = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out={self._zoneout_outputs}, p_state={self._zoneout_states}, {self.base_cell})"

    def _alias(self) -> str:
        return "zoneout"

    def reset(self) -> None:
        super().reset()
        self._prev_output = None

    def hybrid_forward(self, F: Any, inputs: NDArray, states: list[NDArray]) -> Step:  # noqa: N803, D102
        following, after = self.base_cell(inputs, states)

        before = F.zeros_like(following) if self._prev_output is None else self._prev_output
        self._prev_output = output = zoneout(F, self._zoneout_outputs, following, before)
        return output, [zoneout(F, self._zoneout_states, new, old) for new, old in zip(after, states)]


class ResidualCell(ModifierCell):
    """The output of a cell plus its input (Wu et al. 2016)."""

    def __init__(self, base_cell: Any) -> None:
        super().__init__(base_cell)

    def hybrid_forward(self, F: Any, inputs: NDArray, states: list[NDArray]) -> Step:  # noqa: N803, D102
        output, states = self.base_cell(inputs, states)
        return F.elemwise_add(output, inputs), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: list | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """As RecurrentCell.unroll."""
        self.reset()
        outputs, states = ask_base(
            self.base_cell, "unroll", length, inputs, begin_state, layout, merge_outputs, valid_length
        )
        merged = isinstance(outputs, (NDArray, Symbol)) if merge_outputs is None else merge_outputs
        inputs, axis, F, _ = _format_sequence(length, inputs, layout, merged)  # noqa: N806
        if valid_length is not None:
            inputs = _mask_sequence_variable_length(F, inputs, length, valid_length, axis, merged)
        if merged:
            return F.elemwise_add(outputs, inputs), states
        return [F.elemwise_add(a, b) for a, b in zip(outputs, inputs)], states


class BidirectionalCell(_Several, HybridRecurrentCell):
    """A cell that reads the sequence forwards and one that reads it backwards; their outputs are joined."""

    def __init__(self, l_cell: Any, r_cell: Any, output_prefix: str = "bi_") -> None:
        super().__init__(prefix="", params=None)
        self.register_child(l_cell, "l_cell")
        self.register_child(r_cell, "r_cell")
        self._output_prefix = output_prefix

    def __call__(self, inputs: Any, states: Any) -> Any:
        """Raises: NotImplementedError: there is no single step."""
        raise NotImplementedError("a BidirectionalCell has no single step: call unroll")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(forward={self._children['l_cell']}, backward={self._children['r_cell']})"

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: list | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """As RecurrentCell.unroll; outputs have the features of both cells."""
        self.reset()
        inputs, axis, F, batch_size = _format_sequence(length, inputs, layout, False)  # noqa: N806
        states = _get_begin_state(self, F, begin_state, inputs, batch_size)
        (left, l_own), (right, r_own) = self._with_states(states)
        forwards, l_states = left.unroll(length, inputs, l_own, layout, merge_outputs, valid_length)
        mirrored = _reverse_sequences(inputs, length, valid_length)
        backwards, r_states = right.unroll(length, mirrored, r_own, layout, False, valid_length)
        backwards = _reverse_sequences(backwards, length, valid_length)
        merged = isinstance(forwards, (NDArray, Symbol)) if merge_outputs is None else merge_outputs
        if merged:
            forwards = _format_sequence(None, forwards, layout, True)[0]
            outputs = F.concat(forwards, F.stack(*backwards, axis=axis), dim=2)
        else:
            forwards = _format_sequence(None, forwards, layout, False)[0]
            name, pairs = f"{self._output_prefix}t", enumerate(zip(forwards, backwards))
            outputs = [F.concat(a, b, dim=1, name=f"{name}{i}") for i, (a, b) in pairs]
        if valid_length is not None:
            outputs = _mask_sequence_variable_length(F, outputs, length, valid_length, axis, merged)
        return outputs, [*l_states, *r_states]
