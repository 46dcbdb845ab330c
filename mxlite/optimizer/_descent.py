"""Optimizers that go along the gradient or its running mean: SGD and its kin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mxlite import ndarray as nd
from mxlite.error import WrongTypeError
from mxlite.ndarray import NDArray
from mxlite.optimizer._base import Optimizer, aggregation_size, flat, register, zeros


class _Aggregated(Optimizer):
    """An optimizer whose operators update many parameters in a call; states are (state, master copy) in float16."""

    momentum: float

    def create_state(self, index: Any, weight: NDArray) -> Any:
        return zeros(weight, stype=self._stype(weight)) if self.momentum != 0.0 else None

    def _stype(self, weight: NDArray) -> str:
        """How the state of a parameter is stored."""
        return weight.stype

    def create_state_multi_precision(self, index: Any, weight: NDArray) -> Any:
        if not self._wants_master(weight):
            return self.create_state(index, weight)
        master = weight.astype(np.float32)
        return self.create_state(index, master), master

    def update(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        self._update_impl(index, weight, grad, state)

    def update_multi_precision(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
        first = weight[0] if isinstance(weight, (list, tuple)) else weight
        self._update_impl(index, weight, grad, state, self.multi_precision and first.dtype == np.float16)

    def _update_impl(self, indices: Any, weights: Any, grads: Any, states: Any, multi_precision: bool = False) -> None:
        if not isinstance(indices, (list, tuple)):
            indices, weights, grads, states = [indices], [weights], [grads], [states]
        for weight, grad in zip(weights, grads):
            if not isinstance(weight, NDArray) or not isinstance(grad, NDArray):
                raise WrongTypeError("a parameter and its gradient must be NDArrays")
        self._update_count(indices)
        columns = [weights, grads]
        if multi_precision:
            columns += [[state[0] for state in states]] if self.momentum else []
            columns.append([state[1] for state in states])
        elif self.momentum:
            columns.append(states)
        self._update_many(indices, columns, "mp_" if multi_precision else "")

    def _update_many(self, indices: list, columns: list[list], prefix: str) -> None:
        raise NotImplementedError

    def _told(self, momentum: float) -> dict[str, Any]:
        return {**self._clip(), "momentum": momentum} if momentum else self._clip()


@register
class SGD(_Aggregated):
    """v = momentum * v - lr * (grad + wd * weight); weight += v.

    Args:
        lazy_update: a row_sparse gradient changes its rows of the parameter alone, and of the momentum.
    """

    def __init__(self, momentum: float = 0.0, lazy_update: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size()

    def _stype(self, weight: NDArray) -> str:
        return weight.stype if self.lazy_update else "default"

    def _update_many(self, indices: list, columns: list[list], prefix: str) -> None:
        lrs = self._get_lrs(indices)
        kind = f"{prefix}sgd_{'mom_' if self.momentum else ''}update"
        told = self._told(self.momentum)
        if len(indices) == 1:
            arrays = [column[0] for column in columns]
            if not self.lazy_update:
                told["lazy_update"] = False
            getattr(nd, kind)(*arrays, out=arrays[0], lr=lrs[0], wd=self._get_wd(indices[0]), **told)
        else:
            rates = self._rate_arrays(indices, lrs)
            update = getattr(nd, f"preloaded_multi_{kind}")
            update(*flat(*columns), *rates, out=columns[0], num_weights=len(indices), **told)


@register
class ccSGD(SGD):  # noqa: N801 - 1.9.1's name
    """SGD under an old name."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


@register
class NAG(_Aggregated):
    """Nesterov's momentum: g = grad + wd * weight; v = momentum * v - lr * g; weight += momentum * v - lr * g."""

    def __init__(self, momentum: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum

    def _stype(self, weight: NDArray) -> str:
        return "default"

    def _update_many(self, indices: list, columns: list[list], prefix: str) -> None:
        kind = getattr(nd, f"{prefix}{'nag_mom' if self.momentum else 'sgd'}_update")
        rates = zip(self._get_lrs(indices), self._get_wds(indices))
        for arrays, (lr, wd) in zip(zip(*columns), rates):
            kind(*arrays, out=arrays[0], lr=lr, wd=wd, **self._told(self.momentum))


@register
class LARS(_Aggregated):
    """SGD with a rate for each layer: lr * eta * |weight| / (|grad| + wd * |weight| + eps) (You et al. 2017).

    Parameters whose names end with gamma, beta or bias have the plain rate.

    Args:
        momentum_correction: scale the momentum by the ratio of this learning rate to the last one.
    """

    def __init__(
        self,
        momentum: float = 0.0,
        lazy_update: bool = True,
        eta: float = 0.001,
        eps: float = 0,
        momentum_correction: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.momentum_correction = momentum_correction
        self.lazy_update = lazy_update
        self.aggregate_num = aggregation_size()
        self.eta = eta
        self.eps = eps
        self.skip = 0
        self.last_lr: float | None = None
        self.cur_lr: float | None = None

    def _decays(self, name: str) -> bool:
        return name.endswith("_weight")

    def _get_lrs(self, indices: list) -> list[float]:
        if self.cur_lr is not None:
            self.last_lr = self.cur_lr
        lr = self.learning_rate
        if self.cur_lr is None:
            self.last_lr = lr
        self.cur_lr = lr
        return self._scaled(lr, indices, "lr_mult")

    def _update_many(self, indices: list, columns: list[list], prefix: str) -> None:
        plain = [str(self.idx2name.get(index, index)).endswith(("gamma", "beta", "bias")) for index in indices]
        order = sorted(range(len(indices)), key=plain.__getitem__)
        columns = [[column[i] for i in order] for column in columns]
        lrs, wds = self._get_lrs(indices), self._get_wds(indices)
        rates, decays = (nd.array([each[i] for i in order], dtype="float32") for each in (lrs, wds))
        count = plain.count(False)
        if count:
            sums = [nd.multi_sum_sq(*column[:count], num_arrays=count) for column in columns[:2]]
            nd.multi_lars(
                rates[:count],
                *sums,
                decays[:count],
                eta=self.eta,
                eps=self.eps,
                rescale_grad=self.rescale_grad,
                out=rates[:count],
            )
        momentum = self.momentum
        if momentum and self.momentum_correction and self.last_lr:
            momentum *= self.cur_lr / self.last_lr
        kind = getattr(nd, f"preloaded_multi_{prefix}sgd_{'mom_' if self.momentum else ''}update")
        kind(*flat(*columns), rates, decays, out=columns[0], num_weights=len(indices), **self._told(momentum))


@register
class LBSGD(Optimizer):
    """SGD for large batches: gradients of `batch_scale` calls are averaged, and the rate grows while warming up.

    Args:
        warmup_strategy: "linear", "power2", "sqrt": how the factor grows to `batch_scale` over
            `warmup_epochs * updates_per_epoch` updates; "lars": it follows the norms of weight and gradient.
    """

    def __init__(
        self,
        momentum: float = 0.0,
        multi_precision: bool = False,
        warmup_strategy: str = "linear",
        warmup_epochs: int = 5,
        batch_scale: int = 1,
        updates_per_epoch: int = 32,
        begin_epoch: int = 0,
        num_epochs: int = 60,
        **kwargs: Any,
    ) -> None:
        super().__init__(multi_precision=multi_precision, **kwargs)
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.lbmult = 1
        self.cumgrads: dict[Any, dict[str, Any]] = {}
        self.adaptive = False
        self.admult = 1

    def create_state(self, index: Any, weight: NDArray) -> Any:
        return zeros(weight) if self.momentum != 0.0 else None

    def _get_lbmult(self, nup: int) -> float:
        whole = self.warmup_epochs * self.updates_per_epoch
        if nup >= whole:
            return float(self.batch_scale)
        share = nup / whole if whole > 1 else 0
        growth = {"linear": share, "power2": share * share, "sqrt": math.sqrt(share)}.get(self.warmup_strategy, 0)
        return 1.0 + (self.batch_scale - 1) * growth

    def _get_lars(self, weight: NDArray, grad: NDArray, wd: float) -> float:
        squares = [float((each * each).sum().asscalar()) for each in (weight, grad)]
        return min(max(math.sqrt(squares[0] / (squares[1] + wd * squares[0] + 1e-18)), 0.01), 100)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd = self._get_lr(index), self._get_wd(index)
        self._update_count(index)
        held = self.cumgrads.get(index)
        if held and held["num_cums"] > 0:
            held = {"cum_grad": held["cum_grad"] + grad, "num_cums": held["num_cums"] + 1}
        else:
            held = {"cum_grad": grad, "num_cums": self.init_updates + 1}
        self.cumgrads[index] = held
        if held["num_cums"] % self.batch_scale != 0:
            return
        grad = held["cum_grad"] / self.batch_scale
        lars = self.warmup_strategy == "lars"
        lr *= self._get_lars(weight, grad, wd) if lars else self._get_lbmult(held["num_cums"])
        held["cum_grad"] = 0
        if self.momentum:
            nd.sgd_mom_update(weight, grad, state, out=weight, lr=lr, wd=wd, momentum=self.momentum, **self._clip())
        else:
            nd.sgd_update(weight, grad, out=weight, lr=lr, wd=wd, **self._clip())


@register
class Signum(Optimizer):
    """Steps of the sign of the gradient's running mean; without momentum of the gradient's (Bernstein et al. 2018).

    Args:
        wd_lh: weight decay that is not part of the gradient (Loshchilov and Hutter).
    """

    def __init__(self, learning_rate: float = 0.01, momentum: float = 0.9, wd_lh: float = 0.0, **kwargs: Any) -> None:
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index: Any, weight: NDArray) -> Any:
        return zeros(weight, stype=weight.stype) if self.momentum != 0.0 else None

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, _ = self._begin(index)
        told = {"lr": lr, "wd": wd, **self._clip()}
        if self.momentum > 0:
            if self.wd_lh:
                told["wd_lh"] = self.wd_lh
            nd.signum_update(weight, grad, state, out=weight, momentum=self.momentum, **told)
        else:
            nd.signsgd_update(weight, grad, out=weight, **told)


@register
class SGLD(Optimizer):
    """Langevin dynamics: half a step of gradient descent, and normal noise of variance lr."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, _ = self._begin(index)
        noise = nd.random.normal(0, math.sqrt(lr), shape=weight.shape, dtype=weight.dtype, ctx=weight.context)
        weight += -lr / 2 * (self._clipped(grad) + wd * weight) + noise


@register
class DCASGD(Optimizer):
    """SGD that corrects for the delay of asynchronous gradients by lamda * grad^2 * (weight - old weight)."""

    def __init__(self, momentum: float = 0.0, lamda: float = 0.04, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.momentum = momentum
        self.weight_previous: dict[Any, NDArray] = {}
        self.lamda = lamda

    def create_state(self, index: Any, weight: NDArray) -> Any:
        return zeros(weight) if self.momentum != 0.0 else None, weight.copy()

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, _ = self._begin(index)
        grad = self._clipped(grad)
        mean, previous = state
        step = -lr * (grad + wd * weight + self.lamda * grad * grad * (weight - previous))
        if mean is not None:
            mean[:] = self.momentum * mean + step
            step = mean
        previous[:] = weight
        weight += step


@register
class Test(Optimizer):
    """Adds the rescaled gradient to the weight; the state is a copy of the weight."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    def create_state(self, index: Any, weight: NDArray) -> Any:
        return nd.zeros(weight.shape, weight.context)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        weight += grad * self.rescale_grad
        state[:] = weight
