"""composite (mxlite/torch/_composite.py): functions that are one node and differentiate themselves."""

import math

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite.autograd._composition import Composition
from mxlite.autograd._nodes import Saved, record, unrecorded
from mxlite.ndarray._gradient import FRONT_END
from mxlite.torch._composite import composite
from mxlite.torch.autograd.graph import saved_tensors_hooks
from mxlite.torch.utils.checkpoint import checkpoint


@composite("SiluLikeBackward0")
def silu(x):
    return x * x.sigmoid()


@composite("ProductBackward0")
def product(x, y):
    return x * y


@composite("ScaledBackward0")
def scaled(x, mask, *, by):
    return x.exp() * mask * by


@composite("BothBackward0")
def both(x, y):
    return x * y, x + y.sin()


@composite("MixedBackward0", saves=("1", "0"))
def mixed(x, y):
    return x * y


def variable(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def close(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), np.asarray(expected), rtol=1e-12, atol=1e-14)


def test_it_is_one_node_under_its_name():
    x = variable(0.5, -1.0)
    y = silu(x)
    assert y.grad_fn.name() == "SiluLikeBackward0"
    assert [edge[0].name() for edge in y.grad_fn.next_functions] == ["torch::autograd::AccumulateGrad"]


@pytest.mark.parametrize("order", (1, 2, 3))
def test_derivatives_of_each_order_are_those_of_the_composition(order):
    x, plain = variable(0.5, -1.0, 2.0), variable(0.5, -1.0, 2.0)
    y, expected = silu(x), plain * plain.sigmoid()
    for _ in range(order):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        (expected,) = torch.autograd.grad(expected.sum(), plain, create_graph=True)
    close(y, expected.detach().numpy())


def test_second_and_third_derivatives_of_a_closed_form():
    x = variable(0.3, 1.2)
    y = scaled(x, constants=[torch.tensor([1.0, 0.0], dtype=torch.float64)], by=3.0)
    for _ in range(3):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    close(y, [3 * math.exp(0.3), 0.0])


def test_one_tensor_as_both_inputs_gets_both_parts():
    x = variable(3.0)
    (grad,) = torch.autograd.grad(product(x, x), x, create_graph=True)
    close(grad, [6.0])
    close(torch.autograd.grad(grad, x)[0], [2.0])


def test_an_input_that_depends_on_the_other_keeps_its_own_derivative():
    x = variable(2.0)
    w = x * x
    for create_graph in (False, True):
        of_x, of_w = torch.autograd.grad(product(x, w), [x, w], retain_graph=True, create_graph=create_graph)
        close(of_x, [12.0])  # x ** 3, through w too
        close(of_w, [2.0])
    close(torch.autograd.grad(of_x, x)[0], [12.0])


def test_gradients_flow_to_one_of_the_inputs_alone():
    x, y = variable(2.0), variable(5.0)
    z = product(x, y)
    (of_x,) = torch.autograd.grad(z, x, create_graph=True)
    close(of_x, [5.0])
    close(torch.autograd.grad(of_x, y)[0], [1.0])
    constant = torch.tensor([7.0], dtype=torch.float64)
    close(torch.autograd.grad(product(x, constant), x)[0], [7.0])


def test_several_results():
    x, y = variable(2.0), variable(0.5)
    first, second = both(x, y)
    assert (first.output_nr, second.output_nr) == (0, 1)
    close(torch.autograd.grad([first, second], [x, y], retain_graph=True)[1], [2 + math.cos(0.5)])
    (grad,) = torch.autograd.grad(second, y, create_graph=True)  # no gradient arrives at the first
    close(torch.autograd.grad(grad, y)[0], [-math.sin(0.5)])


def test_an_edit_of_a_saved_input_is_an_error():
    x = variable(2.0)
    a = x * 1
    y = silu(a)
    a.add_(1)
    with pytest.raises(RuntimeError, match="was edited in place"):
        y.backward()


def test_an_edit_of_a_constant_is_an_error():
    x, mask = variable(2.0), torch.ones(1, dtype=torch.float64)
    y = scaled(x, constants=[mask], by=1)
    mask.zero_()
    with pytest.raises(RuntimeError, match="was edited in place"):
        y.backward()


def test_what_derivatives_do_not_depend_on_is_not_saved():
    x, y = variable(2.0), torch.tensor([5.0], dtype=torch.float64)
    a = x * 1
    z = mixed(a, y)
    a.add_(1)  # only the gradient of y, which nobody wants, needs it
    (grad,) = torch.autograd.grad(z, x, create_graph=True)
    close(grad, [5.0])


def test_a_backward_releases_what_is_saved():
    x = variable(2.0)
    y = silu(x)
    y.backward(retain_graph=True)
    y.backward()
    close(x.grad, 2 * torch.autograd.grad(silu(x), x)[0].numpy())
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()


def test_into_the_first_input():
    x = variable(0.5, -1.0)
    a = x * 1
    y = silu.into(a)
    assert y is a
    close(y, (x * x.sigmoid()).detach().numpy())
    (grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    close(grad, torch.autograd.grad(silu(x).sum(), x)[0].numpy())
    assert grad.requires_grad


def test_no_node_where_nothing_is_recorded():
    x = variable(0.5)
    with torch.no_grad():
        assert silu(x).grad_fn is None
    assert silu(x.detach()).grad_fn is None


@pytest.mark.parametrize("within", (False, True))
def test_hooks_of_saved_tensors_see_the_inputs_alone(within):
    x, packed = variable(0.5), []

    def pack(tensor):
        packed.append(tensor)
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        y = silu(x)
        if within:
            (grad,) = torch.autograd.grad(y, x)
    if not within:
        (grad,) = torch.autograd.grad(y, x)
    assert len(packed) == 1
    close(grad, torch.autograd.grad(silu(x), x)[0].numpy())


def test_hooks_on_tensors_and_nodes_run():
    x, seen = variable(0.5), []
    y = silu(x)
    y.register_hook(lambda grad: seen.append("tensor"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append("node"))
    y.backward()
    assert seen == ["tensor", "node"]


def test_in_a_checkpoint():
    x = variable(0.5, 2.0)
    y = checkpoint(lambda x: silu(x * 2).sum(), x, use_reentrant=False)
    (grad,) = torch.autograd.grad(y, x, create_graph=True)
    (expected,) = torch.autograd.grad(silu(x * 2).sum(), x, create_graph=True)
    close(grad, expected.detach().numpy())
    close(torch.autograd.grad(grad.sum(), x)[0], torch.autograd.grad(expected.sum(), x)[0].numpy())


def test_gradcheck():
    x, y = variable(0.5, -1.0), variable(0.3, 2.0)
    assert torch.autograd.gradcheck(both, (x, y))
    assert torch.autograd.gradgradcheck(both, (x, y))


def test_of_ndarrays():
    x = mx.nd.array([0.5, -1.0], dtype="float64")
    x.attach_grad()

    def compute(x):
        return x * mx.nd.sigmoid(x)

    with mx.autograd.record():
        with unrecorded(FRONT_END):
            y = compute(x)
        record(FRONT_END, "Composed", [x], [y], Composition(FRONT_END, compute, [Saved(FRONT_END, x)]))
        (grad,) = mx.autograd.grad(y, [x], create_graph=True)
        (expected,) = mx.autograd.grad(compute(x), [x], create_graph=True)
    np.testing.assert_allclose(grad.asnumpy(), expected.asnumpy(), rtol=1e-12)
    with mx.autograd.record():
        second, third = (mx.autograd.grad(each, [x], retain_graph=True)[0] for each in (grad, expected))
    np.testing.assert_allclose(second.asnumpy(), third.asnumpy(), rtol=1e-12)
