"""`mx.nd.contrib`: a function for every operator `_contrib_*`, named without that beginning, and a few of Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mxlite.context import Context
from mxlite.ndarray import random
from mxlite.ndarray._generate import show_functions as _show_functions
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


_show_functions(globals())
