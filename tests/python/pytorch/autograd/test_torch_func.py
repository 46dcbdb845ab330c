"""torch.func, vmap and forward_ad: beside cases_func.py and cases_forward.py, which ask PyTorch."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite.torch.autograd import forward_ad
from mxlite.torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap


def numbers(*shape):
    return torch.from_numpy(np.random.RandomState(sum(shape)).randn(*shape))


@pytest.mark.parametrize("size", [0, 1, 2, 33, 1000])
def test_sizes(size):
    x = numbers(size)
    assert torch.equal(grad(lambda x: (x**2).sum())(x), 2 * x)
    output, moved = jvp(lambda x: x.sin(), (x,), (x,))
    assert torch.allclose(output, x.sin()) and torch.allclose(moved, x.cos() * x)
    assert torch.equal(vmap(lambda x: x * 2)(x), x * 2)
    assert vmap(lambda x: x.sum(), in_dims=1)(numbers(3, size)).shape == (size,)
    if size < 100:
        assert torch.allclose(jacrev(lambda x: x**2)(x), torch.diag(2 * x))
        assert torch.allclose(jacfwd(lambda x: x**2)(x), torch.diag(2 * x))


def test_strides_and_nan():
    x = numbers(4, 6).t()[::2]
    assert torch.equal(vmap(lambda x: x.exp(), in_dims=1, out_dims=1)(x), x.exp())
    assert torch.allclose(jvp(lambda x: x * x, (x,), (x,))[1], 2 * x * x)
    x = torch.tensor([1.0, float("nan"), float("inf")])
    assert str(jvp(lambda x: x * 2, (x,), (torch.ones(3),))[1]) == "tensor([2., 2., 2.])"


def test_a_hessian_of_what_has_no_second_derivative():
    assert hessian(lambda x: x.sum())(torch.ones(2)).tolist() == [[0, 0], [0, 0]]
    assert jvp(lambda x: x.sign(), (torch.ones(2),), (torch.ones(2),))[1].tolist() == [0, 0]


def test_results_hold_nothing():
    x = numbers(3)
    kept = []

    def f(x):
        y = x.exp()
        kept.append(weakref.ref(y))
        return (y * y).sum()

    results = grad_and_value(f)(x), jvp(f, (x,), (x,)), hessian(f)(x)
    gc.collect()
    assert results and all(each() is None for each in kept)


def test_an_error_leaves_the_mode_and_the_level_as_they_were():
    def fails(x):
        raise KeyError("now")

    for transform in (grad(fails), jacrev(fails), jacfwd(fails), vmap(fails), lambda x: jvp(fails, (x,), (x,))):
        for mode in (torch.no_grad, torch.enable_grad):
            with mode():
                before = torch.is_grad_enabled()
                with pytest.raises(KeyError):
                    transform(torch.ones(2))
                assert torch.is_grad_enabled() == before
    with pytest.raises(KeyError), forward_ad.dual_level():
        fails(1)
    with torch.no_grad(), forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        primal, tangent = forward_ad.unpack_dual(dual * 3)
        assert not primal.requires_grad and tangent.tolist() == [3, 3]
    assert torch.is_grad_enabled()


def test_parameters_are_back_after_an_error():
    model = torch.nn.Linear(2, 1)
    before = dict(model.named_parameters())
    with pytest.raises(RuntimeError):
        functional_call(model, {"weight": torch.ones(1, 3), "bias": torch.ones(1)}, torch.ones(2))
    assert all(each is before[name] for name, each in model.named_parameters())


def test_transforms_in_threads():
    found = {}

    def work(number):
        x = torch.full((2,), float(number))
        found[number] = [jacfwd(jacrev(lambda x: (x**3).sum()))(x).tolist() for _ in range(20)]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(rows == [[[6.0 * n, 0], [0, 6.0 * n]]] * 20 for n, rows in found.items()) and len(found) == 4


def test_a_pull_runs_again_and_backward_goes_through_it():
    x = torch.ones(2, requires_grad=True)
    output, pull = vjp(lambda x: x**3, x)
    assert [pull(torch.ones(2))[0].tolist() for _ in range(2)] == [[3, 3], [3, 3]]
    pull(torch.ones(2))[0].sum().backward()
    assert x.grad.tolist() == [6, 6] and output.requires_grad


def test_forward_over_what_was_edited_says_so():
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.ones(2), torch.ones(2))
        other = dual * dual
        dual.mul_(2)
        with pytest.raises(RuntimeError, match="edited in place"):
            forward_ad.unpack_dual(other)


def test_what_is_missing():
    for name in ("functionalize", "debug_unwrap"):
        with pytest.raises(AttributeError, match=f"'{name}'"):
            getattr(torch.func, name)


@pytest.mark.parametrize("part", [lambda x: x, lambda x: x[::2], lambda x: x.flip(0)])
def test_functions_that_edit_their_arguments(part):
    values, ones = torch.tensor([-2.0, 1.0, 3.0]), torch.ones(3)
    for transform in (lambda f, x: jvp(f, (x,), (ones,))[1], lambda f, x: grad(lambda x: f(x).sum())(x)):
        found = transform(lambda x: part(x).sin_(), values.clone())
        assert torch.allclose(found, transform(lambda x: part(x).sin(), values.clone()))
    batch = torch.stack([values, values + 1])
    found = vmap(grad(lambda x: part(x).sin_().sum()))(batch.clone())
    assert torch.allclose(found, vmap(grad(lambda x: part(x).sin().sum()))(batch))
