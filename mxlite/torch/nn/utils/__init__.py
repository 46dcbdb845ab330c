"""`torch.nn.utils`: gradients that are made smaller, parameters in one vector, weights that are computed of others."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import deepcopy as _deepcopy
from importlib import import_module as _import_module
from typing import Any

from mxlite._public import show as _show
from mxlite.torch._dtypes import float32 as _float32
from mxlite.torch._errors import warn_of_old as _warn_of_old
from mxlite.torch._math.norms import vector_norm as _vector_norm
from mxlite.torch._nodes import unrecorded as _unrecorded
from mxlite.torch._shape.parts import cat as _cat
from mxlite.torch._tensor import Tensor, full_of
from mxlite.torch.nn._module import Module as _Module
from mxlite.torch.nn.parameter import Parameter as _Parameter


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [each.grad for each in given if each.grad is not None]


def get_total_norm(
    tensors: Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all elements of tensors. Raises: RuntimeError: it is not finite, and error_if_nonfinite."""
    found, order = [tensors] if isinstance(tensors, Tensor) else list(tensors), float(norm_type)
    with _unrecorded():
        if not found:
            return full_of((), 0.0, _float32)
        total = _vector_norm(_cat([_vector_norm(each.detach(), order).reshape(1) for each in found]), order)
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(
                f"get_total_norm: the norm of order {order} is not finite (error_if_nonfinite=False allows that)"
            )
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Makes gradients smaller by the factor that makes a norm of theirs max_norm at most."""
    with _unrecorded():
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        for each in _gradients(parameters):
            each.mul_(factor.to(each.dtype))


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Makes gradients smaller by one factor, so that the norm of all is at most max_norm; returns what it was.

    Raises: RuntimeError: the norm is not finite, and error_if_nonfinite.
    """
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(given), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(given, max_norm, total)
    return total


def clip_grad_norm(*args: Any, **named: Any) -> Tensor:
    """The old name of clip_grad_norm_."""
    _warn_of_old("nn.utils.clip_grad_norm", "nn.utils.clip_grad_norm_", FutureWarning)
    return clip_grad_norm_(*args, **named)


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Makes gradients at least -clip_value and at most clip_value."""
    with _unrecorded():
        for each in _gradients(parameters):
            each.clamp_(-float(clip_value), float(clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of parameters in one vector."""
    return _cat([each.reshape(-1) for each in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Makes the parts of a vector the values of parameters."""
    start = 0
    for each in parameters:
        count = each.numel()
        each.data = vec[start : start + count].detach().reshape(each.shape)
        start += count


def weight_norm(module: _Module, name: str = "weight", dim: int | None = 0) -> _Module:
    """Has a weight computed before each forward as weight_g times weight_v over its norm; returns the module."""
    _warn_of_old("nn.utils.weight_norm", "nn.utils.parametrizations.weight_norm", FutureWarning)
    made = _computed()
    hook, weight = made.WeightNorm(name, dim), getattr(module, name)
    hook.apply(module, {"_g": made._lengths(weight.detach(), dim), "_v": weight.detach()}, {})
    return module


def remove_weight_norm(module: _Module, name: str = "weight") -> _Module:
    """Makes the weight of weight_norm a parameter again. Raises: ValueError."""
    return _computed().WeightNorm.remove(module, name, ("_g", "_v"))


def spectral_norm(
    module: _Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> _Module:
    """Has a weight divided by its largest singular value before each forward; returns the module."""
    made = _computed()
    if n_power_iterations <= 0:
        raise ValueError(f"spectral_norm: n_power_iterations is 1 or more, got {n_power_iterations}")
    hook, weight = made.SpectralNorm(name, n_power_iterations, made._usual_dim(module, dim), eps), getattr(module, name)
    u, v = hook._first(hook._matrix(weight.detach()))
    hook.apply(module, {"_orig": weight}, {"_u": u, "_v": v})
    return module


def remove_spectral_norm(module: _Module, name: str = "weight") -> _Module:
    """Makes the weight of spectral_norm a parameter again. Raises: ValueError."""
    return _computed().SpectralNorm.remove(module, name, ("_u", "_v", "_orig"))


def fuse_conv_bn_eval(conv: _Module, bn: _Module, transpose: bool = False) -> _Module:
    """A convolution that does what one and a normalisation by running statistics do."""
    if conv.training or bn.training:
        raise AssertionError("fuse_conv_bn_eval: both are in evaluation mode (eval())")
    made = _deepcopy(conv)
    with _unrecorded():
        factor = (bn.running_var + bn.eps).rsqrt() * (1 if bn.weight is None else bn.weight.detach())
        shape = [1, -1] if transpose else [-1, 1]
        made.weight.copy_(conv.weight.detach() * factor.reshape(shape + [1] * (conv.weight.ndim - 2)))
        bias = 0 if conv.bias is None else conv.bias.detach()
        bias = (bias - bn.running_mean) * factor + (0 if bn.bias is None else bn.bias.detach())
    made.bias = _Parameter(bias)
    return made


def _computed() -> Any:
    return _import_module(f"{__name__}.parametrizations")


def _later(name: str) -> Any:
    return _import_module(f"{__name__}.{name}") if name in ("rnn", "parametrize", "parametrizations", "prune") else None


_show(globals(), _later)
