"""Arrays that are not there yet: parameters that have no shape before the first batch (mxlite/gluon/_shapes.py).

Their handle raises `Unknown`. Functions of operators catch it and give the call to `StandIn.call`, which finds shapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mxlite.ndarray.ndarray import NDArray

if TYPE_CHECKING:
    from mxlite.ndarray._operators import Operator


class Unknown(AttributeError):
    """The handle of a stand-in was wanted before its shape is known."""


class StandIn(NDArray):
    """The base class of stand-ins."""

    def call(self, operator: Operator, arrays: tuple, given: dict[str, Any], out: Any) -> Any:
        """What an operator gives that has this stand-in among its inputs."""
        raise NotImplementedError

    #: The array, once it is known.
    array: NDArray | None = None

    def unknown(self) -> Unknown:
        """The error for a use of the handle before that."""
        return Unknown("an array is not known yet")

    @property
    def _h(self) -> int:  # type: ignore[override]
        if self.array is None:
            raise self.unknown()
        return self.array._h

    def __getattr__(self, name: str) -> Any:
        if name in ("_h", "shape", "dtype"):  # the property has raised an AttributeError
            raise self.unknown()
        return super().__getattr__(name)


class Waiting(list):
    """The inputs of an operator with a stand-in among them, in place of their handles."""

    def __init__(self, arrays: tuple, stand_in: StandIn) -> None:
        super().__init__()
        self.arrays = arrays
        self.stand_in = stand_in

    def call(self, operator: Operator, given: dict[str, Any], out: Any) -> Any:
        """What the operator gives."""
        return self.stand_in.call(operator, self.arrays, given, out)


def waiting(arrays: tuple) -> Waiting:
    """The inputs of an operator, after the handle of one of them raised Unknown."""
    return Waiting(arrays, next(each for each in arrays if isinstance(each, StandIn)))
