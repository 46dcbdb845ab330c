"""Recorded gradients against central differences."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from mxlite import autograd, context, ndarray
from mxlite._public import offer as _offer
from mxlite.context import Context
from mxlite.ndarray import NDArray
from mxlite.test_utils._comparison import _numpy, assert_almost_equal, default_numeric_eps


def _named(location: Any, dtype: Any) -> dict[Any, NDArray]:
    pairs = location.items() if isinstance(location, dict) else enumerate(location)
    return {name: ndarray.array(_numpy(values), dtype=dtype) for name, values in pairs}


def check_numeric_gradient(
    sym: Callable[..., NDArray],
    location: Sequence | dict[str, Any],
    aux_states: None = None,
    numeric_eps: float | None = None,
    rtol: Any = None,
    atol: Any = None,
    grad_nodes: Sequence | None = None,
    use_forward_train: bool = True,
    ctx: Context | None = None,
    grad_stype_dict: None = None,
    dtype: Any = np.float32,
) -> None:
    """Compares the recorded gradients of a function with central differences.

    Args:
        sym: a function of NDArrays (by position, or by name where `location` is a dict) that returns one.
        location: where: arrays in order, or by name.
        numeric_eps: the step; None: the default of `dtype`.
        grad_nodes: names, or positions, of the inputs that are looked at; None: all.
        use_forward_train: whether the differences are taken in training mode.
        dtype: what is computed in; float64 is much more exact.
    Raises:
        AssertionError: they differ by more than the tolerances.
        NotImplementedError: auxiliary states or storage types, which belong to symbols.
    """
    if aux_states or grad_stype_dict:
        raise NotImplementedError("check_numeric_gradient takes functions, which have no auxiliary states")
    if ctx is not None:
        context.require_cpu(ctx)
    inputs = _named(location, dtype)
    names = list(inputs) if grad_nodes is None else list(grad_nodes)
    eps = default_numeric_eps()[np.dtype(dtype)] if numeric_eps is None else numeric_eps

    def run(arrays: dict[Any, NDArray]) -> NDArray:
        return sym(**arrays) if isinstance(location, dict) else sym(*arrays.values())

    for name in names:
        inputs[name].attach_grad()
    with autograd.record():
        output = run(inputs)
    head = ndarray.array(np.random.uniform(0.5, 1.5, output.shape), dtype=output.dtype)
    output.backward(head)
    gradients = {name: inputs[name].grad.asnumpy() for name in names}
    weights = head.asnumpy().astype(np.float64)

    def value(name: Any, values: np.ndarray) -> float:
        arrays = {**inputs, name: ndarray.array(values, dtype=dtype)}
        with autograd.train_mode() if use_forward_train else autograd.predict_mode():
            return float((run(arrays).asnumpy().astype(np.float64) * weights).sum())

    for name in names:
        numeric = _central_differences(functools.partial(value, name), inputs[name].asnumpy(), eps)
        numeric = numeric.astype(dtype)
        assert_almost_equal(numeric, gradients[name], rtol, atol, (f"NUMERICAL_{name}", f"BACKWARD_{name}"))


def _central_differences(value: Callable[[np.ndarray], float], at: np.ndarray, eps: float) -> np.ndarray:
    result = np.zeros(at.shape)
    for index in np.ndindex(*at.shape):
        above, below = at.copy(), at.copy()
        above[index] += eps / 2
        below[index] -= eps / 2
        # What the step became in the dtype.
        result[index] = (value(above) - value(below)) / (float(above[index]) - float(below[index]))
    return result


_offer(globals())
