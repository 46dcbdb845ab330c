"""Functions in place, over the tensor that they are of, and those of the module: torch.exp_(x) is x.exp_()."""

from __future__ import annotations

from typing import Any, Callable

from mxlite.torch._broadcast import require_into
from mxlite.torch._calls import functions, method, methods
from mxlite.torch._convert import common_dtype, require_cast
from mxlite.torch._dtypes import BOOL
from mxlite.torch._edits import edit
from mxlite.torch._math import contractions, order, products  # noqa: F401 - whose functions these are
from mxlite.torch._tensor import Tensor

_NAMES = """
    addbmm addmm addmv addr arctan2 atan2 baddbmm bitwise_and bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor clamp_max clamp_min copysign cumprod cumsum eq float_power floor_divide fmod gcd ge
    greater greater_equal gt heaviside hypot igamma igammac lcm ldexp le less less_equal logical_and logical_not
    logical_or logical_xor lt nan_to_num ne nextafter not_equal renorm tril triu xlogy
"""
_OF_TWO = "bitwise_and bitwise_or bitwise_xor hypot".split()
_OF_THE_MODULE = """
    abs acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh addmv ceil clamp clamp_max
    clamp_min clip cos cosh deg2rad erf erfc exp exp2 expm1 fill fix floor frac gcd i0 lcm ldexp log log10 log1p log2
    logit nan_to_num neg negative rad2deg reciprocal relu round rsqrt sigmoid sin sinc sinh sqrt square tan tanh trunc
    xlogy zero
"""


def _into(name: str, made: Callable) -> None:
    """Registers the method `name`_."""
    label = f"{name.title().replace('_', '')}Backward0"

    @method(f"{name}_", document=f"As {name}, into the tensor itself, which is returned.")
    def into(self: Tensor, *args: Any, **named: Any) -> Tensor:
        given = {**dict(enumerate(args)), **named}
        tensors = {key: each for key, each in given.items() if isinstance(each, Tensor)}
        plain = {key: each for key, each in given.items() if key not in tensors}

        for each in tensors.values() if name in _OF_TWO else ():
            require_into(self, each)
            require_cast(common_dtype(self, each), self._dtype)

        def compute(x: Tensor, *others: Tensor) -> Tensor:
            every = {**plain, **dict(zip(tensors, others))}
            if name in ("cumsum", "cumprod") and x._dtype.kind == BOOL and not (x.shape and x.numel()):
                return x.clone()
            found = made(x, *(every[k] for k in range(len(args))), **{key: every[key] for key in named})
            if found._dtype.kind != BOOL:
                require_cast(found._dtype, x._dtype)
            if name == "float_power" and x._dtype is not found._dtype:
                raise RuntimeError(f"float_power_: the tensor is of float64, got {x.dtype}")
            return found

        return edit(label, [self, *tensors.values()], compute)


for _name in _NAMES.split():
    _into(_name, functions[_name])
for _name in _OF_THE_MODULE.split():
    functions[_name + "_"] = methods[_name + "_"]
