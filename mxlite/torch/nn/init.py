"""`torch.nn.init`: first values of parameters, written into a tensor, which is returned."""

from __future__ import annotations

import math
from functools import wraps as _wraps
from typing import Any

import numpy as _np

from mxlite._public import show as _show
from mxlite.torch._dtypes import float64 as _float64
from mxlite.torch._errors import warn as _warn
from mxlite.torch._errors import warn_of_old as _warn_of_old
from mxlite.torch._nodes import unrecorded as _unrecorded
from mxlite.torch._tensor import Tensor
from mxlite.torch._tensor import from_values as _from_values
from mxlite.torch._tensor import zeros_of as _zeros_of


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Numbers from a to b."""
    with _unrecorded():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Normally distributed numbers."""
    with _unrecorded():
        return tensor.normal_(mean, std, generator=generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number."""
    with _unrecorded():
        return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    """1 on the diagonal of a matrix, else 0."""
    if tensor.ndim != 2:
        raise ValueError(f"eye_: the tensor has 2 dimensions, got {tensor.ndim}")
    with _unrecorded():
        tensor.zero_()
        tensor.diagonal().fill_(1)
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs a unit has, and how many units an input has.

    Raises: ValueError: fewer than two dimensions.
    """
    if tensor.ndim < 2:
        raise ValueError(f"fans: the tensor has 2 dimensions or more, got {tensor.ndim}")
    window = math.prod(tensor.shape[2:])
    return tensor.shape[1] * window, tensor.shape[0] * window


#: By how much an activation that follows makes deviations smaller.
_GAINS: dict[str, Any] = {
    **dict.fromkeys(["linear", "sigmoid"], 1),
    **{f"conv{'_transpose' * turned}{dims}d": 1 for turned in (0, 1) for dims in (1, 2, 3)},
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor of a deviation for the activation that follows; `param`: the slope of leaky_relu."""
    if nonlinearity == "leaky_relu":
        if param is None:
            param = 0.01
        elif isinstance(param, bool) or not isinstance(param, (int, float)):
            raise ValueError(f"leaky_relu: negative_slope is a number, got {param}")
        return math.sqrt(2.0 / (1 + param**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"there is no gain for nonlinearity {nonlinearity!r}")
    return _GAINS[nonlinearity]


def _xavier(tensor: Tensor, gain: float) -> float:
    return gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is 'fan_in' or 'fan_out', got {mode!r}")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def _kaiming(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def _uniform_of(tensor: Tensor, std: float, generator: Any) -> Tensor:
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform, with the variance gain^2 2 / (inputs + outputs)."""
    return _uniform_of(tensor, _xavier(tensor, gain), generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal, with the variance gain^2 2 / (inputs + outputs)."""
    return normal_(tensor, 0.0, _xavier(tensor, gain), generator)


def _is_empty(tensor: Tensor) -> bool:
    if 0 in tensor.shape:
        _warn("init: the tensor has no elements")
    return 0 in tensor.shape


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform, with the variance gain^2 / inputs (or outputs: mode "fan_out"); `a`: the slope of leaky_relu."""
    return tensor if _is_empty(tensor) else _uniform_of(tensor, _kaiming(tensor, a, mode, nonlinearity), generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal, with the variance gain^2 / inputs (or outputs: mode "fan_out"); `a`: the slope of leaky_relu."""
    return tensor if _is_empty(tensor) else normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity), generator)


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normally distributed numbers, but none below a or above b."""
    if mean < a - 2 * std or mean > b + 2 * std:
        _warn(f"trunc_normal_: the mean, {mean}, is more than two deviations outside of {a} to {b}")
    low, high = (math.erf((each - mean) / std / math.sqrt(2)) for each in (a, b))
    with _unrecorded():
        return (
            tensor.uniform_(low, high, generator=generator).erfinv_().mul_(std * math.sqrt(2)).add_(mean).clamp_(a, b)
        )


def _normals(shape: tuple[int, ...], generator: Any) -> _np.ndarray:
    return _zeros_of(shape, _float64).normal_(generator=generator)._values()


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """A matrix, the first dimension and all others, whose rows or columns are orthonormal, times gain."""
    if tensor.ndim < 2:
        raise ValueError(f"orthogonal_: the tensor has 2 dimensions or more, got {tensor.ndim}")
    if not tensor.numel():
        return tensor
    rows, columns = tensor.shape[0], tensor.numel() // tensor.shape[0]
    values = _normals((max(rows, columns), min(rows, columns)), generator)
    q, r = _np.linalg.qr(values)
    q = q * _np.sign(_np.diag(r))
    with _unrecorded():
        return tensor.copy_(_from_values((q.T if rows < columns else q) * gain).reshape(tensor.shape))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """A weight of a convolution that keeps as many channels as it can, of each group."""
    if tensor.ndim not in (3, 4, 5) or tensor.shape[0] % groups:
        raise ValueError(f"dirac_: 3 to 5 dimensions, and groups divide the first, got {list(tensor.shape)}, {groups}")
    values, part = _np.zeros(tuple(tensor.shape)), tensor.shape[0] // groups
    middle = tuple(size // 2 for size in tensor.shape[2:])
    for row in range(tensor.shape[0]):
        if row % part < tensor.shape[1]:
            values[(row, row % part, *middle)] = 1
    with _unrecorded():
        return tensor.copy_(_from_values(values))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """A matrix of normally distributed numbers, of each of whose columns a part (sparsity) is 0."""
    if tensor.ndim != 2:
        raise ValueError(f"sparse_: the tensor has 2 dimensions, got {tensor.ndim}")
    order = _normals(tuple(tensor.shape), generator).argsort(0).argsort(0)
    with _unrecorded():
        return tensor.normal_(0, std, generator=generator).masked_fill_(
            _from_values(order < math.ceil(sparsity * tensor.shape[0])), 0
        )


def _old(name: str) -> Any:
    new = globals()[f"{name}_"]

    @_wraps(new)
    def old(*args: Any, **named: Any) -> Tensor:
        _warn_of_old(f"nn.init.{name}", f"nn.init.{name}_", FutureWarning)
        return new(*args, **named)

    old.__name__ = old.__qualname__ = name
    return old


for _name in """uniform normal constant eye dirac xavier_uniform xavier_normal kaiming_uniform kaiming_normal orthogonal
    sparse""".split():
    globals()[_name] = _old(_name)

_show(globals())
