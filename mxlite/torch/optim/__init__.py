"""`torch.optim`: SGD, Adam, AdamW and RMSprop, and schedules of their learning rates (lr_scheduler).

The numbers of an option are float32 where the library's update operators take them. `foreach` and `fused`, which choose
one of PyTorch's implementations, have no effect.
"""

from __future__ import annotations

from typing import Any

import numpy as _np

from mxlite._public import show as _show
from mxlite.torch._calls import prepare as _prepare
from mxlite.torch._calls import run_into as _run_into
from mxlite.torch._tensor import Tensor
from mxlite.torch.optim import lr_scheduler
from mxlite.torch.optim._optimizer import Optimizer, require_options

__all__ = ["Optimizer", "SGD", "Adam", "AdamW", "RMSprop", "lr_scheduler"]

_sgd = _prepare(None, "sgd_update", "lr", "wd")


class SGD(Optimizer):
    """Steps down the gradient, with momentum: b = momentum b + (1 - dampening) g, then x -= lr b."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        require_options(
            ("learning rate", lr, lr >= 0),
            ("momentum value", momentum, momentum >= 0),
            ("weight_decay value", weight_decay, weight_decay >= 0),
        )
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"SGD: nesterov takes momentum above 0 and dampening 0, got momentum={momentum} and "
                f"dampening={dampening}"
            )
        options = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        options.update(
            nesterov=nesterov, maximize=maximize, foreach=foreach, differentiable=differentiable, fused=fused
        )
        super().__init__(params, options)

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        momentum, decay = group["momentum"], group["weight_decay"]
        if momentum:
            if decay:
                gradient = gradient.add(parameter, alpha=decay)
                decay = 0
            kept = state.get("momentum_buffer")
            if kept is None:
                kept = state["momentum_buffer"] = gradient.clone()
            else:
                kept.mul_(momentum).add_(gradient, alpha=1 - group["dampening"])
            gradient = gradient.add(kept, alpha=momentum) if group["nesterov"] else kept
        _run_into(_sgd, parameter, [parameter, gradient], float(group["lr"]), float(decay))


class Adam(Optimizer):
    """Steps by the running mean of the gradient over the root of that of its square, both without their bias."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        require_options(
            ("learning rate", lr, lr >= 0),
            ("epsilon value", eps, eps >= 0),
            ("betas[0]", betas[0], 0 <= betas[0] < 1),
            ("betas[1]", betas[1], 0 <= betas[1] < 1),
            ("weight_decay value", weight_decay, weight_decay >= 0),
        )
        options = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad}
        options.update(maximize=maximize, foreach=foreach, capturable=capturable, differentiable=differentiable)
        options.update(fused=fused, decoupled_weight_decay=decoupled_weight_decay)
        super().__init__(params, options)

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        if not state:
            names = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")[: 2 + group["amsgrad"]]
            state.update(step=0, **{name: parameter.detach().clone().zero_() for name in names})
        state["step"] = step = int(state["step"]) + 1
        lr, decay = float(group["lr"]), float(group["weight_decay"])
        if group["decoupled_weight_decay"] and decay:
            parameter.mul_(1 - lr * decay)
            decay = 0.0
        # The operator's betas are float32: with the same ones in the correction, it corrects what they did.
        first, second = (float(_np.float32(beta)) for beta in group["betas"])
        root = (1 - second**step) ** 0.5
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        target = parameter.detach().clone() if group["amsgrad"] else parameter
        call = _prepare(None, "adam_update", "lr", "epsilon", "wd", beta1=first, beta2=second)
        rate = lr / (1 - first**step)
        _run_into(call, target, [parameter, gradient, mean, square], rate * root, group["eps"] * root, decay)
        if group["amsgrad"]:
            most = state["max_exp_avg_sq"]
            most.copy_(most.maximum(square))
            parameter.addcdiv_(mean, most.sqrt().div_(root).add_(group["eps"]), value=-rate)


class AdamW(Adam):
    """Adam, whose weight decay makes the parameters smaller and is no part of the gradient."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, decoupled_weight_decay=True, **options)


class RMSprop(Optimizer):
    """Steps by the gradient over the root of the running mean of its square (`centered`: of its variance)."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        require_options(
            ("learning rate", lr, lr >= 0),
            ("epsilon value", eps, eps >= 0),
            ("momentum value", momentum, momentum >= 0),
            ("weight_decay value", weight_decay, weight_decay >= 0),
            ("alpha value", alpha, alpha >= 0),
        )
        options = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        options.update(weight_decay=weight_decay, capturable=capturable, foreach=foreach, maximize=maximize)
        super().__init__(params, {**options, "differentiable": differentiable})

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        if not state:
            names = ["square_avg", *["momentum_buffer"][: group["momentum"] > 0], *["grad_avg"][: group["centered"]]]
            state.update(step=0, **{name: parameter.detach().clone().zero_() for name in names})
        state["step"] = int(state["step"]) + 1
        alpha = group["alpha"]
        if group["weight_decay"]:
            gradient = gradient.add(parameter, alpha=group["weight_decay"])
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


_show(globals())
