"""Elements by indices along a dimension: gather, index_select, take, take_along_dim."""

from __future__ import annotations

from mxlite._index.keys import ARRAY
from mxlite.torch._basic import has_values, of_all
from mxlite.torch._broadcast import broadcast_shapes, shape_error
from mxlite.torch._calls import axis, both, prepare, run, run_into, values
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL, dtype, from_kind, int32, int64
from mxlite.torch._kinds import check_dim
from mxlite.torch._nodes import formula
from mxlite.torch._shape import shapes as _shapes
from mxlite.torch._shape.shapes import along
from mxlite.torch._tensor import Tensor

_select = prepare("IndexSelectBackward0", "take", "axis", slots="0", mode="clip")
_picked = prepare("IndexSelectBackward0", "take", "axis", slots="0", mode="raise")
_at = prepare(None, "_mxl_index", "key", rules="torch")
_gather = prepare("GatherBackward0", "_mxl_gather", "axis", slots="0")


def require_integers(name: str, index: Tensor, kinds: tuple[dtype, ...] = (int32, int64)) -> None:
    """Raises: RuntimeError: the indices are of no dtype that the function takes."""
    if index._dtype not in kinds:
        taken = " or ".join(each.name for each in kinds)
        raise RuntimeError(f"{name}: the index is of dtype {taken}, got {index._dtype.word}")


def _long(name: str, index: Tensor) -> Tensor:
    if index.numel():
        require_integers(name, index)
    return cast(index, int64)


def require_within(name: str, index: Tensor, size: int) -> None:
    """Raises: IndexError: an index is below 0, or not below the size."""
    wrong = _outside(index, size) if has_values(index) else None
    if wrong is not None:
        raise IndexError(f"{name}: index {wrong} is outside {size} rows, which count from 0")


def _outside(index: Tensor, size: int) -> int | None:
    """The first index that is below 0, or not below the size."""
    index = of_all(index)
    wrong = (index < 0) | (index >= size)
    return index[wrong][0].item() if index.numel() and not index.is_meta and bool(wrong.any()) else None


def _check_along(input: Tensor, index: Tensor, dim: int) -> None:
    for other in range(input.ndim):
        if other != dim and index.shape[other] > input.shape[other]:
            _check_indices(input, index, dim)
            raise RuntimeError(
                f"the index of shape {list(index.shape)} is larger in dimension {other} than the tensor of shape "
                f"{list(input.shape)}; only dimension {dim} may be"
            )


def _check_indices(input: Tensor, index: Tensor, dim: int) -> None:
    wrong = _outside(index, input.shape[dim])
    if wrong is not None:
        raise RuntimeError(f"index {wrong} is outside dimension {dim}, which has size {input.shape[dim]}")


def _run_along(call: int, inputs: list[Tensor], dim: int, into: bool = False) -> Tensor:
    """Runs a call on a tensor (or into it) and indices along a dimension, which the operator checks."""
    try:
        return run_into(call, inputs[0], inputs, dim) if into else run(call, inputs, dim, kind=inputs[0]._dtype)
    except Exception:
        _check_indices(*inputs[:2], dim)
        raise


def _with(shape: tuple[int, ...], dim: int, size: int) -> tuple[int, ...]:
    """The shape with another size of one dimension."""
    return (*shape[:dim], size, *shape[dim + 1 :])


# ---- elements by indices ----


@both(calls={"many": _picked, "index": int64, "most": 1, "again": True, **from_kind(BOOL)})
def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The parts of a dimension at indices."""
    if isinstance(input, Tensor) and not input.shape and isinstance(index, Tensor) and index.numel() != 1:
        raise RuntimeError(f"index_select: a tensor without dimensions has one part, got {index.numel()} indices")
    return _selected(input, dim, index)


@along
def _selected(input: Tensor, dim: int, index: Tensor) -> Tensor:
    dim = check_dim(dim, input.ndim)
    require_integers("index_select", index)
    if index.ndim > 1:
        raise IndexError(f"index_select: the index is a vector, got {index.ndim} dimensions")
    require_within("index_select", index, input.shape[dim])
    return run(_select, [input, index.reshape(-1)], dim, kind=input._dtype)


@both(calls={"many": _gather, "index": int64, "again": True, **from_kind(BOOL)})
def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False) -> Tensor:
    """Elements along a dimension at indices, which have the result's shape."""
    dim = check_dim(dim, input.ndim)
    if not input.shape:
        return gather(input.reshape(1), 0, index.reshape(-1)).reshape(index.shape)
    index = _long("gather", index)
    if index.ndim != input.ndim and index.numel():
        raise RuntimeError(f"the index has {index.ndim} dimensions, the tensor {input.ndim}")
    _check_along(input, index, dim)
    return _run_along(_gather, [input, index], dim)


@both()
def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements of the tensor as one row, at indices."""
    require_integers("take", index, (int64,))

    def compute(x: Tensor, index: Tensor) -> Tensor:
        return run(_at, [x.reshape(-1), index], ARRAY, kind=x._dtype)

    return formula("TakeBackward0", [input], compute, saves="", constants=[index])


@both(
    calls={"two": _gather, "values": values(dim=axis), "index": int64, "alike": True, "again": True, **from_kind(BOOL)}
)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None) -> Tensor:
    """Elements along a dimension at indices, which count round its size; elsewhere the shapes are broadcast."""
    if dim is None:
        return gather(input.reshape(-1), 0, indices.reshape(-1))
    if not input.shape:
        raise IndexError("take_along_dim: a tensor without dimensions has none to take along")
    if indices.ndim != input.ndim:
        raise RuntimeError(
            f"take_along_dim: indices have {indices.ndim} dimensions, expected {input.ndim} as the tensor"
        )
    dim = check_dim(dim, input.ndim)
    size = input.shape[dim]
    others = [_with(each.shape, dim, 1) for each in (input, indices)]
    problem = shape_error(*others)
    if problem is not None:
        raise problem
    shape = broadcast_shapes(*others)
    require_integers("take_along_dim", indices, (int64,))
    if not size and indices.numel():
        raise RuntimeError(f"take_along_dim(): dimension {dim} has no elements to take")
    within = _shapes.expand(indices % max(1, size), _with(shape, dim, indices.shape[dim]))
    return gather(_shapes.expand(input, _with(shape, dim, size)), dim, within.contiguous())
