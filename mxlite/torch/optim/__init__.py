"""`torch.optim`: optimizers, schedules of their learning rates (lr_scheduler), and averages of weights (swa_utils).

SGD and Adam of float32 parameters run on the library's update operators. `foreach` and `fused`, which choose one of
PyTorch's implementations, have no effect.
"""

from __future__ import annotations

import math as _math
from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any

import numpy as _np

from mxlite._public import show as _show
from mxlite.torch._calls import prepare as _prepare
from mxlite.torch._calls import run_into as _run_into
from mxlite.torch._dtypes import float32 as _float32
from mxlite.torch._tensor import Tensor
from mxlite.torch.optim import lr_scheduler
from mxlite.torch.optim._lbfgs import LBFGS
from mxlite.torch.optim._matrices import Adafactor, Muon
from mxlite.torch.optim._optimizer import Optimizer, decayed, zeros_like

__all__ = [
    "Optimizer", "SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop", "ASGD",
    "LBFGS", "Adafactor", "Muon", "SparseAdam", "lr_scheduler", "swa_utils",
]  # fmt: skip

_sgd = _prepare(None, "sgd_update", "lr", "wd")


class SGD(Optimizer):
    """Steps down the gradient, with momentum: b = momentum b + (1 - dampening) g, then x -= lr b."""

    def __init__(
        self, params: Any, lr: float = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"SGD: nesterov takes momentum above 0 and dampening 0, got momentum={momentum} and "
                f"dampening={dampening}"
            )
        self._start(locals())

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        momentum, decay, is_single = group["momentum"], group["weight_decay"], parameter._dtype is _float32
        if momentum or not is_single:
            gradient, decay = decayed(group, parameter, gradient), 0
        if momentum:
            kept = state.get("momentum_buffer")
            if kept is None:
                kept = state["momentum_buffer"] = gradient.clone()
            else:
                kept.mul_(momentum).add_(gradient, alpha=1 - group["dampening"])
            gradient = gradient.add(kept, alpha=momentum) if group["nesterov"] else kept
        if is_single:  # the operator's options are float32
            _run_into(_sgd, parameter, [parameter, gradient], float(group["lr"]), float(decay))
        else:
            parameter.add_(gradient, alpha=-float(group["lr"]))


def _moments(group: dict[str, Any], gradient: Tensor, state: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """The running means of the gradient and of its square, after this one."""
    first, second = group["betas"]
    mean = state["exp_avg"].mul_(first).add_(gradient, alpha=1 - first)
    return mean, state["exp_avg_sq"].mul_(second).addcmul_(gradient, gradient, value=1 - second)


class Adam(Optimizer):
    """Steps by the running mean of the gradient over the root of that of its square, both without their bias."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None,
        capturable: bool = False, differentiable: bool = False, fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        self._start(locals())

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["exp_avg", "exp_avg_sq", *["max_exp_avg_sq"][: group["amsgrad"]]]

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        step, lr, eps = state["step"], float(group["lr"]), group["eps"]
        if parameter._dtype is _float32 and not group["amsgrad"]:
            decay = float(group["weight_decay"])
            if group["decoupled_weight_decay"] and decay:
                parameter.mul_(1 - lr * decay)
                decay = 0.0
            # The operator's betas are float32: with the same ones in the correction, it corrects what they did.
            first, second = (float(_np.float32(beta)) for beta in group["betas"])
            root = (1 - second**step) ** 0.5
            call = _prepare(None, "adam_update", "lr", "epsilon", "wd", beta1=first, beta2=second)
            both = [parameter, gradient, state["exp_avg"], state["exp_avg_sq"]]
            _run_into(call, parameter, both, lr / (1 - first**step) * root, eps * root, decay)
            return
        mean, square = _moments(group, decayed(group, parameter, gradient), state)
        if group["amsgrad"]:
            square = state["max_exp_avg_sq"].copy_(state["max_exp_avg_sq"].maximum(square))
        first, second = group["betas"]
        parameter.addcdiv_(mean, (square / (1 - second**step)).sqrt_().add_(eps), value=-lr / (1 - first**step))


class AdamW(Adam):
    """Adam, whose weight decay makes the parameters smaller and is no part of the gradient."""

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 1e-2, amsgrad: bool = False, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, decoupled_weight_decay=True, **options)


class Adamax(Optimizer):
    """Adam with the running maximum of the gradient's size in place of the root."""

    _remembers = ("exp_avg", "exp_inf")

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        self._start(locals())

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        gradient, (first, second) = decayed(group, parameter, gradient), group["betas"]
        mean = state["exp_avg"].mul_(first).add_(gradient, alpha=1 - first)
        most = state["exp_inf"]
        most.copy_((most * second).maximum(gradient.abs() + group["eps"]))
        parameter.addcdiv_(mean, most, value=-float(group["lr"]) / (1 - first ** state["step"]))


class NAdam(Optimizer):
    """Adam with Nesterov's momentum, whose factor grows from step to step."""

    _remembers = ("exp_avg", "exp_avg_sq")

    def __init__(
        self, params: Any, lr: float = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        maximize: bool = False, foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        self._start(locals())

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        gradient, (first, second), step = decayed(group, parameter, gradient), group["betas"], state["step"]
        mean, square = _moments(group, gradient, state)
        now, then = (first * (1 - 0.5 * 0.96 ** (each * group["momentum_decay"])) for each in (step, step + 1))
        product = state["mu_product"] = float(_np.float32(state.get("mu_product", 1.0)) * _np.float32(now))
        root, lr = (square / (1 - second**step)).sqrt_().add_(group["eps"]), float(group["lr"])
        parameter.addcdiv_(gradient, root, value=-lr * (1 - now) / (1 - product))
        parameter.addcdiv_(mean, root, value=-lr * then / (1 - product * then))


class RAdam(Optimizer):
    """Adam, whose steps are rectified by how many gradients the running mean of the square has seen."""

    _remembers = ("exp_avg", "exp_avg_sq")

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        self._start(
            locals(),
            "lr betas eps weight_decay maximize foreach capturable decoupled_weight_decay differentiable",
        )

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        gradient, (first, second), step = decayed(group, parameter, gradient), group["betas"], state["step"]
        mean, square = _moments(group, gradient, state)
        rate, left = float(group["lr"]) / (1 - first**step), 1 - second**step
        most = 2 / (1 - second) - 1
        seen = most - 2 * step * second**step / left
        if seen > 5:
            part = (seen - 4) * (seen - 2) * most / ((most - 4) * (most - 2) * seen)
            parameter.addcdiv_(mean, square.sqrt().add_(group["eps"]), value=-rate * _math.sqrt(part * left))
        else:
            parameter.add_(mean, alpha=-rate)


class Adagrad(Optimizer):
    """Steps by the gradient over the root of the sum of all squares."""

    def __init__(
        self, params: Any, lr: float = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        self._start(locals(), "lr lr_decay eps weight_decay")
        for group in self.param_groups:
            for each in group["params"]:
                self.state[each] = self._first(group, each)

    def _first(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        return {"step": 0, "sum": zeros_like(parameter).fill_(group["initial_accumulator_value"])}

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        gradient = decayed(group, parameter, gradient)
        rate = float(group["lr"]) / (1 + (state["step"] - 1) * group["lr_decay"])
        total = state["sum"].addcmul_(gradient, gradient)
        parameter.addcdiv_(gradient, total.sqrt().add_(group["eps"]), value=-rate)


class Adadelta(Optimizer):
    """Steps by the gradient over the root of the running mean of its square, times that of the steps before."""

    _remembers = ("square_avg", "acc_delta")

    def __init__(
        self, params: Any, lr: float = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        self._start(locals(), "lr rho eps weight_decay maximize capturable")

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        gradient, rho, eps = decayed(group, parameter, gradient), group["rho"], group["eps"]
        square = state["square_avg"].mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
        moved = (state["acc_delta"] + eps).sqrt_().div_((square + eps).sqrt_()).mul_(gradient)
        state["acc_delta"].mul_(rho).addcmul_(moved, moved, value=1 - rho)
        parameter.add_(moved, alpha=-float(group["lr"]))


class RMSprop(Optimizer):
    """Steps by the gradient over the root of the running mean of its square (`centered`: of its variance)."""

    def __init__(
        self, params: Any, lr: float = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        self._start(locals(), "lr momentum alpha eps centered", alpha=alpha >= 0)

    def _names(self, group: dict[str, Any]) -> list[str]:
        return ["square_avg", *["momentum_buffer"][: group["momentum"] > 0], *["grad_avg"][: group["centered"]]]

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        gradient, alpha = decayed(group, parameter, gradient), group["alpha"]
        square = state["square_avg"].mul_(alpha).addcmul_(gradient, gradient, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"].mul_(alpha).add_(gradient, alpha=1 - alpha)
            square = square - mean * mean
        root = square.sqrt().add_(group["eps"])
        if group["momentum"]:
            kept = state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(gradient, root)
            parameter.add_(kept, alpha=-group["lr"])
        else:
            parameter.addcdiv_(gradient, root, value=-group["lr"])


class Rprop(Optimizer):
    """Steps by the gradient's sign; steps grow while the sign stays, and shrink where it changes."""

    def __init__(
        self, params: Any, lr: float = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, foreach: bool | None = None, maximize: bool = False,
        differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        self._start(locals(), etas=0 < etas[0] < 1 < etas[1])

    def _first(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        prev = zeros_like(parameter)
        return {"step": 0, "prev": prev, "step_size": prev.clone().fill_(float(group["lr"]))}

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        turn, (less, more), size = gradient * state["prev"], group["etas"], state["step_size"]
        factor = (turn > 0).to(size.dtype) * (more - 1) + (turn < 0).to(size.dtype) * (less - 1) + 1
        size.mul_(factor).clamp_(*group["step_sizes"])
        state["prev"].copy_(gradient.masked_fill(turn < 0, 0))
        parameter.addcmul_(state["prev"].sign(), size, value=-1)


class ASGD(Optimizer):
    """SGD with a rate that falls by a power of the step, and the mean of the parameters from step t0 on (`ax`)."""

    def __init__(
        self, params: Any, lr: float = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:  # fmt: skip
        self._start(locals())

    def _first(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        return {"step": 0, "eta": float(_np.float32(group["lr"])), "mu": 1.0, "ax": zeros_like(parameter)}

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        gradient, step, eta, mu = decayed(group, parameter, gradient), state["step"], state["eta"], state["mu"]
        lambd, lr, mean = group["lambd"], float(group["lr"]), state["ax"]
        parameter.mul_(1 - lambd * float(eta)).add_(gradient, alpha=-float(eta))
        if mu == 1:
            mean.copy_(parameter)
        else:
            mean.add_(parameter - mean, alpha=float(mu))
        eta, mu = lr / (1 + lambd * lr * step) ** group["alpha"], 1 / max(1, step - group["t0"])
        state.update(eta=float(_np.float32(eta)), mu=float(_np.float32(mu)))


class SparseAdam(Optimizer):
    """Refused: there are no sparse gradients. Raises: NotImplementedError."""

    def __init__(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError("mxlite.torch: SparseAdam is for sparse gradients, which there are none of; use Adam")


def _later(name: str) -> Any:
    return _import_module(f"{__name__}.swa_utils") if name == "swa_utils" else None


_show(globals(), _later)

if _TYPE_CHECKING:  # what is imported later
    from mxlite.torch.optim import swa_utils
