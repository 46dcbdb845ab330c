"""One operator of a symbol as the functions of this folder see it, what they write, and the table of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Callable, Optional

import numpy as np

from mxlite.error import MXNetError
from mxlite.onnx._file import NUMBERS
from mxlite.onnx._need import need_onnx

#: The operator set that files are written in.
OPSET = 17

Shape = Optional[tuple[int, ...]]


class ExportError(MXNetError, ValueError):
    """A symbol that ONNX has no nodes for."""


class Value:
    """An output of a node: its name in the file, its shape (-1: not known; None: not even the rank), its dtype."""

    __slots__ = ("dtype", "is_zeros", "name", "shape")

    def __init__(self, name: str, shape: Shape, dtype: str) -> None:
        #: Whether it is zeros of a shape that is not known, which is not in the file: states of a recurrent layer.
        self.is_zeros = False
        self.name = name
        self.shape = shape
        self.dtype = dtype


class Writer:
    """The nodes and constants of the file so far."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}
        #: Arrays of the parameters, by name.
        self.parameters: dict[str, np.ndarray] = {}
        self._number = 0
        self._known: dict[tuple[Any, ...], str] = {}

    def name(self, begin: str) -> str:
        """A name that nothing has yet."""
        self._number += 1
        return f"{begin}__{self._number}"

    def constant(self, value: Any, dtype: str, begin: str = "constant") -> str:
        """The name of a constant."""
        if dtype == "bfloat16":
            raise ExportError("constants of bfloat16 are not written")
        array = np.asarray(value).astype(dtype)
        key = (array.tobytes(), array.shape, dtype)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self.name(begin)
            self.constants[known] = array
        return known

    def ints(self, values: Sequence[int]) -> str:
        """The name of a constant vector of int64."""
        return self.constant(np.array(values, "int64").reshape(-1), "int64")

    def add(
        self, kind: str, inputs: Sequence[str | Value], count: int = 1, outputs: Any = None, **attributes: Any
    ) -> Any:
        """Adds a node; the name of its output, or a list of `count` names. `outputs`: names that it shall have."""
        names = [each.name if isinstance(each, Value) else each for each in inputs]
        made = list(outputs) if outputs is not None else [self.name(kind.lower()) for _ in range(count)]
        given = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(need_onnx().helper.make_node(kind, names, made, name=made[0], **given))
        return made[0] if len(made) == 1 else made

    def cast(self, value: str | Value, dtype: str) -> str:
        """A cast."""
        return str(self.add("Cast", [value], to=NUMBERS[dtype]))


class Operation:
    """An operator of the symbol: its inputs, its parameters as text, the shapes and dtypes of its outputs."""

    def __init__(
        self,
        writer: Writer,
        kind: str,
        said: str,
        name: str,
        params: dict[str, str],
        inputs: list[Value],
        outputs: list[Value],
    ) -> None:
        self.writer = writer
        self.kind = kind
        #: The name by which the symbol has it: `_npi_add` is `broadcast_add` with other results of comparisons.
        self.said = said
        self.name = name
        self.params = params
        self.inputs = inputs
        self.outputs = outputs

    def refuse(self, why: str) -> ExportError:
        """An error about the operator."""
        return ExportError(f"node {self.name!r} ({self.said}) cannot be written as ONNX: {why}")

    @property
    def x(self) -> Value:
        """The first input."""
        return self.inputs[0]

    def text(self, name: str, default: str = "") -> str:
        """A parameter as text."""
        return self.params.get(name, default)

    def value(self, name: str, default: Any = None) -> Any:
        """A parameter: a number, tuple or None."""
        text = self.params.get(name)
        if text is None:
            return default
        try:
            return ast.literal_eval(text)
        except (SyntaxError, ValueError):
            try:
                return float(text)
            except ValueError:
                return text

    def flag(self, name: str, default: bool = False) -> bool:
        """A parameter that is true or false."""
        return self.params.get(name, str(default)) in ("True", "1", "true")

    def whole(self, name: str, default: Any = None) -> Any:
        """A parameter that is an integer."""
        found = self.value(name, default)
        return None if found is None else int(found)

    def real(self, name: str, default: float = 0.0) -> float:
        """A parameter that is a number."""
        found = self.value(name, default)
        return default if found is None else float(found)

    def sizes(self, name: str, default: Any = ()) -> Any:
        """A parameter that is a tuple of integers; one integer is a tuple of it."""
        found = self.value(name, default)
        if found is None or found == "None":
            return None
        return tuple(found) if isinstance(found, (tuple, list)) else (int(found),)

    def rank(self, index: int = 0) -> int:
        """How many axes an input has. Raises: ExportError: that is not known."""
        shape = self.inputs[index].shape
        if shape is None:
            raise self.refuse("the rank of an input is not known")
        return len(shape)

    def shape(self, index: int = 0) -> tuple[int, ...]:
        """The shape of an input. Raises: ExportError: a size is not known."""
        shape = self.inputs[index].shape
        if shape is None or min(shape, default=0) < 0:
            raise self.refuse(f"the shape {shape} of an input must be known")
        return shape

    def axis(self, axis: int, rank: int | None = None) -> int:
        """An axis counted from the front."""
        rank = self.rank() if rank is None else rank
        if not -rank <= axis < max(rank, 1):
            raise self.refuse(f"axis {axis} of {rank}")
        return axis % max(rank, 1)

    def add(self, kind: str, inputs: Sequence[str | Value], count: int = 1, **attributes: Any) -> Any:
        """As Writer.add."""
        return self.writer.add(kind, inputs, count, **attributes)

    def end(self, kind: str, inputs: Sequence[str | Value], **attributes: Any) -> None:
        """Adds the node whose outputs are those of the operator."""
        self.writer.add(kind, inputs, outputs=[each.name for each in self.outputs], **attributes)

    def number(self, value: Any, like: Value | None = None) -> str:
        """A constant of the dtype of an input, the first one."""
        return self.writer.constant(value, (like or self.x).dtype)

    def ints(self, values: Sequence[int]) -> str:
        """A constant vector of int64."""
        return self.writer.ints(values)


Function = Callable[[Operation], None]

#: The function for each operator, by its first name.
OPERATORS: dict[str, Function] = {}


def writes(*names: str) -> Callable[[Function], Function]:
    """Says that a function writes these operators."""

    def put(function: Function) -> Function:
        for name in names:
            OPERATORS[name] = function
        return function

    return put
