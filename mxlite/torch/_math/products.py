"""Products beyond those of matrix.py: addr, addbmm, chains; distances, cross products, differences and integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite.torch._basic import from_values, of_all
from mxlite.torch._broadcast import broadcast_shapes
from mxlite.torch._calls import both, function
from mxlite.torch._convert import as_float, cast, common_dtype, require_same_dtype
from mxlite.torch._dtypes import BOOL
from mxlite.torch._errors import warn, warn_of_old
from mxlite.torch._kinds import check_dim
from mxlite.torch._math.matrix import _factors, _scaled_sum, bmm, outer
from mxlite.torch._math.norms import vector_norm
from mxlite.torch._nodes import formula
from mxlite.torch._shape.parts import cat
from mxlite.torch._shape.shapes import expand, reshape
from mxlite.torch._shape.slices import narrow
from mxlite.torch._shape.where import choose
from mxlite.torch._tensor import Tensor, full_of


@both()
def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * all products of the elements of two vectors."""
    kind = common_dtype(input, vec1, vec2)
    if kind.kind != BOOL and any(isinstance(each, bool) for each in (beta, alpha)):
        raise RuntimeError(f"addr: a truth value as a factor is for dtype bool, got {kind}")
    beta, alpha = _factors(cast(input, kind), beta, alpha)

    def compute(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        x, a, b = (cast(each, kind) for each in (x, a, b))
        return _scaled_sum(expand(x, (a.numel(), b.numel())), outer(a, b), beta, alpha)

    return formula("AddrBackward0", [input, vec1, vec2], compute, saves=("", "2", "1"))


@both()
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * the sum of products of matrices, pair by pair."""
    beta, alpha = _factors(input, beta, alpha)
    return formula(
        "AddbmmBackward0",
        [input, batch1, batch2],
        lambda x, a, b: _scaled_sum(x, bmm(a, b).sum(0, dtype=a._dtype), beta, alpha),
        saves=("", "2", "1"),
    )


def multi_dot(tensors: Any) -> Tensor:
    """The product of matrices, in the order that takes the fewest steps; the first and last may be vectors."""
    listed = list(tensors)
    if len(listed) < 2:
        raise RuntimeError(f"multi_dot: takes two tensors or more, got {len(listed)}")
    is_row, is_column = listed[0].ndim == 1, listed[-1].ndim == 1
    listed[0] = listed[0].unsqueeze(0) if is_row else listed[0]
    listed[-1] = listed[-1].unsqueeze(1) if is_column else listed[-1]
    if any(each.ndim != 2 for each in listed):
        raise RuntimeError(f"multi_dot: takes matrices, got shapes {[list(each.shape) for each in listed]}")
    while len(listed) > 1:  # those that share the longest dimension first
        k = max(range(1, len(listed)), key=lambda k: listed[k].shape[0])
        listed[k - 1 : k + 1] = [listed[k - 1].mm(listed[k])]
    made = listed[0].squeeze(0) if is_row else listed[0]
    return made.squeeze(-1) if is_column else made


@function()
def chain_matmul(*matrices: Tensor) -> Tensor:
    """The product of matrices, in the order that takes the fewest steps."""
    warn_of_old("chain_matmul", "linalg.multi_dot")
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


# ---- distances ----


@both()
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of the difference."""
    return formula("DistBackward0", [input, other], lambda a, b: vector_norm(a - b, float(p)))


@function()
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = None) -> Tensor:
    """The p-norms of the differences of each row of one matrix and each of another, or of pairs of matrices."""
    if (
        min(x1.ndim, x2.ndim) < 2
        or x1.shape[-1] != x2.shape[-1]
        or p < 0
        or not (x1._dtype.is_floating_point and x2._dtype.is_floating_point)
    ):
        raise RuntimeError(f"cdist: takes rows of one length, p from 0 on, got {list(x1.shape)}, {list(x2.shape)}, {p}")
    if not (x1.shape[-1] and x1.shape[-2] and x2.shape[-2]):
        return x1.new_zeros((*broadcast_shapes(x1.shape[:-2], x2.shape[:-2]), x1.shape[-2], x2.shape[-2]))
    compute = lambda a, b: vector_norm(a.unsqueeze(-2) - b.unsqueeze(-3), float(p), -1)  # noqa: E731
    return formula("CdistBackward0", [x1, x2], compute)


@function()
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of each two rows of a matrix."""
    if input.ndim != 2 or p < 0 or not input._dtype.is_floating_point:
        raise RuntimeError(f"pdist: takes a matrix and p from 0 on, got {list(input.shape)} and {p}")
    first, second = map(from_values, np.triu_indices(input.shape[0], 1))
    compute = lambda x, i, j: vector_norm(x[i] - x[j], float(p), -1)  # noqa: E731
    return formula("PdistBackward0", [input], compute, constants=[first, second])


@both()
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Parts along a dimension, scaled to a p-norm of `maxnorm` where theirs is larger."""
    if input.ndim < 2 or p <= 0 or maxnorm < 0:
        raise RuntimeError(f"renorm: takes 2 dimensions or more, p above 0 and maxnorm from 0 on, got {p}, {maxnorm}")
    place = check_dim(dim, input.ndim)
    others = tuple(k for k in range(input.ndim) if k != place)

    def compute(x: Tensor) -> Tensor:
        size = vector_norm(x, float(p), others, True)
        return x * choose(size > maxnorm, maxnorm / (size + 1e-7), full_of((), 1, x._dtype))

    return formula("RenormBackward0", [input], compute)


# ---- vectors ----


def cross_along(input: Tensor, other: Tensor, dim: int = -1) -> Tensor:
    """The cross products of vectors of 3 elements along a dimension."""
    if input.ndim != other.ndim:
        raise RuntimeError(f"linalg.cross: both have one number of dimensions, got {input.ndim} and {other.ndim}")
    place = check_dim(dim, input.ndim)
    shape = broadcast_shapes(input.shape, other.shape)
    if not shape or input.shape[place] != 3 or other.shape[place] != 3:
        raise RuntimeError(f"linalg.cross: the vectors of dimension {dim} have 3 elements, got shape {list(shape)}")

    def compute(a: Tensor, b: Tensor) -> Tensor:
        (a1, a2), (b1, b2) = ([expand(x, shape).roll(-k, place) for k in (1, 2)] for x in (a, b))
        return a1 * b2 - a2 * b1

    return formula("LinalgCrossBackward0", [input, other], compute)


@both()
def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The cross products of vectors along a dimension, by default the first one of size 3."""
    if dim is None:
        warn("cross: say the dimension; without it the first one of size 3 is meant, linalg.cross takes the last")
        dim = next((k for k, size in enumerate(broadcast_shapes(input.shape, other.shape)) if size == 3), None)
        if dim is None:
            raise RuntimeError("cross: no dimension has size 3")
    return cross_along(input, other, dim)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The inner products of vectors along a dimension."""
    require_same_dtype("linalg.vecdot", x, y)
    if not x.shape:
        check_dim(dim, 0)
    return (x * y).sum(dim, dtype=common_dtype(x, y))


def vander_of(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers of each element of the last dimension, from 0 to before N, as a new last one."""
    if not x.shape or (x.shape[-1] if N is None else N) <= 1:
        raise RuntimeError(f"linalg.vander: takes vectors and N above 1, got {x.ndim} dimensions and {N}")
    wide = expand(x.unsqueeze(-1), (*x.shape, (N or x.shape[-1]) - 1))
    made = wide.cumprod(-1)
    return cat([full_of((*x.shape, 1), 1, made._dtype), made], -1)


@function()
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of each element of a vector as a row, the highest first unless `increasing`."""
    if x.ndim != 1:
        raise RuntimeError(f"vander: takes a vector, got {x.ndim} dimensions")
    count = x.shape[0] if N is None else N
    rows = vander_of(x, N=max(count, 2))[:, :count]
    return rows if increasing else rows.flip(1)


# ---- differences and integrals ----


@both()
def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """The n-th differences of elements that follow each other along a dimension, with others before and after them."""
    if not input.shape or n < 0:
        raise RuntimeError(f"diff: takes tensors with dimensions, and n from 0 on, got {n}")
    if n == 0:
        return input.clone()
    place = check_dim(dim, input.ndim)
    parts = [each for each in (prepend, input, append) if each is not None]
    if any(each.ndim != input.ndim for each in parts):
        raise RuntimeError("diff: what comes before and after has as many dimensions as the tensor")
    made = cat(parts, place) if len(parts) > 1 else input
    for _ in range(min(n, made.shape[place])):
        size = made.shape[place]
        after, before = narrow(made, place, min(size, 1), size - 1), narrow(made, place, 0, size - 1)
        made = after ^ before if made._dtype.kind == BOOL else after - before
    return made


def _integral(name: str, finish: Any, document: str) -> None:
    @function(*name.split(), document=document)
    def integral(y: Tensor, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
        place = check_dim(dim, y.ndim)
        if not y.shape:
            raise IndexError(f"{name}: a tensor without dimensions has no integral")
        size = y.shape[place]
        if not size:
            return finish(y, place)
        if any(isinstance(each, Tensor) and each._dtype.kind == BOOL for each in (y, x)):
            raise RuntimeError(f"{name}: takes no truth values")
        if x is None and name[0] == "t":
            return (y.sum(place) - (y.select(place, 0) + y.select(place, -1)) * 0.5) * dx
        both_ends = narrow(y, place, 1, size - 1) + narrow(y, place, 0, size - 1)
        if x is None:
            return finish(both_ends * (dx / 2.0), place)
        if x.ndim == 1 and y.ndim > 1:
            x = reshape(x, tuple(-1 if k == place else 1 for k in range(y.ndim)))
        along = dim if x.ndim > y.ndim else place - y.ndim
        if x.shape[along] != size:
            raise RuntimeError(f"{name}: there are {size} values, and {x.shape[along]} places for them")
        return finish(both_ends * diff(x, 1, along), dim) / 2.0


_integral("trapezoid trapz", lambda parts, dim: parts.sum(dim), "The integral along a dimension by trapezoids.")
_integral("cumulative_trapezoid", lambda parts, dim: parts.cumsum(dim), "The integrals up to each point.")


@both()
def cov(input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Tensor:
    """The covariances of variables, whose observations are rows; `fweights`, `aweights`: how often each counts."""
    if input.ndim > 2 or input._dtype.kind == BOOL:
        raise RuntimeError(f"cov: takes a matrix, a vector or a number, got {input.ndim} dimensions of {input.dtype}")
    rows = as_float(input).reshape(1, -1) if input.ndim < 2 else as_float(input)
    weights = None
    for each in (fweights, aweights):
        if each is not None:
            if each.ndim != 1 or each.numel() != rows.shape[1] or (each.numel() and bool(of_all(each < 0).any())):
                raise RuntimeError("cov: weights are a vector of one number for each observation, none below 0")
            weights = each if weights is None else weights * each
    total = rows.shape[1] if weights is None else weights.sum()
    if weights is not None and weights.numel() and not bool(total):
        raise RuntimeError("cov: the weights add up to 0")
    rows = rows - ((rows if weights is None else rows * weights).sum(1, True) / total)
    less = correction if aweights is None else correction * (weights * aweights).sum() / total
    norm = total - less
    if not (isinstance(norm, Tensor) and norm.is_meta) and norm <= 0:
        warn("cov: there are no more observations than the correction, and nothing to divide by is left")
    norm = norm.clamp_min(0) if isinstance(norm, Tensor) else max(norm, 0)
    made = (rows if weights is None else rows * weights).mm(rows.t()) / norm
    return made.squeeze()


@both()
def corrcoef(input: Tensor) -> Tensor:
    """The correlations of variables, whose observations are rows."""
    found = cov(input)
    if not found.shape:
        return found / found
    roots = found.diag().sqrt()
    return (found / roots.unsqueeze(1) / roots.unsqueeze(0)).clamp(-1, 1)
