"""Sums of products over named dimensions: tensordot, inner, einsum."""

from __future__ import annotations

import math
import string
from functools import lru_cache
from typing import Any

from mxlite.torch._calls import both, function
from mxlite.torch._convert import cast, common_dtype
from mxlite.torch._math.linalg import diagonal
from mxlite.torch._math.matrix import bmm, mm, require_numbers
from mxlite.torch._tensor import Tensor


@function()
def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """Contracts dimensions of two tensors: the last of `a` with the first of `b`, or those of two lists."""
    if isinstance(dims, int):
        first, second = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        first, second = (list(each) if isinstance(each, (list, tuple)) else [each] for each in dims)
    first, second = [dim % a.ndim for dim in first], [dim % b.ndim for dim in second]
    kept_a = [dim for dim in range(a.ndim) if dim not in first]
    kept_b = [dim for dim in range(b.ndim) if dim not in second]
    size = 1
    for one, other in zip(first, second):
        if a.shape[one] != b.shape[other]:
            raise RuntimeError(
                f"tensordot: dimension {one} of the first tensor has size {a.shape[one]}, dimension {other} of the "
                f"second {b.shape[other]}; both must be equal"
            )
        size *= a.shape[one]
    rows, columns = [a.shape[dim] for dim in kept_a], [b.shape[dim] for dim in kept_b]
    left = a.permute(*kept_a, *first).reshape(math.prod(rows), size)
    right = b.permute(*second, *kept_b).reshape(size, math.prod(columns))
    return mm(left, right).view(*rows, *columns)


@both()
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Contracts the last dimensions of two tensors."""
    return tensordot(input, other, ([-1], [-1])) if input.ndim and other.ndim else input * other


#: The subscripts that an equation may use, and its ellipsis, for the dimensions that have no subscript.
_LETTERS, _DOTS = string.ascii_letters, "..."


def _without_repeats(name: str, tensor: Tensor) -> tuple[str, Tensor]:
    """The letters of an operand, each once, and its diagonals along those that occur several times."""
    for letter in dict.fromkeys(name):
        while name.count(letter) > 1:
            first = name.index(letter)
            second = name.index(letter, first + 1)
            if tensor.shape[first] != tensor.shape[second]:
                raise RuntimeError(
                    f"einsum: subscript {letter} is of sizes {tensor.shape[first]} and {tensor.shape[second]} in one "
                    "operand"
                )
            tensor = diagonal(tensor, 0, first, second)
            name = "".join(each for place, each in enumerate(name) if place not in (first, second)) + letter
    return name, tensor


def _lettered(equation: Any, operands: list) -> tuple[str, list]:
    """An equation of texts, and its operands, for numbered dimensions: einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    word = {**dict(enumerate(_LETTERS)), Ellipsis: _DOTS}
    every = [equation, *operands]
    texts = ["".join(word[each] for each in listed) for listed in every[1::2]]
    if len(every) % 2:
        texts.append("".join(word[each] for each in every[-1]))
    count = len(every) // 2
    return ",".join(texts[:count]) + "".join("->" + text for text in texts[count:]), every[0 : 2 * count : 2]


def _without_dots(names: list[str], right: str | None, ndims: tuple) -> tuple[list[str], str | None]:
    """Names with letters of their own, for the dimensions from the last on, in the place of dots."""
    spare = [each for each in _LETTERS if each not in "".join(names)]
    counts = [ndim - len(name.replace(_DOTS, "")) for name, ndim in zip(names, ndims) if _DOTS in name]
    most = max([0, *counts])
    dots = "".join(spare[:most])
    made = []
    for name, ndim in zip(names, ndims):
        count = max(0, ndim - len(name.replace(_DOTS, "")))
        made.append(name.replace(_DOTS, dots[most - count :]) if _DOTS in name else name)
    if right is None and counts:
        letters = "".join(names).replace(_DOTS, "")
        right = _DOTS + "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    return made, None if right is None else right.replace(_DOTS, dots)


@function()
def einsum(equation: Any, *operands: Any) -> Tensor:
    """Products of tensors summed as an equation of letters says, "ij,jk->ik"; a letter twice in one operand is its
    diagonal; "..." are dimensions that are broadcast."""
    tensors = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else list(operands)
    if not isinstance(equation, str):
        equation, tensors = _lettered(equation, list(operands))
    given, out = _parsed(equation, tuple(len(each.shape) for each in tensors))
    names = list(given)
    for number, name in enumerate(names):
        if len(names) > 1:
            require_numbers("einsum", tensors[number])
        if len(set(name)) < len(name):
            names[number], tensors[number] = _without_repeats(name, tensors[number])
    name, made = names[0], tensors[0]
    for number in range(1, len(names)):
        wanted = out + "".join(names[number + 1 :])
        name, made = _product(name, made, names[number], tensors[number], wanted)
    # A sum of products keeps their dtype; of one operand it is a sum as any other.
    name, made = _summed(name, made, out, made._dtype if len(names) > 1 else None)
    return made.permute(tuple(map(name.index, out))) if name != out else made


@lru_cache(256)
def _parsed(equation: str, ndims: tuple[int, ...]) -> tuple[tuple[str, ...], str]:
    """The letters of each operand, and those of the result. Raises: RuntimeError: they do not go together."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    names = left.split(",")
    if len(names) != len(ndims):
        raise RuntimeError(f"einsum: got {len(ndims)} operands, the equation has {len(names)}")
    if _DOTS in equation:
        names, found = _without_dots(names, right if arrow else None, ndims)
        arrow, right = "->" if found is not None else "", found or ""
    letters = "".join(names)
    for letter in letters + right:
        if letter not in _LETTERS:
            raise RuntimeError(f"einsum: a subscript is a letter, got {letter!r}")
        if letter not in letters:
            raise RuntimeError(f"einsum: no operand has the subscript {letter} of the result")
    for number, (name, ndim) in enumerate(zip(names, ndims)):
        if len(name) != ndim:
            raise RuntimeError(f"einsum: operand {number} has {ndim} dimensions and {len(name)} subscripts")
    out = right if arrow else "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    return tuple(names), out


def _summed(name: str, tensor: Tensor, wanted: str, kind: Any) -> tuple[str, Tensor]:
    """The tensor summed over the letters that are not wanted."""
    left, dims = _kept(name, wanted)
    return left, tensor.sum(dims, dtype=kind) if dims else tensor


@lru_cache(256)
def _kept(name: str, wanted: str) -> tuple[str, tuple[int, ...]]:
    """The letters that are wanted, and the places of the others."""
    dims = tuple(place for place, each in enumerate(name) if each not in wanted)
    return "".join(each for each in name if each in wanted), dims


def _product(first: str, a: Tensor, second: str, b: Tensor, wanted: str) -> tuple[str, Tensor]:
    """The product of two tensors, and its letters; summed over those that are not wanted.

    Where both have such a letter it is a product of matrices, one for each value of the letters that both keep.
    """
    first, a = _summed(first, a, wanted + second, a._dtype)
    second, b = _summed(second, b, wanted + first, b._dtype)
    sizes = dict(zip(second, b.shape))
    for each, size in zip(first, a.shape):
        if sizes.get(each, size) not in (size, 1) and size != 1:
            raise RuntimeError(f"einsum: subscript {each} is of sizes {size} and {sizes[each]} in two operands")
        sizes[each] = sizes[each] if size == 1 and each in second else size
    pairs, inner, rows, columns = _groups(first, second, wanted)
    order = pairs + rows + columns
    if not inner:
        return order, _laid(first, a, order) * _laid(second, b, order)
    if a._dtype is not b._dtype:
        kind = common_dtype(a, b)
        a, b = cast(a, kind), cast(b, kind)
    left, right = _matrices(first, a, (pairs, rows, inner), sizes), _matrices(second, b, (pairs, inner, columns), sizes)
    return order, bmm(left, right).reshape(tuple(map(sizes.__getitem__, order)))


@lru_cache(256)
def _groups(first: str, second: str, wanted: str) -> tuple[str, str, str, str]:
    """The letters of both operands that are wanted and those that are not, those of the first alone, of the second."""
    shared = [each for each in first if each in second]
    pairs, inner = ("".join(each for each in shared if (each in wanted) == kept) for kept in (True, False))
    rows, columns = ("".join(each for each in name if each not in shared) for name in (first, second))
    return pairs, inner, rows, columns


def _laid(name: str, tensor: Tensor, order: str) -> Tensor:
    """The tensor with its dimensions in another order, and with sizes of 1 for letters that it lacks."""
    laid = tensor.permute(tuple(name.index(each) for each in order if each in name))
    sizes = iter(laid.shape)
    return laid.reshape(tuple(next(sizes) if each in name else 1 for each in order))


def _matrices(name: str, tensor: Tensor, groups: tuple[str, str, str], sizes: dict[str, int]) -> Tensor:
    """The tensor with three dimensions, each of which is a group of letters."""
    order = "".join(groups)
    wide = tensor if name == order else tensor.permute(tuple(map(name.index, order)))
    shape = tuple(map(sizes.__getitem__, order))
    wide = wide if wide.shape == shape else wide.expand(shape)
    return wide.reshape(tuple([math.prod([sizes[each] for each in group]) for group in groups]))
