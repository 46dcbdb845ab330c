"""mxlite.torch: tensors without dimensions, bool, empty ones and views as arguments; a form for every function."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest

import mxlite.torch as torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "torch"))

import forms

T, F = torch.tensor([True, False]), torch.tensor(True)


def test_every_function_has_a_form():
    known = forms.table()
    assert [name for name in forms.public_names(torch) if name not in known] == []


#: Calls of s = tensor(3.), and PyTorch's answers as text.
ZERO_D = {
    "s.std(0)": "tensor(nan)",
    "s.var(0, correction=0)": "tensor(0.)",
    "s.any(0)": "tensor(True)",
    "s.median(0).values": "tensor(3.)",
    "s.median(0).indices": "tensor(0)",
    "s.cumsum(-1)": "tensor(3.)",
    "s.cumprod(0)": "tensor(3.)",
    "s.prod(0)": "tensor(3.)",
    "s.prod(0, True)": "tensor(3.)",
    "s.flip(0)": "tensor(3.)",
    "s.amin(0)": "tensor(3.)",
    "s.logsumexp(0)": "tensor(3.)",
    "s.argmax(0)": "tensor(0)",
    "s.scatter(0, torch.tensor(0), 2.0)": "tensor(2.)",
    "s.scatter_add(0, torch.tensor(0), s)": "tensor(6.)",
    "s.gather(0, torch.tensor(0))": "tensor(3.)",
    "s.index_fill(0, torch.tensor([0]), 2.0)": "tensor(2.)",
    "s.index_add(0, torch.tensor([0]), s)": "tensor(6.)",
    "s.index_select(0, torch.tensor([0]))": "tensor(3.)",
    "s.masked_select(torch.tensor(True))": "tensor([3.])",
    "s.masked_select(torch.tensor(False))": "tensor([])",
    "s[torch.tensor(True)]": "tensor([3.])",
    "s[torch.tensor(False)]": "tensor([])",
    "torch.ones(2)[torch.tensor(True)]": "tensor([[1., 1.]])",
}


@pytest.mark.parametrize("text", ZERO_D)
def test_a_dimension_of_a_tensor_without_any(text):
    assert repr(eval(text, {"torch": torch, "s": torch.tensor(3.0)})) == ZERO_D[text]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("x.cumprod(0)", 1.0),
        ("x.prod(0)", 1.0),
        ("x.flip(0)", 1.0),
        ("x.amax(0)", 1.0),
        ("x.median(0).values", 1.0),
        ("x.logsumexp(0)", 1.0),
        ("x.gather(0, torch.tensor(0)) ** 2", 3.0),
        ("x.scatter_add(0, torch.tensor(0), x * 2)", 3.0),
        ("x.scatter(0, torch.tensor(0), 2.0) + x", 1.0),
        ("x.index_fill(0, torch.tensor([0]), x * 2)", 2.0),
        ("x.masked_fill(torch.tensor(True), x * 5)", 5.0),
        ("x.masked_select(torch.tensor(True)).sum()", 1.0),
        ("x.masked_select(torch.tensor(False)).sum() + x", 1.0),
        ("x[torch.tensor(True)].sum() * 4", 4.0),
    ],
)
def test_gradients_of_a_tensor_without_dimensions(text, first):
    x = torch.tensor(1.5, requires_grad=True)
    eval(text, {"torch": torch, "x": x}).backward()
    assert x.grad.item() == first


def test_reductions_over_the_dimension_that_has_elements():
    empty = torch.zeros(0, 3)
    for reduced in (empty.amax(1), empty.amin(1), empty.max(1).values, empty.logsumexp(1), empty.prod(1)):
        assert reduced.shape == (0,)
    for wrong in (lambda: empty.amax(0), lambda: empty.max(0), lambda: empty.argmin(0)):
        with pytest.raises(IndexError, match="dimension 0 has size 0"):
            wrong()


def test_any_and_all_over_no_dimensions_are_elementwise():
    assert torch.tensor([[1.0, 0.0]]).any(()).tolist() == [[True, False]]
    assert torch.tensor([[1.0, 0.0]]).all((), True).tolist() == [[True, False]]


def test_keys_that_select_nothing():
    x = torch.ones(2, 3, requires_grad=True)
    none = torch.tensor([False, False, False])
    for part in (x[..., none], x[:, none], x[1:1, torch.tensor([0, 1])], x[1:1]):
        assert part.numel() == 0
        (gradient,) = torch.autograd.grad(part.sum(), x)
        assert gradient.tolist() == [[0.0] * 3] * 2
    h = x * 1
    h[..., none] = 1.0
    h[1:1, ..., torch.tensor([0])] = 1.0
    h.sum().backward()
    assert x.grad.tolist() == [[1.0] * 3] * 2


def test_edits_of_parts_without_elements():
    x = torch.ones(4, 0, requires_grad=True)
    h = x * 1
    h[1:] *= 2
    h.sum().backward()
    assert x.grad.shape == (4, 0)


def test_a_number_that_is_filled_in_gets_its_gradient():
    x, v = torch.ones(2, 3, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    mask = torch.tensor([True, False, True])
    for filled in (x.masked_fill(mask, v), (x * 1).masked_fill_(mask, v), x.index_fill(1, torch.tensor([0, 2]), v)):
        gradients = torch.autograd.grad((filled * 3).sum(), [x, v])
        assert [each.tolist() for each in gradients] == [[[0.0, 3.0, 0.0]] * 2, 12.0]


def test_numbers_that_a_dtype_cannot_hold_are_refused():
    small = torch.zeros(2, dtype=torch.uint8)
    for wrong in (
        lambda: torch.full((2,), 300, dtype=torch.uint8),
        lambda: small.fill_(float("nan")),
        lambda: small.masked_fill(torch.tensor(True), 256),
        lambda: torch.zeros(2, dtype=torch.float16).fill_(1e20),
    ):
        with pytest.raises(RuntimeError, match="outside the range of dtype"):
            wrong()
    assert small.tolist() == [0, 0]
    assert small.fill_(-1).tolist() == [255, 255]


def test_subtraction_of_truth_values_is_refused():
    for wrong in (lambda: T - T, lambda: torch.ones(2) - T, lambda: T - 1, lambda: torch.ones(2).sub_(T)):
        with pytest.raises(RuntimeError, match="sub: "):
            wrong()


def test_what_has_no_kernel_for_a_dtype_is_not_implemented():
    for wrong in (lambda: T.abs(), lambda: T.floor_(), lambda: torch.rand(2, dtype=torch.int32)):
        with pytest.raises(NotImplementedError):
            wrong()
    assert torch.sign(T).tolist() == T.sgn().tolist() == [True, False]


def test_rounded_quotients():
    x = torch.tensor([7.0, -7.0], requires_grad=True)
    for mode, values in (("floor", [3.0, -4.0]), ("trunc", [3.0, -3.0])):
        made = torch.div(x, 2.0, rounding_mode=mode)
        assert made.tolist() == values
        assert torch.autograd.grad(made.sum(), x)[0].tolist() == [0.0, 0.0]
        assert x.detach().clone().div_(2.0, rounding_mode=mode).tolist() == values
    with pytest.raises(RuntimeError, match="does not fit in a tensor of dtype"):
        torch.ones(2, dtype=torch.int32).div_(2.0, rounding_mode="floor")


def test_take_along_dim_broadcasts():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    picked = torch.take_along_dim(x, torch.tensor([[2, 0, 2]]), 1)
    assert picked.tolist() == [[2.0, 0.0, 2.0], [5.0, 3.0, 5.0]]
    assert torch.autograd.grad(picked.sum(), x)[0].tolist() == [[1.0, 0.0, 2.0]] * 2


# ---- NumPy's view of views ----

VIEWS = {
    "transposed": lambda x: x.t(),
    "every second": lambda x: x[:, ::2],
    "behind the first": lambda x: x[1:, 1:],
    "expanded": lambda x: x[0].expand(2, 4),
    "without dimensions": lambda x: x[1, 2],
    "empty": lambda x: x[1:1],
}


@pytest.mark.parametrize("name", VIEWS)
def test_numpy_shares_the_memory_of_views(name):
    base = torch.arange(12.0).reshape(3, 4)
    view = VIEWS[name](base)
    values = view.numpy()
    for seen in (values, np.asarray(view), view.__array__()):
        assert seen.shape == tuple(view.shape)
        assert np.array_equal(seen, np.array(view.tolist(), np.float32).reshape(seen.shape))
    assert values.strides == tuple(4 * step for step in view.stride()) or view.numel() == 0
    if view.numel():
        assert view.data_ptr() == base.data_ptr() + 4 * view.storage_offset() == values.ctypes.data
        base.mul_(2)
        assert np.array_equal(values, view.tolist())
        again = torch.from_numpy(values)
        assert again.data_ptr() == view.data_ptr() and again.stride() == view.stride()


def test_numpy_of_what_requires_a_gradient_is_refused():
    x = torch.ones(2, 3, requires_grad=True)
    for ask in (x.t().numpy, lambda: np.asarray(x.t()), lambda: np.sin(x)):
        with pytest.raises(RuntimeError, match=r"detach\(\).numpy\(\)"):
            ask()
    assert x.t().numpy(force=True).shape == (3, 2)


def test_from_numpy_shares_strided_memory():
    values = np.arange(12.0).reshape(3, 4)
    x = torch.from_numpy(values[:, 1::2])
    assert x.stride() == (4, 2) and x.tolist() == [[1.0, 3.0], [5.0, 7.0], [9.0, 11.0]]
    x[1] = -1.0
    assert values[1].tolist() == [4.0, -1.0, 6.0, -1.0]
    for wrong in (values[::-1], values.astype(">f8")):
        with pytest.raises(ValueError, match="from_numpy: "):
            torch.from_numpy(wrong)


@pytest.mark.parametrize(
    ("key", "shape"),
    [
        ((..., ...), (3, 4)),
        ((0, ..., ...), (4,)),
        ((..., 0, ...), (3,)),
        ((0, ..., ..., 1), ()),
        ((0, 0, ..., ...), ()),
        ((..., None, ...), (3, 4, 1)),
    ],
)
def test_a_second_ellipsis_stands_for_no_dimension(key, shape):
    x = torch.zeros(3, 4)
    assert x[key].shape == shape
    x[key] = 1.0
    assert x[key].min() == 1
