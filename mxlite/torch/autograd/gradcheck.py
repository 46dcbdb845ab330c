"""Checks of gradients against differences: gradcheck, and gradgradcheck for second ones."""

from __future__ import annotations

from typing import Any, Callable

from mxlite._public import show as _show
from mxlite.autograd import _checks
from mxlite.autograd._checks import GradcheckError
from mxlite.torch._gradient import FRONT_END

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


def _refuse(other: dict[str, Any]) -> None:
    for name, value in other.items():
        if value:
            raise NotImplementedError(f"mxlite.torch: gradcheck has no {name}")


def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    fast_mode: bool = False,
    **other: Any,
) -> bool:
    """Compares the gradients of `func` at `inputs` with differences.

    Args:
        func: A function of tensors that returns one tensor or a tuple of them.
        inputs: A tensor or a tuple of them; those that require a gradient are differentiated (use float64).
        eps: How far inputs are moved.
        atol, rtol: How much may differ.
        raise_exception: Whether a difference raises; else it gives False.
    Raises:
        GradcheckError: they differ.
        ValueError: no input requires a gradient.
    """
    _refuse(other)
    return _checks.gradcheck(FRONT_END, func, inputs, eps, atol, rtol, raise_exception)


def gradgradcheck(
    func: Callable,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    fast_mode: bool = False,
    **other: Any,
) -> bool:
    """Compares the gradients of the gradients of `func` with differences; the arguments are those of gradcheck.

    Args:
        grad_outputs: Gradients of the outputs, which are differentiated too; None: random ones.
    """
    _refuse(other)
    return _checks.gradgradcheck(FRONT_END, func, inputs, grad_outputs, eps, atol, rtol, raise_exception)


_show(globals())
