"""`torch.nn.utils`: gradients that are made smaller, parameters in one vector, weights that are computed of others."""

from __future__ import annotations

import math
from collections.abc import Iterable
from copy import deepcopy as _deepcopy
from importlib import import_module as _import_module
from inspect import signature as _signature
from sys import modules as _modules
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


def without_prefix(state_dict: dict[str, Any], prefix: str) -> None:
    """Removes the beginning of a state's names: consume_prefix_in_state_dict_if_present of nn.modules.utils."""
    for each, start in ((state_dict, prefix), (getattr(state_dict, "_metadata", {}), prefix.rstrip("."))):
        for name in [name for name in each if name.startswith(prefix) or (name == start and each is not state_dict)]:
            each[name[len(prefix) :]] = each.pop(name)


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> _Module:
    """A module whose parameters have any values. Raises: RuntimeError: the class takes no device."""
    if not issubclass(module_cls, _Module) or "device" not in _signature(module_cls).parameters:
        raise RuntimeError("skip_init: takes a class of modules that takes a device")
    where = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=where)


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any, dims: int = 2) -> Any:
    """Lays the weights of convolutions of images in memory as a format says; returns the module."""
    kinds = ("Conv2d", "ConvTranspose2d") if dims == 2 else ("Conv3d", "ConvTranspose3d")
    for each in module.modules():
        if type(each).__name__ in kinds:
            each.weight.data = each.weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The same of three dimensions."""
    return convert_conv2d_weight_memory_format(module, memory_format, 3)


def functional_call(
    module: _Module, parameters_and_buffers: dict, args: Any, kwargs: Any = None, **options: Any
) -> Any:
    """An old name of func.functional_call."""
    _warn_of_old("nn.utils.stateless.functional_call", "func.functional_call", FutureWarning)
    return _import_module("mxlite.torch.func").functional_call(module, parameters_and_buffers, args, kwargs, **options)


def _fused(weight: Tensor, bias: Any, mean: Any, var: Any, eps: float, scale: Any, shift: Any, axis: int = 0) -> tuple:
    factor = (var + eps).rsqrt() * (1 if scale is None else scale)
    shape = [-1 if k == axis else 1 for k in range(weight.ndim)]
    made = ((0 if bias is None else bias) - mean) * factor + (0 if shift is None else shift)
    wants = weight.requires_grad, weight.requires_grad if bias is None else bias.requires_grad
    return tuple(_Parameter(t.detach(), w) for t, w in zip((weight * factor.reshape(shape), made), wants))


def fuse_conv_bn_weights(
    conv_w: Tensor, conv_b: Any, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Any, bn_b: Any,
    transpose: bool = False,
) -> tuple:  # fmt: skip
    """Weight and bias of a convolution that does what one and a normalisation by running statistics do."""
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, int(transpose))


def fuse_linear_bn_weights(
    linear_w: Tensor, linear_b: Any, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float, bn_w: Tensor, bn_b: Tensor
) -> tuple:  # fmt: skip
    """The same of a Linear."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)


def fuse_linear_bn_eval(linear: _Module, bn: _Module) -> _Module:
    """A Linear that does what one and a normalisation by running statistics do."""
    if linear.training or bn.training:
        raise AssertionError("fuse_linear_bn_eval: both are in evaluation mode (eval())")
    if bn.num_features not in (1, linear.out_features):
        raise AssertionError(f"fuse_linear_bn_eval: {linear.out_features} features, the norm has {bn.num_features}")
    made = _deepcopy(linear)
    given = linear.weight, linear.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    made.weight, made.bias = fuse_linear_bn_weights(*given)
    return made


def fuse_conv_bn_eval(conv: _Module, bn: _Module, transpose: bool = False) -> _Module:
    """A convolution that does what one and a normalisation by running statistics do."""
    if conv.training or bn.training:
        raise AssertionError("fuse_conv_bn_eval: both are in evaluation mode (eval())")
    made = _deepcopy(conv)
    given = conv.weight, conv.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    made.weight, made.bias = fuse_conv_bn_weights(*given, transpose)
    return made


def _computed() -> Any:
    return _import_module(f"{__name__}.parametrizations")


def _later(name: str) -> Any:
    if name in ("rnn", "parametrize", "parametrizations", "prune"):
        return _import_module(f"{__name__}.{name}")
    return _modules.get(f"{__name__}.{name}")  # a path of mxlite/torch/_paths.py


_show(globals(), _later)
