"""Dropout and padding of `torch.nn.functional`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mxlite._public import defined
from mxlite.autograd._transforms.levels import count as levels_open
from mxlite.torch._calls import Ints, explain_all, prepare, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL
from mxlite.torch._make.random import uniform_of
from mxlite.torch._nodes import formula
from mxlite.torch._shape.parts import cat
from mxlite.torch._tensor import Tensor, filled, from_values


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements are 0 with probability p, the others divided by 1 - p, while training."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout: p is from 0 to 1, got {p}")
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0.0) if inplace else input * 0.0
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"dropout: drops elements of floating dtypes, got {input._dtype}")
    mask = cast(uniform_of(tuple(input.shape), input._dtype) >= p, input._dtype) / (1.0 - p)
    return input.mul_(mask) if inplace else input * mask


def _alpha_dropped(input: Tensor, p: float, training: bool, inplace: bool, shape: tuple[int, ...]) -> Tensor:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"alpha_dropout: p is from 0 to 1, got {p}")
    if not training or p == 0 or input.numel() == 0:
        return input
    if p == 1:
        return input.mul_(0.0) if inplace else input * 0.0
    low = -1.7580993408473766  # what SELU comes to far below 0
    a = 1 / math.sqrt((low * low * p + 1) * (1 - p))
    kept = cast(uniform_of(shape, input._dtype) >= p, input._dtype)
    more = (1 - kept) * (low * a) - low * a * p
    return input.mul_(kept * a).add_(more) if inplace else input * (kept * a) + more


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Elements are SELU's least value with probability p, and all are scaled to keep mean and variance."""
    return _alpha_dropped(input, p, training, inplace, tuple(input.shape))


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """alpha_dropout of whole channels."""
    return _alpha_dropped(input, p, training, inplace, tuple(input.shape[:2]) + (1,) * (input.ndim - 2))


_put_within = prepare("ConstantPadNdBackward0", "_slice_assign", "begin", "end", slots="1")


def constant_pad(input: Tensor, pad: Any, value: float = 0.0) -> Tensor:
    """With `value` around: pairs of numbers (before, after), from the last dimension on; negative ones cut."""
    sizes, place = list(input.shape), input.ndim
    begin, end = [0] * place, sizes.copy()
    for before, after in zip(pad[::2], pad[1::2]):
        place -= 1
        begin[place] = before
        end[place] += before
        sizes[place] += before + after
    if min(pad, default=0) >= 0 and input.numel() and not levels_open[0]:
        around = filled(sizes, value, input._dtype)
        return run(_put_within, (around, input), tuple(begin), tuple(end), kind=input._dtype)

    def compute(x: Tensor) -> Tensor:
        for dim, before, after in zip(range(x.ndim - 1, -1, -1), pad[::2], pad[1::2]):
            x = x.narrow(dim, max(0, -before), x.shape[dim] + min(0, before) + min(0, after))
            shapes = [(*x.shape[:dim], max(0, rim), *x.shape[dim + 1 :]) for rim in (before, after)]
            first, last = (filled(shape, value, x._dtype) for shape in shapes)
            x = cat([first, x, last], dim)
        return x if any(pad) else x.clone()

    return formula("ConstantPadNdBackward0", [input], compute, lambda grad: [constant_pad(grad, [-rim for rim in pad])])


def pad(input: Tensor, pad: Ints, mode: str = "constant", value: float | None = None) -> Tensor:
    """With a rim: pairs of numbers (before, after), from the last dimension on.

    Args:
        mode: "constant" (`value`, or 0), "reflect", "replicate" or "circular".
    """
    if len(pad) % 2:
        raise RuntimeError(f"pad: a pair of numbers for each dimension, got {len(pad)} numbers")
    if len(pad) // 2 > input.ndim:
        raise RuntimeError(
            f"pad: at most two numbers for each dimension, got {len(pad)} numbers for {input.ndim} dimensions"
        )
    if mode == "constant":
        return constant_pad(input, pad, 0.0 if value is None else value)
    if mode not in _RIMS:
        raise NotImplementedError(f"pad: mode is 'constant', 'reflect', 'replicate' or 'circular', got {mode!r}")
    if input._dtype.kind == BOOL:
        raise NotImplementedError(f"pad: mode {mode!r} takes no bool")
    name, rows_of = _RIMS[mode]
    _require_room(input, pad, mode, value)
    take = prepare(f"{name}{len(pad) // 2}DBackward0", "take", "axis", slots="0", mode="clip")
    for place, rims in enumerate(zip(pad[::2], pad[1::2])):
        dim = input.ndim - 1 - place
        rows = rows_of(input.shape[dim], *rims)
        input = run(take, [input, from_values(rows.astype(np.int64))], dim, kind=input._dtype)  # noqa: A001
    return input


def _require_room(input: Tensor, pad: Any, mode: str, value: float | None) -> None:
    """Raises: RuntimeError, NotImplementedError: a rim other than of a constant cannot be made so."""
    count = len(pad) // 2
    if not all(isinstance(each, int) for each in pad):
        raise TypeError(f"pad: a tuple of ints, got {pad}")
    if not count or input.ndim not in (count + 1, count + 2):
        raise NotImplementedError(f"pad: mode {mode!r} takes {count + 1} or {count + 2} dimensions, got {input.ndim}")
    if value is not None:
        raise RuntimeError(f"pad: a value is for mode 'constant', not {mode!r}")
    if 0 in input.shape[input.ndim - count - 1 :]:
        raise RuntimeError(f"pad: mode {mode!r} takes no dimension of size 0 but the batch's, got {list(input.shape)}")
    for size, rims in zip(reversed(input.shape), zip(pad[::2], pad[1::2])):
        kept = size + min(0, *rims, sum(rims)) if mode == "circular" else size
        most = {"reflect": size - 1, "circular": kept}.get(mode, max(rims))
        if max(rims) > most:
            raise RuntimeError(f"pad: mode {mode!r} of a dimension of size {size} adds {most} at most, got {rims}")
        if size + sum(rims) < 1:
            raise RuntimeError(f"pad: {rims} leaves nothing of a dimension of size {size}")


def _reflected(size: int, before: int, after: int) -> np.ndarray:
    rows = np.abs(np.arange(-before, size + after))
    return np.minimum(rows, 2 * (size - 1) - rows)


def _repeated(size: int, before: int, after: int) -> np.ndarray:
    return np.clip(np.arange(-before, size + after), 0, size - 1)


def _wrapped(size: int, before: int, after: int) -> np.ndarray:
    kept = np.arange(max(0, -before), size - max(0, -after))
    return np.concatenate([kept[len(kept) - max(0, before) :], kept, kept[: max(0, after)]])


#: Modes of pad: what their nodes are called, and the positions in a dimension that a padded one shows.
_RIMS = {
    "reflect": ("ReflectionPad", _reflected),
    "replicate": ("ReplicationPad", _repeated),
    "circular": ("CircularPad", _wrapped),
}


explain_all(globals())
__all__ = defined(globals())
