"""The autograd of before `mx.autograd`: sections that record and train at once, and functions of gradients."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Callable

from mxlite import autograd as _autograd
from mxlite import ndarray as nd
from mxlite._public import show as _show
from mxlite.error import WrongTypeError

__all__ = [
    "TrainingStateScope",
    "backward",
    "compute_gradient",
    "grad",
    "grad_and_loss",
    "mark_variables",
    "set_is_training",
    "test_section",
    "train_section",
]


def set_is_training(is_train: bool) -> bool:
    """Sets both whether this thread records and whether it trains; returns whether it recorded before."""
    _autograd.set_training(is_train)
    return _autograd.set_recording(is_train)


class TrainingStateScope:
    """A with-block in which the thread records and trains, or does neither."""

    def __init__(self, enter_state: bool) -> None:
        self._state = enter_state
        self._before = False

    def __enter__(self) -> None:
        self._before = set_is_training(self._state)

    def __exit__(self, *_: object) -> None:
        if self._before != self._state:
            set_is_training(self._before)


def train_section() -> TrainingStateScope:
    """A with-block in which the thread records and trains."""
    return TrainingStateScope(True)


def test_section() -> TrainingStateScope:
    """A with-block in which the thread neither records nor trains."""
    return TrainingStateScope(False)


def mark_variables(variables: list, gradients: list, grad_reqs: str | list[str] = "write") -> None:
    """Gives arrays their gradients' arrays; see `mx.autograd.mark_variables`. Both must be lists.

    Raises: KeyError: a request that is none of "null", "write" and "add"; TypeError: no lists.
    """
    for each in (variables, gradients):
        if not isinstance(each, (list, tuple)):
            raise TypeError(f"mark_variables takes lists of NDArrays, got {type(each).__name__}")
    for request in [grad_reqs] if isinstance(grad_reqs, str) else grad_reqs:
        if request not in ("null", "write", "add"):
            raise KeyError(request)
    _autograd.mark_variables(variables, gradients, grad_reqs)


def backward(outputs: list, out_grads: list | None = None, retain_graph: bool = False) -> None:
    """Computes the gradients of the marked arrays that a list of outputs depends on.

    Args:
        out_grads: a gradient, or None for ones, for each output; None: ones for all.

    Raises: TypeError: no list, or lists of other lengths.
    """
    if not isinstance(outputs, (list, tuple)):
        raise WrongTypeError(f"backward: outputs must be a list of NDArrays, got {type(outputs).__name__}")
    if out_grads is not None and (not isinstance(out_grads, (list, tuple)) or len(out_grads) != len(outputs)):
        raise WrongTypeError("out_grads must be a list as long as outputs")
    _autograd.backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs: list) -> None:
    """The old form of `backward`."""
    backward(outputs)


def grad_and_loss(func: Callable[..., Any], argnum: int | Iterable[int] | None = None) -> Callable[..., Any]:
    """A function that returns the gradients of `func` by its arguments, and what `func` returns.

    Args:
        func: takes NDArrays, returns one or a list.
        argnum: positions of the arguments to differentiate by, in the order of the gradients; None: all.

    Raises: TypeError, by the function that is returned: such an argument is no NDArray.
    """

    @functools.wraps(func)
    def wrapped(*args: Any) -> tuple[list, Any]:
        places = range(len(args)) if argnum is None else [argnum] if isinstance(argnum, int) else argnum
        variables = [args[place] for place in places]
        for each in variables:
            if not isinstance(each, nd.NDArray):
                raise WrongTypeError(f"a gradient needs an NDArray, got {type(each).__name__}")
        gradients = [each.zeros_like() for each in variables]
        mark_variables(variables, gradients)
        with train_section():
            outputs = func(*args)
        backward([outputs] if isinstance(outputs, nd.NDArray) else outputs)
        return gradients, outputs

    return wrapped


def grad(func: Callable[..., Any], argnum: int | Iterable[int] | None = None) -> Callable[..., list]:
    """A function that returns the gradients of `func` by its arguments; see `grad_and_loss`."""
    both = grad_and_loss(func, argnum)

    @functools.wraps(func)
    def wrapped(*args: Any) -> list:
        return both(*args)[0]

    return wrapped


_show(globals())
