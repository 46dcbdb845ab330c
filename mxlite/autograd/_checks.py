"""Checks of gradients against differences: gradcheck, and gradgradcheck for second ones, for both front ends."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np

from mxlite.autograd._nodes import gradients, recorded
from mxlite.autograd._style import Style


class GradcheckError(RuntimeError):
    """Gradients and differences do not agree."""


def as_tuple(value: Any) -> tuple:
    """What a function takes or returns, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _outputs(style: Style, func: Callable, inputs: tuple) -> list:
    with recorded(style):
        made = as_tuple(func(*inputs))
    return [each for each in made if isinstance(each, style.array_class) and style.is_floating(each)]


def _flat(style: Style, array: Any) -> np.ndarray:
    return style.values(array).astype(np.float64).reshape(-1)


def _differences(style: Style, func: Callable, inputs: tuple, wanted: Any, eps: float) -> list[np.ndarray]:
    """The Jacobian of every output with respect to one input, one row for each of its elements."""
    values = style.values(wanted)
    rows = []
    for place in range(values.size):
        sides = []
        for sign in (1, -1):
            moved = values.astype(np.float64)
            moved.reshape(-1)[place] += sign * eps
            changed = style.array(moved.astype(values.dtype)).requires_grad_()
            sides.append(
                [
                    _flat(style, each)
                    for each in _outputs(style, func, tuple(changed if each is wanted else each for each in inputs))
                ]
            )
        rows.append([(high - low) / (2 * eps) for high, low in zip(*sides)])
    return [np.array(column) for column in zip(*rows)] if rows else []


def _jacobians(style: Style, output: Any, inputs: list) -> list[np.ndarray]:
    """The Jacobian of one output with respect to each input, from gradients, one row for each element of the output."""
    values = style.values(output)
    rows: list[list] = [[] for _ in inputs]
    sizes = [style.values(each).size for each in inputs]
    for place in range(values.size):
        head = np.zeros(values.shape, values.dtype)
        head.reshape(-1)[place] = 1
        for row, grad, size in zip(rows, gradients(style, [output], inputs, [style.array(head)]), sizes):
            row.append(np.zeros(size) if grad is None else _flat(style, grad))
    return [np.array(row).reshape(values.size, size) for row, size in zip(rows, sizes)]


def gradcheck(
    style: Style, func: Callable, inputs: Any, eps: float, atol: float, rtol: float, raise_exception: bool
) -> bool:
    """Compares the gradients of `func` at `inputs` with differences.

    Raises: GradcheckError: they differ; ValueError: no input requires a gradient.
    """
    arguments = as_tuple(inputs)
    wanted = [each for each in arguments if isinstance(each, style.array_class) and each.requires_grad]
    if not wanted:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for number, each in enumerate(wanted):
        if style.values(each).dtype != np.float64:
            warnings.warn(
                f"Input #{number} requires gradient and is not a double precision floating point. This check will "
                "likely fail if all the inputs are not of double precision floating point.",
                stacklevel=3,
            )
    try:
        _compare(style, func, arguments, wanted, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _compare(
    style: Style, func: Callable, arguments: tuple, wanted: list, eps: float, atol: float, rtol: float
) -> None:
    outputs = _outputs(style, func, arguments)
    numeric = [_differences(style, func, arguments, each, eps) for each in wanted]
    for o, output in enumerate(outputs):
        for i, found in enumerate(_jacobians(style, output, wanted)):
            expected = numeric[i][o] if numeric[i] else np.zeros(found.T.shape)
            if not np.allclose(found.T, expected, rtol, atol):
                raise GradcheckError(
                    f"Jacobian mismatch for output {o} with respect to input {i},\n"
                    f"numerical:{style.array(expected)}\nanalytical:{style.array(np.ascontiguousarray(found.T))}\n"
                )


def gradgradcheck(
    style: Style,
    func: Callable,
    inputs: Any,
    grad_outputs: Any,
    eps: float,
    atol: float,
    rtol: float,
    raise_exception: bool,
) -> bool:
    """Compares the gradients of the gradients of `func` with differences.

    Args:
        grad_outputs: Gradients of the outputs, which are differentiated too; None: random ones.
    """
    arguments = as_tuple(inputs)
    if grad_outputs is None:
        numbers = np.random.RandomState(0)
        values = [style.values(each) for each in _outputs(style, func, arguments)]
        heads = [style.array(numbers.randn(*each.shape).astype(each.dtype)).requires_grad_() for each in values]
    else:
        heads = list(as_tuple(grad_outputs))
    count = len(heads)
    differentiated = [isinstance(each, style.array_class) and each.requires_grad for each in arguments]

    def first(*given: Any) -> tuple:
        moved, head = given[: len(given) - count], list(given[len(given) - count :])
        wanted = [each for each, flag in zip(moved, differentiated) if flag]
        made = _outputs(style, func, moved)
        found = gradients(style, made, wanted, head, create_graph=True)
        return tuple(
            style.zeros(tuple(each.shape), each.dtype) if grad is None else grad for each, grad in zip(wanted, found)
        )

    return gradcheck(style, first, (*arguments, *heads), eps, atol, rtol, raise_exception)
