"""Products of matrices, and functions of a matrix: det, inverse, solve, cholesky."""

from __future__ import annotations

from typing import Any

import numpy as np

from mxlite._lib import hot
from mxlite.torch import _shapes
from mxlite.torch._calls import adopt, both, function, functions, last_error, methods, new, prepare, run, run_many
from mxlite.torch._convert import cast, clone
from mxlite.torch._dtypes import BOOL, float16, float32
from mxlite.torch._kinds import check_dim
from mxlite.torch._nodes import formula
from mxlite.torch._norms import vector_norm
from mxlite.torch._picking import choose
from mxlite.torch._tensor import Tensor, from_values, full_of, require_fits

_mm = prepare("MmBackward0", "_mxl_mm")
_bmm = prepare("BmmBackward0", "batch_dot")
_addmm = prepare("AddmmBackward0", "_mxl_addmm")
_addmm_scaled = prepare("AddmmBackward0", "_mxl_addmm", "beta", "alpha")
_unsafe_view = prepare("UnsafeViewBackward0", "_mxl_reshape_to", "shape")


def _same_dtype(a: Tensor, b: Tensor) -> None:
    if a._dtype is not b._dtype:
        raise RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {_c(a)} != {_c(b)}")


def _c(tensor: Tensor) -> str:
    return {
        "Float": "float",
        "Double": "double",
        "Half": "c10::Half",
        "Long": "long",
        "Int": "int",
        "Bool": "bool",
    }.get(tensor._dtype.word, tensor._dtype.word.lower())


def _require_numbers(name: str, tensor: Tensor) -> None:
    if tensor._dtype.kind == BOOL:
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")


def _integer_product(name: str, a: Tensor, b: Tensor) -> Tensor:
    """The product of matrices of integers, or of pairs of them, with all its digits."""
    if a.numel() and b.numel():
        _require_numbers(name, a)
    return from_values(np.matmul(a._values(), b._values()))


@both()
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices."""
    if not input._dtype.is_floating_point and input.ndim == mat2.ndim == 2:
        _same_dtype(input, mat2)
        _check_inner(input, mat2)
        return _integer_product("addmm_impl_cpu_", input, mat2)
    handle = hot.call2(_mm, input._h, mat2._h)
    if handle and input._dtype.is_floating_point:
        tensor = new(Tensor)
        tensor._h = handle
        tensor._dtype = input._dtype
        return tensor
    problem = None if handle else last_error()
    if handle:
        return adopt(handle, input._dtype)
    for name, each in (("self", input), ("mat2", mat2)):
        if each.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix")
    _same_dtype(input, mat2)
    _check_inner(input, mat2)
    raise problem


def _check_inner(a: Tensor, b: Tensor) -> None:
    if a.shape[-1] != b.shape[-2]:
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )


@both()
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of matrices, pair by pair."""
    for name, each in (("batch1", input), ("batch2", mat2)):
        if each.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    _same_dtype(input, mat2)
    if input.shape[0] != mat2.shape[0] or input.shape[2] != mat2.shape[1]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{input.shape[0]}, {input.shape[2]}] but "
            f"got: [{mat2.shape[0]}, {mat2.shape[1]}]."
        )
    if not input._dtype.is_floating_point:
        return _integer_product("bmm", input, mat2)
    if input._dtype is float16:
        return cast(bmm(cast(input, float32), cast(mat2, float32)), float16)
    return adopt(hot.call2(_bmm, input._h, mat2._h), input._dtype)


@both()
def mv(input: Tensor, vec: Tensor) -> Tensor:
    """The product of a matrix and a vector."""
    if input.ndim != 2 or vec.ndim != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got 1, {input.ndim}, {vec.ndim}")
    if input.shape[1] != vec.shape[0]:
        raise RuntimeError(
            f"size mismatch, got input ({input.shape[0]}), mat ({input.shape[0]}x{input.shape[1]}), vec "
            f"({vec.shape[0]})"
        )
    return formula(
        "MvBackward0",
        [input, vec],
        lambda a, x: mm(a, x.unsqueeze(1)).reshape(a.shape[:1]),
        lambda grad, a, x: [None if x is None else outer(grad, x), None if a is None else mv(a.t(), grad)],
        saves=("1", "0"),
    )


@both()
def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The inner product of two vectors."""
    if input.ndim != 1 or tensor.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndim}D and {tensor.ndim}D tensors")
    if input._dtype is not tensor._dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {input._dtype.word} and {tensor._dtype.word}"
        )
    if input.shape != tensor.shape:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{input.shape[0]}] and src [{tensor.shape[0]}] to have "
            "the same "
            f"number of elements, but got {input.shape[0]} and {tensor.shape[0]} elements respectively"
        )
    _require_numbers("dot", input)
    return formula(
        "DotBackward0",
        [input, tensor],
        lambda a, b: (a * b).sum(dtype=a._dtype),
        lambda grad, a, b: [None if b is None else b * grad, None if a is None else a * grad],
        saves=("1", "0"),
    )


vdot = function("vdot")(dot)


@both("outer", "ger")
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """All products of the elements of two vectors."""
    return input.reshape(-1, 1) * vec2


@both()
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The product of two matrices, of a matrix and a vector, of two vectors, or of batches of matrices."""
    if not isinstance(other, Tensor):
        raise TypeError(f"matmul(): argument 'other' (position 2) must be Tensor, not {type(other).__name__}")
    a, b = len(input.shape), len(other.shape)
    if a == 2 and b == 2:
        return mm(input, other)
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
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
    lead = _shapes.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    n, m, p = left.shape[-2], left.shape[-1], right.shape[-1]
    if m != right.shape[-2]:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{lead.numel()}, {m}] but got: "
            f"[{lead.numel()}, {right.shape[-2]}]."
        )
    count = lead.numel()
    a = _shapes.reshape(left.expand(lead + (n, m)), (count, n, m))
    b = _shapes.reshape(right.expand(lead + (m, p)), (count, m, p))
    made = _shapes.with_shape(_unsafe_view, bmm(a, b), lead + (n, p))
    if input.ndim == 1:
        made = made.squeeze(-2)
    return made.squeeze(-1) if other.ndim == 1 else made


methods["__matmul__"] = lambda self, other: matmul(self, other) if isinstance(other, Tensor) else NotImplemented
methods["__rmatmul__"] = lambda self, other: NotImplemented


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
            raise RuntimeError(f"{name} must be a matrix, got {each.ndim}-D tensor")
    _same_dtype(mat1, mat2)
    _check_inner(mat1, mat2)
    _shapes.expand(input, (mat1.shape[0], mat2.shape[1]))
    raise problem


@both()
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * the product of a matrix and a vector."""
    beta, alpha = _factors(input, beta, alpha)
    return formula(
        "AddmvBackward0",
        [input, mat, vec],
        lambda x, a, v: _scaled_sum(x, mv(a, v) if alpha else functions["zeros_like"](x), beta, alpha),
        lambda grad, a, v: [
            grad * beta,
            None if v is None else outer(grad, v) * alpha,
            None if a is None else mv(a.t(), grad) * alpha,
        ],
        saves=("", "2", "1"),
    )


@both()
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * input + alpha * the products of matrices, pair by pair."""
    beta, alpha = _factors(input, beta, alpha)
    return formula(
        "BaddbmmBackward0",
        [input, batch1, batch2],
        lambda x, a, b: _scaled_sum(x, bmm(a, b), beta, alpha),
        lambda grad, a, b: [
            grad * beta,
            None if b is None else bmm(grad, b.mT) * alpha,
            None if a is None else bmm(a.mT, grad) * alpha,
        ],
        saves=("", "2", "1"),
    )


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
                f"contracted dimensions need to match, but first has size {a.shape[one]} in dim {one} and second has "
                f"size {b.shape[other]} in dim {other}"
            )
        size *= a.shape[one]
    left = a.permute(*kept_a, *first).reshape(-1, size)
    right = b.permute(*second, *kept_b).reshape(size, -1)
    return mm(left, right).view(*(a.shape[dim] for dim in kept_a), *(b.shape[dim] for dim in kept_b))


@both()
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Contracts the last dimensions of two tensors."""
    return tensordot(input, other, ([-1], [-1])) if input.ndim and other.ndim else input * other


def _without_repeats(name: str, tensor: Tensor) -> tuple[str, Tensor]:
    """The letters of an operand, each once, and its diagonals along those that stand there several times."""
    for letter in dict.fromkeys(name):
        while name.count(letter) > 1:
            first = name.index(letter)
            second = name.index(letter, first + 1)
            if tensor.shape[first] != tensor.shape[second]:
                raise RuntimeError(
                    f"einsum(): subscript {letter} is repeated for operand with sizes {tensor.shape[first]} and "
                    f"{tensor.shape[second]}"
                )
            tensor = diagonal(tensor, 0, first, second)
            name = "".join(each for place, each in enumerate(name) if place not in (first, second)) + letter
    return name, tensor


@function()
def einsum(equation: str, *operands: Any) -> Tensor:
    """Products of tensors summed as an equation of letters says, "ij,jk->ik"; a letter twice in one operand is its
    diagonal."""
    tensors = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else list(operands)
    left, arrow, right = equation.replace(" ", "").partition("->")
    names = left.split(",")
    if len(names) != len(tensors) or "." in equation:
        raise NotImplementedError(f"mxlite.torch: einsum of {equation!r}")
    letters = "".join(names)
    for number, name in enumerate(names):
        if len(name) != tensors[number].ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(name)}) does not match the number of "
                f"dimensions ({tensors[number].ndim}) for operand {number}"
            )
        if len(names) > 1:
            _require_numbers("bmm", tensors[number])
        names[number], tensors[number] = _without_repeats(name, tensors[number])
    out = right if arrow else "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
    every = out + "".join(each for each in dict.fromkeys(letters) if each not in out)
    made = None
    for name, tensor in zip(names, tensors):
        order = [name.index(each) for each in every if each in name]
        shape = iter(tensor.permute(order).shape)
        wide = tensor.permute(order).reshape(tuple(next(shape) if each in name else 1 for each in every))
        made = wide if made is None else made * wide
    dims = tuple(range(len(out), len(every)))
    # A sum of products keeps their dtype; of one operand it is a sum as any other.
    return made.sum(dims, dtype=made._dtype if len(names) > 1 else None) if dims else made


# ---- triangles and diagonals ----


def _near(offset: int, rows: int, columns: int) -> int:
    """A diagonal's number; of those beyond a matrix, which have nothing, the first."""
    return min(max(offset, -rows), columns)


def _triangle(name: str, label: str, numpy_name: str) -> None:
    def triangle(input: Tensor, diagonal: int = 0) -> Tensor:
        def kept(x: Tensor) -> Tensor:
            rows, columns = x.shape[-2:]
            mask = from_values(getattr(np, numpy_name)(np.ones((rows, columns), bool), _near(diagonal, rows, columns)))
            return choose(mask, x, full_of((), 0, x._dtype))

        if input.ndim < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return formula(label, [input], kept, lambda grad: [kept(grad)])

    triangle.__name__ = name
    triangle.__doc__ = "The matrix with zeros on the other side of a diagonal."
    both(name)(triangle)


_triangle("tril", "TrilBackward0", "tril")
_triangle("triu", "TriuBackward0", "triu")


@both()
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A view of a diagonal of two dimensions, which becomes the last one."""
    places = check_dim(dim1, input.ndim), check_dim(dim2, input.ndim)
    if places[0] == places[1]:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if not -input.shape[places[0]] < offset < input.shape[places[1]]:
        input, offset = input.narrow(places[0], 0, 0), 0
    call = prepare("DiagonalBackward0", "diag", "k", "axis1", "axis2")
    return run(call, [input], offset, *places, kind=input._dtype)


def _on_diagonal(values: Tensor, shape: tuple[int, ...], offset: int) -> Tensor:
    """Zeros of a matrix's shape with the values, of shape (count,), on a diagonal."""
    skip = offset if offset >= 0 else -offset * shape[1]
    put = prepare("DiagEmbedBackward0", "_mxl_zeros_put", "shape", "strides", "skip", "zeros")
    return run(put, [values], tuple(values.shape), (shape[1] + 1,), skip, shape, kind=values._dtype)


@both()
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or a matrix with a vector on its diagonal."""
    label = "DiagEmbedBackward0" if input.ndim == 1 else "DiagonalBackward0_copy"
    if input.ndim not in (1, 2):
        raise RuntimeError("diag(): Supports 1D or 2D tensors. Got " + f"{input.ndim}D")
    if input.ndim == 2 and not -input.shape[0] < diagonal < input.shape[1]:
        return clone(input.narrow(0, 0, 0).narrow(1, 0, 0).reshape(0))
    call = prepare(None, "diag", "k")
    shape = tuple(input.shape)

    def compute(x: Tensor) -> Tensor:
        return run(call, [x], diagonal, kind=x._dtype).clone()

    def rule(grad: Tensor) -> list:
        if len(shape) == 1:
            return [diag(grad, diagonal)]
        return [_on_diagonal(grad, shape, diagonal)]

    return formula(label, [input], compute, rule)


@both()
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's diagonal."""
    if input.ndim != 2:
        raise RuntimeError("trace: expected a matrix")
    _require_numbers("trace", input)
    shape, count = tuple(input.shape), min(input.shape)

    def rule(grad: Tensor) -> list:
        return [_on_diagonal(grad.expand(count).contiguous(), shape, 0)]

    return formula("TraceBackward0", [input], lambda x: run(prepare(None, "diag"), [x], kind=x._dtype).sum(), rule)


# ---- functions of a matrix ----


def _require_square(name: str, A: Tensor) -> None:  # noqa: N803
    if A.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    rows, columns = A.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {rows} by {columns} matrices")
    if not A._dtype.is_floating_point:
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {A._dtype.word}")
    if A._dtype.name == "float16":
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")


@both("inverse")
def inv(A: Tensor) -> Tensor:  # noqa: N803 - PyTorch's name
    """The inverse of a matrix, or of each."""
    _require_square("linalg.inv", A)
    return run(prepare("LinalgInvExBackward0", "_linalg_inverse"), [A], kind=A._dtype)


@both()
def det(A: Tensor) -> Tensor:  # noqa: N803
    """The determinant of a matrix, or of each."""
    _require_square("linalg.det", A)
    return run(prepare("LinalgDetBackward0", "_linalg_det"), [A], kind=A._dtype)


@both()
def slogdet(A: Tensor) -> tuple:  # noqa: N803
    """Sign and logarithm of the size of the determinant, whose gradient is infinite where the matrix is singular."""
    _require_square("linalg.slogdet", A)
    return tuple(run_many(prepare("LinalgSlogdetBackward0", "_mxl_slogdet"), [A], kinds=[A._dtype] * 2))


@both("logdet")
def logdet(A: Tensor) -> Tensor:  # noqa: N803
    """The logarithm of the determinant."""
    _require_square("logdet", A)
    return det(A).log()


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:  # noqa: N803
    """The triangular L with L L' = A."""
    made = run(prepare("LinalgCholeskyExBackward0", "_linalg_potrf"), [A], kind=A._dtype)
    return made.mT if upper else made


def solve(A: Tensor, B: Tensor) -> Tensor:  # noqa: N803
    """The X with A X = B."""
    vector = B.ndim == 1

    def multiply(a: Tensor, b: Tensor) -> Tensor:
        return matmul(a, b.unsqueeze(-1)).squeeze(-1) if vector else matmul(a, b)

    def rule(grad: Tensor, a: Tensor, result: Tensor) -> list:
        db = multiply(inv(a).mT, grad)
        da = -(outer(db, result) if vector else matmul(db, result.mT))
        return [da, db]

    return formula("LinalgSolveExBackward0", [A, B], lambda a, b: multiply(inv(a), b), rule, saves="0r")


def _norm(
    A: Tensor,  # noqa: N803
    ord: Any = None,  # noqa: A002
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    if ord in (None, "fro"):
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if A.ndim != 1 and not isinstance(dim, int):
        raise NotImplementedError(f"mxlite.torch: linalg.norm has no ord {ord!r} of matrices")
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


@both()
def matrix_power(input: Tensor, n: int) -> Tensor:
    """The product of n times the matrix."""
    if n == 0:
        return functions["eye"](input.shape[-1], dtype=input._dtype).expand(input.shape).clone()
    base = input if n > 0 else inv(input)
    made = base
    for _ in range(abs(n) - 1):
        made = matmul(made, base)
    return made


#: What `torch.linalg` has.
LINALG = {
    "inv": inv, "det": det, "slogdet": slogdet, "cholesky": cholesky, "solve": solve, "norm": _norm,
    "vector_norm": vector_norm, "matmul": matmul, "matrix_power": matrix_power, "diagonal": diagonal,
}  # fmt: skip
