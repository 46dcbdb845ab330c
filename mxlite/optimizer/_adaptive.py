"""Optimizers with a rate for each element, of what its gradients were: Adam and its kin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mxlite import ndarray as nd
from mxlite.ndarray import NDArray
from mxlite.ndarray.ndarray import invoke
from mxlite.optimizer._base import Optimizer, aggregation_size, flat, register, zeros


class _Moments(Optimizer):
    """An optimizer that keeps two arrays of a parameter, at first zeros."""

    def create_state(self, index: Any, weight: NDArray) -> Any:
        stype = self._stype(weight)
        return zeros(weight, stype=stype), zeros(weight, stype=stype)

    def _stype(self, weight: NDArray) -> str:
        """How the state of a parameter is stored."""
        return "default"


class _RowMoments(_Moments):
    """The same, stored as the parameter is."""

    def _stype(self, weight: NDArray) -> str:
        return weight.stype


@register
class Adam(_Moments):
    """Steps of the gradient's running mean over the root of its running square (Kingma and Ba 2014).

    Args:
        lazy_update: a row_sparse gradient changes its rows of the parameter alone, and of both means.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        lazy_update: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update
        own = Adam.update, Optimizer.update_multi_precision
        if (type(self).update, type(self).update_multi_precision) == own and not self.multi_precision:
            self.aggregate_num = aggregation_size()

    def _stype(self, weight: NDArray) -> str:
        return weight.stype if self.lazy_update else "default"

    def _corrected(self, indices: list) -> list[float]:
        """Learning rates, divided by what the running means lack after so many updates."""
        rates = []
        for lr, index in zip(self._get_lrs(indices), indices):
            t = self._index_update_count[index]
            rates.append(lr * math.sqrt(1.0 - self.beta2**t) / (1.0 - self.beta1**t))
        return rates

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        self._update_count(index)
        told = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon, **self._clip()}
        if not isinstance(index, (list, tuple)):
            (lr,) = self._corrected([index])
            if not self.lazy_update:
                told["lazy_update"] = False
            nd.adam_update(weight, grad, *state, out=weight, lr=lr, wd=self._get_wd(index), **told)
            return
        means, squares = zip(*state)
        rates = self._rate_arrays(index, self._corrected(index))
        arrays = [*flat(weight, grad, means, squares), *rates]
        invoke("_mxl_multi_adam_update", arrays, {"num_weights": len(index), **told}, weight)


@register
class LAMB(_RowMoments):
    """Adam's step, scaled by the norm of the weight over that of the step (You et al. 2019).

    Args:
        lower_bound, upper_bound: limits of the weight's norm; None: there is none.
        bias_correction: divide running means by what they lack at the beginning.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        lower_bound: float | None = None,
        upper_bound: float | None = None,
        bias_correction: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = min(45, aggregation_size())

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        self._update_impl(index, weight, grad, state)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        first = weight[0] if isinstance(weight, (list, tuple)) else weight
        self._update_impl(index, weight, grad, state, self.multi_precision and first.dtype == np.float16)

    def _update_impl(self, index: Any, weight: Any, grad: Any, state: Any, multi_precision: bool = False) -> None:
        if not isinstance(index, (list, tuple)):
            index, weight, grad, state = [index], [weight], [grad], [state]
        self._update_count(index)
        columns = [weight, grad]
        masters = []
        if multi_precision:
            masters = [[master for master, _ in state]]
            state = [own for _, own in state]
        columns += [[own[0] for own in state], [own[1] for own in state], *masters]
        told = {"beta1": self.beta1, "beta2": self.beta2, "epsilon": self.epsilon, **self._clip()}
        bounds = {"lower_bound": self.lower_bound, "upper_bound": self.upper_bound}
        bounds = {name: value for name, value in bounds.items() if value}
        kind = nd._internal._multi_mp_lamb_update if multi_precision else nd._internal._multi_lamb_update
        kind(
            *flat(*columns),
            out=weight,
            num_tensors=len(index),
            learning_rates=self._get_lrs(index),
            wds=self._get_wds(index),
            step_count=[self._index_update_count[each] for each in index],
            bias_correction=self.bias_correction,
            **told,
            **bounds,
        )


@register
class FTML(Optimizer):
    """Follow the moving leader (Zheng and Kwok 2017)."""

    def __init__(self, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index: Any, weight: NDArray) -> Any:
        return zeros(weight), zeros(weight), zeros(weight)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, t = self._begin(index)
        told = {"rescale_grad": self.rescale_grad}
        if self.clip_gradient:
            told["clip_grad"] = self.clip_gradient
        nd.ftml_update(
            weight, grad, *state, out=weight, t=t, lr=lr, wd=wd, beta1=self.beta1, beta2=self.beta2,
            epsilon=self.epsilon, **told,
        )  # fmt: skip


@register
class Ftrl(_RowMoments):
    """Follow the regularized leader (McMahan et al. 2013); lamda1 makes small weights 0."""

    def __init__(self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.lamda1 = lamda1
        self.beta = beta
        self.lr = learning_rate

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, _ = self._begin(index)
        told = {"lamda1": self.lamda1, "beta": self.beta, **self._clip()}
        nd.ftrl_update(weight, grad, *state, out=weight, lr=lr, wd=wd, **told)


@register
class RMSProp(Optimizer):
    """Steps of the gradient over the root of its running square.

    Args:
        gamma1: the decay of running means.
        gamma2: the momentum of centered steps.
        centered: by the running variance, with momentum (Graves 2013), else by the square (Tieleman and Hinton 2012).
        clip_weights: the largest absolute value of a weight; None: there is none.
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        gamma1: float = 0.9,
        gamma2: float = 0.9,
        epsilon: float = 1e-8,
        centered: bool = False,
        clip_weights: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index: Any, weight: NDArray) -> Any:
        return tuple(zeros(weight, stype=weight.stype) for _ in range(3 if self.centered else 1))

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, _ = self._begin(index)
        told = {"lr": lr, "wd": wd, "gamma1": self.gamma1, "epsilon": self.epsilon, **self._clip()}
        if self.clip_weights:
            told["clip_weights"] = self.clip_weights
        if self.centered:
            nd.rmspropalex_update(weight, grad, *state, out=weight, gamma2=self.gamma2, **told)
        else:
            nd.rmsprop_update(weight, grad, *state, out=weight, **told)


@register
class AdaGrad(Optimizer):
    """Steps of the gradient over the root of the sum of its squares (Duchi et al. 2011)."""

    def __init__(self, eps: float = 1e-7, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Any, weight: NDArray) -> Any:
        return zeros(weight, stype=weight.stype)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, _ = self._begin(index)
        if grad.stype == "row_sparse":
            told = {"lr": lr, "wd": wd, "epsilon": self.float_stable_eps, **self._clip()}
            nd.sparse.adagrad_update(weight, grad, state, out=weight, **told)
            return
        grad = self._clipped(grad)
        state += grad * grad
        weight += (grad / nd.sqrt(state + self.float_stable_eps) + weight * wd) * -lr


@register
class AdaDelta(_Moments):
    """Steps as large as the running mean of steps, without a learning rate (Zeiler 2012)."""

    def __init__(self, rho: float = 0.90, epsilon: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        _, wd, _ = self._begin(index)
        grad = self._clipped(grad)
        squares, steps = state
        squares[:] = self.rho * squares + (1.0 - self.rho) * grad * grad
        step = nd.sqrt(steps + self.epsilon) / nd.sqrt(squares + self.epsilon) * grad
        steps[:] = self.rho * steps + (1.0 - self.rho) * step * step
        weight -= step + wd * weight


@register
class Adamax(_Moments):
    """Adam with the largest absolute gradient, decayed, in the place of the running square."""

    def __init__(self, learning_rate: float = 0.002, beta1: float = 0.9, beta2: float = 0.999, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, t = self._begin(index)
        lr /= 1.0 - self.beta1**t
        grad = self._clipped(grad, wd * weight)
        mean, most = state
        mean[:] = self.beta1 * mean + (1.0 - self.beta1) * grad
        most[:] = nd.maximum(self.beta2 * most, nd.abs(grad))
        weight -= lr * mean / most


@register
class Nadam(_Moments):
    """Adam with Nesterov's momentum (Dozat 2016)."""

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        schedule_decay: float = 0.004,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, t = self._begin(index)
        grad = self._clipped(grad, wd * weight)
        now, then = (self.beta1 * (1.0 - 0.5 * 0.96 ** (each * self.schedule_decay)) for each in (t, t + 1))
        self.m_schedule *= now
        mean, square = state
        mean[:] = self.beta1 * mean + (1.0 - self.beta1) * grad
        square[:] = self.beta2 * square + (1.0 - self.beta2) * grad * grad
        ahead = (1.0 - now) / (1.0 - self.m_schedule) * grad + then / (1.0 - self.m_schedule * then) * mean
        weight -= lr * ahead / (nd.sqrt(square / (1.0 - self.beta2**t)) + self.epsilon)
