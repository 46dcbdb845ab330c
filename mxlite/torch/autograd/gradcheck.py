"""Checks of gradients against differences: gradcheck, and gradgradcheck for second ones."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np

from mxlite.torch._creation import tensor as _tensor
from mxlite.torch._dtypes import float64
from mxlite.torch._nodes import unrecorded
from mxlite.torch._tensor import Tensor, from_values, zeros_of

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Gradients and differences do not agree."""


def _tuple(value: Any) -> tuple:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _outputs(func: Callable, inputs: tuple) -> list[Tensor]:
    return [each for each in _tuple(func(*inputs)) if isinstance(each, Tensor) and each._dtype.is_floating_point]


def _differences(func: Callable, inputs: tuple, wanted: Tensor, eps: float) -> list[np.ndarray]:
    """The Jacobian of every output with respect to one input, one row for each of its elements."""
    values = wanted._values().astype(np.float64)
    rows = []
    for place in range(values.size):
        sides = []
        for sign in (1, -1):
            moved = values.copy()
            moved.reshape(-1)[place] += sign * eps
            changed = tuple(from_values(moved.astype(each._dtype.np)) if each is wanted else each for each in inputs)
            with unrecorded():
                sides.append([each._values().astype(np.float64).reshape(-1) for each in _outputs(func, changed)])
        rows.append([(high - low) / (2 * eps) for high, low in zip(*sides)])
    return [np.array(column) for column in zip(*rows)] if rows else []


def _gradients(output: Tensor, inputs: list[Tensor], create_graph: bool = False) -> list[np.ndarray]:
    """The Jacobian of one output with respect to each input, from gradients, one row for each element of the output."""
    from mxlite.torch import autograd

    found: list[list] = [[] for _ in inputs]
    count = output.numel()
    for place in range(count):
        head = np.zeros(count, output._dtype.np)
        head[place] = 1
        grads = autograd.grad(
            output, inputs, from_values(head.reshape(output.shape)), retain_graph=True, allow_unused=True
        )
        for each, grad in zip(found, grads):
            each.append(grad)
    return [
        np.array([
            np.zeros(wanted.numel()) if grad is None else grad._values().astype(np.float64).reshape(-1)
            for grad in grads
        ]).reshape(count, wanted.numel())
        for wanted, grads in zip(inputs, found)
    ]  # fmt: skip


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
    for name, value in other.items():
        if value:
            raise NotImplementedError(f"mxlite.torch: gradcheck has no {name}")
    arguments = _tuple(inputs)
    wanted = [each for each in arguments if isinstance(each, Tensor) and each.requires_grad]
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for number, each in enumerate(wanted):
        if each._dtype is not float64:
            warnings.warn(
                f"Input #{number} requires gradient and is not a double precision floating point. This check will "
                "likely fail if all the inputs are not of double precision floating point.",
                stacklevel=2,
            )
    try:
        _compare(func, arguments, wanted, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _compare(func: Callable, arguments: tuple, wanted: list[Tensor], eps: float, atol: float, rtol: float) -> None:
    outputs = _outputs(func, arguments)
    numeric = [_differences(func, arguments, each, eps) for each in wanted]
    for o, output in enumerate(outputs):
        if output.requires_grad:
            analytic = _gradients(output, wanted)
        else:
            analytic = [np.zeros((output.numel(), each.numel())) for each in wanted]
        for i, found in enumerate(analytic):
            expected = numeric[i][o] if numeric[i] else np.zeros((wanted[i].numel(), output.numel()))
            if not np.allclose(found.T, expected, rtol, atol):
                raise GradcheckError(
                    f"Jacobian mismatch for output {o} with respect to input {i},\nnumerical:{_tensor(expected)}\n"
                    f"analytical:{_tensor(found.T)}\n"
                )


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
    from mxlite.torch import autograd

    arguments = _tuple(inputs)
    outputs = _outputs(func, arguments)
    if grad_outputs is None:
        numbers = np.random.RandomState(0)
        heads = [from_values(numbers.randn(*each.shape).astype(each._dtype.np)) for each in outputs]
        heads = [each.requires_grad_() for each in heads]
    else:
        heads = list(_tuple(grad_outputs))
    count = len(heads)

    def gradients(*given: Tensor) -> tuple:
        moved, head = given[: len(given) - count], given[len(given) - count :]
        moved = tuple(
            each if not isinstance(each, Tensor) or not original.requires_grad or each.requires_grad
            else each.requires_grad_()
            for each, original in zip(moved, arguments)
        )  # fmt: skip
        wanted = [
            each for each, original in zip(moved, arguments) if isinstance(original, Tensor) and original.requires_grad
        ]
        with autograd.enable_grad():
            made = _outputs(func, moved)
            found = autograd.grad(made, wanted, head, create_graph=True, allow_unused=True)
        return tuple(
            zeros_of(tuple(each.shape), each._dtype) if grad is None else grad for each, grad in zip(wanted, found)
        )

    return gradcheck(
        gradients, (*arguments, *heads), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, **other
    )
