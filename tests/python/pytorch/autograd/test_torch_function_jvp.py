"""autograd.Function with jvp: forward mode calls it, whatever backward says. PyTorch gave the numbers."""

from __future__ import annotations

import gc

import pytest

import mxlite.torch as torch
from mxlite.torch.autograd import forward_ad
from mxlite.torch.func import grad, jacfwd, jvp

D = torch.float64


class Exp(torch.autograd.Function):
    """jvp is ten times the derivative, so that one sees what was called."""

    @staticmethod
    def forward(x):
        return x.exp(), x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(output[0], None, inputs[0])
        ctx.save_for_backward(output[0])

    @staticmethod
    def backward(ctx, g, h):
        assert len(ctx.saved_tensors) == 1
        return g * ctx.saved_tensors[0] + 2 * h

    @staticmethod
    def jvp(ctx, move):
        e, nothing, x = ctx.saved_tensors
        assert nothing is None and x.shape == e.shape
        return 10 * move * e, 20 * move


class Product(torch.autograd.Function):
    materialize = True
    seen: list = []

    @classmethod
    def forward(cls, ctx, x, factor, y):
        ctx.save_for_backward(x, y)
        ctx.factor = factor
        ctx.set_materialize_grads(Product.materialize)
        return x * y * factor

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * ctx.factor, None, g * x * ctx.factor

    @staticmethod
    def jvp(ctx, tx, factor, ty):
        x, y = ctx.saved_tensors
        Product.seen.append((factor, ty if ty is None else ty.tolist()))
        return 100 * ctx.factor * (tx * y + (0 if ty is None else ty * x))


def numbers(*values):
    return torch.tensor(values, dtype=D)


def test_transforms_call_it():
    x = numbers(1, 2)
    (e, twice), (first, second) = jvp(Exp.apply, (x,), (torch.ones(2, dtype=D),))
    assert torch.equal(e, x.exp()) and torch.equal(first, 10 * e) and second.tolist() == [20, 20]
    assert torch.equal(jacfwd(lambda q: Exp.apply(q)[0])(x), torch.diag(10 * x.exp()))
    # A gradient of the tangent flows through the saved output, by backward.
    slope = grad(lambda q: jvp(Exp.apply, (q,), (torch.ones(2, dtype=D),))[1][0].sum())(x)
    assert torch.allclose(slope, 10 * x.exp())
    assert torch.allclose(grad(lambda q: Exp.apply(q)[0].sum())(x), x.exp())


@pytest.mark.parametrize("requires", [False, True])
def test_dual_tensors_call_it(requires):
    x, y = numbers(1, 2).requires_grad_(requires), numbers(3, 4)
    Product.seen.clear()
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.ones(2, dtype=D))
        primal, tangent = forward_ad.unpack_dual(Product.apply(dual * 2, 3.0, y).sin() + dual)
        assert Product.seen == [(None, [0, 0])]
        assert torch.allclose(tangent, numbers(1189.5700748393442, -1535.3464147260793))
        both = forward_ad.unpack_dual(Product.apply(dual * 2, 3.0, dual) * dual).tangent
        assert both.tolist() == [1206, 4824]
    assert tangent.requires_grad == requires


def test_tangents_that_are_none():
    Product.seen.clear()
    Product.materialize = False
    try:
        assert jvp(lambda q: Product.apply(q, 1.0, numbers(3, 4)), (numbers(1, 2),), (numbers(1, 0),))[1].tolist() == [
            300,
            0,
        ]
    finally:
        Product.materialize = True
    assert Product.seen == [(None, None)]


def test_edited_inputs():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, move):
            return move.mul_(5)

    move = torch.ones(2)
    with forward_ad.dual_level():
        dual = Double.apply(forward_ad.make_dual(torch.ones(2), move))
        for _ in range(2):
            assert forward_ad.unpack_dual(dual).tangent.tolist() == [5, 5]
    assert move.tolist() == [1, 1]


@pytest.mark.parametrize("returned", [lambda t: (t, t), lambda t: 3, lambda t: t.sum()])
def test_what_jvp_must_return(returned):
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

        @staticmethod
        def jvp(ctx, move):
            return returned(move)

    with pytest.raises(RuntimeError, match="BadBackward"):
        jvp(Bad.apply, (torch.ones(2),), (torch.ones(2),))
    x = torch.ones(2, requires_grad=True)
    Bad.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_save_for_forward_makes_no_cycle():
    x = torch.ones(3, dtype=D, requires_grad=True)
    gc.disable()
    try:
        kept = [Exp.apply(x) for _ in range(3)]
        del kept  # live handles are counted behind the test
    finally:
        gc.enable()
    with pytest.raises(TypeError, match="save_for_forward"):

        class Wrong(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_forward(3)

        Wrong.apply(x)
