"""Dropout and padding of `torch.nn.functional`."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._public import defined
from mxlite.torch._calls import explain_all, prepare, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL
from mxlite.torch._make.random import uniform_of
from mxlite.torch._nodes import formula
from mxlite.torch._shape.parts import cat
from mxlite.torch._tensor import Tensor, filled, from_values


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements are 0 with probability p, the others divided by 1 - p, while training."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0.0) if inplace else input * 0.0
    mask = cast(uniform_of(tuple(input.shape), input._dtype) >= p, input._dtype) / (1.0 - p)
    return input.mul_(mask) if inplace else input * mask


def constant_pad(input: Tensor, pad: Any, value: float = 0.0) -> Tensor:
    """With `value` around: pairs of numbers (before, after), from the last dimension on; negative ones cut."""
    pairs = list(zip(pad[::2], pad[1::2]))
    widths = {input.ndim - 1 - place: pair for place, pair in enumerate(pairs) if any(pair)}

    def compute(x: Tensor) -> Tensor:
        for dim, rims in widths.items():
            before, after = (max(0, -rim) for rim in rims)
            x = x.narrow(dim, before, x.shape[dim] - before - after)
            shapes = [(*x.shape[:dim], max(0, rim), *x.shape[dim + 1 :]) for rim in rims]
            first, last = (filled(shape, value, x._dtype) for shape in shapes)
            x = cat([first, x, last], dim)
        return x if widths else x.clone()

    return formula("ConstantPadNdBackward0", [input], compute, lambda grad: [constant_pad(grad, [-rim for rim in pad])])


def pad(input: Tensor, pad: Any, mode: str = "constant", value: float | None = None) -> Tensor:
    """With a rim: pairs of numbers (before, after), from the last dimension on.

    Args:
        mode: "constant" (`value`, or 0), "reflect", "replicate" or "circular".
    """
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) // 2 > input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return constant_pad(input, pad, 0.0 if value is None else value)
    if mode not in _RIMS:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if input._dtype.kind == BOOL:
        raise NotImplementedError(f"\"{mode}_pad\" not implemented for 'Bool'")
    name, how = _RIMS[mode]
    take = prepare(f"{name}{len(pad) // 2}DBackward0", "take", "axis", slots="0", mode="clip")
    for place, rims in enumerate(zip(pad[::2], pad[1::2])):
        dim = input.ndim - 1 - place
        rows = np.pad(np.arange(input.shape[dim]), rims, mode=how)
        input = run(take, [input, from_values(rows.astype(np.int64))], dim, kind=input._dtype)  # noqa: A001
    return input


#: Modes of pad: what their nodes are called, and what NumPy calls them.
_RIMS = {
    "reflect": ("ReflectionPad", "reflect"),
    "replicate": ("ReplicationPad", "edge"),
    "circular": ("CircularPad", "wrap"),
}


explain_all(globals())
__all__ = defined(globals())
