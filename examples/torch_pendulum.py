"""Learns a pendulum's law of motion: a neural ODE, whose gradients come from an equation solved backwards.

    mxlite run --as torch examples/torch_pendulum.py [--steps 500] [--seed 1] [--no-picture]

A network f gives the velocity dz / dt = f(z) of a pendulum's angle and speed. `Solve` follows it by the method of Runge
and Kutta without a graph, and computes gradients by the adjoint method (Chen et al. 2018): with a = dL / dz, it solves
for z, a and dL / dweights backwards in time, so memory does not grow with the number of steps. The program runs on
PyTorch as it stands.
"""

from __future__ import annotations

import pathlib
import time
from typing import Any, Callable

import numpy as np
import torch
from report import Bar, draw_curves, new_page, options_of, parser_of, parts_of, save
from torch import nn

State = tuple[Any, ...]  # of tensors
END, COUNT, BATCH, SPAN, ROWS = 15.0, 150, 24, 10, 10


def law(z: torch.Tensor) -> torch.Tensor:
    """The pendulum's own: gravity, and some friction."""
    angle, speed = z.unbind(-1)
    return torch.stack([speed, -0.15 * speed - 2 * angle.sin()], dim=-1)


def rk4(f: Callable[..., State], state: State, size: float) -> State:
    """The state a time `size` later."""

    def moved(by: State, share: float) -> State:
        return tuple(each + change * (share * size) for each, change in zip(state, by))

    k1 = f(*state)
    k2 = f(*moved(k1, 0.5))
    k3 = f(*moved(k2, 0.5))
    k4 = f(*moved(k3, 1.0))
    return tuple(
        each + (one + two * 2 + three * 2 + four) * (size / 6)
        for each, one, two, three, four in zip(state, k1, k2, k3, k4)
    )


class Solve(torch.autograd.Function):
    """The points at equal distances of time: (n, 2) -> (count, n, 2)."""

    @staticmethod
    def forward(ctx: Any, model: nn.Module, z: torch.Tensor, count: int, size: float, *weights: torch.Tensor) -> Any:
        path = [z]
        for _ in range(count - 1):
            path.append(rk4(lambda z: (model(z),), (path[-1],), size)[0])
        ctx.model, ctx.size = model, size
        ctx.save_for_backward(torch.stack(path), *weights)
        return torch.stack(path)

    @staticmethod
    def backward(ctx: Any, grad_output: torch.Tensor) -> Any:
        path, *weights = ctx.saved_tensors

        def back(z: torch.Tensor, a: torch.Tensor, *_: torch.Tensor) -> tuple[torch.Tensor, ...]:
            with torch.enable_grad():
                z = z.detach().requires_grad_()
                velocity = ctx.model(z)
                found = torch.autograd.grad(velocity, [z, *weights], -a)
            return (velocity.detach(), *found)

        a = grad_output[-1]
        of_weights = [torch.zeros_like(each) for each in weights]
        for place in range(len(path) - 1, 0, -1):
            _, a, *of_weights = rk4(back, (path[place], a, *of_weights), -ctx.size)
            a = a + grad_output[place - 1]
        return (None, a, None, None, *of_weights)


def solve(model: nn.Module, z: torch.Tensor, count: int, size: float) -> torch.Tensor:
    return Solve.apply(model, z, count, size, *model.parameters())


class Velocity(nn.Module):
    """f(z): (n, 2) -> (n, 2)."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.net(z)


def start(model: nn.Module, numbers: np.random.Generator) -> None:
    """Weights of NumPy's numbers, so that they are the same on every library."""
    with torch.no_grad():
        for each in model.parameters():
            each.copy_(torch.from_numpy(numbers.normal(0, 0.3 * (each.dim() > 1), tuple(each.shape))))


def check(model: nn.Module, z: torch.Tensor, size: float) -> float:
    """How far the adjoint gradient is from that of the recorded steps, of its own size."""

    def plain() -> torch.Tensor:
        path = [z]
        for _ in range(SPAN - 1):
            path.append(rk4(lambda z: (model(z),), (path[-1],), size)[0])
        return torch.stack(path)

    found = [
        torch.cat([each.flatten() for each in torch.autograd.grad(made.square().sum(), list(model.parameters()))])
        for made in (solve(model, z, SPAN, size), plain())
    ]
    return float((found[0] - found[1]).norm() / found[1].norm())


def draw(path: pathlib.Path, true: torch.Tensor, found: torch.Tensor, steps: list[int], losses: list[float]) -> None:
    """Both coordinates over time, true and found, and the loss while it learned."""
    times = np.linspace(0, END, COUNT).tolist()
    curves = {}
    for place, name in enumerate(("angle", "speed")):
        curves[name], curves[f"{name}, of the network"] = true[:, 0, place].tolist(), found[:, 0, place].tolist()
    page = new_page(6.8)
    parts = parts_of(page, [3.4, 3.4])
    draw_curves(
        parts[0],
        "A pendulum, and what a neural ODE makes of its start",
        "time",
        "angle or speed",
        times,
        curves,
        "linear",
    )
    draw_curves(parts[1], "Distance of short paths", "step", "mean distance", steps, {"training": losses})
    save(page, path)


def main() -> None:
    options = options_of(parser_of(__doc__, "torch_pendulum", "steps", 500))
    torch.set_default_dtype(torch.float64)
    numbers, size = np.random.default_rng(options.seed), END / (COUNT - 1)
    model = Velocity()
    start(model, numbers)
    first = torch.tensor([[2.0, 0.0]])
    with torch.no_grad():
        true = [first]
        for _ in range(COUNT - 1):
            true.append(rk4(lambda z: (law(z),), (true[-1],), size)[0])
        path = torch.stack(true)
    print(f"the adjoint's gradient is {check(model, path[0], size):.1e} from that of the recorded steps")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, options.steps, eta_min=1e-4)
    steps, losses, begin, bar = [], [], time.perf_counter(), Bar(options.steps)
    shown = {max(1, options.steps * part // ROWS) for part in range(1, ROWS + 1)}
    print(" step   short paths   whole path   seconds")
    for step in range(1, options.steps + 1):
        places = torch.from_numpy(numbers.choice(COUNT - SPAN, BATCH, replace=False))
        wanted = torch.stack([path[places + each, 0] for each in range(SPAN)])
        optimizer.zero_grad()
        loss = (solve(model, path[places, 0], SPAN, size) - wanted).abs().mean()
        loss.backward()
        optimizer.step()
        schedule.step()
        bar.show(step, f"step {step} of {options.steps}")
        if step in shown:
            with torch.no_grad():
                found = solve(model, first, COUNT, size)
            steps.append(step)
            losses.append(loss.item())
            whole = (found - path).abs().mean().item()
            bar.clear()
            print(f"{step:5}{losses[-1]:14.5f}{whole:13.5f}{time.perf_counter() - begin:10.2f}", flush=True)
    if not options.no_picture:
        draw(options.picture, path, found, steps, losses)
        print(f"the paths and the distances: {options.picture}")
    print(f"mean distance {whole:.4f} of the whole path, {path.abs().mean().item():.4f} of its points from the middle")


if __name__ == "__main__":
    main()
