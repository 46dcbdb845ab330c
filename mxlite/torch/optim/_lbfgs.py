"""LBFGS: steps along directions of a quadratic model, which the last changes of the gradient give."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from mxlite.torch._nodes import unrecorded
from mxlite.torch._shape.parts import cat
from mxlite.torch._tensor import Tensor
from mxlite.torch.autograd import enable_grad
from mxlite.torch.optim._optimizer import Optimizer, zeros_like


class _Point(NamedTuple):
    """A step along the direction: its length, the loss, the gradient, and the slope of the loss."""

    at: float
    loss: float
    gradient: Tensor
    slope: float


class LBFGS(Optimizer):
    """The method of Broyden, Fletcher, Goldfarb and Shanno with limited memory, for one group of parameters.

    Args:
        max_iter: Iterations of a step. max_eval: calls of the closure; None: 1.25 max_iter.
        tolerance_grad, tolerance_change: A step ends where no gradient, or no change, is larger.
        history_size: How many changes are remembered.
        line_search_fn: None (each iteration goes `lr` far) or "strong_wolfe".
    """

    def __init__(
        self, params: Any, lr: float = 1, max_iter: int = 20, max_eval: int | None = None,
        tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:  # fmt: skip
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        self._start(locals())
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS: there is one group of parameters")

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    def _gradient(self) -> Tensor:
        return cat([(zeros_like(p) if p.grad is None else p.grad).reshape(-1) for p in self._params])

    def _move(self, by: Tensor) -> None:
        place = 0
        for each in self._params:
            each.add_(by[place : place + each.numel()].reshape(each.shape))
            place += each.numel()

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Iterates; `closure` computes loss and gradients at the parameters. Returns the loss before."""
        with unrecorded():
            return self._step(closure)

    def _step(self, closure: Callable[[], Any]) -> Any:
        group, state = self.param_groups[0], self.state[self._params[0]]
        tolerance = group["tolerance_change"]

        def ask() -> tuple[float, Tensor]:
            with enable_grad():
                loss = closure()
            state["func_evals"] = state.get("func_evals", 0) + 1
            return loss, self._gradient()

        before, gradient = ask()
        loss, start = float(before), state["func_evals"] - 1
        if float(gradient.abs().max()) <= group["tolerance_grad"]:
            return before
        for number in range(1, group["max_iter"] + 1):
            state["n_iter"] = state.get("n_iter", 0) + 1
            d = self._direction(state, group["history_size"], gradient)
            state["prev_flat_grad"], state["prev_loss"] = gradient, loss
            t = group["lr"] * (min(1.0, 1 / float(gradient.abs().sum())) if state["n_iter"] == 1 else 1)
            slope, last = float(gradient.dot(d)), loss
            state["d"], state["t"] = d, t
            if slope > -tolerance:
                break
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("LBFGS: line_search_fn is None or 'strong_wolfe'")
                most = min(25, group["max_eval"] - (state["func_evals"] - start))
                t, loss, gradient = self._searched(ask, d, t, _Point(0, loss, gradient, slope), most)
                state["t"] = t
                self._move(d * t)
            else:
                self._move(d * t)
                if number != group["max_iter"]:
                    loss, gradient = ask()
                    loss = float(loss)
            if (
                state["func_evals"] - start >= group["max_eval"]
                or float(gradient.abs().max()) <= group["tolerance_grad"]
                or float((d * t).abs().max()) <= tolerance
                or abs(loss - last) < tolerance
            ):
                break
        return before

    def _direction(self, state: dict[str, Any], size: int, gradient: Tensor) -> Tensor:
        """Minus the gradient, times the inverse of the model's second derivatives."""
        if state["n_iter"] == 1:
            state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            return -gradient
        changes, steps, shares = state["old_dirs"], state["old_stps"], state["ro"]
        change, step = gradient - state["prev_flat_grad"], state["d"] * state["t"]
        product = float(change.dot(step))
        if product > 1e-10:
            for kept, new in ((changes, change), (steps, step), (shares, 1 / product)):
                if len(kept) == size:
                    kept.pop(0)
                kept.append(new)
            state["H_diag"] = product / float(change.dot(change))
        d, parts = -gradient, []
        for y, s, share in zip(changes[::-1], steps[::-1], shares[::-1]):
            parts.append(float(s.dot(d)) * share)
            d = d.add(y, alpha=-parts[-1])
        d = d * state["H_diag"]
        for y, s, share, part in zip(changes, steps, shares, reversed(parts)):
            d = d.add(s, alpha=part - float(y.dot(d)) * share)
        return d

    def _searched(
        self, ask: Callable, d: Tensor, t: float, first: _Point, most: int
    ) -> tuple[float, float, Tensor]:  # fmt: skip
        """A step that fulfils the strong conditions of Wolfe: length, loss and gradient there; nothing has moved."""
        start = [each.clone() for each in self._params]

        def at(t: float) -> _Point:
            self._move(d * t)
            loss, gradient = ask()
            for each, kept in zip(self._params, start):
                each.copy_(kept)
            return _Point(t, float(loss), gradient, float(gradient.dot(d)))

        found = _search(at, t, first, float(d.abs().max()), self.param_groups[0]["tolerance_change"], most)
        return found[:3]


def _search(
    at: Callable[[float], _Point], t: float, first: _Point, size: float, tolerance: float, most: int
) -> _Point:  # fmt: skip
    """Brackets such a step, then makes the bracket smaller: Nocedal and Wright, Numerical Optimization, 3.5 and 3.6."""

    def too_high(point: _Point) -> bool:
        return point.loss > first.loss + 1e-4 * point.at * first.slope

    def is_flat(point: _Point) -> bool:
        return abs(point.slope) <= -0.9 * first.slope

    last, new, left = first, at(t), most
    while left:
        if too_high(new) or (left < most - 1 and new.loss >= last.loss):
            break
        if is_flat(new):
            return new
        if new.slope >= 0:
            break
        limits = new.at + 0.01 * (new.at - last.at), new.at * 10
        last, new, left = new, at(_lowest(last, new, limits)), left - 1
    else:
        last = first
    low, high = (last, new) if last.loss <= new.loss else (new, last)
    is_first_low, was_near = low is last, False
    while left and abs(high.at - low.at) * size >= tolerance:
        ends = sorted((low.at, high.at))
        t = _lowest(low, high, ends) if is_first_low else _lowest(high, low, ends)
        rim = 0.1 * (ends[1] - ends[0])
        is_near = min(ends[1] - t, t - ends[0]) < rim
        if is_near and (was_near or not ends[0] < t < ends[1]):
            t = ends[1] - rim if abs(t - ends[1]) < abs(t - ends[0]) else ends[0] + rim
            is_near = False
        was_near, new, left = is_near, at(t), left - 1
        if too_high(new) or new.loss >= low.loss:
            high = new
            if high.loss < low.loss or (high.loss == low.loss and not is_first_low):
                low, high, is_first_low = high, low, not is_first_low
            continue
        if is_flat(new):
            return new
        if new.slope * (high.at - low.at) >= 0:
            high = low
        low = new
    return low


def _lowest(a: _Point, b: _Point, limits: Any) -> float:
    """Where the cubic polynomial through two points is lowest, within limits; their middle, if it is nowhere."""
    if a.at > b.at:
        a, b = b, a
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.at - b.at)
    square = bend * bend - a.slope * b.slope
    if not square >= 0:
        return sum(limits) / 2
    root = math.sqrt(square)
    t = b.at - (b.at - a.at) * ((b.slope + root - bend) / (b.slope - a.slope + 2 * root))
    return min(max(t, limits[0]), limits[1])
