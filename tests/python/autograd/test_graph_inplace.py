"""Edits in place that the tape follows: set_inplace("rebase"), for NDArrays."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from mxlite import autograd, nd
from mxlite.error import MXNetError


@pytest.fixture(autouse=True)
def rebase():
    """All tests but for those that say otherwise."""
    with autograd.set_inplace("rebase"):
        yield


def leaf(values=(1, 2, 3)) -> nd.NDArray:
    return nd.array(list(values), dtype="float64").requires_grad_()


def listed(array: nd.NDArray) -> list:
    return array.asnumpy().tolist()


def _iadd(x, w):
    y = x * w
    y += x
    return y


def _imul(x, w):
    y = x * w
    y *= y * 1
    return y


def _numbers(x, w):
    y = x * w
    y -= 1
    y /= 2
    return y * y


def _assign_part(x, w):
    y = x * w
    y[2:] = w[2:] * x[2:] * x[2:]
    return y * y


def _assign_number(x, w):
    y = x * w
    y[0] = 5
    return y * x


def _assign_all(x, w):
    y = x * w
    y[:] = x
    return y * w


def _assign_index_arrays(x, w):
    y = x * w
    y[[0, 2]] = (x * x)[[0, 1]]
    return y * y


def _out(x, w):
    y = x * w
    nd.exp(w, out=y)
    return y * x


def _copyto(x, w):
    y = nd.zeros((3,), dtype="float64")
    (x * w).copyto(y)
    return y * y


def _constant_becomes_recorded(x, w):
    y = nd.ones((3,), dtype="float64")
    y += x
    y *= w
    return y


def _view_then_base(x, w):
    y = x * w
    v = y[0:2]
    y *= x
    return v * 3


def _base_then_view(x, w):
    y = x * w
    v = y[1:]
    v *= w[1:]
    return y * x


def _view_of_a_view(x, w):
    y = (x * w).reshape((3, 1))
    v = y[1:].reshape((2,))
    v[1] = x[0] * x[1]
    return y.reshape((3,)) * w


def _a_view_is_the_head(x, w):
    y = x * w
    v = y.reshape((1, 3))
    v[0, 1:] = w[1:] * w[1:]
    y *= x
    return v.reshape((3,))


class Doubled(autograd.Function):
    def forward(self, x):
        return x * 2

    def backward(self, grad):
        return grad * 2


def _a_view_goes_into_a_function(x, w):
    y = x * w
    v = y[1:]
    y *= x
    return Doubled()(v)


def _two_views(x, w):
    y = x * w
    a, b = y[0:2], y[1:3]
    a *= w[0:2]
    b += a
    return y


PROGRAMS = {
    name[1:]: program
    for name, program in list(globals().items())
    if name.startswith("_") and getattr(program, "__code__", None) is not None and program.__code__.co_argcount == 2
}


def _expected(program) -> tuple:
    """Gradients by differences: without recording edits are only edits."""
    values = [np.array([1.0, 2, 3]), np.array([0.5, 1.5, 2.5])]
    heads = np.array([1.0, 10, 100])

    def total(place: int, index: int, moved: float) -> float:
        given = [each.copy() for each in values]
        given[place][index] += moved
        result = program(*(nd.array(each, dtype="float64") for each in given)).asnumpy()
        return float((result * heads[: result.size]).sum())

    return tuple(
        [(total(place, i, 1e-6) - total(place, i, -1e-6)) / 2e-6 for i in range(3)] for place in range(len(values))
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_the_new_values(name: str) -> None:
    x, w = leaf((1, 2, 3)), leaf((0.5, 1.5, 2.5))
    with autograd.record():
        y = PROGRAMS[name](x, w)
    y.backward(nd.array([1.0, 10, 100][: y.size], dtype="float64"))
    for found, expected in zip((x.grad, w.grad), _expected(PROGRAMS[name])):
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-6, atol=1e-6)


def test_there_are_programs() -> None:
    assert len(PROGRAMS) >= 14


def test_nodes_of_edits() -> None:
    x = leaf()
    with autograd.record():
        y = x * 2
        v = y[1:]
        y += 1
        assert y.grad_fn.name() == "AddBackward0"
        v *= 3
    assert y.grad_fn.name() == "CopySlices" and v.grad_fn is not None
    y.backward()
    assert listed(y) == [3, 15, 21] and listed(x.grad) == [2, 6, 6]


REFUSED = {
    "x += 1": lambda x: x.__iadd__(1),
    "x[0] = 1": lambda x: x.__setitem__(0, 1),
    "out=x": lambda x: nd.exp(x, out=x),
    "a view of x": lambda x: x[1:].__imul__(2),
}


@pytest.mark.parametrize("text", REFUSED)
def test_variables_may_not_be_edited(text: str) -> None:
    x = leaf()
    with (
        autograd.record(),
        pytest.raises(MXNetError, match="variable whose gradient is wanted cannot be edited in place"),
    ):
        REFUSED[text](x)
    assert listed(x) == [1, 2, 3]


def test_a_saved_value_that_is_edited_is_found() -> None:
    """The message names array, operator, versions and what edited it."""
    x = leaf()
    with autograd.record():
        y = x * 2
        z = y * y
        y += 1
    words = r"broadcast_mul: its input 1 .*float64, shape \(3,\).*_plus_scalar.*version \d+, expected version \d+"
    with pytest.raises(MXNetError, match=words):
        z.backward()


def test_the_rule_is_the_threads_and_ends_with_its_block() -> None:
    def strict() -> bool:
        x = leaf()
        with autograd.record():
            y = x * 2
            try:
                y += 1
            except MXNetError:
                return True
        return False

    assert not strict()
    with autograd.set_inplace("strict") as block:
        assert block.before == "rebase" and strict()
        with autograd.set_inplace("rebase"):
            assert not strict()
        assert strict()
    autograd.set_inplace("strict")
    assert strict() and autograd.set_inplace("rebase").before == "strict"
    seen: list[bool] = []
    thread = threading.Thread(target=lambda: seen.append(strict()))
    thread.start()
    thread.join()
    assert seen == [True]  # another thread has MXNet's rule
    with pytest.raises(ValueError, match="'strict' and 'rebase'"):
        autograd.set_inplace("loose")


def test_second_gradients_through_edits() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
        y *= x
        y[0] = x[0] * x[0]
        (first,) = autograd.grad(y, [x], create_graph=True)
    (second,) = autograd.grad(first, [x])
    assert listed(first) == [2, 12, 27] and listed(second) == [2, 12, 18]


class _Reversed(autograd.Function):
    """Returns a view; its gradient is not the view's."""

    def forward(self, x):
        return x.reshape(-1)

    def backward(self, grad):
        return -grad


class _Same(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return -grad


def _unrecorded(h, o):
    with autograd.pause():
        h += 1


@pytest.mark.parametrize(
    "edit",
    [
        lambda h, o: h.__iadd__(1),
        lambda h, o: h.__setitem__(0, 3),
        lambda h, o: nd.relu(h, out=h),
        lambda h, o: nd.ones(3, dtype="float64").copyto(h),
        lambda h, o: h[0:1].__iadd__(1),
        lambda h, o: h.detach().__iadd__(1),
        lambda h, o: o.__iadd__(1),
        lambda h, o: o.__setitem__(0, 3),
        _unrecorded,
    ],
)
@pytest.mark.parametrize("function", [lambda x: _Reversed()(x), _Same.apply])
@pytest.mark.parametrize("part", [False, True])
def test_an_edit_does_not_lose_the_backward_of_a_function_that_returns_a_view(function, edit, part) -> None:
    x = leaf()
    with autograd.record():
        h = x * 1
        o = function(h)
        shown = o[0:1]
        with pytest.raises(MXNetError, match="custom function returned"):
            edit(h, o)
            (shown if part else o).sum()


def test_views_that_functions_return_while_nothing_is_recorded() -> None:
    x, h = leaf(), nd.zeros(3, dtype="float64")
    shown = _Reversed()(h)
    with autograd.record():
        h += x
        with pytest.raises(MXNetError, match="custom function returned"):
            shown.sum()
