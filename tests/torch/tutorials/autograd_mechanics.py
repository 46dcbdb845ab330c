"""Autograd mechanics: leaves, graphs, hooks, edits in place, modes, and functions of one's own."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn


class Legendre3(torch.autograd.Function):
    """P3(x) = (5 x^3 - 3 x) / 2, with its derivative by hand."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 0.5 * (5 * x**3 - 3 * x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 1.5 * (5 * x**2 - 1)


class Clamped(torch.autograd.Function):
    """max(x, low), whose gradient passes everywhere; two inputs, one without a gradient."""

    @staticmethod
    def forward(ctx, x, low):
        ctx.low = low
        ctx.mark_non_differentiable(torch.tensor(low))
        return x.clamp(min=low)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, None


def graph() -> None:
    """What a graph is made of."""
    a = torch.tensor([2.0, 3.0], requires_grad=True)
    b = torch.tensor([6.0, 4.0], requires_grad=True)
    q = 3 * a**3 - b**2
    print(q)
    print(q.grad_fn.name(), [node.name() for node, _ in q.grad_fn.next_functions])
    print(a.is_leaf, q.is_leaf, q.requires_grad, (a.detach() * 2).requires_grad)
    q.backward(gradient=torch.tensor([1.0, 1.0]), retain_graph=True)
    print(a.grad, b.grad, 9 * a**2 == a.grad)
    q.backward(torch.tensor([1.0, 0.5]))
    print(a.grad, b.grad)
    try:
        q.sum().backward()
    except RuntimeError:
        print("the graph is gone")
    y = (a.detach().requires_grad_() ** 5).sum()
    print(y.grad_fn.next_functions[0][0]._saved_self)


def modes() -> None:
    """Where nothing is recorded."""
    x = torch.ones(3, requires_grad=True)
    with torch.no_grad():
        y = x * 2
        with torch.enable_grad():
            z = x * 2
    with torch.inference_mode():
        w = x + 1
    print(y.requires_grad, z.requires_grad, w.requires_grad, w.is_inference(), torch.is_grad_enabled())
    try:
        w.requires_grad_()
        (w * x).sum().backward()
    except RuntimeError:
        print("an inference tensor takes no part in autograd")
    torch.set_grad_enabled(False)
    print((x * 2).requires_grad)
    torch.set_grad_enabled(True)


def edits() -> None:
    """Edits in place: versions, and what backward says of them."""
    x = torch.linspace(0, 1, 4, requires_grad=True)
    y = x.exp()
    print(y._version)
    y[0] = 5
    print(y._version)
    try:
        y.sum().backward()
    except RuntimeError:
        print("exp saved its result, which was edited")
    base = torch.zeros(2, 2)
    base[0] = x[:2] * 3
    base.mul_(2)
    base.sum().backward()
    print(base, x.grad)
    try:
        x.add_(1)
    except RuntimeError:
        print("a leaf that wants its gradient is not edited in place")


def hooks() -> None:
    """Gradients on the way: retain_grad, hooks of tensors, nodes and parameters."""
    x = torch.arange(3.0, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda grad: grad * 10)
    handle = x.register_hook(lambda grad: print("gradient of x", grad))
    y.grad_fn.register_hook(lambda inputs, outputs: print("node", inputs[0], outputs[0]))
    x.register_post_accumulate_grad_hook(lambda leaf: print("stored", leaf.grad))
    y.sum().backward()
    handle.remove()
    print(y.grad)
    x.grad = None
    (x**2).sum().backward()


def functions() -> None:
    """Functions of one's own, and a fit with them: y = a + b P3(c + d x) is near sin."""
    assert torch.autograd.gradcheck(Legendre3.apply, torch.rand(4, dtype=torch.double, requires_grad=True))
    x = torch.linspace(-np.pi, np.pi, 200)
    target = torch.sin(x)
    a, b, c, d = (torch.full((), value, requires_grad=True) for value in (0.0, -1.0, 0.0, 0.3))
    for step in range(400):
        loss = (a + b * Legendre3.apply(c + d * x) - target).pow(2).sum()
        if step % 100 == 0:
            print(step, loss.item())
        loss.backward()
        with torch.no_grad():
            for each in (a, b, c, d):
                each -= 5e-6 * each.grad
                each.grad = None
    print(f"{a.item():.4f} + {b.item():.4f} P3({c.item():.4f} + {d.item():.4f} x)")
    z = torch.tensor([-1.0, 2.0], requires_grad=True)
    Clamped.apply(z, 0.5).pow(2).sum().backward()
    print(z.grad)


def higher() -> None:
    """Derivatives of derivatives, Jacobians, and layers that are frozen."""
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    (first,) = torch.autograd.grad((x.sin() * x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    print(first, second)
    print(torch.autograd.functional.jacobian(lambda v: torch.outer(v, v).sum(0), x.detach()))
    print(torch.autograd.functional.hessian(lambda v: (v**3).prod(), x.detach()))
    print(torch.autograd.grad(x.sum(), [x, first], allow_unused=True))
    layer = nn.Linear(2, 1)
    layer.requires_grad_(False)
    layer.bias.requires_grad_()
    layer(torch.ones(1, 2)).sum().backward()
    print(layer.weight.grad, layer.bias.grad)


if __name__ == "__main__":
    torch.manual_seed(0)
    for part in (graph, modes, edits, hooks, functions, higher):
        print(f"-- {part.__name__}")
        part()
