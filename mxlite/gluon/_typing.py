"""What type checkers are told of blocks: a call gives what `forward` or `hybrid_forward` says. For checkers alone.

Nothing imports this module when a program runs. Each function here is the `__call__` of a kind of block; the type of
its `self` is a protocol, so that arguments and result are those of the method of the block at hand.
"""

from __future__ import annotations

from typing import Any, Callable, Protocol, TypedDict, TypeVar, Union, overload

from typing_extensions import Concatenate, ParamSpec

from mxlite.gluon._parameter_dict import ParameterDict
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol.symbol import Symbol

_P = ParamSpec("_P")
_X = TypeVar("_X", contravariant=True)
_R = TypeVar("_R", covariant=True)
#: An array's class: that of the answer is that of the input, mx.nd's or mx.np's.
_A = TypeVar("_A", bound=NDArray)


class BlockOptions(TypedDict, total=False):
    """The keywords that all blocks take."""

    prefix: str | None
    params: ParameterDict | None


class _Unsaid:
    """No block returns it; only a method that says Any, or nothing, fits."""


class _Forward(Protocol[_P, _R]):
    def forward(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...


class _HybridForward(Protocol[_X, _R]):
    @property
    def hybrid_forward(self) -> Callable[Concatenate[Any, _X, ...], _R]: ...


def call(self: _Forward[_P, _R], *args: _P.args, **kwargs: _P.kwargs) -> _R:
    """A Block's: the arguments and the result of its `forward`."""
    ...


@overload
def hybrid_call(self: _HybridForward[_X, _Unsaid], x: _X, /, *args: Any) -> Any: ...
@overload
def hybrid_call(self: _HybridForward[_X, NDArray], x: Symbol, /, *args: Any) -> Symbol: ...
@overload
def hybrid_call(self: _HybridForward[NDArray, NDArray], x: _A, /, *args: Any) -> _A: ...
@overload
def hybrid_call(self: _HybridForward[_X, _R], x: Symbol, /, *args: Any) -> Any: ...
@overload
def hybrid_call(self: _HybridForward[_X, _R], x: _X, /, *args: Any) -> _R: ...
def hybrid_call(self: Any, *args: Any) -> Any:
    """A HybridBlock's: the first input and the result of its `hybrid_forward`; of a Symbol a Symbol for an array."""


@overload
def loss_call(self: _HybridForward[Any, NDArray], pred: _A, label: NDArray, /, *args: NDArray | None) -> _A: ...
@overload
def loss_call(self: _HybridForward[Any, NDArray], pred: Symbol, label: Symbol, /, *args: Symbol | None) -> Symbol: ...
@overload
def loss_call(self: _HybridForward[_X, tuple[Any, ...]], x: _X, /, *args: Any) -> tuple[Any, ...]: ...
def loss_call(self: Any, *args: Any) -> Any:
    """A loss's: predictions, labels, and what its `hybrid_forward` takes besides."""


#: The states of a recurrent layer, as it takes them.
States = Union[NDArray, "list[NDArray]", "tuple[NDArray, ...]"]


@overload
def recurrent_call(self: Any, inputs: _A, states: None = None, sequence_length: NDArray | None = None) -> _A: ...
@overload
def recurrent_call(
    self: Any, inputs: _A, states: States, sequence_length: NDArray | None = None
) -> tuple[_A, list[_A]]: ...
@overload
def recurrent_call(self: Any, inputs: Symbol, states: None = None, sequence_length: Symbol | None = None) -> Symbol: ...
@overload
def recurrent_call(
    self: Any, inputs: Symbol, states: Symbol | list[Symbol], sequence_length: Symbol | None = None
) -> tuple[Symbol, list[Symbol]]: ...
def recurrent_call(self: Any, inputs: Any, states: Any = None, sequence_length: Any = None) -> Any:
    """A recurrent layer's: with states, it gives states too."""
