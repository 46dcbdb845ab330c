"""Symbolic cells made of cells: one behind the other, in both directions, with dropout, zoneout or a residual."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable

from mxlite import symbol
from mxlite.error import WrongStateError, WrongTypeError
from mxlite.gluon.rnn._steps import ask_base, own_states, zoneout
from mxlite.rnn._base import BaseRNNCell, RNNParams, Weights, _normalize_sequence
from mxlite.symbol import Symbol


def _cells_state_info(cells: Iterable[BaseRNNCell]) -> list[dict[str, Any]]:
    return [info for cell in cells for info in cell.state_info]


def _cells_state_shape(cells: Iterable[BaseRNNCell]) -> list[tuple[int, ...]]:
    return [shape for cell in cells for shape in cell.state_shape]


def _cells_begin_state(cells: Iterable[BaseRNNCell], **kwargs: Any) -> list:
    return [state for cell in cells for state in cell.begin_state(**kwargs)]


def _cells_unpack_weights(cells: Iterable[BaseRNNCell], args: Weights) -> Weights:
    for cell in cells:
        args = cell.unpack_weights(args)
    return args


def _cells_pack_weights(cells: Iterable[BaseRNNCell], args: Weights) -> Weights:
    for cell in cells:
        args = cell.pack_weights(args)
    return args


class _Several(BaseRNNCell):
    """What cells made of several share.

    Args:
        params: parameters that all cells have, too; None: each has its own.
    """

    def __init__(self, params: RNNParams | None) -> None:
        super().__init__(prefix="", params=params)
        self._override_cell_params = params is not None
        self._cells = []

    def _join(self, cells: Sequence[BaseRNNCell]) -> None:
        """Adds cells. Raises MXNetError: both they and this one were given parameters."""
        if self._override_cell_params:
            if not all(cell._own_params for cell in cells):
                raise WrongStateError(f"{type(self).__name__}: params are given to it or to its cells, not to both")
            for cell in cells:
                cell.params._params.update(self.params._params)
        for cell in cells:
            self.params._params.update(cell.params._params)
        self._cells.extend(cells)

    @property
    def state_info(self) -> list[dict[str, Any]]:
        """What the states of all cells are, one cell after the other."""
        return _cells_state_info(self._cells)

    def begin_state(self, **kwargs: Any) -> list:  # type: ignore[override]
        """The first states of all cells. Raises MXNetError: the cell is part of a modifier."""
        self._check_unmodified()
        return _cells_begin_state(self._cells, **kwargs)

    def unpack_weights(self, args: Weights) -> Weights:
        """What the cells, one after the other, make of `args`."""
        return _cells_unpack_weights(self._cells, args)

    def pack_weights(self, args: Weights) -> Weights:
        """The inverse of `unpack_weights`."""
        return _cells_pack_weights(self._cells, args)

    def _with_states(self, states: Sequence[Symbol]) -> Iterator[tuple[BaseRNNCell, Sequence[Symbol]]]:
        """Each cell with the states that are its own."""
        return own_states(self._cells, lambda cell: len(cell.state_info), states)


class SequentialRNNCell(_Several):
    """Cells one behind the other."""

    def __init__(self, params: RNNParams | None = None) -> None:
        super().__init__(params)

    def add(self, cell: BaseRNNCell) -> None:
        """Adds a cell behind the others. Raises MXNetError: both it and this one were given parameters."""
        self._join([cell])

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list]:
        """One step. Raises MXNetError: a cell is bidirectional."""
        self._counter += 1
        following = []
        for cell, own in self._with_states(states):
            if isinstance(cell, BidirectionalCell):
                raise WrongStateError("a BidirectionalCell has no single step: call unroll")
            inputs, after = cell(inputs, own)
            following.extend(after)
        return inputs, following

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Symbol] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, list]:
        """As BaseRNNCell.unroll: the whole sequence through one cell, then through the next."""
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        following = []
        for number, (cell, own) in enumerate(self._with_states(states), 1):
            merge = merge_outputs if number == len(self._cells) else None
            inputs, after = cell.unroll(length, inputs, own, layout, merge)
            following.extend(after)
        return inputs, following


class BidirectionalCell(_Several):
    """A cell that reads the sequence forwards and one that reads it backwards; their outputs are joined.

    Args:
        output_prefix: what the names of joined outputs begin with.
    """

    _instead = "put a ZoneoutCell around each of its cells"

    def __init__(
        self,
        l_cell: BaseRNNCell,
        r_cell: BaseRNNCell,
        params: RNNParams | None = None,
        output_prefix: str = "bi_",
    ) -> None:
        super().__init__(params)
        self._output_prefix = output_prefix
        self._join([l_cell, r_cell])

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list]:
        """Raises NotImplementedError: there is no single step."""
        raise NotImplementedError("a BidirectionalCell has no single step: call unroll")

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Symbol] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, list]:
        """As BaseRNNCell.unroll; outputs have the features of both cells, states are a list for each."""
        self.reset()
        inputs, axis = _normalize_sequence(length, inputs, layout, False)
        states = self.begin_state() if begin_state is None else begin_state
        (left, l_own), (right, r_own) = self._with_states(states)
        forwards, l_states = left.unroll(length, inputs, l_own, layout, merge_outputs)
        backwards, r_states = right.unroll(length, inputs[::-1], r_own, layout, merge_outputs)
        if merge_outputs is None:
            merge_outputs = isinstance(forwards, Symbol) and isinstance(backwards, Symbol)
        forwards, _ = _normalize_sequence(length, forwards, layout, merge_outputs)
        backwards, _ = _normalize_sequence(length, backwards, layout, merge_outputs)
        if merge_outputs:
            backwards = symbol.reverse(backwards, axis=axis)
            outputs: Any = symbol.concat(forwards, backwards, dim=2, name=f"{self._output_prefix}out")
        else:
            outputs = [
                symbol.concat(l_step, r_step, dim=1, name=f"{self._output_prefix}t{i}")
                for i, (l_step, r_step) in enumerate(zip(forwards, backwards[::-1]))
            ]
        return outputs, [l_states, r_states]


class DropoutCell(BaseRNNCell):
    """Dropout of the input; there are no states.

    Args:
        dropout: the share that is dropped.

    Raises: TypeError: it is no number.
    """

    def __init__(self, dropout: float, prefix: str = "dropout_", params: RNNParams | None = None) -> None:
        super().__init__(prefix, params)
        if not isinstance(dropout, (int, float)):
            raise WrongTypeError(f"DropoutCell: dropout is a number, not {dropout!r}")
        self.dropout = dropout

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return []

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list]:
        """One step: the input with dropout, and the states as they are."""
        if self.dropout > 0:
            inputs = symbol.Dropout(data=inputs, p=self.dropout)
        return inputs, states  # type: ignore[return-value]

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Symbol] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, list]:
        """As BaseRNNCell.unroll; one symbol is done in one call."""
        self.reset()
        inputs, _ = _normalize_sequence(length, inputs, layout, merge_outputs)
        if isinstance(inputs, Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state, layout, merge_outputs)


class ModifierCell(BaseRNNCell):
    """The base class of cells around another one, whose parameters they have. The other is not to be called itself."""

    def __init__(self, base_cell: BaseRNNCell) -> None:
        base_cell._modified = True
        super().__init__()
        self.base_cell = base_cell

    @property
    def params(self) -> RNNParams:
        """The parameters of the cell within."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self) -> list[dict[str, Any]]:
        return self.base_cell.state_info

    def begin_state(self, init_sym: Callable[..., Any] = symbol.zeros, **kwargs: Any) -> list:  # type: ignore[override]
        """The first states of the cell within; `init_sym`, or `func`, as `func` of BaseRNNCell.begin_state."""
        self._check_unmodified()
        return ask_base(self.base_cell, "begin_state", **{"func": init_sym, **kwargs})

    def unpack_weights(self, args: Weights) -> Weights:
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args: Weights) -> Weights:
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Leaves random elements of outputs and states as they were a step before (Krueger et al. 2016).

    Raises: MXNetError: the cell within has no single step.
    """

    def __init__(self, base_cell: BaseRNNCell, zoneout_outputs: float = 0.0, zoneout_states: float = 0.0) -> None:
        for each in (base_cell, *getattr(base_cell, "_cells", ())):
            if each._instead:
                raise WrongStateError(f"ZoneoutCell: a {type(each).__name__} has no single step: {each._instead}")
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self.prev_output: Symbol | None = None

    def reset(self) -> None:
        """Forgets the output of the last step."""
        super().reset()
        self.prev_output = None

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list]:
        """One step: the output and the next states."""
        following, after = self.base_cell(inputs, states)
        before = symbol.zeros((0, 0)) if self.prev_output is None else self.prev_output
        self.prev_output = output = zoneout(symbol, self.zoneout_outputs, following, before)
        return output, [zoneout(symbol, self.zoneout_states, new, old) for new, old in zip(after, states)]


class ResidualCell(ModifierCell):
    """The output of a cell plus its input (Wu et al. 2016)."""

    def __call__(self, inputs: Symbol, states: Sequence[Symbol]) -> tuple[Symbol, list]:
        """One step: the output and the next states."""
        output, states = self.base_cell(inputs, states)
        return _plus(output, inputs), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Sequence[Symbol] | None = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
    ) -> tuple[Any, list]:
        """As BaseRNNCell.unroll."""
        self.reset()
        outputs, states = ask_base(self.base_cell, "unroll", length, inputs, begin_state, layout, merge_outputs)
        merged = isinstance(outputs, Symbol) if merge_outputs is None else merge_outputs
        inputs, _ = _normalize_sequence(length, inputs, layout, merged)
        if merged:
            return _plus(outputs, inputs), states
        return [_plus(output, each) for output, each in zip(outputs, inputs)], states


def _plus(output: Symbol, inputs: Symbol) -> Symbol:
    return symbol.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")
