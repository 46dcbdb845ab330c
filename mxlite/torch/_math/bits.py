"""Bitwise functions, and Python's &, |, ^, <<, >> and ~."""

from __future__ import annotations

from typing import Any

from mxlite._lib import hot
from mxlite.torch._broadcast import require_broadcast, require_into
from mxlite.torch._calls import adopt, both, method, prepare
from mxlite.torch._convert import common_dtype, require_cast
from mxlite.torch._dtypes import BOOL
from mxlite.torch._edits import copy_
from mxlite.torch._errors import none_of
from mxlite.torch._math.arithmetic import run_pair
from mxlite.torch._tensor import Tensor


def _bitwise(name: str, symbol: str, word: str, operator: str) -> None:
    call = prepare(None, operator)

    @both(name, document=f"input {symbol} other, bit by bit.")
    def bitwise(input: Any, other: Any) -> Tensor:
        require_broadcast(input, other)
        kind = common_dtype(input, other)
        if kind.is_floating_point or (kind.kind == BOOL and "shift" in name):
            kernel = word if "shift" in name else name
            raise none_of(kernel, kind)
        return run_pair(call, input, other, kind)

    @method(f"__{word}__")
    def with_symbol(self: Tensor, other: Any) -> Any:
        return bitwise(self, other) if isinstance(other, (Tensor, int, float)) else NotImplemented

    @method(f"__i{word}__")
    def in_place(self: Tensor, other: Any) -> Any:
        if not isinstance(other, (Tensor, int, float)):
            return NotImplemented
        require_into(self, other)
        require_cast(common_dtype(self, other), self._dtype)
        return copy_(self, bitwise(self, other))

    method(f"__r{word}__")(lambda self, other: bitwise(other, self))


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
