"""What operators of two operands give for every pair of dtypes: promotions.json has PyTorch's answers.

An answer is a dtype and its values, or the class of the error; the file has those of an operation one after another.
Run with the Python that has torch==2.13.0, this writes the file; tests/python/pytorch/test_torch_promotion.py asks
mxlite.torch and compares.
"""

from __future__ import annotations

import json
import math
import operator
import os
import sys
from collections.abc import Iterator
from typing import Any, Callable

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

import ask

FACTS = os.path.join(os.path.dirname(__file__), "promotions.json")

DTYPES = "bool uint8 int8 int32 int64 float16 float32 float64".split()

#: Operands that are no tensors: of each class, out of range of small dtypes, and with more digits than a double has.
NUMBERS = (True, False, 3, -2, 0, 300, 1 << 40, (1 << 53) + 1, 1.5, -0.25, 1e30, math.inf)

_SYMBOLS = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift eq ne lt le gt ge".split()
_NAMES = "atan2 hypot maximum minimum fmod logical_and logical_xor bitwise_or".split()
#: Edits in place.
_EDITS = [f"i{name.rstrip('_')}" for name in _SYMBOLS[:12]]
#: Functions of one tensor, of which some compute floats.
UNARY = (
    "exp log log2 log10 log1p expm1 sqrt rsqrt sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh sigmoid erf "
    "reciprocal deg2rad rad2deg exp2"
).split()


def operations(torch: Any) -> Iterator[tuple[str, Callable]]:
    """The names of operations, and functions of two operands."""
    for name in _SYMBOLS + _EDITS:
        yield name, getattr(operator, name)
    for name in _NAMES:
        yield name, getattr(torch, name)
    yield "where", lambda a, b: torch.where(torch.tensor([True, False]), a, b)
    yield "floor", lambda a, b: torch.div(a, b, rounding_mode="floor")
    yield "trunc", lambda a, b: torch.div(a, b, rounding_mode="trunc")


def operands(torch: Any) -> Iterator[tuple[str, Callable]]:
    """The names of operands, and functions that make them."""
    for dtype in DTYPES:
        kind = getattr(torch, dtype)
        for word, values in (("", [1, 0] if dtype == "bool" else [7, 2]), (" 0-d", 3)):
            yield dtype + word, lambda values=values, kind=kind: torch.tensor(values, dtype=kind)


def _text(made: Any) -> str:
    values = made.tolist()
    listed = values if isinstance(values, list) else [values]
    shown = ",".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in listed)
    return f"{str(made.dtype)[6:]}({shown})"


def answer(function: Callable, *given: Any) -> str:
    """The result as text, or the class of the error; after an edit that is refused the operand has to be as before."""
    before = [_text(each) if hasattr(each, "dtype") else None for each in given]
    try:
        return _text(function(*given))
    except Exception as problem:  # its class is the answer
        after = [_text(each) if hasattr(each, "dtype") else None for each in given]
        return ask.class_of(problem) + ("" if after == before else " after an edit")


def answers(torch: Any, name: str) -> dict[str, str]:
    """Of an operation, by its operands."""
    function = dict(operations(torch))[name]
    tensors = dict(operands(torch))
    found = {}
    for first, make in tensors.items():
        for second, other in tensors.items():
            found[f"{first}, {second}"] = answer(function, make(), other())
        for number in NUMBERS:
            found[f"{first}, {number}"] = answer(function, make(), number)
            if name not in _EDITS:
                found[f"{number}, {first}"] = answer(function, number, make())
    return found


def unary_answers(torch: Any, name: str) -> dict[str, str]:
    """Of a function of one tensor, and of it in place."""
    found = {}
    for operand, make in operands(torch):
        halved = lambda make=make: make() % 2 / 4 if make().is_floating_point() else make()  # noqa: E731
        found[operand] = answer(getattr(torch, name), halved())
        found[f"{operand} in place"] = answer(getattr(torch.Tensor, f"{name}_"), halved())
    return found


def main() -> None:
    """Asks PyTorch everything."""
    import torch

    facts = {name: answers(torch, name) for name, _ in operations(torch)}
    facts.update((name, unary_answers(torch, name)) for name in UNARY)
    with open(FACTS, "w", encoding="utf-8") as file:
        json.dump({name: "|".join(found.values()) for name, found in facts.items()}, file, indent=0)
        file.write("\n")


if __name__ == "__main__":
    main()
