"""What type checkers are told of blocks: a call gives what `forward` or `hybrid_forward` says. For checkers alone.

Nothing imports this module when a program runs. `Block.__call__` is a descriptor here, which looks at the method of the
block at hand; its result is the type of the call.
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


class _CallOfArrays(Protocol[_X, _R]):
    @overload
    def __call__(self, x: Symbol, /, *args: Any) -> Symbol: ...
    @overload
    def __call__(self, x: _X, /, *args: Any) -> _R: ...


class _CallOfOthers(Protocol[_X, _R]):
    @overload
    def __call__(self, x: Symbol, /, *args: Any) -> Any: ...
    @overload
    def __call__(self, x: _X, /, *args: Any) -> _R: ...


class Call:
    """A block's call: the arguments and the result of its `forward`."""

    def __get__(self, block: _Forward[_P, _R], owner: Any) -> Callable[_P, _R]: ...


class HybridCall(Call):
    """A HybridBlock's: the first input and the result of its `hybrid_forward`; of a Symbol a Symbol for an array."""

    @overload  # type: ignore[override]
    def __get__(self, block: _HybridForward[_X, _Unsaid], owner: Any) -> Callable[..., Any]: ...
    @overload
    def __get__(self, block: _HybridForward[_X, NDArray], owner: Any) -> _CallOfArrays[_X, NDArray]: ...
    @overload
    def __get__(self, block: _HybridForward[_X, _R], owner: Any) -> _CallOfOthers[_X, _R]: ...


class LossCall(HybridCall):
    """A loss's: predictions, labels, and what its `hybrid_forward` takes besides."""

    @overload  # type: ignore[override]
    def __get__(self, block: _HybridForward[_X, NDArray], owner: Any) -> _CallOfLoss: ...
    @overload
    def __get__(self, block: _HybridForward[_X, _R], owner: Any) -> _CallOfOthers[_X, _R]: ...


class _CallOfLoss(Protocol):
    @overload
    def __call__(self, pred: NDArray, label: NDArray, /, *args: NDArray | None) -> NDArray: ...
    @overload
    def __call__(self, pred: Symbol, label: Symbol, /, *args: Symbol | None) -> Symbol: ...


#: The states of a recurrent layer, as it takes them.
States = Union[NDArray, "list[NDArray]", "tuple[NDArray, ...]"]


class RecurrentCall(HybridCall):
    """A recurrent layer's: with states, it gives states too."""

    def __get__(self, block: Any, owner: Any) -> _CallOfSequence: ...  # type: ignore[override]


class _CallOfSequence(Protocol):
    @overload
    def __call__(self, inputs: NDArray, states: None = None, sequence_length: NDArray | None = None) -> NDArray: ...
    @overload
    def __call__(
        self, inputs: NDArray, states: States, sequence_length: NDArray | None = None
    ) -> tuple[NDArray, list[NDArray]]: ...
    @overload
    def __call__(self, inputs: Symbol, states: None = None, sequence_length: Symbol | None = None) -> Symbol: ...
    @overload
    def __call__(
        self, inputs: Symbol, states: Symbol | list[Symbol], sequence_length: Symbol | None = None
    ) -> tuple[Symbol, list[Symbol]]: ...
