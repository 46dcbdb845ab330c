"""Shapes that are broadcast to each other, and the errors of those that cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mxlite.torch._calls import function
from mxlite.torch._kinds import Size


@function()
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that shapes are broadcast to.

    Raises: RuntimeError: they do not fit.
    """
    result: list[int] = []
    for shape in shapes:
        sizes = [shape] if isinstance(shape, int) else list(shape)
        length = max(len(result), len(sizes))
        result = [1] * (length - len(result)) + result
        for place, size in enumerate(sizes, length - len(sizes)):
            if size < 0:
                raise ValueError(f"broadcast_shapes: a size is 0 or more, got {size}")
            if result[place] == 1:
                result[place] = size
            elif size not in (1, result[place]):
                raise RuntimeError(
                    f"these shapes have no common shape: {', '.join(str(tuple(each)) for each in shapes)}"
                )
    return Size(result)


def shape_error(first: tuple, second: tuple) -> RuntimeError | None:
    """The error for shapes that cannot be broadcast; None where they can."""
    for back in range(1, min(len(first), len(second)) + 1):
        a, b = first[-back], second[-back]
        if a != b and 1 not in (a, b):
            dim = max(len(first), len(second)) - back
            return RuntimeError(
                f"shapes {list(first)} and {list(second)} cannot be broadcast: sizes {a} and {b} of dimension {dim} "
                "differ, and none is 1"
            )
    return None


def operands_error(a: Any, b: Any) -> RuntimeError | None:
    """The same for two tensors or numbers."""
    return shape_error(getattr(a, "shape", ()), getattr(b, "shape", ()))


def require_broadcast(a: Any, b: Any) -> None:
    """Raises: RuntimeError: two tensors, or numbers, that cannot be broadcast."""
    problem = operands_error(a, b)
    if problem is not None:
        raise problem


def require_into(target: Any, operand: Any) -> None:
    """Raises: RuntimeError: what comes of both, broadcast, has not the target's shape."""
    require_broadcast(target, operand)
    require_result(target, broadcast_shapes(target.shape, getattr(operand, "shape", ())))


def require_result(target: Any, shape: tuple[int, ...]) -> None:
    """Raises: RuntimeError: what is written into a tensor has another shape."""
    if shape != target.shape:
        raise RuntimeError(
            f"the result has shape {list(shape)}, which a tensor of shape {list(target.shape)} cannot hold"
        )


def expand_error(new: int, old: int, dim: int, sizes: Sequence[int], shape: Sequence[int]) -> RuntimeError:
    """The error for a shape that cannot be expanded to `sizes`, because of one dimension's."""
    return RuntimeError(
        f"a tensor of shape {list(shape)} cannot be expanded to {list(sizes)}: dimension {dim} has size {old}, "
        f"expected {new} or 1"
    )


def require_expandable(shape: tuple[int, ...], target: Any) -> None:
    """Raises: RuntimeError: values of a shape cannot be expanded to a tensor's."""
    for back, size in enumerate(reversed(shape), 1):
        have = target.shape[-back] if back <= target.ndim else 1
        if size not in (1, have):
            raise expand_error(have, size, max(target.ndim - back, 0), target.shape, shape)
    if len(shape) > target.ndim:
        require_result(target, broadcast_shapes(target.shape, shape))
