"""Forward-mode differentiation: dual tensors, modules, functions of one's own, and torch.func.jvp."""

from __future__ import annotations

import numpy as np
import torch
import torch.autograd.forward_ad as fwAD
from seeded import initial
from torch import nn
from torch.func import functional_call, hessian, jacfwd, jacrev, jvp


class Swish(torch.autograd.Function):
    """x sigmoid(x) with both rules."""

    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        result = x * s
        ctx.save_for_backward(x, s)
        ctx.save_for_forward(x, s)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        x, s = ctx.saved_tensors
        return grad_output * (s + x * s * (1 - s))

    @staticmethod
    def jvp(ctx, tangent):
        x, s = ctx.saved_tensors
        return tangent * (s + x * s * (1 - s))


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).float()


def duals() -> None:
    """A primal and its tangent, through a function."""
    primal, tangent = numbers(3, 3, seed=1), numbers(3, 3, seed=2)

    def fn(x, y):
        return x**2 + y**2 * x.sin()

    with fwAD.dual_level():
        dual = fwAD.make_dual(primal, tangent)
        assert fwAD.unpack_dual(dual).tangent is not None
        plain = numbers(3, 3, seed=3)
        result = fn(dual, plain)
        print(fwAD.unpack_dual(result).primal)
        print(fwAD.unpack_dual(result).tangent)
        print(fwAD.unpack_dual(plain).tangent)
        view = dual.t()[1:]
        print(fwAD.unpack_dual(view.matmul(dual)).tangent)
    print(fwAD.unpack_dual(dual).tangent)


def modules() -> None:
    """Tangents of parameters: duals in place of the parameters, and functional_call."""
    model = initial(nn.Linear(5, 5), 4)
    x = numbers(16, 5, seed=5)
    params = dict(model.named_parameters())
    tangents = {name: numbers(*p.shape, seed=6) for name, p in params.items()}
    with fwAD.dual_level():
        for name, p in params.items():
            delattr(model, name)
            setattr(model, name, fwAD.make_dual(p, tangents[name]))
        print(fwAD.unpack_dual(model(x)).tangent.detach().sum(0))
    model = initial(nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.LayerNorm(8), nn.Linear(8, 2)), 7)
    params = {name: p.detach() for name, p in model.named_parameters()}
    with fwAD.dual_level():
        made = {name: fwAD.make_dual(p, torch.ones_like(p)) for name, p in params.items()}
        one = fwAD.unpack_dual(functional_call(model, made, (x,))).tangent
    ones = {name: torch.ones_like(p) for name, p in params.items()}
    value, other = jvp(lambda p: functional_call(model, p, (x,)), (params,), (ones,))
    print(one.sum(0), torch.allclose(one, other, atol=1e-5), value.mean(0))


def functions() -> None:
    """A Function with a rule for each direction."""
    x = torch.linspace(-2, 2, 5, dtype=torch.double, requires_grad=True)
    print(torch.autograd.gradcheck(Swish.apply, (x,), check_forward_ad=True))
    with fwAD.dual_level():
        dual = fwAD.make_dual(x.detach(), torch.ones_like(x))
        print(fwAD.unpack_dual(Swish.apply(dual)).tangent)
    Swish.apply(x).sum().backward()
    print(x.grad)


def transforms() -> None:
    """jvp, Jacobians both ways, and forward over reverse."""
    x, y = numbers(4, seed=8), numbers(4, seed=9)
    print(jvp(lambda a, b: (a * b).sin(), (x, y), (torch.ones(4), torch.zeros(4))))
    weight = numbers(3, 4, seed=10)

    def predict(v):
        return (weight @ v).tanh()

    forward, backward = jacfwd(predict)(x), jacrev(predict)(x)
    print(forward, torch.allclose(forward, backward, atol=1e-6))
    h = hessian(lambda v: predict(v).pow(2).sum())(x)
    product = jvp(torch.func.grad(lambda v: predict(v).pow(2).sum()), (x,), (y,))[1]
    print(h.diagonal(), torch.allclose(h @ y, product, atol=1e-5))
    print(torch.autograd.functional.jvp(predict, x, y))


if __name__ == "__main__":
    for part in (duals, modules, functions, transforms):
        print(f"-- {part.__name__}")
        part()
