"""mxlite.torch.autograd.Function, and tensors that nodes of Python's save."""

from __future__ import annotations

import itertools

import pytest
from conftest import live_bytes

import mxlite.torch as torch
from mxlite.torch.autograd import Function
from mxlite.torch.autograd.function import once_differentiable


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


class Pair(Function):
    returned: staticmethod

    @staticmethod
    def forward(ctx, a, b):
        return a * 1, b * 1

    @staticmethod
    def backward(ctx, *grads):
        return Pair.returned(*grads)


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (lambda g, h: (g,), "returned 1 gradients, expected 2"),
        (lambda g, h: (g, h, g), "returned 3 gradients, expected 2"),
        (lambda g, h: None, "returned 1 gradients, expected 2"),
        (lambda g, h: (1.0, h), "an array or None, got float"),
        (lambda g, h: (g.sum(), h), "the gradient of input 0 has shape"),
    ],
)
def test_what_a_backward_returns_is_checked(returned, says):
    Pair.returned = staticmethod(returned)
    with pytest.raises(RuntimeError, match=says):
        Pair.apply(leaf(1.0, 2.0), leaf(1.0, 2.0))[0].sum().backward()


def test_gradients_that_did_not_arrive_are_zeros():
    seen = []
    Pair.returned = staticmethod(lambda g, h: (seen.append(h.tolist()) or g, None, None))
    a, b = leaf(1.0, 2.0), leaf(1.0, 2.0)
    Pair.apply(a, b)[0].sum().backward()
    assert seen == [[0.0, 0.0]] and a.grad.tolist() == [1.0, 1.0] and b.grad is None


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        y = x**3
        ctx.save_for_backward(x, y, None)
        return y

    @staticmethod
    def backward(ctx, grad):
        x, y, nothing = ctx.saved_tensors
        assert nothing is None
        return grad * 3 * y / x


def test_a_function_is_differentiated_twice_and_lets_go():
    x = leaf(2.0)
    y = Cube.apply(x)
    assert repr(y.grad_fn).startswith("<torch.autograd.function.CubeBackward object at 0x")
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x)
    assert (first.item(), second.item()) == (12.0, 12.0)
    y = Cube.apply(x)
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()
    x.grad = None


def test_a_saved_tensor_that_was_edited():
    x = leaf(2.0) * 1
    y = Cube.apply(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="was edited in place"):
        y.backward()


def test_contexts_and_constants():
    class Scale(Function):
        @staticmethod
        def forward(x, by, words):
            return x * by, x > 0

        @staticmethod
        def setup_context(ctx, inputs, output):
            assert not torch.is_grad_enabled()
            ctx.by = inputs[1]
            ctx.mark_non_differentiable(output[1])
            ctx.set_materialize_grads(False)

        @staticmethod
        def backward(ctx, grad, flags):
            assert flags is None and ctx.needs_input_grad == (True, False, False)
            return grad * ctx.by, None, None

    x = leaf(1.0, -1.0)
    y, flags = Scale.apply(x, 4, "words")
    assert flags.tolist() == [True, False] and not flags.requires_grad and y.grad_fn.by == 4
    y.sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_dirty_inputs_and_returned_ones():
    class Increase(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.add_(1)

        @staticmethod
        def backward(ctx, grad):
            return grad * 7

    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="leaf that requires a gradient"):
        Increase.apply(x)
    x = leaf(1.0, 2.0)
    y = x * 2
    assert Increase.apply(y) is y and y.tolist() == [3.0, 5.0]
    z = Same.apply(y)
    assert z is not y and z.grad_fn.name() == "SameBackward"
    z.sum().backward()
    assert x.grad.tolist() == [42.0, 42.0]
    part = x * 2
    Increase.apply(part[:1])
    part.sum().backward()
    assert x.grad.tolist() == [56.0, 44.0]


def test_what_is_said_to_be_edited_is_returned():
    class Half(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.mark_dirty(x)
            return y * 2

        @staticmethod
        def backward(ctx, grad):
            return None, grad

    with pytest.raises(RuntimeError, match="mark_dirty"):
        Half.apply(leaf(1.0) * 1, leaf(1.0))


def test_keyword_arguments():
    class Scale(Function):
        @staticmethod
        def forward(x, by=3, *, plus=None):
            return x * by

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.by = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            assert ctx.needs_input_grad == (True, False)
            return grad * ctx.by, None

    x = leaf(1.0)
    Scale.apply(x).backward()
    Scale.apply(by=5, x=x).backward()
    assert x.grad.tolist() == [8.0]


def test_one_of_backward_and_vjp():
    class Both(Cube):
        @staticmethod
        def vjp(ctx, grad):
            return grad

    with pytest.raises(RuntimeError, match="backward or vjp, not both"):
        Both.apply(leaf(1.0)).backward()


def test_a_larger_gradient_is_summed():
    Pair.returned = staticmethod(lambda g, h: (g.expand(3, 2), h.view(1, 2)))
    a, b = leaf(1.0, 2.0), leaf(1.0, 2.0)
    sum(Pair.apply(a, b)).sum().backward()
    assert a.grad.tolist() == [3.0, 3.0] and b.grad.tolist() == [1.0, 1.0]


def test_once_differentiable():
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    x = leaf(3.0)
    (first,) = torch.autograd.grad(Square.apply(x), x, create_graph=True)
    assert first.item() == 6.0 and not first.requires_grad


def test_backward_in_a_backward():
    class Inner(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                again = x.detach().requires_grad_()
                (slope,) = torch.autograd.grad(again * again, again)
            return grad * slope

    x = leaf(3.0)
    Inner.apply(x).backward()
    assert x.grad.item() == 6.0


# ---- what is saved is let go by a backward ----


@pytest.mark.parametrize(
    "operation", [Cube.apply, lambda x: torch.logsumexp(x, 0), lambda x: torch.nn.functional.softplus(x, 3.0)]
)
def test_a_backward_lets_go_of_what_was_saved(operation):
    x = torch.ones(1000, dtype=torch.float64, requires_grad=True)
    y = operation(x * 1)
    node, result = y.grad_fn, y.sum()
    del y
    before = live_bytes()
    result.backward(retain_graph=True)
    x.grad = None
    assert live_bytes() >= before
    result.backward()
    x.grad = None
    assert live_bytes() <= before - 8000
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        result.backward()
    assert node is result.grad_fn.next_functions[0][0]


def test_a_formula_that_saves_nothing_runs_again():
    x = torch.ones(3, 3, dtype=torch.float64, requires_grad=True)
    y = torch.trace(x)
    y.backward()
    y.backward()
    assert x.grad.diag().tolist() == [2.0, 2.0, 2.0]


# ---- functions that return views: an edit must not lose their backward ----


def _negating(forward):
    class Negating(Function):
        @staticmethod
        def backward(ctx, *grads):
            return -sum(grads)

    Negating.forward = staticmethod(forward)
    return Negating.apply


def _non_differentiable(ctx, x):
    view = x.view_as(x)
    ctx.mark_non_differentiable(view)
    return view, x * 1


_INNER = _negating(lambda ctx, x: x.view_as(x))

RETURNED = {
    "view": lambda ctx, x: x.view_as(x),
    "input": lambda ctx, x: x,
    "slice": lambda ctx, x: x[:],
    "two views": lambda ctx, x: (x.view_as(x), x.view_as(x)),
    "view and new": lambda ctx, x: (x.view_as(x), x * 1),
    "nested": lambda ctx, x: _INNER(x),
    "no gradient": _non_differentiable,
}

BASES = {"leaf": lambda w: w, "computed": lambda w: w * 1, "a view": lambda w: (w * 1)[:]}


def _unrecorded(edit):
    def run(h, o):
        with torch.no_grad():
            edit(h, o)

    return run


VIEW_EDITS = {
    "base.relu_": lambda h, o: h.relu_(),
    "base[0] =": lambda h, o: h.__setitem__(0, 5.0),
    "base.copy_": lambda h, o: h.copy_(torch.ones_like(h)),
    "another view": lambda h, o: h.view(-1).mul_(2),
    "a part": lambda h, o: h[1:].mul_(2),
    "base, unrecorded": _unrecorded(lambda h, o: h.add_(1)),
    "another view, unrecorded": _unrecorded(lambda h, o: h[1:].mul_(2)),
    "base.data": lambda h, o: h.data.mul_(2),
    "base.detach()": lambda h, o: h.detach().mul_(2),
    "result.mul_": lambda h, o: o.mul_(2),
    "result[0] =": lambda h, o: o.__setitem__(0, 5.0),
    "part of result": lambda h, o: o[:1].mul_(2),
    "result, unrecorded": _unrecorded(lambda h, o: o.mul_(2)),
}

USES = {"result": lambda o, part: o, "part taken before": lambda o, part: part, "part": lambda o, part: o[:1]}


@pytest.mark.parametrize("edit", VIEW_EDITS)
@pytest.mark.parametrize("returned", RETURNED)
def test_an_edit_does_not_lose_the_backward_of_a_returned_view(returned, edit):
    for base, use in itertools.product(BASES.values(), USES.values()):
        h = base(leaf(1.0, 2.0, 3.0))
        found = _negating(RETURNED[returned])(h)
        result = found[0] if isinstance(found, tuple) else found
        part = result[:1]
        with pytest.raises(RuntimeError, match="custom function returned|gradient is wanted"):
            VIEW_EDITS[edit](h, result)
            use(result, part).sum().backward()


def test_a_view_returned_for_a_constant_does_not_get_the_gradient_of_an_edit():
    w, constant = leaf(1.0, 2.0), torch.zeros(2, dtype=torch.float64)
    with torch.no_grad():
        unrecorded = _INNER(constant)
    result = _INNER(constant)
    constant.add_(1)  # no gradient flows: nothing can be lost
    assert not (result * 1).requires_grad and not (unrecorded * 1).requires_grad
    constant.add_(w)
    for each in (result, unrecorded):
        with pytest.raises(RuntimeError, match="custom function returned"):
            each.sum()


def test_a_view_of_its_own_memory_may_be_edited():
    x = leaf(1.0, 2.0, 3.0)
    h = x * 1
    y = _negating(lambda ctx, x: (x * 1).view(-1))(h)
    h.add_(1)
    y.mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [-2, -2, -2]
