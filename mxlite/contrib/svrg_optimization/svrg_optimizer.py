"""Optimizers of a store that holds full gradients beside the parameters."""

from __future__ import annotations

from typing import Any

from mxlite import optimizer as opt
from mxlite._public import show as _show
from mxlite.ndarray.ndarray import NDArray

__all__: list[str] = []


@opt.register
class _AssignmentOptimizer(opt.Optimizer):
    """Writes what is pushed in place of what is stored."""

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Writes the gradient over the weight."""
        weight[:] = grad


@opt.register
class _SVRGOptimizer(opt.Optimizer):
    """Another optimizer for parameters; full gradients, whose names contain "full", are written as they are.

    Args:
        default_optimizer: its name, or it itself. kwargs: its parameters and those of every optimizer.
    """

    def __init__(self, default_optimizer: Any, **kwargs: Any) -> None:
        of_all = ("rescale_grad", "param_idx2name", "wd", "clip_gradient", "learning_rate", "lr_scheduler", "sym")
        super().__init__(**{name: each for name, each in kwargs.items() if name in (*of_all, "begin_num_update")})
        is_name = isinstance(default_optimizer, str)
        self.default_opt = opt.create(default_optimizer, **kwargs) if is_name else default_optimizer
        self.aux_opt = opt.create(_AssignmentOptimizer.__name__)

    def _of(self, index: Any) -> opt.Optimizer:
        name = index if isinstance(index, str) else self.idx2name.get(index, "")
        return self.aux_opt if "full" in name else self.default_opt

    def create_state(self, index: Any, weight: NDArray) -> Any:
        """The state of the optimizer that a name has."""
        return self._of(index).create_state(index, weight)

    def update(self, index: Any, weight: NDArray, grad: NDArray, state: Any) -> None:
        """Updates by the optimizer that a name has."""
        self._of(index).update(index, weight, grad, state)


_show(globals())
