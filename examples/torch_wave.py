"""Learns a solitary wave from its equation alone: a network whose third derivatives obey Korteweg and de Vries.

    mxlite run --as torch examples/torch_wave.py [--steps 1500] [--seed 1] [--no-picture]

A wave in a shallow canal keeps its form because steepening (u u_x) and dispersion (u_xxx) balance each other:

    u_t + 6 u u_x + u_xxx = 0

The network u(t, x) is told the wave at t = 0, that the water is still far away, and the equation at random points
(Raissi et al. 2019). The loss has derivatives of order 3 of the network, and its gradient a fourth one. The exact wave
is c / 2 sech^2(sqrt(c) / 2 (x - c t)), which the result is measured by. The program runs on PyTorch as it stands.
"""

from __future__ import annotations

import pathlib
import time

import numpy as np
import torch
from report import Bar, draw_curves, new_page, options_of, parser_of, parts_of, save
from torch import nn

SPEED, WIDTH, END, POINTS, ROWS = 2.0, 8.0, 2.0, 256, 10


def exact(t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The wave at times and places."""
    return SPEED / 2 / torch.cosh(SPEED**0.5 / 2 * (x - SPEED * t)) ** 2


class Wave(nn.Module):
    """u(t, x): two columns (n, 1) -> (n, 1)."""

    def __init__(self, units: int = 24) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, units), nn.Tanh(), nn.Linear(units, units), nn.Tanh(), nn.Linear(units, units), nn.Tanh(),
            nn.Linear(units, 1),
        )  # fmt: skip

    def forward(self, t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return self.layers(torch.cat([2 * t / END - 1, x / WIDTH], dim=1))


def start(model: nn.Module, numbers: np.random.Generator) -> None:
    """Weights of NumPy's numbers (Glorot and Bengio 2010), so that they are the same on every library."""
    with torch.no_grad():
        for each in model.parameters():
            scale = (6 / sum(each.shape)) ** 0.5 if each.dim() > 1 else 0.1
            each.copy_(torch.from_numpy(numbers.uniform(-scale, scale, tuple(each.shape))))


def derivative(u: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """du / dx, row by row, which can be differentiated again."""
    return torch.autograd.grad(u, x, grad_outputs=torch.ones_like(u), create_graph=True)[0]


def residual(model: nn.Module, t: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """What is left of the equation at points; 0 where it holds."""
    t, x = t.requires_grad_(), x.requires_grad_()
    u = model(t, x)
    u_x = derivative(u, x)
    return derivative(u, t) + 6 * u * u_x + derivative(derivative(u_x, x), x)


def column(values: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(values).float().reshape(-1, 1)


def loss_of(model: nn.Module, numbers: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    """The equation's part at random points, and that of the wave at t = 0 and of the still water."""
    inside = residual(model, column(numbers.uniform(0, END, POINTS)), column(numbers.uniform(-WIDTH, WIDTH, POINTS)))
    x, t = column(numbers.uniform(-WIDTH, WIDTH, POINTS)), column(numbers.uniform(0, END, 64))
    first = model(torch.zeros_like(x), x) - exact(torch.zeros_like(x), x)
    sides = torch.cat([model(t, torch.full_like(t, side)) for side in (-WIDTH, WIDTH)])
    return inside.square().mean(), first.square().mean() + sides.square().mean()


def error_of(model: nn.Module) -> float:
    """How far it is from the exact wave over all times and places, of the wave's own size."""
    t, x = torch.meshgrid(torch.linspace(0, END, 41), torch.linspace(-WIDTH, WIDTH, 129), indexing="ij")
    t, x = t.reshape(-1, 1), x.reshape(-1, 1)
    with torch.no_grad():
        wanted = exact(t, x)
        return float((model(t, x) - wanted).norm() / wanted.norm())


def draw(path: pathlib.Path, model: nn.Module, steps: list[int], errors: list[float]) -> None:
    """The wave at three times, of the network and the exact one, and the error while it learned."""
    x = torch.linspace(-WIDTH, WIDTH, 200).reshape(-1, 1)
    curves = {}
    with torch.no_grad():
        for time_of in (0.0, END / 2, END):
            t = torch.full_like(x, time_of)
            curves[f"t = {time_of:g}"] = model(t, x).flatten().tolist()
            curves[f"t = {time_of:g}, exact"] = exact(t, x).flatten().tolist()
    page = new_page(6.8)
    parts = parts_of(page, [3.4, 3.4])
    draw_curves(
        parts[0], "A solitary wave, learned from its equation", "x", "height u", x.flatten().tolist(), curves, "linear"
    )
    draw_curves(parts[1], "How far the network is from it", "step", "relative error", steps, {"network": errors})
    save(page, path)


def main() -> None:
    options = options_of(parser_of(__doc__, "torch_wave", "steps", 1500))
    numbers = np.random.default_rng(options.seed)
    model = Wave()
    start(model, numbers)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=8e-3, total_steps=options.steps + 1)
    before, steps, errors, begin = error_of(model), [], [], time.perf_counter()
    shown = {max(1, options.steps * part // ROWS) for part in range(1, ROWS + 1)}
    bar = Bar(options.steps)
    print(" step   of the equation   of the wave at 0   relative error   seconds")
    for step in range(1, options.steps + 1):
        optimizer.zero_grad()
        equation, known = loss_of(model, numbers)
        (equation + known).backward()
        optimizer.step()
        schedule.step()
        bar.show(step, f"step {step} of {options.steps}")
        if step in shown:
            steps.append(step)
            errors.append(error_of(model))
            bar.clear()
            seconds = time.perf_counter() - begin
            print(f"{step:5}{equation.item():18.6f}{known.item():19.6f}{errors[-1]:17.4f}{seconds:10.2f}", flush=True)
    if not options.no_picture:
        draw(options.picture, model, steps, errors)
        print(f"the wave and the errors: {options.picture}")
    print(f"relative error {errors[-1]:.4f} after training, {before:.4f} before")


if __name__ == "__main__":
    main()
