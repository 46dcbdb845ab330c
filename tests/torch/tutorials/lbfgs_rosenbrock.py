"""Rosenbrock's valley by LBFGS, with both line searches, beside gradient descent; and a Newton step by hand."""

from __future__ import annotations

import torch
from torch import optim


def rosenbrock(xy):
    x, y = xy
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def chain(v):
    """The same in n dimensions."""
    return (100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2).sum()


def minimize(function, start, steps, **options):
    x = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    optimizer = optim.LBFGS([x], **options)
    history = []

    def closure():
        optimizer.zero_grad()
        loss = function(x)
        loss.backward()
        return loss

    for _ in range(steps):
        history.append(optimizer.step(closure).item())
    state = optimizer.state[optimizer._params[0]]
    return x.detach(), history, state["func_evals"], state["n_iter"]


def descend(make, steps):
    x = torch.tensor([-1.0, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = make([x])
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = rosenbrock(x)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(x, 1.0)
        optimizer.step()
    return x.detach(), loss.item()


if __name__ == "__main__":
    torch.set_printoptions(precision=6, sci_mode=False)
    x, history, calls, rounds = minimize(rosenbrock, [-1.5, 2.0], 8, lr=1, max_iter=5, line_search_fn="strong_wolfe")
    print(x, calls, rounds)
    print([f"{each:.4e}" for each in history[:6]])
    x, history, calls, rounds = minimize(rosenbrock, [-0.5, 0.5], 40, lr=0.05, max_iter=4, history_size=10)
    print(x, calls, rounds, f"{history[-1]:.5f}")
    x, history, calls, _ = minimize(chain, [-1.2, 1.0] * 4, 10, max_iter=20, line_search_fn="strong_wolfe")
    print(x, f"{history[5]:.5f}")
    for name, make in {
        "SGD": lambda p: optim.SGD(p, lr=5e-3),
        "momentum": lambda p: optim.SGD(p, lr=1e-3, momentum=0.9, nesterov=True),
        "Adam": lambda p: optim.Adam(p, lr=1e-2),
        "RMSprop": lambda p: optim.RMSprop(p, lr=1e-3),
    }.items():
        print(name, *descend(make, 300))
    point = torch.tensor([0.8, 0.7], dtype=torch.float64)
    for _ in range(4):
        gradient = torch.func.grad(rosenbrock)(point)
        matrix = torch.autograd.functional.hessian(rosenbrock, point)
        point = point - torch.linalg.solve(matrix, gradient)
        print(point, f"{rosenbrock(point).item():.3e}")
    print(torch.linalg.eigvalsh(matrix))
