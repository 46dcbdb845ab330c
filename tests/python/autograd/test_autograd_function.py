"""autograd.Function: functions with a gradient of the user's own."""

from __future__ import annotations

import gc
import traceback

import numpy as np
import pytest
from conftest import live_handles

import mxlite as mx
from mxlite import _backward, autograd, nd
from mxlite._lib import hot


def leaf(values=(1, 2, 3), request: str = "write") -> nd.NDArray:
    array = nd.array(list(values), dtype="float64")
    array.attach_grad(request)
    return array


def listed(array: nd.NDArray) -> list:
    return array.asnumpy().tolist()


class Pair(autograd.Function):
    """(a, b) -> (a * b, a + b); keeps a log of the flags."""

    def __init__(self) -> None:
        self.log = []

    def forward(self, a, b):
        self.log.append(("forward", autograd.is_recording(), autograd.is_training()))
        self.save_for_backward(a, b)
        return a * b, a + b

    def backward(self, dp, ds):
        self.log.append(("backward", autograd.is_recording(), autograd.is_training()))
        a, b = self.saved_tensors
        assert type(self.saved_tensors) is tuple
        return dp * b + ds, dp * a + ds


class Sigmoid(autograd.Function):
    def forward(self, x):
        y = 1 / (1 + nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy):
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


def test_several_inputs_and_outputs() -> None:
    x, w = leaf(), leaf((4, 5, 6))
    function = Pair()
    with autograd.record():
        p, s = function(x, w)
        loss = p * 10 + s
    loss.backward()
    assert listed(x.grad) == [41, 51, 61] and listed(w.grad) == [11, 21, 31]
    assert function.log == [("forward", False, True), ("backward", False, True)]


def test_unused_output_has_a_zero_gradient() -> None:
    x, w = leaf(), leaf((4, 5, 6))
    with autograd.record():
        _, s = Pair()(x, w)
        loss = s * 10
    loss.backward()
    assert listed(x.grad) == listed(w.grad) == [10, 10, 10]


def test_flags_of_backward() -> None:
    function, x, w = Pair(), leaf(), leaf()
    with autograd.record(train_mode=False):
        p, _ = function(x, w)
    p.backward(train_mode=False)
    assert function.log == [("forward", False, False), ("backward", False, False)]


def test_unrecorded() -> None:
    x, w = leaf(), leaf()
    function = Pair()
    p, _ = function(x, w)
    assert function.log == [("forward", False, False)]
    with pytest.raises(mx.MXNetError):
        p.backward()
    with autograd.record():
        p, _ = Pair()(nd.ones((3,)), nd.ones((3,)))
    with pytest.raises(mx.MXNetError):
        p.backward()


@pytest.mark.parametrize("first", ["null", "write", "add"])
@pytest.mark.parametrize("second", ["null", "write", "add"])
def test_requests(first: str, second: str) -> None:
    """Every mix; 1.9.1 answers 0 for "add"."""
    x, w = leaf(request=first), leaf((4, 5, 6), second)
    for array in (x, w):
        array.grad[:] = 100
    with autograd.record():
        p, s = Pair()(x, w)
        loss = p + s
    if (first, second) == ("null", "null"):
        with pytest.raises(mx.MXNetError):
            loss.backward()
    else:
        loss.backward()
    for array, request, gradient in ((x, first, [5, 6, 7]), (w, second, [2, 3, 4])):
        wanted = {"null": [100] * 3, "write": gradient, "add": [100 + each for each in gradient]}[request]
        assert listed(array.grad) == wanted


def test_same_input_twice_and_constants() -> None:
    x = leaf()
    with autograd.record():
        p, s = Pair()(x, x)
        loss = p + s
    loss.backward()
    assert listed(x.grad) == [4, 6, 8]
    with autograd.record():
        p, _ = Pair()(x, nd.array([7, 8, 9], dtype="float64"))
    p.backward()
    assert listed(x.grad) == [7, 8, 9]


@pytest.mark.parametrize("kind", [tuple, list, None])
def test_kind_of_result(kind) -> None:
    class F(autograd.Function):
        def forward(self, a):
            return a * 2 if kind is None else kind([a * 2])

        def backward(self, g):
            return g * 2 if kind is None else kind([g * 2])

    x = leaf()
    with autograd.record():
        result = F()(x)
    assert type(result) is (nd.NDArray if kind is None else kind)
    (result if kind is None else result[0]).backward()
    assert listed(x.grad) == [2, 2, 2]


def test_differentiable_again_through_inputs() -> None:
    x, w = leaf(), leaf((4, 5, 6))
    function = Pair()
    with autograd.record():
        p, _ = function(x, w)
        gx, gw = autograd.grad(p * p, [x, w], create_graph=True)
        loss = (gx + gw).sum()
    loss.backward()
    assert ("backward", True, True) in function.log
    a, b = np.array([1.0, 2, 3]), np.array([4.0, 5, 6])
    np.testing.assert_allclose(gx.asnumpy(), 2 * a * b * b)
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * b * b + 4 * a * b)
    np.testing.assert_allclose(w.grad.asnumpy(), 4 * a * b + 2 * a * a)


def test_differentiable_again_through_outputs() -> None:
    """A saved output has its place again: second and third derivative of the sigmoid."""
    x = leaf((-1, 0.5, 2))
    with autograd.record():
        first = autograd.grad(Sigmoid()(x), x, create_graph=True)[0]
        second = autograd.grad(first, x, create_graph=True)[0]
    second.backward()
    s = 1 / (1 + np.exp(-np.array([-1, 0.5, 2])))
    d = s * (1 - s)
    np.testing.assert_allclose(first.asnumpy(), d)
    np.testing.assert_allclose(second.asnumpy(), d * (1 - 2 * s))
    np.testing.assert_allclose(x.grad.asnumpy(), d * (1 - 6 * s + 6 * s * s))


def test_functions_within_functions() -> None:
    class Outer(autograd.Function):
        def forward(self, a):
            self.save_for_backward(a)
            return a * a

        def backward(self, g):
            (a,) = self.saved_tensors
            inner = a.detach()
            inner.attach_grad()
            with autograd.record():
                y = Sigmoid()(inner)
            y.backward()
            return g * 2 * a + 0 * inner.grad

    x = leaf()
    with autograd.record():
        y = Outer()(x)
    y.backward()
    assert listed(x.grad) == [2, 4, 6]


def test_nothing_keeps_a_function_alive() -> None:
    """Neither saved inputs nor saved outputs are a cycle: released with the result, without the collector."""
    gc.disable()
    try:
        x, w = leaf(), leaf()
        with autograd.record():
            y = Sigmoid()(x)
            p, s = Pair()(x, w)
            z = Sigmoid()(y)
        assert hot.num_kept() == 6  # the rule of each, and what its node shows
        del y, p, s, z
        assert not hot.num_kept()
        with autograd.record():
            y = Sigmoid()(x)
        y.backward()
        del y
        assert not hot.num_kept()
    finally:
        gc.enable()


def test_exception_in_forward() -> None:
    class F(autograd.Function):
        def forward(self, a):
            raise ValueError("boo")

    with pytest.raises(ValueError, match="boo"), autograd.record():
        F()(leaf())
    assert not autograd.is_recording()


def deep_inside() -> None:
    raise KeyError("boo")


def test_exception_in_backward_arrives_whole() -> None:
    class F(autograd.Function):
        def forward(self, a):
            return a * 2

        def backward(self, g):
            deep_inside()

    x = leaf()
    x.grad[:] = 7
    with autograd.record():
        y = F()(x) * 3
    with pytest.raises(mx.MXNetError, match="boo") as caught:
        y.backward()
    cause = caught.value.__cause__
    assert type(cause) is KeyError and cause.args == ("boo",)
    assert "deep_inside" in "".join(traceback.format_tb(cause.__traceback__))
    assert listed(x.grad) == [7, 7, 7] and not autograd.is_recording()
    del caught, cause


def test_keyboard_interrupt_in_backward_is_itself() -> None:
    class F(autograd.Function):
        def forward(self, a):
            return a * 2

        def backward(self, g):
            raise KeyboardInterrupt

    x = leaf()
    with autograd.record():
        y = F()(x)
    with pytest.raises(KeyboardInterrupt):
        y.backward()
    assert listed(x.grad) == [0, 0, 0]


@pytest.mark.parametrize("place", ["function", "hook", "node hook", "node prehook", "accumulated hook"])
def test_keyboard_interrupt_before_a_callback_loses_no_handle(place, interruptible) -> None:
    """A SIGINT that was noted in the library's code is delivered at the next callback, which owns handles by then."""

    class F(autograd.Function):
        def forward(self, a):
            return a * 2

        def backward(self, g):
            return g

    def note(grad) -> None:
        _backward.Interrupts.current.noted = True

    x = leaf()
    with autograd.record():
        y = F()(x) if place == "function" else x * 2
        z = y * 3
    z.register_hook(note)
    if place == "hook":
        y.register_hook(lambda grad: None)
    elif place == "node hook":
        y.grad_fn.register_hook(lambda *grads: None)
    elif place == "node prehook":
        y.grad_fn.register_prehook(lambda grads: None)
    elif place == "accumulated hook":
        x.register_post_accumulate_grad_hook(lambda array: None)
    before = live_handles()
    with pytest.raises(KeyboardInterrupt):
        z.backward()
    assert live_handles() == before


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        (lambda g: (g, g), ValueError),
        (lambda g: (), ValueError),
        (lambda g: None, TypeError),
        (lambda g: 3, TypeError),
        (lambda g: nd.ones((2,)), ValueError),
    ],
    ids=["two", "none of them", "None", "number", "shape"],
)
def test_wrong_results_of_backward(result, kind) -> None:
    class F(autograd.Function):
        def forward(self, a):
            return a * 2

        def backward(self, g):
            return result(g)

    x = leaf()
    with autograd.record():
        y = F()(x)
    with pytest.raises(mx.MXNetError, match="F.backward|not iterable") as caught:
        y.backward()
    assert isinstance(caught.value.__cause__, kind)
    assert listed(x.grad) == [0, 0, 0]
    del caught


def test_gradients_are_cast_to_the_input() -> None:
    class F(autograd.Function):
        def forward(self, a):
            return a * 2

        def backward(self, g):
            return g.astype("float32") * 2

    x = leaf()
    with autograd.record():
        y = F()(x)
    y.backward()
    assert listed(x.grad) == [2, 2, 2] and x.grad.dtype == np.float64


def test_called_once() -> None:
    function, x, w = Pair(), leaf(), leaf()
    function(x, w)
    with pytest.raises(mx.MXNetError, match="called already"):
        function(x, w)


def test_wrong_arguments() -> None:
    class Same(autograd.Function):
        def forward(self, a):
            return a

        def backward(self, g):
            return g

    x = leaf()
    with autograd.record():
        with pytest.raises(TypeError):
            Pair()(x, 3)
        with pytest.raises(mx.MXNetError):
            Same()(x)
    assert not hot.num_kept()


def test_saved_and_edited_since() -> None:
    x, w = leaf(), leaf()
    with autograd.record():
        p, _ = Pair()(x, w)
    x[:] = 100
    with pytest.raises(mx.MXNetError, match="Pair") as caught:
        p.backward()
    del caught
    with autograd.record():
        y = Sigmoid()(w)
    y[:] = 1
    with pytest.raises(mx.MXNetError, match="Sigmoid"):
        y.backward()


def test_outputs_of_the_callback_only() -> None:
    """MXLCustomFunctionOutput outside of a callback is an error."""
    assert mx.base._LIB.MXLCustomFunctionOutput(leaf().handle, 0) is None
    assert "callback" in mx.base._LIB.MXGetLastError().decode()


def test_recording_leaves_nothing_to_the_collector() -> None:
    """What recording a function and its backward makes is freed by reference counts alone."""
    x = leaf()

    def once() -> None:
        with autograd.record():
            y = Sigmoid()(x)
        y.backward()

    once()
    gc.collect()
    gc.disable()
    try:
        for _ in range(100):
            once()
        assert gc.collect() < 100
    finally:
        gc.enable()


@pytest.mark.parametrize("wrong", [None, 5])
def test_what_is_no_array_is_named(wrong) -> None:
    class Forward(autograd.Function):
        def forward(self, a):
            return wrong

    class Backward(autograd.Function):
        def forward(self, a):
            return a * 2

        def backward(self, dy):
            return wrong

    x, kind = leaf(), type(wrong).__name__
    with autograd.record():
        with pytest.raises(TypeError, match=f"outputs of Forward must be NDArrays, got {kind}"):
            Forward()(x)
        y = Backward()(x)
    with pytest.raises(mx.MXNetError, match=f"Backward.backward: gradient 0 must be an NDArray, got {kind}"):
        y.backward()


class _Nested(autograd.Function):
    """x ** 2, whose backward records the function of one level less and calls its backward."""

    def __init__(self, left: int, log: list[int]) -> None:
        super().__init__()
        self.left = left
        self.log = log

    def forward(self, x):
        self.save_for_backward(x)
        return x * x

    def backward(self, dy):
        (x,) = self.saved_tensors
        self.log.append(self.left)
        if self.left > 0:
            inner = x.copy()
            inner.attach_grad()
            with autograd.record():
                y = _Nested(self.left - 1, self.log)(inner)
            y.backward()
            return dy * inner.grad
        return dy * 2 * x


@pytest.mark.parametrize("depth", [40, 2000])
def test_backward_inside_backward(depth: int) -> None:
    """A function that differentiates, one inside the other: the library goes on with new threads."""
    x = nd.array([3.0])
    x.attach_grad()
    log: list[int] = []
    with autograd.record():
        y = _Nested(depth, log)(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [6.0]
    assert log == list(range(depth, -1, -1))


def test_exception_from_backward_inside_backward() -> None:
    """It arrives from the other thread, with every level's cause."""

    class Fails(autograd.Function):
        def __init__(self, left: int) -> None:
            super().__init__()
            self.left = left

        def forward(self, x):
            return x * 1

        def backward(self, dy):
            if self.left == 0:
                raise ArithmeticError("the bottom")
            inner = dy.copy()
            inner.attach_grad()
            with autograd.record():
                y = Fails(self.left - 1)(inner)
            y.backward()
            return dy

    x = nd.array([3.0])
    x.attach_grad()
    with autograd.record():
        y = Fails(80)(x)
    with pytest.raises(mx.MXNetError) as caught:
        y.backward()
    cause, levels = caught.value, 0
    while cause.__cause__ is not None:
        cause, levels = cause.__cause__, levels + 1
    assert isinstance(cause, ArithmeticError)
    assert levels == 81
    with autograd.record():
        y = x * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [2.0]
