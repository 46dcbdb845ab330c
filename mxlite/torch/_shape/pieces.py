"""Tensors cut into pieces and put together: tensor_split, unfold, rot90, block_diag, combinations, kron, ..."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from mxlite.torch._basic import alias, from_values, zeros_of
from mxlite.torch._calls import both, function, functions, method, methods, prepare, run
from mxlite.torch._convert import cast, clone
from mxlite.torch._dtypes import INTEGER, get_default_dtype, int64
from mxlite.torch._edits import copy_
from mxlite.torch._kinds import can_sum_to, check_dim, check_dims, extents_of
from mxlite.torch._math.linalg import diagonal
from mxlite.torch._nodes import formula
from mxlite.torch._shape.parts import _at_least, _joined, atleast_2d, cat, flip, meshgrid, split, stack
from mxlite.torch._shape.putting import scattered_over, sliced
from mxlite.torch._shape.shapes import as_strided, reshape, transpose, view
from mxlite.torch._shape.slices import narrow
from mxlite.torch._tensor import Tensor, full_of

_unfold = prepare("UnfoldBackward0", "_mxl_as_strided", "shape", "strides", "skip")


@both()
def tensor_split(input: Tensor, indices_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of so many parts along a dimension, the first ones longer by one, or of those between indices."""
    dim, given = check_dim(dim, input.ndim), indices_or_sections
    if not input.shape:
        raise RuntimeError("tensor_split: a tensor without dimensions has no parts")
    size, given = input.shape[dim], given.tolist() if isinstance(given, Tensor) else given
    if isinstance(given, int):
        if given < 1:
            raise RuntimeError(f"tensor_split: the number of parts is above 0, got {given}")
        given = [k * (size // given) + min(k, size % given) for k in range(1, given)]
    bounds = [slice(None, each).indices(size)[1] for each in given]
    return tuple(narrow(input, dim, a, max(b - a, 0)) for a, b in zip([0, *bounds], [*bounds, size]))


def _split_along(name: str, least: int, dim: int) -> None:
    @both(name, document=f"As tensor_split, into equal parts along dimension {dim}.")
    def pieces(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
        place = min(dim, input.ndim - 1)
        count = indices_or_sections if isinstance(indices_or_sections, int) else 1
        if input.ndim < least or count < 1 or input.shape[place] % count:
            raise RuntimeError(f"{name}: shape {list(input.shape)} has no {count} equal parts in dimension {place}")
        return tensor_split(input, indices_or_sections, place)


for _row in (("hsplit", 1, 1), ("vsplit", 2, 0), ("dsplit", 3, 2)):
    _split_along(*_row)


@method()
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All slices of a size along a dimension, so many steps apart, as a last dimension: of contiguous ones a view."""
    dim, extent = check_dim(dimension, self.ndim), self.shape[dimension] if self.shape else 1
    if not 0 <= size <= extent or step < 1:
        raise RuntimeError(f"unfold: size is from 0 to {extent} and step above 0, got {size} and {step}")
    count = (extent - size) // step + 1
    if self.is_contiguous() and self.numel():
        jump = self._strides()[dim] if self.shape else 1
        shape, strides = (list(each) for each in (self.shape, self._strides()))
        shape[dim : dim + 1], strides[dim : dim + 1] = ([count], [jump * step]) if shape else ([], [])
        return run(_unfold, [self], (*shape, size), (*strides, jump), 0, kind=self._dtype)
    parts = [(k * step, size) for k in range(count)]
    return formula(
        "UnfoldBackward0", [self], lambda x: stack([narrow(x, dim, *each) for each in parts], dim).movedim(dim + 1, -1),
        saves="",
    )  # fmt: skip


_TURNS = {
    0: lambda x, a, b: clone(x),
    1: lambda x, a, b: transpose(flip(x, b), a, b),
    2: lambda x, a, b: flip(x, a, b),
    3: lambda x, a, b: flip(transpose(x, a, b), b),
}


@both()
def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """A copy turned by 90 degrees k times, from the first of two dimensions towards the second."""
    if len(dims) != 2 or input.ndim < 2:
        raise RuntimeError(f"rot90: takes two dimensions of {input.ndim}, got {list(dims)}")
    return formula("Rot90Backward0", [input], lambda x: _TURNS[k % 4](x, *check_dims(dims, x.ndim)), saves="")


# ---- put together ----

atleast_3d = _at_least(3, lambda shape: (1, *shape, 1) if len(shape) == 1 else (*shape, 1) if shape else (1, 1, 1))
function("dstack", document="cat along dimension 2, of tensors with 3 dimensions at least.")(
    lambda tensors: cat(atleast_3d(_joined("dstack", tensors)), 2)
)
function("column_stack", document="cat along dimension 1, with vectors as columns.")(
    lambda tensors: cat([e if e.ndim > 1 else reshape(e, (-1, 1)) for e in _joined("column_stack", tensors)], 1)
)


@function()
def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices (vectors are rows) along the diagonal of one that is 0 elsewhere."""
    listed = _joined("block_diag", atleast_2d(tensors) if tensors else [zeros_of((1, 0), get_default_dtype())])
    ends = list(itertools.accumulate([each.shape[-1] for each in listed]))
    sides = [((each.shape[0], end - each.shape[1]), (each.shape[0], ends[-1] - end)) for each, end in zip(listed, ends)]
    rows = [[zeros_of(a, each._dtype), each, zeros_of(b, each._dtype)] for each, (a, b) in zip(listed, sides)]
    return cat([cat(row, 1) for row in rows], 0)


@function()
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All rows of an element of each vector, as itertools.product has them; of one vector itself."""
    if any(each.ndim != 1 for each in tensors):
        raise RuntimeError(f"cartesian_prod: takes vectors, got shapes {[list(each.shape) for each in tensors]}")
    return tensors[0] if len(tensors) == 1 else stack([each.reshape(-1) for each in meshgrid(*tensors)], 1)


@function()
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All rows of r elements of a vector, in their order; `with_replacement`: elements may occur again."""
    if input.ndim != 1 or r < 0:
        raise RuntimeError(f"combinations: takes a vector and r from 0 on, got {input.ndim} dimensions and r={r}")
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = np.array(list(choose(range(input.shape[0]), r)), np.int64).reshape(-1)
    return view(input.index_select(0, from_values(places)), (-1, r) if places.size else (0, r) if r else (0,))


@both()
def kron(input: Tensor, other: Tensor) -> Tensor:
    """Each element of `input` times all of `other`, in its place."""
    ndim = max(input.ndim, other.ndim)
    a, b = ([1] * (ndim - each.ndim) + list(each.shape) for each in (input, other))
    left = reshape(input, tuple(size for each in a for size in (each, 1)))
    right = reshape(other, tuple(size for each in b for size in (1, each)))
    return reshape(left * right, tuple(map(math.prod, zip(a, b))))


@both()
def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension as the diagonal of two new ones, which are 0 elsewhere."""
    places = check_dims((dim1, dim2), input.ndim + 1)
    sizes = list(input.shape[:-1])
    for place in sorted(places):
        sizes.insert(place, input.shape[-1] + abs(offset))

    def compute(x: Tensor) -> Tensor:
        made = x.new_zeros(tuple(sizes))  # in vmap one for each example
        copy_(diagonal(made, offset, *places), x)
        return made

    return formula("DiagEmbedBackward0", [input], compute, saves="")


both("diagflat", document="All elements on a diagonal of a matrix of zeros.")(
    lambda input, offset=0: diag_embed(reshape(input, (-1,)), offset)
)
scattered_over("diagonal", "a diagonal of two dimensions", diagonal)


@method()
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Summed to a shape that it can be broadcast from."""
    shape = extents_of("sum_to_size", size)
    if not can_sum_to(tuple(self.shape), shape):
        raise RuntimeError(f"sum_to_size: shape {list(shape)} cannot be broadcast to {list(self.shape)}")
    if not shape:
        return self.sum()
    wide = (1,) * (self.ndim - len(shape)) + shape
    dims = tuple(k for k, size in enumerate(wide) if size != self.shape[k] or k < len(wide) - len(shape))
    return self.sum(dims, True).reshape(shape) if dims else self


@function()
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Numbers of elements of a shape as positions along each dimension."""
    shape, is_whole = (shape,) if isinstance(shape, int) else tuple(shape), indices._dtype.kind == INTEGER
    if not is_whole or any(size < 0 for size in shape):
        kind = ValueError if is_whole else TypeError
        raise kind(f"unravel_index: takes integers, and sizes from 0 on, got {indices.dtype} and {shape}")
    steps, places = [math.prod(shape[k + 1 :]) for k in range(len(shape))], cast(indices, int64)
    return tuple(places // max(step, 1) % max(size, 1) for step, size in zip(steps, shape))


both("argwhere", document="Where elements differ from 0: a row of indices each.")(lambda input: input.nonzero())
both("unsafe_chunk")(functions["chunk"])
both("unsafe_split", "unsafe_split_with_sizes")(split)
method("adjoint")(functions["adjoint"])
method("H")(property(lambda self: functions["t"](self) if self.ndim != 1 else self.mT, doc="The transposed matrix."))
methods.update({name: functions[name] for name in ("fliplr", "flipud", "vdot", "is_nonzero")}, mH=methods["mT"])
functions.update(detach=Tensor.detach, detach_=Tensor.detach_)


def _copying(name: str, made: Any) -> None:
    def copied(*args: Any, **named: Any) -> Any:
        found = made(*args, **named)
        return tuple(map(clone, found)) if isinstance(found, tuple) else clone(found)

    (both if name == "narrow" else function)(f"{name}_copy", document=f"As {name}, in new memory.")(copied)


for _name in "diagonal narrow permute select squeeze t transpose unbind unsqueeze".split():
    _copying(_name, functions[_name])
for _name in "expand split_with_sizes unfold".split():
    _copying(_name, methods[_name])
for _name, _of in {"alias": alias, "as_strided": as_strided, "detach": Tensor.detach, "slice": sliced, "split": split,
                   "view": methods["view"]}.items():  # fmt: skip
    _copying(_name, _of)
scattered_over("as_strided", "steps in memory", as_strided)


@both()
def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` rows of nonzero(input), and rows of `fill_value` where there are fewer."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: size is 0 or more, got {size}")
    found = input.nonzero()[:size]
    return cat([found, full_of((size - found.shape[0], input.ndim), fill_value, int64)])
