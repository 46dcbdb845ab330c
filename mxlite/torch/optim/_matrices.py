"""Optimizers that look at a parameter as a matrix: Adafactor, Muon."""

from __future__ import annotations

import math
from typing import Any

from mxlite.torch._dtypes import bfloat16, finfo
from mxlite.torch._math.matrix import addmm
from mxlite.torch._math.norms import vector_norm
from mxlite.torch._tensor import Tensor
from mxlite.torch.optim._optimizer import Optimizer, zeros_like


def _root_mean_square(x: Tensor) -> float:
    return vector_norm(x, 2).item() / math.sqrt(x.numel())


class Adafactor(Optimizer):
    """Steps by the gradient over the root of its running mean square, which a matrix keeps for rows and columns.

    Args:
        lr: The most that a step is relative to the parameter, and the rate of weight decay.
        beta2_decay: The power of the step by which the newest square counts.
        eps: What a root is at least (None: the dtype's epsilon), and what a parameter's size counts as at least.
        d: The size from which on a step is made shorter.
    """

    def __init__(
        self, params: Any, lr: float = 1e-2, beta2_decay: float = -0.8, eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0, weight_decay: float = 0.0, *, foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        if not (eps[0] is None or eps[0] >= 0) or eps[1] < 0:
            raise ValueError(f"Adafactor: eps are numbers from 0 on, got {eps}")
        self._start(locals(), eps=True, beta2_decay=beta2_decay <= 0, d=d >= 1)

    def _first(self, group: dict[str, Any], parameter: Tensor) -> dict[str, Any]:
        zeros = zeros_like(parameter)
        if parameter.ndim < 2:
            return {"step": 0, "variance": zeros}
        return {"step": 0, "row_var": zeros[..., :1].clone(), "col_var": zeros[..., :1, :].clone()}

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        lr, step, (least, smallest) = float(group["lr"]), state["step"], group["eps"]
        least = finfo(parameter._dtype).eps if least is None else least
        share, squares = step ** group["beta2_decay"], gradient.square()
        rate = max(smallest, _root_mean_square(parameter)) * min(lr, 1 / math.sqrt(step))
        if group["weight_decay"]:
            parameter.mul_(1 - lr * group["weight_decay"])
        if parameter.ndim < 2:
            mean = state["variance"].lerp_(squares, share).clone()
        else:
            rows = state["row_var"].lerp_(squares.mean(-1, True), share)
            columns = state["col_var"].lerp_(squares.mean(-2, True), share)
            mean = rows @ columns / rows.mean(-2, True).clamp_min(least)
        update = mean.clamp_min(least * least).rsqrt_().mul_(gradient)
        parameter.add_(update, alpha=-rate / max(1.0, _root_mean_square(update) / group["d"]))


class Muon(Optimizer):
    """Steps of matrices by the momentum's nearest orthogonal matrix, which a polynomial finds in bfloat16.

    Args:
        ns_coefficients: Of x, x^3 and x^5 in the polynomial, which runs `ns_steps` times on the singular values.
        adjust_lr_fn: How the rate depends on the shape: "original" (None), or "match_rms_adamw".
    """

    def __init__(
        self, params: Any, lr: float = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315), eps: float = 1e-7, ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Muon: adjust_lr_fn is 'original' or 'match_rms_adamw', got {adjust_lr_fn!r}")
        if ns_steps >= 100 or len(ns_coefficients) != 3:
            raise ValueError(f"Muon: fewer than 100 steps of 3 coefficients, got {ns_steps} and {ns_coefficients}")
        self._start(locals())
        for each in (each for group in self.param_groups for each in group["params"]):
            if each.ndim != 2:
                raise ValueError(f"Muon: parameters are matrices, got one of shape {list(each.shape)}")

    def _update(self, group: dict[str, Any], parameter: Tensor, gradient: Tensor, state: dict[str, Any]) -> None:
        momentum, lr, (rows, columns) = group["momentum"], float(group["lr"]), parameter.shape
        if not state:
            state["momentum_buffer"] = zeros_like(parameter)
        kept = state["momentum_buffer"].lerp_(gradient, 1 - momentum)
        update = gradient.lerp(kept, momentum) if group["nesterov"] else kept
        parameter.mul_(1 - lr * group["weight_decay"])
        is_original = group["adjust_lr_fn"] in (None, "original")
        by = math.sqrt(max(1, rows / columns)) if is_original else 0.2 * math.sqrt(max(rows, columns))
        parameter.add_(_orthogonal(update, group).to(parameter.dtype), alpha=-lr * by)


def _orthogonal(update: Tensor, group: dict[str, Any]) -> Tensor:
    """A matrix with the singular vectors of another and singular values near 1."""
    a, b, c = group["ns_coefficients"]
    x = update.to(bfloat16)
    x = x.T if x.shape[0] > x.shape[1] else x
    x = x / vector_norm(x, 2).clamp_min(group["eps"])
    for _ in range(group["ns_steps"]):
        gram = x @ x.T
        x = addmm(x, addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.T if update.shape[0] > update.shape[1] else x
