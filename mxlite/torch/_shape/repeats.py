"""Tensors repeated: expanded without a copy, or laid behind themselves."""

from __future__ import annotations

from typing import Any

from mxlite.torch._broadcast import broadcast_shapes
from mxlite.torch._calls import both, function, functions, method, prepare, run
from mxlite.torch._convert import clone
from mxlite.torch._errors import none_of
from mxlite.torch._kinds import check_dim, contiguous_format, extents_of
from mxlite.torch._shape.shapes import expand, flatten, unsqueeze, view
from mxlite.torch._tensor import Tensor


@both()
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """As expand."""
    return expand(input, size)


@method()
def expand_as(self: Tensor, other: Tensor) -> Tensor:
    """expand to the shape of another tensor."""
    return expand(self, other.shape)


@function()
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors expanded to one shape."""
    shape = broadcast_shapes(*(tensor.shape for tensor in tensors))
    return tuple(expand(tensor, shape) for tensor in tensors)


@method()
def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """A copy with each dimension laid behind itself so often; more numbers than dimensions add some in front."""
    times = extents_of("repeat", repeats)
    if len(times) < self.ndim:
        raise RuntimeError(
            f"repeat: {len(times)} numbers for {self.ndim} dimensions; there must be one for each, or more"
        )
    if not times:
        return clone(self)
    return run(prepare("RepeatBackward0", "tile", "reps"), [self], times, kind=self._dtype)


@both()
def tile(input: Tensor, *dims: Any) -> Tensor:
    """As repeat; fewer numbers than dimensions count from the last."""
    times = extents_of("tile", dims)
    return repeat(input, (1,) * (input.ndim - len(times)) + times)


@both()
def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None, *, output_size: Any = None) -> Tensor:
    """Each element (or part along `dim`) so often, behind itself."""
    if dim is None:
        input, dim = flatten(input), 0
    place = check_dim(dim, input.ndim)
    if isinstance(repeats, Tensor):
        if repeats.numel() not in (1, input.shape[place]):
            raise RuntimeError(
                f"repeat_interleave: got {repeats.numel()} repeats, expected 1, or one for each of the "
                f"{input.shape[place]} parts of dimension {dim}"
            )
        if repeats._dtype.name not in ("int32", "int64"):
            raise none_of("repeat_interleave", repeats._dtype)
        if repeats.numel() != 1:
            if bool((repeats < 0).any()):
                raise RuntimeError("repeat_interleave: repeats are from 0 on")
            ends = repeats.cumsum(0)
            count = int(ends[-1]) if repeats.numel() else 0
            rows = functions["searchsorted"](ends, functions["arange"](count), right=True)
            return input.index_select(place, rows)
        repeats = repeats.item()
    shape = input.shape
    wide = unsqueeze(input, place + 1)
    wide = expand(wide, shape[: place + 1] + (repeats,) + shape[place + 1 :])
    wide = clone(wide, memory_format=contiguous_format)
    return view(wide, shape[:place] + (shape[place] * repeats,) + shape[place + 1 :])
