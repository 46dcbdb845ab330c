"""`mx.nd.contrib`: a function for every operator `_contrib_*`, named without that beginning, and a few of Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Callable

from mxlite.context import Context
from mxlite.error import WrongTypeError
from mxlite.ndarray import random
from mxlite.ndarray._generate import show_functions as _show_functions
from mxlite.ndarray._kinds import as_kind, for_both
from mxlite.ndarray._make import invoke as _invoke
from mxlite.ndarray.creation import full as _full
from mxlite.ndarray.ndarray import NDArray


def isnan(data: NDArray) -> NDArray:
    """1 where an element is NaN, 0 elsewhere, in the dtype of `data`."""
    return data != data


def isinf(data: NDArray) -> NDArray:
    """1 where an element is infinite, of either sign, 0 elsewhere, in the dtype of `data`."""
    return data.abs() == float("inf")


def isfinite(data: NDArray) -> NDArray:
    """1 where an element is neither infinite nor NaN, 0 elsewhere, in the dtype of `data`."""
    return (data == data) * (data.abs() != float("inf"))


def _expected(classes: NDArray, draws: int, log_range: float) -> NDArray:
    """How often classes are expected among so many draws of rand_zipfian."""
    share = ((classes.astype("float64") + 2) / (classes.astype("float64") + 1)).log() / log_range
    return share * draws


def rand_zipfian(
    true_classes: NDArray, num_sampled: int, range_max: int, ctx: Context | None = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Classes that are rarer the larger their numbers are, with repetitions.

    Class c comes with probability log((c + 2) / (c + 1)) / log(range_max + 1).

    Returns: the classes (int64, of shape (num_sampled,)), how often each of `true_classes` is expected among so many,
        and how often each class drawn is (float64).
    """
    log_range = math.log(range_max + 1)
    exponents = random.uniform(0, log_range, (num_sampled,), "float64", ctx)
    drawn = (exponents.exp() - 1).astype("int64") % range_max
    return (
        drawn,
        _expected(true_classes, num_sampled, log_range),
        _expected(drawn, num_sampled, log_range),
    )


def _factor(rescale_grad: NDArray | float, dtype: Any = "float32") -> NDArray:
    """The factor of the gradient as an array, which operators take."""
    return rescale_grad if isinstance(rescale_grad, NDArray) else _full((1,), rescale_grad, dtype=dtype)


def adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, rescale_grad: NDArray | float, lr: float, eta: float,
    beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0, clip_gradient: float = -1,
    out: NDArray | None = None, name: str | None = None, **kwargs: Any,
) -> NDArray:  # fmt: skip
    """A step of Adam with decoupled weight decay; `mean` and `var` are updated in place.

    With g = clip(rescale_grad * grad), mean becomes beta1 * mean + (1 - beta1) * g, var becomes
    beta2 * var + (1 - beta2) * g^2, and the result is weight - eta * (lr * mean / (sqrt(var) + epsilon) + wd * weight).

    Args:
        rescale_grad: a number, or a float32 array of one. Where it is 0, infinite or NaN, nothing is updated.
        out: where the new weights are written, usually `weight`.
    """
    given = {"lr": lr, "eta": eta, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": wd}
    given["clip_gradient"] = clip_gradient
    inputs = [weight, grad, mean, var, _factor(rescale_grad)]
    result: NDArray = _invoke("_adamw_update", inputs, {**given, **kwargs}, out)
    return result


def mp_adamw_update(
    weight: NDArray, grad: NDArray, mean: NDArray, var: NDArray, weight32: NDArray, rescale_grad: NDArray | float,
    lr: float, eta: float, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, wd: float = 0,
    clip_gradient: float = -1, out: NDArray | None = None, name: str | None = None, **kwargs: Any,
) -> NDArray:  # fmt: skip
    """`adamw_update` of `weight32`, a float32 copy of the weights that is updated in place; so are `mean` and `var`.

    The result is the new `weight32` in the dtype of `weight`.
    """
    given = {"lr": lr, "eta": eta, "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "wd": wd}
    given["clip_gradient"] = clip_gradient
    inputs = [weight, grad, mean, var, weight32, _factor(rescale_grad)]
    result: NDArray = _invoke("_mp_adamw_update", inputs, {**given, **kwargs}, out)
    return result


def _several(
    operator: str, lists: list[Sequence[NDArray]], more: list[NDArray], given: dict[str, Any], out: Any
) -> Any:
    """One call for several weights: `lists` have an array for each, `more` follow once.

    Raises:
        ValueError: the lists have different lengths.
    """
    if len({len(each) for each in lists}) != 1:
        lengths = ", ".join(str(len(each)) for each in lists)
        raise ValueError(f"{operator}: lists of {lengths} arrays; they must be as many")
    arrays = [array for each in zip(*lists) for array in each]
    numbers = {name: tuple(value) if isinstance(value, (list, tuple)) else value for name, value in given.items()}
    return _invoke(operator, [*arrays, *more], numbers, out)


def multi_adamw_update(
    weights: Sequence[NDArray], grads: Sequence[NDArray], mean: Sequence[NDArray], var: Sequence[NDArray],
    rescale_grad: NDArray | float, lrs: Sequence[float], wds: Sequence[float], etas: Sequence[float], out: Any = None,
    name: str | None = None, size: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """`adamw_update` of several weights in one call, each with its own numbers.

    Args:
        rescale_grad: a number, or an array of one in the dtype of the weights.
        size: the number of weights; 0: that of the lists.
        kwargs: beta1, beta2, epsilon, clip_gradient.
    """
    given = dict(lrs=lrs, wds=wds, etas=etas, num_weights=size or len(weights), **kwargs)
    factor = _factor(rescale_grad, weights[0].dtype if weights else "float32")
    return _several("_multi_adamw_update", [weights, grads, mean, var], [factor], given, out)


def multi_mp_adamw_update(
    weights: Sequence[NDArray], grads: Sequence[NDArray], mean: Sequence[NDArray], var: Sequence[NDArray],
    weights32: Sequence[NDArray], rescale_grad: NDArray | float, lrs: Sequence[float], wds: Sequence[float],
    etas: Sequence[float], out: Any = None, name: str | None = None, size: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """`mp_adamw_update` of several weights in one call; arguments as of `multi_adamw_update`."""
    given = dict(lrs=lrs, wds=wds, etas=etas, num_weights=size or len(weights), **kwargs)
    lists = [weights, grads, mean, var, weights32]
    return _several("_multi_mp_adamw_update", lists, [_factor(rescale_grad)], given, out)


def multi_lamb_update(
    weights: Sequence[NDArray], grads: Sequence[NDArray], mean: Sequence[NDArray], var: Sequence[NDArray],
    step_count: Sequence[int], lrs: Sequence[float], wds: Sequence[float], out: Any = None, num_tensors: int = 0,
    **kwargs: Any,
) -> Any:  # fmt: skip
    """A step of LAMB for several weights in one call, each with its own numbers; `mean` and `var` are updated in place.

    Args:
        step_count: the number of each weight's step, from 1 on.
        num_tensors: the number of weights; 0: that of the lists.
        kwargs: beta1, beta2, epsilon, rescale_grad, lower_bound, upper_bound, clip_gradient, bias_correction.
    """
    given = dict(learning_rates=lrs, wds=wds, step_count=step_count, num_tensors=num_tensors or len(weights), **kwargs)
    return _several("_multi_lamb_update", [weights, grads, mean, var], [], given, out)


def multi_mp_lamb_update(
    weights: Sequence[NDArray], grads: Sequence[NDArray], mean: Sequence[NDArray], var: Sequence[NDArray],
    weights32: Sequence[NDArray], step_count: Sequence[int], lrs: Sequence[float], wds: Sequence[float],
    out: Any = None, num_tensors: int = 0, **kwargs: Any,
) -> Any:  # fmt: skip
    """`multi_lamb_update` of float32 copies of the weights, which are updated in place too."""
    given = dict(learning_rates=lrs, wds=wds, step_count=step_count, num_tensors=num_tensors or len(weights), **kwargs)
    return _several("_multi_mp_lamb_update", [weights, grads, mean, var, weights32], [], given, out)


# ---- loops: arrays in nested lists ----


def _flat(nested: Any, what: str) -> list[NDArray]:
    """The arrays of a nested list, from left to right.

    Raises:
        TypeError: something in it is neither an array nor a list; `what` names it.
    """
    if isinstance(nested, NDArray):
        return [nested]
    if not isinstance(nested, (list, tuple)):
        raise WrongTypeError(f"{what} must be NDArrays in (nested) lists, got {nested!r} of {type(nested)}")
    return [array for each in nested for array in _flat(each, what)]


def _refilled(nested: Any, arrays: Iterator[Any]) -> Any:
    if isinstance(nested, NDArray):
        return next(arrays)
    return [_refilled(each, arrays) for each in nested]


def _like(nested: Any, arrays: list[Any]) -> Any:
    """Other arrays, as many, in the lists of a nested list; tuples become lists."""
    return _refilled(nested, iter(arrays))


def _stacked(steps: list[list[NDArray]], padded_to: int = 0) -> list[NDArray]:
    """Of each array of a step one array of all steps, behind which are zeros up to so many."""
    results = []
    for arrays in zip(*steps):
        result = _invoke("stack", list(arrays), {"axis": 0, "num_args": len(arrays)})
        if padded_to > len(steps):
            shape = (padded_to - len(steps), *arrays[0].shape)
            zeros = _invoke("_zeros", [], {"shape": shape, "dtype": arrays[0].dtype, "ctx": str(arrays[0].context)})
            result = _invoke("Concat", [result, zeros], {"dim": 0, "num_args": 2})
        results.append(as_kind(result, arrays[0]._kind))
    return results


@for_both
def foreach(body: Callable[[Any, Any], Any], data: Any, init_states: Any) -> tuple[Any, Any]:
    """Runs a function over the parts of arrays along their first axis, and hands states from each call to the next.

    Every operation of `body` is recorded as usual, and so gradients flow through the loop.

    Args:
        body: gets the parts of one step, in the lists of `data`, and the states; returns a pair, the outputs of the
            step and the new states. The outputs are an array or a nested list of arrays, the same at each step.
        data: an array or a nested list of arrays. The first one's first axis is the number of steps.
        init_states: the states of the first call, an array or a nested list of arrays, which may be empty.

    Returns: the outputs of all steps, stacked along a new first axis, in the lists of the last step's outputs; and what
        the last call returned as its states.

    Raises:
        TypeError: data, states or outputs have something else than arrays.
        ValueError: there are no steps, or the steps have different numbers of outputs.
    """
    arrays = _flat(data, "foreach: data")
    _flat(init_states, "foreach: states")
    if not arrays or not arrays[0].shape or arrays[0].shape[0] == 0:
        raise ValueError("foreach: data must have one step or more")
    states, outputs, steps = init_states, None, []
    for i in range(arrays[0].shape[0]):
        outputs, states = body(_like(data, [array[i] for array in arrays]), states)
        steps.append(_flat(outputs, "foreach: outputs"))
        if len(steps[-1]) != len(steps[0]):
            raise ValueError(f"foreach: step {i} has {len(steps[-1])} outputs, the first one {len(steps[0])}")
    return _like(outputs, _stacked(steps)), states


def _holds(condition: Any) -> bool:
    """Whether a condition, an array of one element or anything else, is true."""
    return bool(condition.as_nd_ndarray().asscalar() if isinstance(condition, NDArray) else condition)


@for_both
def while_loop(
    cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Any, max_iterations: int | None = None
) -> tuple[Any, Any]:
    """Runs a function while a condition holds, and hands its variables from each call to the next.

    Args:
        cond: gets the variables; whether there is another step, as an array of one element or a value.
        func: gets the variables; returns a pair, the outputs of the step (None: none) and the new variables, as many.
        loop_vars: an array or a nested list of arrays, one argument for each entry.
        max_iterations: the most steps; needed.

    Returns: the outputs of all steps, stacked along a new first axis of size `max_iterations`, with zeros behind the
        last step; and the last variables. Without a step the outputs are an empty list.

    Raises:
        TypeError: variables or outputs have something else than arrays.
        ValueError: `max_iterations` is missing or no number, there are no variables, their number or that of the
            outputs changes, or a condition has several elements.
    """
    if max_iterations is None:
        raise ValueError("while_loop: max_iterations is needed")
    try:
        most = int(max_iterations)
    except (TypeError, ValueError):
        raise ValueError(f"while_loop: max_iterations must be an integer, got {max_iterations!r}") from None
    if len(loop_vars) == 0:
        raise ValueError("while_loop: loop_vars must have one array or more")
    count, variables, outputs = len(_flat(loop_vars, "while_loop: loop_vars")), loop_vars, None
    steps: list[list[NDArray]] = []
    while len(steps) < most:
        arguments = [variables] if isinstance(variables, NDArray) else variables
        if not _holds(cond(*arguments)):
            break
        outputs, variables = func(*arguments)
        outputs = [] if outputs is None else outputs
        variables = [] if variables is None else variables
        steps.append(_flat(outputs, "while_loop: outputs"))
        if len(_flat(variables, "while_loop: loop_vars")) != count:
            raise ValueError(f"while_loop: the number of loop_vars must stay {count}")
        if len(steps[-1]) != len(steps[0]):
            raise ValueError(f"while_loop: a step has {len(steps[-1])} outputs, the first one {len(steps[0])}")
    if not steps:
        return [], loop_vars
    last = _flat(variables, "while_loop: loop_vars")
    if isinstance(loop_vars, NDArray):
        return _like(outputs, _stacked(steps, most)), last[0]
    return _like(outputs, _stacked(steps, most)), last if isinstance(variables, NDArray) else _like(variables, last)


@for_both
def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
    """Calls one of two functions.

    Args:
        pred: an array of one element, or a value; NaN counts as true.
        then_func: called without arguments if `pred` is true.
        else_func: called otherwise.

    Returns: what the function returns.

    Raises:
        ValueError: `pred` is an array of several elements.
    """
    return then_func() if _holds(pred) else else_func()


_show_functions(globals())
