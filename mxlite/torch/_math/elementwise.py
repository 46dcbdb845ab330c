"""Functions of each element: exp, sin, relu, round, ..., as functions of the module, methods, and in place."""

from __future__ import annotations

from typing import Any

from mxlite._lib import hot
from mxlite.torch._calls import adopt, both, functions, last_error, method, methods, prepare, require_tensor
from mxlite.torch._convert import cast, require_cast
from mxlite.torch._dtypes import BOOL, INTEGER, PROMOTED, dtype, from_kind, get_default_dtype, int64
from mxlite.torch._errors import none_of
from mxlite.torch._tensor import Tensor

#: Functions whose nodes are called `ExpBackward0`: names -> operator. Integers become floats first.
_FLOATS = {
    **{name: name for name in "exp log log2 log10 log1p expm1 sqrt rsqrt sin cos tan sinh cosh tanh".split()},
    **{f"{name} arc{name[1:]}": f"arc{name[1:]}" for name in "asin acos atan asinh acosh atanh".split()},
    "sigmoid": "sigmoid",
    "erf": "erf",
    "reciprocal": "reciprocal",
    "deg2rad": "radians",
    "rad2deg": "degrees",
}

#: The same; integers stay what they are.
_ANY = {
    "neg negative": "negative",
    "abs absolute": "abs",
    "sign": "sign",
    "sgn": "sign",
    "relu": "_mxl_relu",
    "floor": "floor",
    "ceil": "ceil",
    "trunc fix": "trunc",
}


def require_floats(name: str, kind: dtype) -> None:
    """Raises: NotImplementedError: a dtype of integers or truth values."""
    if not kind.is_floating_point:
        raise none_of(name, kind)


def unary(names: str, operator: str, label: str, floats: bool, document: str, **constants: Any) -> tuple:
    """Registers a function of one tensor over an operator; returns it, and the same in place.

    Args:
        names: All its names.
        floats: Whether integers become floats first, in the library.
    """
    name, *others = names.split()
    call = prepare(label, operator, **constants)

    def function(input: Tensor) -> Tensor:
        try:
            kind = input._dtype
        except AttributeError:
            require_tensor(name, 1, "input", input)
            raise
        if floats:
            return adopt(hot.call1(call, input._h), kind if kind.is_floating_point else get_default_dtype())
        if kind.kind == BOOL:
            return _of_bool(name, input).clone()
        return adopt(hot.call1(call, input._h), kind)

    def in_place(self: Tensor) -> Tensor:
        kind = self._dtype
        if kind.kind == BOOL and not floats:
            require_cast(_of_bool(name, self)._dtype, kind)
            return self
        if hot.into1(call, self._h, self._h) != 0:
            raise last_error()
        return self

    calls = {"one": call, **(PROMOTED if floats else from_kind(INTEGER))}
    both(name, *others, document=document, calls=calls)(function)
    into = [f"{each}_" for each in (name, *others)]
    document = f"As {name}, into the tensor itself, which is returned."
    method(*into, document=document, calls={**calls, "into": True})(in_place)
    return function, in_place


def _of_bool(name: str, input: Tensor) -> Tensor:
    """The function of a tensor of bool: itself, where it stays as it is; the square as integers.

    Raises: RuntimeError, NotImplementedError: there is no such function of truth values.
    """
    if name in ("sign", "sgn"):
        return input
    if name == "square":
        return cast(input, int64)
    if name == "neg":
        raise RuntimeError("neg: a bool tensor has no negative; `~` or `logical_not()` inverts a mask")
    if name == "relu":
        raise RuntimeError("relu: takes no truth values")
    raise none_of(name, input._dtype)


for _names, _name in {**_FLOATS, **_ANY}.items():
    _first = _names.split()[0]
    unary(_names, _name, f"{_first.title()}Backward0", _names in _FLOATS, f"{_first} of each element.")
unary("exp2", "_rpower_scalar", "Exp2Backward0", True, "2 to the power of each element.", scalar=2, is_int=False)
unary("square", "square", "PowBackward0", False, "The square of each element; of bool int64.")

methods["__neg__"] = functions["neg"]
methods["__abs__"] = functions["abs"]


@method("__pos__")
@both("positive")
def positive(input: Tensor) -> Tensor:
    """The tensor itself."""
    if input._dtype.kind == BOOL:
        raise RuntimeError("positive: `+` takes no truth values")
    return input
