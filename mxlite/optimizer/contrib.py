"""Optimizers of mx.optimizer.contrib."""

from __future__ import annotations

from typing import Any

from mxlite import ndarray as nd
from mxlite._public import show
from mxlite.error import WrongValueError
from mxlite.ndarray import NDArray
from mxlite.optimizer._base import Optimizer, register


@register
class GroupAdaGrad(Optimizer):
    """AdaGrad with one sum of squares for each row of a parameter, for embeddings; weight decay is refused."""

    def __init__(self, eps: float = 1e-5, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index: Any, weight: NDArray) -> Any:
        if len(weight.shape) != 2:
            raise WrongValueError(f"GroupAdaGrad: parameters must have two axes, got shape {weight.shape}")
        return nd.zeros((weight.shape[0], 1), weight.context, stype=weight.stype)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        lr, wd, _ = self._begin(index)
        if wd != 0:
            raise WrongValueError(f"GroupAdaGrad: has no weight decay: wd is 0, got {wd}")
        nd.contrib.group_adagrad_update(
            weight, grad, state, out=weight, lr=lr, epsilon=self.float_stable_eps, **self._clip()
        )


show(globals())
