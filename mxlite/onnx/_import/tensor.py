"""What the importer knows of one tensor of a graph: its symbol, its shape and dtype, its values if they are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from mxlite.base import dtype_name
from mxlite.error import MXNetError
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol

if TYPE_CHECKING:
    from mxlite.onnx._import.builder import Builder

#: Sizes of a tensor, -1 for one that is not known; None where not even the rank is.
Shape = Optional[tuple[int, ...]]

FLOATS = ("float32", "float64", "float16", "bfloat16")


class OnnxError(MXNetError, ValueError):
    """A file of ONNX that is damaged, or that needs what mxlite has not: one line, whatever onnx says within it."""

    def __init__(self, message: str) -> None:
        words = " ".join(message.split())
        super().__init__(words if len(words) <= 1000 else f"{words[:1000]} ...")

    @classmethod
    def _again(cls, message: str, error: Any) -> OnnxError:
        """The same error with another message."""
        return OnnxError(message)


class NeedsValueError(OnnxError):
    """A node needs the values of a tensor while its symbols are made, and they depend on these inputs of the graph."""

    def __init__(self, message: str, inputs: frozenset[str]) -> None:
        super().__init__(message)
        self.inputs = inputs

    @classmethod
    def _again(cls, message: str, error: Any) -> OnnxError:
        return cls(message, error.inputs)


class Size:
    """A size that is not known: of an axis of a tensor."""

    __slots__ = ("axis",)

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def __repr__(self) -> str:
        return f"size of axis {self.axis}"


class Tensor:
    """A tensor of the graph.

    `array` holds its values where they are known: of initializers and of what is computed from them. `sizes` holds,
    of an array of integers that is made of sizes some of which are not known, the integers and `Size`s.
    """

    __slots__ = ("_symbol", "array", "builder", "dense", "dtype", "is_weight", "made_from", "name", "shape", "sizes")

    def __init__(
        self,
        builder: Builder,
        shape: Shape,
        dtype: str,
        symbol: Symbol | None = None,
        array: NDArray | None = None,
        name: str = "",
    ) -> None:
        self.builder = builder
        self.shape = shape
        self.dtype = dtype
        self._symbol = symbol
        self.array = array
        self.name = name
        #: Whether it is a parameter that several nodes share: what is computed from it is not folded.
        self.is_weight = False
        #: The graph's inputs that it depends on.
        self.made_from: frozenset[str] = frozenset()
        self.sizes: np.ndarray | None = None
        #: Of a product with a weight, such as MatMul's: these two, to which an Add may give a bias.
        self.dense: tuple[Tensor, Tensor] | None = None

    def __repr__(self) -> str:
        return f"Tensor({self.name!r}, {self.shape}, {self.dtype})"

    @property
    def symbol(self) -> Symbol:
        """Its symbol; of values that are known a variable, which becomes a parameter."""
        if self._symbol is None:
            self._symbol = self.builder.variable_of(self)
        return self._symbol

    @property
    def rank(self) -> int:
        """How many axes it has. Raises: OnnxError: that is not known."""
        return len(self.sized)

    @property
    def sized(self) -> tuple[int, ...]:
        """Its shape, some sizes of which may be -1. Raises: OnnxError: its rank is not known."""
        if self.shape is None:
            raise OnnxError(f"{self.builder.place}: the rank of tensor {self.name!r} is not known")
        return self.shape

    def size_at(self, axis: int) -> int:
        """The size of one axis. Raises: OnnxError: it is not known."""
        size = self.sized[axis]
        return size if size >= 0 else self.full_shape[axis]

    def sizes_from(self, axis: int) -> tuple[int, ...]:
        """The sizes of the axes from one on. Raises: OnnxError: one is not known."""
        sizes = self.sized[axis:]
        return sizes if min(sizes, default=0) >= 0 else self.full_shape[axis:]

    @property
    def full_shape(self) -> tuple[int, ...]:
        """Its shape. Raises: OnnxError: a size is not known."""
        shape = self.sized
        if any(size < 0 for size in shape):
            raise NeedsValueError(
                f"{self.builder.place}: the shape {shape} of an input must be known: give the graph's inputs shapes, "
                "such as shapes={'data': (1, 3, 224, 224)}",
                frozenset(),
            )
        return shape

    @property
    def size(self) -> int:
        """The number of its elements."""
        return int(np.prod(self.full_shape, dtype=np.int64))

    @property
    def is_known(self) -> bool:
        """Whether its values are known."""
        return self.array is not None

    @property
    def is_float(self) -> bool:
        """Whether its dtype is a floating-point one."""
        return self.dtype in FLOATS

    @property
    def value(self) -> np.ndarray:
        """Its values, of bfloat16 as float32. Raises: NeedsValueError: they are not known."""
        if self.sizes is not None:
            raise NeedsValueError(
                f"{self.builder.place}: needs sizes of the graph's inputs that are not known: give the inputs shapes, "
                "such as shapes={'data': (1, 3, 224, 224)}",
                self.made_from,
            )
        if self.array is None:
            inputs = ", ".join(sorted(self.made_from))
            raise NeedsValueError(
                f"{self.builder.place}: the values of tensor {self.name!r} must be known when the graph is read; they "
                f"depend on the input{'s' * (len(self.made_from) != 1)} {inputs or 'that is not given'}",
                self.made_from,
            )
        return np.asarray(self.array.asnumpy())

    @property
    def scalar(self) -> Any:
        """Its only value, a Python number. Raises: NeedsValueError; OnnxError: there are several."""
        values = self.value
        if values.size != 1:
            raise OnnxError(f"{self.builder.place}: expected one value, got shape {values.shape}")
        return values.reshape(()).item()

    @property
    def ints(self) -> list[int]:
        """Its values as a list of integers."""
        return [int(each) for each in self.value.reshape(-1)]


def dtype_text(dtype: Any) -> str:
    """A dtype by its name: float32."""
    return str(dtype_name(dtype))
