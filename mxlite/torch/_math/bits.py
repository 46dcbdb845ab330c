"""Bitwise functions, and Python's &, |, ^, <<, >> and ~."""

from __future__ import annotations

from typing import Any

from mxlite._lib import hot
from mxlite.torch._calls import adopt, both, method, prepare
from mxlite.torch._errors import none_of
from mxlite.torch._math.arithmetic import Operation, in_place, operator, reflected
from mxlite.torch._tensor import Tensor


def _bitwise(name: str, symbol: str, word: str, library_name: str) -> None:
    operation = Operation(None, library_name)

    @both(name, document=f"input {symbol} other, bit by bit.")
    def bitwise(input: Any, other: Any) -> Tensor:
        return operation.run(input, other)

    method(f"__{word}__", quick=True)(operator(operation))
    method(f"__r{word}__", quick=True)(reflected(operation))
    method(f"__i{word}__", quick=True)(in_place(operation))


for _name, _symbol, _word, _operator in (
    ("bitwise_and", "&", "and", "_npi_bitwise_and"),
    ("bitwise_or", "|", "or", "_npi_bitwise_or"),
    ("bitwise_xor", "^", "xor", "_npi_bitwise_xor"),
    ("bitwise_left_shift", "<<", "lshift", "_mxl_left_shift"),
    ("bitwise_right_shift", ">>", "rshift", "_mxl_right_shift"),
):
    _bitwise(_name, _symbol, _word, _operator)


_not = prepare(None, "_npi_bitwise_not")


@both()
def bitwise_not(input: Tensor) -> Tensor:
    """~input, bit by bit."""
    if input._dtype.is_floating_point:
        raise none_of("bitwise_not", input._dtype)
    return adopt(hot.call1(_not, input._h), input._dtype)


@method("__invert__")
def _invert(self: Tensor) -> Tensor:
    if self._dtype.is_floating_point:
        raise TypeError(f"bitwise_not: `~` takes integers and truth values, got dtype {self._dtype.word}")
    return bitwise_not(self)
