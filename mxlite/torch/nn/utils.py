"""`torch.nn.utils`: gradients that are made smaller, and parameters in one vector."""

from __future__ import annotations

import math
from collections.abc import Iterable

from mxlite._public import show as _show
from mxlite.torch._dtypes import float32 as _float32
from mxlite.torch._math.norms import vector_norm as _vector_norm
from mxlite.torch._nodes import unrecorded as _unrecorded
from mxlite.torch._shape.parts import cat as _cat
from mxlite.torch._tensor import Tensor, full_of


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [each.grad for each in given if each.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Makes gradients smaller by one factor, so that the norm of all is at most max_norm; returns what it was.

    Raises: RuntimeError: the norm is not finite, and error_if_nonfinite.
    """
    found, max_norm = _gradients(parameters), float(max_norm)
    with _unrecorded():
        if not found:
            return full_of((), 0.0, _float32)
        norms = [_vector_norm(each.detach(), float(norm_type)).reshape(1) for each in found]
        total = _vector_norm(_cat(norms), float(norm_type))
        if error_if_nonfinite and not math.isfinite(total.item()):
            raise RuntimeError(
                f"clip_grad_norm_: the norm of order {float(norm_type)} of the gradients is not finite "
                "(error_if_nonfinite=False scales them all the same)"
            )
        factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for each in found:
            each.mul_(factor.to(each.dtype))
    return total


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


_show(globals())
