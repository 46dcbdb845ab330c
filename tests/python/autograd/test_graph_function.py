"""autograd.Function in PyTorch's style for NDArrays: static forward(ctx, ...) and backward, called by apply."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from mxlite import autograd, nd
from mxlite.error import MXNetError


def leaf(values=(1, 2, 3)) -> nd.NDArray:
    return nd.array(list(values), dtype="float64").requires_grad_()


def listed(array: nd.NDArray) -> list:
    return array.asnumpy().tolist()


class Times(autograd.Function):
    """x * number; keeps what it sees."""

    @staticmethod
    def forward(ctx, x, number, *, log=None):
        ctx.number, ctx.log = number, log
        assert not autograd.is_recording()
        return x * number

    @staticmethod
    def backward(ctx, grad):
        if ctx.log is not None:
            ctx.log.append(ctx.needs_input_grad)
        return grad * ctx.number, None


class Exp(autograd.Function):
    @staticmethod
    def forward(x):
        return nd.exp(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad * y


class Old(autograd.Function):
    def forward(self, x):
        self.tag = "mine"
        return x * 2

    def backward(self, grad):
        return grad * 2


def test_arguments_of_any_kind() -> None:
    x, log = leaf(), []
    with autograd.record():
        y = Times.apply(x, 5, log=log)
    assert type(y.grad_fn).__name__ == "TimesBackward" and y.grad_fn.number == 5
    assert y.grad_fn.next_functions[0][0].variable is x and len(y.grad_fn.next_functions) == 1
    y.backward()
    assert log == [(True, False)] and listed(x.grad) == [5] * 3
    assert Times.apply(x, 5).grad_fn is None


def test_setup_context_and_higher_orders() -> None:
    x = leaf((0, 0))
    with autograd.record():
        y = Exp.apply(x)
        (first,) = autograd.grad(y, [x], create_graph=True)
        (second,) = autograd.grad(first, [x], create_graph=True)
    (third,) = autograd.grad(second, [x])
    assert [listed(each) for each in (first, second, third)] == [[1, 1]] * 3


class Pair(autograd.Function):
    @staticmethod
    def forward(ctx, a, b, materialize):
        ctx.set_materialize_grads(materialize)
        index = nd.array([7.0])
        ctx.mark_non_differentiable(index)
        return a * 2, b * 3, index, "text"

    @staticmethod
    def backward(ctx, da, db, *rest):
        assert len(rest) == 2 and rest[1] is None
        ctx.seen = (da is None, db is None)
        return da, db, None


def test_several_outputs_and_gradients_that_do_not_arrive() -> None:
    for materialize in (True, False):
        a, b = leaf(), leaf()
        with autograd.record():
            one, two, index, text = Pair.apply(a, b, materialize)
        assert (one.output_nr, two.output_nr, text) == (0, 1, "text") and not index.requires_grad
        node = one.grad_fn
        one.backward()
        assert node.seen == (False, not materialize)
        assert listed(a.grad) == [1] * 3
        assert listed(b.grad) == [0] * 3


RETURNS = {
    "too few": (lambda ctx, grad: (), "returned 0 gradients, expected 2"),
    "too many": (lambda ctx, grad: (grad, None, grad), "returned 3 gradients, expected 2"),
    "another shape": (lambda ctx, grad: (grad[:2], None), "gradient of input 0 has shape"),
    "for no array": (lambda ctx, grad: (grad, grad), "a gradient at position 2"),
    "no array": (lambda ctx, grad: (5, None), "is an array or None, got int"),
}


@pytest.mark.parametrize("name", RETURNS)
def test_wrong_gradients(name: str) -> None:
    rule, words = RETURNS[name]

    class Wrong(autograd.Function):
        @staticmethod
        def forward(ctx, x, number):
            return x * number

        backward = staticmethod(rule)

    x = leaf()
    with autograd.record():
        y = Wrong.apply(x, 2)
    with pytest.raises(MXNetError, match=words):
        y.backward()
    assert x.grad is None


def test_once_differentiable() -> None:
    class Once(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * x

        @staticmethod
        @autograd.once_differentiable
        def backward(ctx, grad):
            assert not autograd.is_recording()
            return grad * 3

    x = leaf()
    with autograd.record():
        (first,) = autograd.grad(Once.apply(x), [x], create_graph=True)
    assert listed(first) == [3] * 3 and first.grad_fn is None


class AddOne(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x += 1
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 10


def test_mark_dirty() -> None:
    x = leaf()
    with autograd.set_inplace("rebase"), autograd.record():
        y = x * 2
        z = AddOne.apply(y)
        assert z is y and type(y.grad_fn).__name__ == "AddOneBackward"
    y.backward()
    assert listed(y) == [3, 5, 7] and listed(x.grad) == [20] * 3
    with autograd.set_inplace("rebase"), autograd.record(), pytest.raises(MXNetError, match="leaf"):
        AddOne.apply(x)


def test_saved_arrays_that_were_written_to_or_released() -> None:
    x = leaf()
    with autograd.record():
        y = Exp.apply(x)
    y.backward()
    with pytest.raises(MXNetError):
        y.backward()
    with autograd.record():
        y = Exp.apply(x)
    y[0] = 5
    with pytest.raises(MXNetError, match="was written to|edited in place"):
        y.backward()


def test_styles_do_not_mix() -> None:
    x = leaf()
    with pytest.raises(TypeError, match="forward is no staticmethod"):
        Old.apply(x)
    with pytest.raises(TypeError, match=r"call Exp.apply"):
        Exp()(x)


def test_nodes_of_mxnets_style() -> None:
    x = leaf()
    with autograd.record():
        y = Old()(x)
    assert y.grad_fn.name() == "OldBackward" and y.grad_fn.tag == "mine"
    y.grad_fn.metadata["key"] = 1
    assert y.grad_fn.tag == "mine" and y.grad_fn.metadata == {"key": 1}
    node = y.grad_fn
    y.backward()
    del y
    with pytest.raises(AttributeError):
        _ = node.nothing


def test_a_function_does_not_keep_its_output() -> None:
    x = leaf()
    with autograd.record():
        y = Exp.apply(x)
    seen = weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert seen() is None


# ---- backward inside backward ----


class Inner(autograd.Function):
    """Its gradient is computed by another backward, `depth` levels deep."""

    @staticmethod
    def forward(ctx, x, depth):
        ctx.save_for_backward(x)
        ctx.depth = depth
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        if ctx.depth == 0:
            return grad * 2, None
        inside = x.detach().requires_grad_()
        with autograd.record():
            y = Inner.apply(inside, ctx.depth - 1)
        (found,) = autograd.grad(y, [inside])
        return grad * found, None


@pytest.mark.parametrize("depth", (1, 20, 2000))
def test_backward_inside_backward(depth: int) -> None:
    x = leaf((1.0,))
    with autograd.record():
        y = Inner.apply(x, depth)
    y.backward()
    assert listed(x.grad) == [2]


def test_backward_inside_backward_fails_at_its_depth() -> None:
    class Failing(autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth == 0:
                raise KeyError("at the bottom")
            inside = nd.ones((1,), dtype="float64").requires_grad_()
            with autograd.record():
                y = Failing.apply(inside, ctx.depth - 1)
            y.backward()
            return grad, None

    x = leaf((1.0,))
    with autograd.record():
        y = Failing.apply(x, 200)
    with pytest.raises(MXNetError, match="at the bottom"):
        y.backward()
    assert x.grad is None


def test_functions_on_threads_that_share_variables() -> None:
    x, problems = leaf(), []

    def work() -> None:
        try:
            for _ in range(50):
                with autograd.record():
                    y = Times.apply(Exp.apply(x * 0), 3)
                y.backward()
                with autograd.record():
                    y = Old()(x)
                y.backward()
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems and listed(x.grad) == [400] * 3


def test_other_things_are_kept_as_they_are() -> None:
    """What save_for_backward is given need not be an array, and may be let go of in backward, as DGL does."""

    class Keeps(autograd.Function):
        def forward(self, x):
            self.save_for_backward(x, None, "text", [x])
            return x * 2

        def backward(self, dy):
            x, nothing, text, items = self.saved_tensors
            assert (nothing, text, items[0].shape) == (None, "text", x.shape)
            self.saved_tensors = None
            return 2 * dy

    function, x = Keeps(), nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        y = function(x)
    assert len(function.saved_tensors) == 4
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 2]
    assert function.saved_tensors is None
