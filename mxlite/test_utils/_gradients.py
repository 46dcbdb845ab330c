"""Gradients of symbols, and recorded ones of functions, against central differences."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Callable

import numpy as np

from mxlite import autograd, context, ndarray
from mxlite._public import offer as _offer
from mxlite.context import Context
from mxlite.executor import Executor
from mxlite.ndarray import NDArray
from mxlite.symbol import Symbol
from mxlite.test_utils._comparison import _numpy, assert_almost_equal, default_numeric_eps
from mxlite.test_utils._symbols import _Place


def _named(location: Any, dtype: Any) -> dict[Any, NDArray]:
    pairs = location.items() if isinstance(location, dict) else enumerate(location)
    return {name: ndarray.array(_numpy(values), dtype=dtype) for name, values in pairs}


def check_numeric_gradient(
    sym: Symbol | Callable[..., NDArray],
    location: Sequence | dict[str, Any],
    aux_states: Any = None,
    numeric_eps: float | None = None,
    rtol: Any = None,
    atol: Any = None,
    grad_nodes: Any = None,
    use_forward_train: bool = True,
    ctx: Context | None = None,
    grad_stype_dict: dict[str, str] | None = None,
    dtype: Any = np.float32,
) -> None:
    """Compares the gradients of a symbol, or the recorded ones of a function, with central differences.

    Args:
        sym: a symbol, or a function of NDArrays (by position, or by name where `location` is a dict) that returns one.
        location: where: arrays in order, or by name.
        aux_states: the auxiliary states of a symbol, in order or by name.
        numeric_eps: the step; None: the default of `dtype`.
        grad_nodes: names, or positions of a function's, of the inputs that are looked at; None: all. Of a symbol also
            a dict of requests by name.
        use_forward_train: whether the differences are taken in training mode.
        grad_stype_dict: how gradients of a symbol are stored, by name.
        dtype: what is computed in; float64 is much more exact.
    Raises:
        AssertionError: they differ by more than the tolerances.
        ValueError: names that are not those of the symbol.
        NotImplementedError: storage types, or auxiliary states, of a function.
    """
    if (grad_stype_dict or aux_states) and not isinstance(sym, Symbol):
        raise NotImplementedError("check_numeric_gradient takes of functions no auxiliary states and storage types")
    if isinstance(sym, Symbol):
        place = _Place(sym, location, aux_states, ctx, dtype)
        gradients, value, at = _of_symbol(place, grad_nodes, use_forward_train, grad_stype_dict or {})
    else:
        if ctx is not None:
            context.require_cpu(ctx)
        gradients, value, at = _of_function(sym, location, grad_nodes, use_forward_train, dtype)
    eps = default_numeric_eps()[np.dtype(dtype)] if numeric_eps is None else numeric_eps
    for name, gradient in gradients.items():
        numeric = _central_differences(functools.partial(value, name), at[name].asnumpy(), eps)
        numeric = numeric.astype(dtype)
        assert_almost_equal(numeric, gradient, rtol, atol, (f"NUMERICAL_{name}", f"BACKWARD_{name}"))


#: Gradients by name, a number of the values of one input (the sum of the results by weights), and the inputs.
_Subject = tuple[dict[Any, np.ndarray], Callable[[Any, np.ndarray], float], dict[Any, NDArray]]


def _weights(outputs: list[NDArray]) -> list[NDArray]:
    return [ndarray.array(np.random.uniform(0.5, 1.5, each.shape), each.context, each.dtype) for each in outputs]


def _weighted(outputs: list[NDArray], weights: list[NDArray]) -> float:
    pairs = zip(outputs, weights)
    return float(sum((one.asnumpy().astype(np.float64) * by.asnumpy()).sum() for one, by in pairs))


def _of_function(
    function: Callable[..., NDArray], location: Any, grad_nodes: Any, use_forward_train: bool, dtype: Any
) -> _Subject:
    inputs = _named(location, dtype)
    names = list(inputs) if grad_nodes is None else list(grad_nodes)

    def run(arrays: dict[Any, NDArray]) -> NDArray:
        return function(**arrays) if isinstance(location, dict) else function(*arrays.values())

    for name in names:
        inputs[name].attach_grad()
    with autograd.record():
        output = run(inputs)
    heads = _weights([output])
    output.backward(heads[0])

    def value(name: Any, values: np.ndarray) -> float:
        arrays = {**inputs, name: ndarray.array(values, dtype=dtype)}
        with autograd.train_mode() if use_forward_train else autograd.predict_mode():
            return _weighted([run(arrays)], heads)

    return {name: inputs[name].grad.asnumpy() for name in names}, value, inputs


def _of_symbol(place: _Place, grad_nodes: Any, use_forward_train: bool, stypes: dict[str, str]) -> _Subject:
    if grad_nodes is None:
        grad_nodes = place.sym.list_arguments()
    if isinstance(grad_nodes, (list, tuple)):
        grad_nodes = dict.fromkeys(grad_nodes, "write")
    if not isinstance(grad_nodes, dict):
        raise ValueError(f"grad_nodes are a list of names or a dict of requests, got {type(grad_nodes).__name__}")
    place.location = {name: array.copy() for name, array in place.location.items()}
    wanted = {name: place.location[name] for name, each in grad_nodes.items() if each != "null"}
    grads = {
        name: ndarray.zeros(each.shape, each.context, each.dtype, stypes.get(name)) for name, each in wanted.items()
    }
    requests = {name: grad_nodes.get(name, "null") for name in place.location}
    executor, states = place.bind(grads, requests), {name: array.copy() for name, array in (place.aux or {}).items()}
    heads = _weights(executor.forward(is_train=True))
    executor.backward(heads)

    def value(name: Any, values: np.ndarray) -> float:
        return _with(executor, states, name, values, lambda: _weighted(executor.forward(use_forward_train), heads))

    return {name: array.asnumpy() for name, array in grads.items()}, value, executor.arg_dict


def _with(executor: Executor, states: dict[str, Any], name: str, values: np.ndarray, run: Callable[[], float]) -> float:
    """What `run` returns where an argument has other values; it begins with these auxiliary states."""
    for state, array in states.items():
        executor.aux_dict[state][:] = array
    argument = executor.arg_dict[name]
    before = argument.asnumpy()
    argument[:] = values
    try:
        return run()
    finally:
        argument[:] = before


def numeric_grad(
    executor: Executor,
    location: dict[str, Any],
    aux_states: dict[str, Any] | None = None,
    eps: float = 1e-4,
    use_forward_train: bool = True,
    dtype: Any = np.float32,
) -> dict[str, np.ndarray]:
    """Central differences of the sum of an executor's first result, by each of the arguments in `location`.

    Args:
        location: values of arguments by name, which the executor has then.
        aux_states: values of auxiliary states, before each run.
    """
    for name, values in location.items():
        executor.arg_dict[name][:] = values

    def run() -> float:
        return float(executor.forward(use_forward_train)[0].asnumpy().astype(np.float64).sum())

    def value(name: str, values: np.ndarray) -> float:
        return _with(executor, aux_states or {}, name, values, run)

    at = {name: executor.arg_dict[name].asnumpy() for name in location}
    return {
        name: _central_differences(functools.partial(value, name), values, eps).astype(dtype)
        for name, values in at.items()
    }


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
