"""The functions of `mx.np`: their names, 1.9.1's signatures, and which operators they are.

A row of SIGNATURES reads

    name(signature) -> operator(parameter=expression, ...) | ignored

The first arguments are the operator's inputs. Others are its parameters of the same name; what is in parentheses says
its other parameters, by values or by the function's arguments. `out` is the array to write to. Any other argument is
refused if it is not its default, but those after `|`, which have no meaning here. Functions that are no row are
composed of others (`_composed.py`, `_sums.py`, `_elements.py`, `_statistics.py`, `_linalg.py`, `_random.py`), or
NumPy's (LEFT). A line that begins with blanks goes on with the one before it.

Functions are made from the rows as they are asked for: for arrays by `_functions.py`, and by whatever other front
reads this table.
"""

from __future__ import annotations

import ast
from typing import Any, NamedTuple

#: Functions of one array: the function, and its operator if that has another name than `_npi_` and the function's.
UNARY = {
    **{
        name: f"_npi_{name}"
        for name in """
        abs absolute arccos arccosh arcsin arcsinh arctan arctanh bitwise_not cbrt ceil cos cosh degrees exp expm1 fix
        floor isfinite isinf isnan isneginf isposinf log log10 log1p log2 logical_not negative radians reciprocal rint
        sign sin sinh sqrt square tan tanh trunc
        """.split()
    },
    "deg2rad": "_npi_radians",
    "fabs": "_npi_abs",
    "invert": "_npi_bitwise_not",
    "rad2deg": "_npi_degrees",
}

#: Functions of two arrays that are broadcast: their operators of two arrays, of array and number, of number and array.
BINARY: dict[str, tuple[str, str, str]] = {
    "add": ("_npi_add", "_npi_add_scalar", "_npi_add_scalar"),
    "arctan2": ("_npi_arctan2", "_npi_arctan2_scalar", "_npi_rarctan2_scalar"),
    "bitwise_and": ("_npi_bitwise_and", "_npi_bitwise_and_scalar", "_npi_bitwise_and_scalar"),
    "bitwise_or": ("_npi_bitwise_or", "_npi_bitwise_or_scalar", "_npi_bitwise_or_scalar"),
    "bitwise_xor": ("_npi_bitwise_xor", "_npi_bitwise_xor_scalar", "_npi_bitwise_xor_scalar"),
    "copysign": ("_npi_copysign", "_npi_copysign_scalar", "_npi_rcopysign_scalar"),
    "divide": ("_npi_true_divide", "_npi_true_divide_scalar", "_npi_rtrue_divide_scalar"),
    "equal": ("_npi_equal", "_npi_equal_scalar", "_npi_equal_scalar"),
    "greater": ("_npi_greater", "_npi_greater_scalar", "_npi_less_scalar"),
    "greater_equal": ("_npi_greater_equal", "_npi_greater_equal_scalar", "_npi_less_equal_scalar"),
    "hypot": ("_npi_hypot", "_npi_hypot_scalar", "_npi_hypot_scalar"),
    "lcm": ("_npi_lcm", "_npi_lcm_scalar", "_npi_lcm_scalar"),
    "ldexp": ("_npi_ldexp", "_npi_ldexp_scalar", "_npi_rldexp_scalar"),
    "less": ("_npi_less", "_npi_less_scalar", "_npi_greater_scalar"),
    "less_equal": ("_npi_less_equal", "_npi_less_equal_scalar", "_npi_greater_equal_scalar"),
    "maximum": ("_npi_maximum", "_npi_maximum_scalar", "_npi_maximum_scalar"),
    "minimum": ("_npi_minimum", "_npi_minimum_scalar", "_npi_minimum_scalar"),
    "mod": ("_npi_mod", "_npi_mod_scalar", "_npi_rmod_scalar"),
    "multiply": ("_npi_multiply", "_npi_multiply_scalar", "_npi_multiply_scalar"),
    "not_equal": ("_npi_not_equal", "_npi_not_equal_scalar", "_npi_not_equal_scalar"),
    "power": ("_npi_power", "_npi_power_scalar", "_npi_rpower_scalar"),
    "subtract": ("_npi_subtract", "_npi_subtract_scalar", "_npi_rsubtract_scalar"),
}
BINARY["remainder"] = BINARY["mod"]
BINARY["true_divide"] = BINARY["divide"]

#: Of those, the ones that take no options of NumPy's (`where`, `casting`, ...).
PLAIN = frozenset(("equal", "greater", "greater_equal", "less", "less_equal", "not_equal", "true_divide"))

SIGNATURES = """
all(a, axis=None, keepdims=False, out=None) -> _np_all
amax(a, axis=None, keepdims=False, out=None) -> _np_max
amin(a, axis=None, keepdims=False, out=None) -> _np_min
any(a, axis=None, keepdims=False, out=None) -> _np_any
arange(start, stop=None, step=1, dtype=None, ctx=None) ->
    _npi_arange(start=0 if stop is None else start, stop=start if stop is None else stop,
    dtype="float32" if dtype is None else dtype)
argmax(a, axis=None, out=None) -> _npi_argmax
argmin(a, axis=None, out=None) -> _npi_argmin
argsort(a, axis=-1, kind=None, order=None) -> _npi_argsort(dtype="int64") | kind
argwhere(a) -> _npx_nonzero
around(x, decimals=0, out=None, **kwargs) -> _npi_around
blackman(M, dtype=float32, ctx=None) -> _npi_blackman
copy(a, out=None) -> _np_copy
cumsum(a, axis=None, dtype=None, out=None) -> _np_cumsum
diagflat(array, k=0) -> _np_diagflat
diag(array, k=0) -> _np_diag
diff(a, n=1, axis=-1, prepend=None, append=None) -> _npi_diff
dot(a, b, out=None) -> _np_dot
diagonal(a, offset=0, axis1=0, axis2=1) -> _np_diagonal
expand_dims(a, axis) -> _npi_expand_dims
eye(N, M=None, k=0, dtype=float32, ctx=None) -> _npi_eye
flip(m, axis=None, out=None) -> _npi_flip(axis=axis)
hamming(M, dtype=float32, ctx=None) -> _npi_hamming
hanning(M, dtype=float32, ctx=None) -> _npi_hanning
identity(n, dtype=None, ctx=None) -> _npi_identity(shape=(n, n))
indices(dimensions, dtype=int32, ctx=None) -> _npi_indices
matmul(a, b, out=None, **kwargs) -> _npi_matmul
max(a, axis=None, keepdims=False, out=None) -> _np_max
mean(a, axis=None, dtype=None, out=None, keepdims=False) -> _npi_mean
min(a, axis=None, keepdims=False, out=None) -> _np_min
moveaxis(a, source, destination) -> _np_moveaxis
nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None, **kwargs) -> _npi_nan_to_num
polyval(p, x) -> _npi_polyval
prod(a, axis=None, dtype=None, out=None, keepdims=False) -> _np_prod
product(a, axis=None, dtype=None, out=None, keepdims=False) -> _np_prod
ravel(x, order='C') -> _np_reshape(newshape=(-1,), order='C')
repeat(a, repeats, axis=None) -> _np_repeat
reshape(a, newshape, order='C', out=None) -> _np_reshape(order='C')
roll(a, shift, axis=None) -> _np_roll
rot90(m, k=1, axes=(0, 1)) -> _npi_rot90(axes=axes)
round(x, decimals=0, out=None, **kwargs) -> _npi_around
round_(x, decimals=0, out=None, **kwargs) -> _npi_around
sometrue(a, axis=None, keepdims=False, out=None) -> _np_any
sort(a, axis=-1, kind=None, order=None) -> _npi_sort | kind
squeeze(a, axis=None, out=None) -> _np_squeeze
std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) -> _npi_std
sum(a, axis=None, dtype=None, keepdims=False, initial=None, out=None) -> _np_sum
swapaxes(a, axis1, axis2) -> _npi_swapaxes(dim1=axis1, dim2=axis2)
trace(a, offset=0, axis1=0, axis2=1, out=None) -> _np_trace
transpose(a, axes=None) -> _np_transpose
tril(m, k=0) -> _npi_tril
var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False) -> _npi_var
npx.constraint_check(x, msg) -> _npx_constraint_check
npx.nonzero(a) -> _npx_nonzero
npx.reshape(a, newshape, reverse=False, order='C') -> _npx_reshape(order='C')
linalg.cholesky(a) -> _npi_cholesky
linalg.det(a) -> _npi_det
linalg.eig(a) -> _npi_eig
linalg.eigh(a, UPLO='L') -> _npi_eigh
linalg.eigvals(a) -> _npi_eigvals
linalg.eigvalsh(a, UPLO='L') -> _npi_eigvalsh
linalg.inv(a) -> _npi_inv
linalg.slogdet(a) -> _npi_slogdet
linalg.solve(a, b) -> _npi_solve
linalg.svd(a) -> _npi_svd
linalg.tensorinv(a, ind=2) -> _npi_tensorinv
ndarray.all(self, axis=None, out=None, keepdims=False) -> _np_all
ndarray.any(self, axis=None, out=None, keepdims=False) -> _np_any
ndarray.argmax(self, axis=None, out=None) -> _npi_argmax
ndarray.argmin(self, axis=None, out=None) -> _npi_argmin
ndarray.argsort(self, axis=-1, kind=None, order=None) -> _npi_argsort(dtype="int64") | kind
ndarray.cumsum(self, axis=None, dtype=None, out=None) -> _np_cumsum
ndarray.dot(self, b, out=None) -> _np_dot
ndarray.flatten(self, order='C') -> _np_reshape(newshape=(-1,), order='C')
ndarray.max(self, axis=None, out=None, keepdims=False) -> _np_max
ndarray.mean(self, axis=None, dtype=None, out=None, keepdims=False) -> _npi_mean
ndarray.min(self, axis=None, out=None, keepdims=False) -> _np_min
ndarray.prod(self, axis=None, dtype=None, out=None, keepdims=False) -> _np_prod
ndarray.repeat(self, repeats, axis=None) -> _np_repeat
ndarray.round(self, decimals=0, out=None, **kwargs) -> _npi_around
ndarray.squeeze(self, axis=None) -> _np_squeeze
ndarray.std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False) -> _npi_std
ndarray.sum(self, axis=None, dtype=None, out=None, keepdims=False) -> _np_sum
ndarray.swapaxes(self, axis1, axis2) -> _npi_swapaxes(dim1=axis1, dim2=axis2)
ndarray.var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False) -> _npi_var
"""  # noqa: E501 - a row is a line

#: Functions that answer to a number with NumPy's own function, as those of elements do.
OF_NUMBERS = frozenset(("around", "flip", "nan_to_num", "round", "round_"))

#: Functions whose several results are a tuple; others give a list.
TUPLES = frozenset(("linalg.eig", "linalg.eigh", "linalg.svd"))

#: What NumPy computes, on the arrays' values, here as in 1.9.1.
LEFT = frozenset("histogram2d histogram_bin_edges histogramdd i0 roots".split())

#: Functions that mean other things than NumPy's of that name: numpy.linalg.svd has other shapes.
OTHERS = frozenset(("linalg.svd",))

#: Functions that ask for shapes or values, so that symbols do not have them; nor are there any of what `_elements.py`
#: and `_statistics.py` compose.
OF_ARRAYS = frozenset(
    """
    argwhere array broadcast_arrays empty genfromtxt meshgrid nonzero shape linalg.cond linalg.lstsq linalg.matrix_power
    linalg.matrix_rank linalg.multi_dot linalg.qr
    """.split()
)

#: Names of NumPy 2, and what they are here.
RENAMED = {"trapezoid": "trapz"}


class Row(NamedTuple):
    """A function that is one operator."""

    name: str
    signature: str
    operator: str
    #: Arguments of the function, and whether they have a default: its text, else None. `kwargs` is not among them.
    arguments: dict[str, str | None]
    #: Parameters of the operator that are no argument of that name, with their expressions.
    given: dict[str, str]
    ignored: frozenset[str]
    takes_options: bool


def _split() -> dict[str, tuple[str, str]]:
    rows = {}
    for line in SIGNATURES.replace("\n    ", " ").strip().splitlines():
        head, _, operator = line.partition(" -> ")
        name, _, signature = head.partition("(")
        rows[name] = signature[:-1], operator
    return rows


_rows = _split()


def row(name: str) -> Row | None:
    """The row of a function (`sum`, `linalg.det`, `ndarray.max`); None: it is no row."""
    if name not in _rows:
        return None
    signature, rest = _rows[name]
    rest, _, ignored = rest.partition(" | ")
    operator, _, given = rest.partition("(")
    parsed: Any = ast.parse(f"def f({signature}): f({given or ')'}").body[0]
    call = parsed.body[0].value
    names = [each.arg for each in parsed.args.args]
    defaults = [None] * (len(names) - len(parsed.args.defaults)) + [ast.unparse(each) for each in parsed.args.defaults]
    return Row(
        name,
        signature,
        operator,
        dict(zip(names, defaults)),
        {each.arg: ast.unparse(each.value) for each in call.keywords if each.arg},
        frozenset(ignored.split()),
        parsed.args.kwarg is not None,
    )


def names(module: str) -> list[str]:
    """The functions of "" (`mx.np` itself), "linalg", "random", "npx" or "ndarray" that are rows or of elements."""
    prefix = module and f"{module}."
    found = [name[len(prefix) :] for name in _rows if name.startswith(prefix) and "." not in name[len(prefix) :]]
    return found if module else [*found, *UNARY, *BINARY]
