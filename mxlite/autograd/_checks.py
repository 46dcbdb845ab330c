"""Checks of gradients against differences: gradcheck, and gradgradcheck for second ones, for both front ends."""

from __future__ import annotations

import warnings
from typing import Any, Callable

import numpy as np

from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._nodes import gradients, recorded, rows_of_jacobian


class GradcheckError(RuntimeError):
    """Gradients and differences do not agree."""


def as_tuple(value: Any) -> tuple:
    """The arguments or results of a function, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _outputs(front_end: FrontEnd, func: Callable, inputs: tuple) -> list:
    with recorded(front_end):
        made = as_tuple(func(*inputs))
    return [each for each in made if isinstance(each, front_end.array_class) and front_end.is_floating(each)]


def _flat(front_end: FrontEnd, array: Any) -> np.ndarray:
    return front_end.values(array).astype(np.float64).reshape(-1)


def _differences(front_end: FrontEnd, func: Callable, inputs: tuple, wanted: Any, eps: float) -> list[np.ndarray]:
    """The Jacobian of every output with respect to one input, one row for each of its elements."""
    values = front_end.values(wanted)
    rows = []
    for place in range(values.size):
        sides = []
        for sign in (1, -1):
            moved = values.astype(np.float64)
            moved.reshape(-1)[place] += sign * eps
            changed = front_end.array(moved.astype(values.dtype)).requires_grad_()
            sides.append(
                [
                    _flat(front_end, each)
                    for each in _outputs(front_end, func, tuple(changed if each is wanted else each for each in inputs))
                ]
            )
        rows.append([(high - low) / (2 * eps) for high, low in zip(*sides)])
    return [np.array(column) for column in zip(*rows)] if rows else []


def _jacobians(front_end: FrontEnd, output: Any, inputs: list) -> list[np.ndarray]:
    """The Jacobian of one output with respect to each input, from gradients, one row for each element of the output."""
    sizes = [front_end.values(each).size for each in inputs]
    rows = [
        [np.zeros(size) if grad is None else _flat(front_end, grad) for grad, size in zip(grads, sizes)]
        for grads in rows_of_jacobian(front_end, output, inputs)
    ]
    return [np.array([row[k] for row in rows]).reshape(len(rows), size) for k, size in enumerate(sizes)]


class Checks:
    """The checks that a front end offers. `other` are PyTorch's options; one that would change the check is refused."""

    def __init__(self, front_end: FrontEnd) -> None:
        self.front_end = front_end

    def gradcheck(
        self,
        func: Callable,
        inputs: Any,
        *,
        eps: float = 1e-6,
        atol: float = 1e-5,
        rtol: float = 1e-3,
        raise_exception: bool = True,
        **other: Any,
    ) -> bool:
        """Compares the gradients of `func` at `inputs` with differences.

        Args:
            func: A function of arrays that returns one array or a tuple of them; it is run while recording.
            inputs: An array or a tuple; those that require a gradient are differentiated (use float64).
            eps: How far inputs are moved.
            atol, rtol: How much may differ.
            raise_exception: Whether a difference raises; else it gives False.
        Raises:
            GradcheckError: they differ.
            ValueError: no input requires a gradient.
        """
        _refuse(other)
        front_end, arguments = self.front_end, as_tuple(inputs)
        wanted = [each for each in arguments if isinstance(each, front_end.array_class) and each.requires_grad]
        if not wanted:
            raise ValueError("gradcheck: no input requires a gradient (requires_grad=True)")
        for number, each in enumerate(wanted):
            if front_end.values(each).dtype != np.float64:
                warnings.warn(
                    f"gradcheck: input {number} is of a dtype other than float64, which is seldom exact enough for the "
                    "check",
                    stacklevel=2,
                )
        try:
            _compare(front_end, func, arguments, wanted, eps, atol, rtol)
        except GradcheckError:
            if raise_exception:
                raise
            return False
        return True

    def gradgradcheck(self, func: Callable, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
        """Compares the gradients of the gradients of `func` with differences; the arguments are those of gradcheck.

        Args:
            grad_outputs: Gradients of the outputs, which are differentiated too; None: random ones.
        """
        front_end, arguments = self.front_end, as_tuple(inputs)
        if grad_outputs is None:
            numbers = np.random.RandomState(0)
            values = [front_end.values(each) for each in _outputs(front_end, func, arguments)]
            heads = [front_end.array(numbers.randn(*each.shape).astype(each.dtype)).requires_grad_() for each in values]
        else:
            heads = list(as_tuple(grad_outputs))
        count = len(heads)
        differentiated = [isinstance(each, front_end.array_class) and each.requires_grad for each in arguments]

        def first(*given: Any) -> tuple:
            moved, head = given[: len(given) - count], list(given[len(given) - count :])
            wanted = [each for each, flag in zip(moved, differentiated) if flag]
            made = _outputs(front_end, func, moved)
            found = gradients(front_end, made, wanted, head, create_graph=True)
            return tuple(
                front_end.zeros(tuple(each.shape), each.dtype) if grad is None else grad
                for each, grad in zip(wanted, found)
            )

        return self.gradcheck(first, (*arguments, *heads), **options)


#: Options of PyTorch's that change nothing here: how it looks for differences, and what it looks for beside them.
_TAKEN = ("nondet_tol", "check_undefined_grad", "check_grad_dtypes", "fast_mode", "gen_non_contig_grad_outputs")


def _refuse(other: dict[str, Any]) -> None:
    for name, value in other.items():
        if value and name not in _TAKEN:
            raise NotImplementedError(f"mxlite: gradcheck has no {name}")


def _compare(
    front_end: FrontEnd, func: Callable, arguments: tuple, wanted: list, eps: float, atol: float, rtol: float
) -> None:
    outputs = _outputs(front_end, func, arguments)
    numeric = [_differences(front_end, func, arguments, each, eps) for each in wanted]
    for o, output in enumerate(outputs):
        for i, found in enumerate(_jacobians(front_end, output, wanted)):
            expected = numeric[i][o] if numeric[i] else np.zeros(found.T.shape)
            if not np.allclose(found.T, expected, rtol, atol):
                analytical = np.ascontiguousarray(found.T)
                raise GradcheckError(
                    f"gradcheck: the derivative of output {o} by input {i} is not that of its differences\n"
                    f"by differences: {front_end.array(expected)}\nby backward: {front_end.array(analytical)}"
                )
