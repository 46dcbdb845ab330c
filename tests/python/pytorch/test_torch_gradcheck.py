"""mxlite.torch's gradcheck and gradgradcheck: what they find, what they let pass, and their options.

What is expected is what PyTorch 2.13 answers, but for what docs/from-pytorch.md says.
"""

from __future__ import annotations

import itertools

import pytest

import mxlite.torch as torch
from mxlite.torch.autograd import Function, gradcheck, gradgradcheck
from mxlite.torch.autograd.gradcheck import GradcheckError


def leaf(*values, dtype=torch.float64):
    return torch.tensor(values, dtype=dtype, requires_grad=True)


def _function(forward, backward):
    class Made(Function):
        pass

    Made.forward, Made.backward = staticmethod(forward), staticmethod(backward)
    return Made.apply


def _doubling(backward):
    """x * 2, whose backward gets None for a gradient that did not arrive."""

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2

    return _function(forward, backward)


def _part_without_gradient(ctx, x):
    without = x * 3
    ctx.mark_non_differentiable(without)
    return x * 2, without


_COUNT = itertools.count()

#: Functions of one input whose gradients are right.
RIGHT = {
    "vector": lambda x: x**3,
    "scalar": lambda x: (x**3).sum(),
    "one element": lambda x: (x**3).sum(0, keepdim=True),
    "element": lambda x: x[0] ** 3,
    "tuple": lambda x: ((x**3).sum(), x**2),
    "list": lambda x: [x**2, x.sin()],
    "integers too": lambda x: (x * x, (x > 0).long()),
    "a constant too": lambda x: (x * x, x.detach() * 2),
    "a part without gradient": _function(_part_without_gradient, lambda ctx, g, h: g * 2),
    "view": lambda x: x.view(-1),
    "itself": lambda x: x,
    "edit": lambda x: (x * 1).mul_(x),
    "only integers": lambda x: (x > 0).long(),
    "constant": lambda x: torch.ones(2, dtype=torch.float64),
    "undefined is undefined": _doubling(lambda ctx, g: None if g is None else g * 2),
    "same output twice": lambda x: (x * x,) * 2,
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients(name):
    for x in (leaf(0.3, 0.6), leaf(0.3, 0.6) * 1, torch.rand(2, 4, dtype=torch.float64)[:, 1].requires_grad_()):
        values = x.tolist()
        for fast in (False, True):
            assert gradcheck(RIGHT[name], (x,), fast_mode=fast)
            assert gradgradcheck(RIGHT[name], x, fast_mode=fast, gen_non_contig_grad_outputs=fast)
        assert x.tolist() == values and x.grad is None


#: Functions whose gradients are wrong, and what is said.
WRONG = {
    "factor": (_doubling(lambda ctx, g: None if g is None else g * 3), "output 0 with respect to input 0"),
    "none": (_doubling(lambda ctx, g: None), "output 0 with respect to input 0"),
    "second output": (
        lambda x: (x * x, _doubling(lambda ctx, g: None if g is None else -g)(x)),
        "output 1 with respect to input 0",
    ),
    "kink": (lambda x: (x - torch.tensor([0.3, 0.6], dtype=torch.float64)).relu(), "output 0 with respect to input 0"),
    "detached": (lambda x: x.detach() * 2, "not zero"),
    "undefined": (_doubling(lambda ctx, g: torch.ones(2, dtype=torch.float64) if g is None else g * 2), "zero or None"),
    "not deterministic": (
        _doubling(lambda ctx, g: g if g is None else g * (2 + 1e-7 * (next(_COUNT) % 2))),
        "not deterministic",
    ),
    "random": (
        _doubling(lambda ctx, g: g if g is None else g * (2 + 1e-9 * torch.rand(2, dtype=torch.float64))),
        "not deterministic",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_gradients(name):
    function, says = WRONG[name]
    x = leaf(0.3, 0.6)
    for fast in (False, True):
        with pytest.raises(GradcheckError, match=says):
            gradcheck(function, (x,), fast_mode=fast)
        assert gradcheck(function, (x,), fast_mode=fast, raise_exception=False) is False
    assert x.tolist() == [0.3, 0.6]


def test_wrong_second_gradients():
    def backward(ctx, h):
        x, g = ctx.saved_tensors
        return 7 * x * g * h, 3 * x * x * h

    slope = _function(lambda ctx, x, g: (ctx.save_for_backward(x, g), 3 * x * x * g)[1], backward)
    cube = _function(lambda ctx, x: (ctx.save_for_backward(x), x**3)[1], lambda ctx, g: slope(ctx.saved_tensors[0], g))
    x = leaf(0.3, 0.6)
    assert gradcheck(cube, (x,))
    with pytest.raises(GradcheckError, match="output 0 with respect to input 0"):
        gradgradcheck(cube, (x,))
    assert gradgradcheck(cube, (x,), raise_exception=False) is False


def test_tolerances():
    slightly = _doubling(lambda ctx, g: g if g is None else g * 2.01)
    unsteady = WRONG["not deterministic"][0]
    x = leaf(0.3, 0.6)
    assert gradcheck(slightly, x, atol=0.1) and gradcheck(slightly, x, rtol=0.1)
    assert not gradcheck(slightly, x, atol=1e-3, raise_exception=False)
    assert gradcheck(unsteady, x, nondet_tol=1e-6)
    assert not gradcheck(unsteady, x, nondet_tol=1e-8, raise_exception=False)
    assert gradcheck(WRONG["undefined"][0], x, check_undefined_grad=False)
    assert gradcheck(lambda x: x**2, leaf(0.3, dtype=torch.float32), eps=1e-2, atol=1e-2)
    assert gradcheck(lambda x: x**3, x, check_grad_dtypes=True, masked=True)


def test_inputs_that_the_function_reads_where_they_are():
    layer = torch.nn.Linear(3, 2).double()
    rows = torch.rand(4, 3, dtype=torch.float64)
    assert gradcheck(lambda *_: layer(rows), tuple(layer.parameters()))
    assert gradgradcheck(lambda *_: layer(rows).sin(), tuple(layer.parameters()))
    x, y = leaf(0.3, 0.6), leaf(0.2, 0.9)
    assert gradcheck(lambda *_: x**3 * y, (x, y)) and gradgradcheck(lambda *_: x**3 * y, (x, y))
    assert gradcheck(lambda a, b: a * b, (x, x))


def test_inputs_that_are_no_variables():
    x, constant = leaf(0.3, 0.6), torch.tensor([1.0, 2.0])
    places = torch.tensor([0, 1, 0])
    assert gradcheck(lambda x, c, n, s: x * c * n if s else c, (x, constant, 3, "text"))
    assert gradgradcheck(lambda x, i, none: x[i] ** 2, (x, places, None))
    with pytest.raises(ValueError, match="at least one input"):
        gradcheck(lambda x: x, (constant,))
    with pytest.raises(ValueError, match="at least one input"):
        gradgradcheck(lambda x: x, (constant,))


def test_gradients_of_outputs_that_are_given():
    x, vector = leaf(0.3, 0.6), leaf(2.0, 3.0)
    scalar = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    for given in (vector, (vector,), [vector], (vector.detach(),)):
        assert gradgradcheck(lambda x: x**3, (x,), given)
        assert gradgradcheck(lambda x: x**3, (x,), grad_outputs=given)
    assert gradgradcheck(lambda x: (x**3).sum(), x, scalar)
    assert gradgradcheck(lambda x: ((x**3).sum(), x**2), x, (scalar, vector))
    assert gradgradcheck(lambda x: x**3, (x,), torch.ones(2), atol=1e-3)  # of another dtype
    with pytest.raises(RuntimeError, match="shape"):
        gradgradcheck(lambda x: x**3, (x,), scalar)
    with pytest.raises(RuntimeError, match="2 outputs"):
        gradgradcheck(lambda x: (x, x * x), (x,), vector)


def test_what_cannot_be_checked():
    x = leaf(0.3, 0.6)
    assert gradcheck(lambda x: x**2, torch.zeros(0, dtype=torch.float64, requires_grad=True))
    with pytest.raises(RuntimeError, match="stride of 0"):
        gradcheck(lambda x: x, torch.rand(1, 2, dtype=torch.float64).expand(3, 2).requires_grad_())
    with pytest.raises(TypeError, match="output 1 is NoneType"):
        gradcheck(lambda x: (x, None), x)
    with pytest.raises(ZeroDivisionError):
        gradcheck(lambda x: 1 // 0, x, raise_exception=False)
    with pytest.raises(AssertionError, match="check_batched_forward_grad"):
        gradcheck(lambda x: x, x, check_batched_forward_grad=True)
    with pytest.raises(AssertionError, match="check_batched_grad"):
        gradcheck(lambda x: x, x, check_forward_ad=True, check_backward_ad=False, check_batched_grad=True)
    with pytest.raises(AssertionError, match="nothing to check"):
        gradcheck(lambda x: x, x, check_backward_ad=False)
    with pytest.raises(AssertionError, match="nothing to check"):
        gradgradcheck(lambda x: x, x, check_rev_over_rev=False)
    with pytest.raises(TypeError):
        gradcheck(lambda x: x, x, gen_non_contig_grad_outputs=True)
    with pytest.warns(UserWarning, match="double precision"):
        gradcheck(lambda x: x * 1, leaf(1.0, dtype=torch.float32), eps=1e-2)


def test_zeros_for_what_is_not_used():
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    for create_graph in (False, True):
        found = torch.autograd.grad((a * a).sum(), [a, b], materialize_grads=True, create_graph=create_graph)
        assert [each.requires_grad for each in found] == [create_graph] * 2
        assert found[1].tolist() == [0, 0] and found[1].is_leaf
