"""Products of matrices and vectors: mm, bmm, mv, dot, matmul, and those that are added to a tensor."""

from __future__ import annotations

from typing import Any, Callable

from mxlite._lib import hot
from mxlite.autograd._transforms.levels import count as levels_open
from mxlite.torch._basic import full_of, require_fits, stacked, zeros_of
from mxlite.torch._broadcast import broadcast_shapes
from mxlite.torch._calls import adopt, both, function, last_error, method, new, prepare, require_tensor, run
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import BOOL, EXACT, FLOATING, float16, float32, from_kind, int64
from mxlite.torch._errors import none_of, wrong_argument
from mxlite.torch._nodes import formula
from mxlite.torch._shape import shapes as _shapes
from mxlite.torch._tensor import Tensor

_mm = prepare("MmBackward0", "_mxl_mm")
_bmm = prepare("BmmBackward0", "batch_dot")
_inner = prepare("DotBackward0", "_np_dot")
_addmm = prepare("AddmmBackward0", "_mxl_addmm")
_addmm_scaled = prepare("AddmmBackward0", "_mxl_addmm", "beta", "alpha")
_unsafe_view = prepare("UnsafeViewBackward0", "_mxl_reshape_to", "shape")


def _same_dtype(a: Tensor, b: Tensor) -> None:
    if a._dtype is not b._dtype:
        raise RuntimeError(f"factors of a product are of the same dtype, got {a._dtype.word} and {b._dtype.word}")


def require_numbers(name: str, tensor: Tensor) -> None:
    if tensor._dtype.kind == BOOL:
        raise none_of(name, tensor._dtype)


def _integer_product(name: str, a: Tensor, b: Tensor) -> Tensor:
    """The product of matrices of integers, or of pairs of them, with all its digits."""
    if a.numel() and b.numel():
        require_numbers(name, a)
    if a.ndim == 3:
        products = [_integer_product(name, *each) for each in zip(a, b)]
        return stacked(products, 0) if products else zeros_of((0, a.shape[1], b.shape[2]), a._dtype)
    return cast(run(_mm, [cast(a, int64), cast(b, int64)], kind=int64), a._dtype)


def _refuse_product(input: Tensor, mat2: Tensor) -> None:
    """After a product of matrices that the library has refused."""
    problem = last_error()
    for name, each in (("input", input), ("mat2", mat2)):
        if each.ndim != 2:
            raise RuntimeError(f"mm: {name} is a matrix, got {each.ndim} dimensions")
    _same_dtype(input, mat2)
    _check_inner(input, mat2)
    raise problem


@both(calls={"two": _mm, "failed": _refuse_product, **from_kind(FLOATING)})
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    if not input._dtype.is_floating_point and input.ndim == mat2.ndim == 2:
        _same_dtype(input, mat2)
        _check_inner(input, mat2)
        return _integer_product("mm", input, mat2)
    handle = hot.call2(_mm, input._h, mat2._h)
    if handle:
        tensor = new(Tensor)
        tensor._h = handle
        tensor._dtype = input._dtype
        return tensor
    return _refuse_product(input, mat2)


def _check_inner(a: Tensor, b: Tensor) -> None:
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"matrices of {a.shape[0]} x {a.shape[1]} and {b.shape[0]} x {b.shape[1]} have no product: {a.shape[1]} "
            f"columns, {b.shape[0]} rows"
        )


@both(calls={"two": _bmm, "least": 3, "most": 3, "again": True, **EXACT})
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of matrices, pair by pair."""
    for name, each in (("input", input), ("mat2", mat2)):
        if each.ndim != 3:
            raise RuntimeError(f"bmm: {name} has 3 dimensions, got {each.ndim}")
    _same_dtype(input, mat2)
    if input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise _batch_error(input.shape[0], input.shape[2], *mat2.shape[:2])
    if not input._dtype.is_floating_point:
        return _integer_product("bmm", input, mat2)
    if input._dtype is float16:
        return cast(bmm(cast(input, float32), cast(mat2, float32)), float16)
    return adopt(hot.call2(_bmm, input._h, mat2._h), input._dtype)


def _batch_error(*sizes: int) -> RuntimeError:
    return RuntimeError(
        "the second batch of matrices begins with sizes [{}, {}] where they fit, not [{}, {}]".format(*sizes)
    )


_gemm = prepare("BaddbmmBackward0", "_linalg_gemm", slots="201")
_mv = prepare("MvBackward0", "dot")


@both(calls={"two": _mv, "ndims": (2, 1), "unbatched": True, "again": True, **EXACT})
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector."""
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"mv: takes a matrix and a vector, got {input.ndim} and {vec.ndim} dimensions")
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"mv: the vector has {vec.shape[0]} elements, expected {input.shape[1]}, the columns of the matrix"
        )
    return formula("MvBackward0", [input, vec], lambda a, x: mm(a, x.unsqueeze(1)).squeeze(1), saves=("1", "0"))


@both(calls={"two": _inner, "least": 1, "most": 1, "again": True, **EXACT})
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The inner product of two vectors."""
    if input.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"dot: takes two vectors, got {input.ndim} and {tensor.ndim} dimensions")
    if input._dtype is not tensor._dtype:
        raise RuntimeError(f"dot: vectors are of the same dtype, got {input._dtype.word} and {tensor._dtype.word}")
    if input.shape != tensor.shape:
        raise RuntimeError(f"dot: vectors are of one length, got {input.shape[0]} and {tensor.shape[0]}")
    require_numbers("dot", input)
    if input._dtype.is_floating_point:
        return run(_inner, (input, tensor), kind=input._dtype)
    return (input * tensor).sum(dtype=input._dtype)


@function()
def vdot(input: Tensor, other: Tensor) -> Tensor:
    """As dot."""
    return dot(input, other)


@both("outer", "ger")
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of the elements of two vectors."""
    require_tensor("outer", 2, "vec2", vec2)
    if len(input.shape) != 1 or len(vec2.shape) != 1:
        raise RuntimeError(f"outer: both are vectors, got shapes {list(input.shape)} and {list(vec2.shape)}")
    return input.reshape(-1, 1) * vec2


@both(quick=True)
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of two matrices, of a matrix and a vector, of two vectors, or of batches of matrices."""
    if not isinstance(other, Tensor):
        raise wrong_argument("matmul", "other", 2, "Tensor", other)
    a, b = len(input.shape), len(other.shape)
    if a == 2 and b == 2:
        return mm(input, other)
    if a == 0 or b == 0:
        raise RuntimeError(f"matmul: each tensor has 1 dimension or more, got {a} and {b}")
    if a == 1 and b == 1:
        return dot(input, other)
    if a == 2 and b == 1:
        return mv(input, other)
    if a == 1 and b == 2:
        return _shapes.squeeze(mm(input.unsqueeze(0), other), 0)
    if b <= 2 and a > 2:
        return _folded(input, other)
    return _batched(input, other)


def _folded(input: Tensor, other: Tensor) -> Tensor:
    """A batch of matrices times one matrix (or vector): its rows as one matrix."""
    lead = input.shape[:-1]
    rows = input.reshape(lead.numel(), input.shape[-1])
    if other.ndim == 1:
        return _shapes.with_shape(_unsafe_view, mv(rows, other), lead)
    return _shapes.with_shape(_unsafe_view, mm(rows, other), lead + other.shape[1:])


def _batched(input: Tensor, other: Tensor) -> Tensor:
    left = input.unsqueeze(0) if input.ndim == 1 else input
    right = other.unsqueeze(1) if other.ndim == 1 else other
    lead = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    count, n, m, p = lead.numel(), *left.shape[-2:], right.shape[-1]
    if m != right.shape[-2]:
        raise _batch_error(count, m, count, right.shape[-2])
    a = _shapes.reshape(left.expand(lead + (n, m)), (count, n, m))
    b = _shapes.reshape(right.expand(lead + (m, p)), (count, m, p))
    made = _shapes.with_shape(_unsafe_view, bmm(a, b), lead + (n, p))
    if input.ndim == 1:
        made = made.squeeze(-2)
    return made.squeeze(-1) if other.ndim == 1 else made


@method("__matmul__", quick=True)
def _matmul(self: Tensor, other: Any) -> Any:
    """self @ other."""
    return matmul(self, other) if isinstance(other, Tensor) else NotImplemented


@method("__rmatmul__", quick=True)
def _rmatmul(self: Tensor, other: Any) -> Any:
    """other @ self, which no other class has."""
    return NotImplemented


def _factors(input: Tensor, *given: Any) -> list[Any]:
    """Numbers of the tensor's dtype.

    Raises: RuntimeError: it cannot hold one.
    """
    kind = input._dtype
    if kind.kind == BOOL:
        return [bool(each) for each in given]
    return [each if kind.is_floating_point else int(require_fits(each, kind)) for each in given]


def _scaled_sum(input: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """beta * input + alpha * product; where beta is 0, not even a NaN of `input` counts."""
    return product * alpha if beta == 0 else input * beta + product * alpha


def _added(label: str, inputs: list[Tensor], multiply: Callable, back: Callable, beta: Any, alpha: Any) -> Tensor:
    """beta * the first input + alpha * the product of the others.

    With a rule of its own 1.5 times as fast as its composition, whose backward would multiply once more.

    Args:
        multiply: The product of the two.
        back: Of the product's gradient and what is saved of the two: their gradients.
    """

    def rule(grad: Tensor, a: Tensor | None, b: Tensor | None) -> list:
        return [grad * beta, *(None if each is None else each * alpha for each in back(grad, a, b))]

    def compute(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return _scaled_sum(x, multiply(a, b), beta, alpha)

    return formula(label, inputs, compute, rule, saves=("", "2", "1"))


@both()
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * the product of two matrices; `input` is broadcast."""
    values = [input, mat1, mat2]
    beta, alpha = _factors(input, beta, alpha)
    if not mat1._dtype.is_floating_point or mat1._dtype is float16:
        _same_dtype(input, mat1)
        return _scaled_sum(input, mm(mat1, mat2), beta, alpha)
    if beta == 1 and alpha == 1:
        handle = hot.call_n(_addmm, [input._h, mat1._h, mat2._h], [])
    else:
        handle = hot.call_n(_addmm_scaled, [each._h for each in values], [float(beta), float(alpha)])
    if handle:
        return adopt(handle, input._dtype)
    problem = last_error()
    for name, each in (("mat1", mat1), ("mat2", mat2)):
        if each.ndim != 2:
            raise RuntimeError(f"addmm: {name} is a matrix, got {each.ndim} dimensions")
    _same_dtype(mat1, mat2)
    _check_inner(mat1, mat2)
    _shapes.expand(input, (mat1.shape[0], mat2.shape[1]))
    raise problem


@both()
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * the product of a matrix and a vector."""
    if (mat.ndim, vec.ndim) != (2, 1) or input.ndim > 1 or mat.shape[1] != vec.shape[0]:
        shapes = ", ".join(str(list(each.shape)) for each in (input, mat, vec))
        raise RuntimeError(f"addmv: takes a vector, a matrix and a vector as long as its rows, got shapes {shapes}")
    beta, alpha = (require_fits(each, input._dtype) for each in _factors(input, beta, alpha))
    return _added(
        "AddmvBackward0",
        [input, mat, vec],
        lambda a, v: mv(a, v) if alpha else full_of(tuple(a.shape[:1]), 0, a._dtype),
        lambda grad, a, v: [None if v is None else outer(grad, v), None if a is None else mv(a.t(), grad)],
        beta,
        alpha,
    )


@both()
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * the products of matrices, pair by pair."""
    is_plain = beta == alpha == 1 and input._dtype in EXACT["dtypes"] and not levels_open[0]
    if is_plain and input.shape == (*batch1.shape[:2], batch2.shape[-1]):
        made = hot.run(Tensor, _gemm, (batch1, batch2, input), (), input._dtype)
        if made is not None:
            return made
    beta, alpha = _factors(input, beta, alpha)
    return _added(
        "BaddbmmBackward0",
        [input, batch1, batch2],
        bmm,
        lambda grad, a, b: [None if b is None else bmm(grad, b.mT), None if a is None else bmm(a.mT, grad)],
        beta,
        alpha,
    )
