"""mx.autograd: flags, backward, requests, release, gradients of gradients, the in-place rules."""

from __future__ import annotations

import inspect
import threading

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd


def leaf(values=(1, 2, 3), request: str = "write", dtype: str = "float32") -> nd.NDArray:
    array = nd.array(list(values), dtype=dtype)
    array.attach_grad(request)
    return array


def listed(array: nd.NDArray) -> list:
    return array.asnumpy().tolist()


# ---- flags ----


def flags() -> tuple[bool, bool]:
    return autograd.is_recording(), autograd.is_training()


def test_scopes() -> None:
    seen = [flags()]
    with autograd.record():
        seen.append(flags())
        with autograd.pause():
            seen.append(flags())
            with autograd.pause(train_mode=True):
                seen.append(flags())
        with autograd.record(train_mode=False):
            seen.append(flags())
        with autograd.predict_mode():
            seen.append(flags())
        seen.append(flags())
    with autograd.train_mode():
        seen.append(flags())
    seen.append(flags())
    assert seen == [
        (False, False),
        (True, True),
        (False, False),
        (False, True),
        (True, False),
        (True, False),
        (True, True),
        (False, True),
        (False, False),
    ]


def test_scopes_restore_after_exceptions_and_nest_in_themselves() -> None:
    with pytest.raises(ZeroDivisionError), autograd.record():
        raise ZeroDivisionError
    assert flags() == (False, False)
    scope = autograd.record()
    with scope, autograd.pause(), scope:
        assert flags() == (True, True)
    assert flags() == (False, False)


def test_setters_return_what_was() -> None:
    assert autograd.set_recording(True) is False and autograd.set_recording(False) is True
    assert autograd.set_training(True) is False and autograd.set_training(False) is True


def test_flags_belong_to_the_thread() -> None:
    seen = []
    with autograd.record():
        thread = threading.Thread(target=lambda: seen.append(flags()))
        thread.start()
        thread.join()
    assert seen == [(False, False)]


def test_signatures() -> None:
    for name, wanted in {
        "record": ["train_mode"],
        "pause": ["train_mode"],
        "backward": ["heads", "head_grads", "retain_graph", "train_mode"],
        "grad": ["heads", "variables", "head_grads", "retain_graph", "create_graph", "train_mode"],
        "mark_variables": ["variables", "gradients", "grad_reqs"],
        "set_recording": ["is_recording"],
        "set_training": ["train_mode"],
    }.items():
        assert list(inspect.signature(getattr(autograd, name)).parameters)[: len(wanted)] == wanted
    assert list(inspect.signature(nd.NDArray.backward).parameters)[:4] == [
        "self",
        "out_grad",
        "retain_graph",
        "train_mode",
    ]
    assert list(inspect.signature(nd.NDArray.attach_grad).parameters) == ["self", "grad_req", "stype"]


# ---- backward ----


def test_backward() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
    assert x._fresh_grad == 0 and y.grad is None
    y.backward()
    assert listed(x.grad) == [2, 4, 6] and x._fresh_grad == 1
    x._fresh_grad = 0
    assert x._fresh_grad == 0
    assert x.grad is not x.grad
    x.grad[:] = 5
    assert listed(x.grad) == [5, 5, 5]


def test_goes_through_the_c_api() -> None:
    """NDArray.backward is MXAutogradBackwardEx, whatever the binding."""
    called = []
    real = mx.base._LIB.MXAutogradBackwardEx
    x = leaf()
    with autograd.record():
        y = x * 2
    try:
        mx.base._LIB.MXAutogradBackwardEx = lambda *args: called.append(args) or real(*args)
        y.backward(nd.array([1, 2, 3]), True, False)
        y.backward()
    finally:
        mx.base._LIB.MXAutogradBackwardEx = real
    assert [(args[0], args[3], args[5:8]) for args in called] == [(1, 0, (True, 0, False)), (1, 0, (False, 0, True))]
    assert listed(x.grad) == [2, 2, 2]


def test_backward_of_a_leaf() -> None:
    x = leaf()
    x.backward()
    assert listed(x.grad) == [1, 1, 1]


def test_head_gradients() -> None:
    x = leaf()
    with autograd.record():
        y, z = x * x, x * 3
    y.backward(nd.array([1, 10, 100]), retain_graph=True)
    assert listed(x.grad) == [2, 40, 600]
    autograd.backward([y, z], [None, nd.array([1, 10, 100])], retain_graph=True)
    assert listed(x.grad) == [5, 34, 306]
    autograd.backward([y, y], retain_graph=True)
    assert listed(x.grad) == [4, 8, 12], "a head that is listed twice counts twice"
    y.backward(nd.array([[1], [10], [100]]), retain_graph=True)
    assert listed(x.grad) == [2, 40, 600], "as many elements in another shape"
    autograd.backward([y, y], retain_graph=True)
    for wrong in (nd.array([1, 2]), nd.array([[1, 2]], dtype="float64")):
        with pytest.raises(mx.MXNetError):
            y.backward(wrong)
        assert listed(x.grad) == [4, 8, 12]
    for wrong in (
        lambda: autograd.backward([y, z], [None]),
        lambda: autograd.backward([y], [None, None]),
    ):
        with pytest.raises(ValueError, match=r"there are \d heads and \d head_grads"):
            wrong()
    with pytest.raises(mx.MXNetError):
        autograd.backward([])
    for wrong in (lambda: autograd.backward([1]), lambda: y.backward(5), lambda: autograd.backward(y, [2])):
        with pytest.raises(TypeError):
            wrong()
    y.backward()


FROZEN = {
    "computed": lambda f: f * f,
    "with a constant": lambda f: (f * nd.ones((3,))).sum() + 1,
    "view": lambda f: f[0:2],
    "itself": lambda f: f,
    "not differentiable": lambda f: f > 1,
    "written": lambda f: nd.square(f, out=nd.zeros((3,))),
    "assigned": lambda f: assigned(f * 2),
    "function": lambda f: Doubled()(f),
}


class Doubled(autograd.Function):
    def forward(self, x: nd.NDArray) -> nd.NDArray:
        return x * 2

    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        return dy * 2


def assigned(value: nd.NDArray) -> nd.NDArray:
    array = nd.zeros(value.shape)
    array[:] = value
    return array


@pytest.mark.parametrize("name", FROZEN)
@pytest.mark.parametrize("place", [0, 1])
def test_frozen_heads_add_nothing(name: str, place: int) -> None:
    x, f = leaf(), leaf((4, 5, 6), "null")
    with autograd.record():
        heads = [x * x]
        heads.insert(place, FROZEN[name](f))
    for _ in range(2):
        autograd.backward(heads, retain_graph=True)
        assert x.grad.asnumpy().tolist() == [2, 4, 6] and f.grad.asnumpy().tolist() == [0, 0, 0]
    (grad,) = autograd.grad(heads, [x])
    assert grad.asnumpy().tolist() == [2, 4, 6]
    with pytest.raises(mx.MXNetError, match="nothing that the heads were computed from wants a gradient"):
        heads[place].backward()
    with pytest.raises(mx.MXNetError, match="variable 0 is not reached"):
        autograd.grad(heads[place], [x])


def test_constant_heads_are_refused() -> None:
    x, f, c = leaf(), leaf((4, 5, 6), "null"), nd.ones((3,))
    with autograd.record():
        y = x * x
        constants = [c, c * c, (f * c).detach(), f.detach() * c]
        with autograd.pause():
            constants.append(f * c)
    for constant in constants:
        with pytest.raises(mx.MXNetError, match="head 1 is not in a recorded graph"):
            autograd.backward([y, constant])
    assert x.grad.asnumpy().tolist() == [0, 0, 0]


def test_flags_during_and_after_backward() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
        y.backward(train_mode=False)
        assert flags() == (True, True)
    assert listed(x.grad) == [2, 4, 6]


def test_heads_outside_any_graph() -> None:
    x, c = leaf(), nd.ones((3,))
    outside = x * 2
    with autograd.record():
        y, nothing = x * 2, c * 2
    for wrong in (c, outside, nothing):
        with pytest.raises(mx.MXNetError, match="record"):
            wrong.backward()
    with pytest.raises(mx.MXNetError):
        autograd.backward([y, outside])
    assert listed(x.grad) == [0, 0, 0] and x._fresh_grad == 0
    y.backward()


def test_second_backward() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(mx.MXNetError):
        y.backward()
    assert listed(x.grad) == [2, 4, 6]


def test_used_many_times() -> None:
    x = leaf()
    with autograd.record():
        y = x * x + x * 3 - x / 2 + nd.exp(x) * x
    y.backward()
    a = np.array([1.0, 2, 3])
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * a + 2.5 + np.exp(a) * (1 + a), rtol=1e-6)


@pytest.mark.parametrize("count", [15, 16, 17, 31, 32, 33, 64, 128, 1000])
def test_many_terms_of_which_one_comes_twice(count: int) -> None:
    """A term gets its second gradient while it waits among as many others as the list of ready nodes has room for."""
    x = nd.ones(3)
    x.attach_grad()
    with autograd.record():
        terms = [x * (i + 1) for i in range(count)]
        y = nd.add_n(*terms, terms[0])
    y.backward()
    assert x.grad.asnumpy().tolist() == [count * (count + 1) // 2 + 1] * 3


def test_integer_leaves() -> None:
    x = leaf((1, 2), dtype="int32")
    with autograd.record():
        y = x * x
    y.backward()
    assert x.grad.dtype == np.int32 and listed(x.grad) == [2, 4]


# ---- variables ----


def test_requests() -> None:
    x = leaf(request="add")
    for _ in range(2):
        with autograd.record():
            y = x * x
        y.backward()
    assert listed(x.grad) == [4, 8, 12]
    with pytest.raises(KeyError):
        x.attach_grad("foo")
    with pytest.raises(ValueError, match="foo"):
        x.attach_grad(stype="foo")
    with pytest.raises(mx.MXNetError, match="csr has 2, not 1 dimensions"):
        x.attach_grad(stype="csr")
    quiet, w = leaf(request="null"), leaf()
    with autograd.record():
        y = quiet * w
    y.backward()
    assert listed(w.grad) == [1, 2, 3]
    with autograd.record():
        y = quiet * quiet
    with pytest.raises(mx.MXNetError):
        y.backward()


def test_unreached_variables_keep_their_gradient() -> None:
    x, w = leaf(), leaf()
    w.grad[:] = 7
    with autograd.record():
        y = x * 2
    y.backward()
    assert listed(w.grad) == [7, 7, 7] and (x._fresh_grad, w._fresh_grad) == (1, 0)


def test_attach_grad_again() -> None:
    """A variable is its array: an older graph leads to the buffer that the array has now."""
    x = leaf()
    with autograd.record():
        y = x * x
    old = x.grad
    x.attach_grad()
    assert listed(x.grad) == [0, 0, 0]
    y.backward()
    assert listed(x.grad) == [2, 4, 6] and listed(old) == [0, 0, 0]


def test_attach_grad_cuts_the_graph() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
        y.attach_grad()
        z = y * 3
    z.backward()
    assert listed(x.grad) == [0, 0, 0] and listed(y.grad) == [3, 3, 3]


def test_mark_variables() -> None:
    x, w = nd.array([1, 2, 3]), nd.array([4, 5, 6])
    gx, gw = nd.ones((3,)), nd.ones((3,))
    autograd.mark_variables([x, w], [gx, gw], ["write", "add"])
    with autograd.record():
        y = x * w
    y.backward()
    assert listed(gx) == [4, 5, 6] and listed(gw) == [2, 3, 4] and listed(x.grad) == [4, 5, 6]
    autograd.mark_variables(x, gx, "add")
    for wrong in (
        lambda: autograd.mark_variables([x], [gx, gw]),
        lambda: autograd.mark_variables([x], [gx], ["add"] * 2),
    ):
        with pytest.raises(ValueError):
            wrong()
    for bad in (nd.ones((2,)), nd.ones((3,), dtype="float64")):
        with pytest.raises(mx.MXNetError):
            autograd.mark_variables(w, bad)
    with pytest.raises(KeyError):
        autograd.mark_variables(x, gx, "foo")


def test_detach_and_copy() -> None:
    x = leaf()
    with autograd.record():
        y = (x * x).detach() * x
        z = x.copy() * 2
    y.backward()
    assert listed(x.grad) == [1, 4, 9]
    z.backward()
    assert listed(x.grad) == [2, 2, 2]
    assert x.detach().grad is None and x.copy().grad is None
    x.detach()[:] = 9
    assert listed(x) == [9, 9, 9]
    with autograd.record():
        y = nd.BlockGrad(x * x) * x
    y.backward()
    assert listed(x.grad) == [81, 81, 81]


# ---- grad ----


def test_grad() -> None:
    x, w = leaf(), leaf((4, 5, 6), "add")
    with autograd.record():
        y = x * x * w
    gx, gw = autograd.grad(y, [x, w], retain_graph=True)
    assert listed(gx) == [8, 20, 36] and listed(gw) == [1, 4, 9]
    assert listed(x.grad) == listed(w.grad) == [0, 0, 0] and x._fresh_grad == 0
    (only,) = autograd.grad([y], x, head_grads=nd.array([1, 10, 100]))
    assert listed(only) == [8, 200, 3600]
    with pytest.raises(mx.MXNetError):
        autograd.grad(y, x)


def test_grad_errors() -> None:
    x, other, plain = leaf(), leaf(), nd.ones((3,))
    with autograd.record():
        y = x * x
    for wrong in (other, plain):
        with pytest.raises(mx.MXNetError):
            autograd.grad(y, [x, wrong], retain_graph=True)
    with pytest.raises(ValueError, match="no variables to differentiate by"):
        autograd.grad(y, [])
    with pytest.raises(TypeError):
        autograd.grad(y, [3])
    assert listed(autograd.grad(y, x)[0]) == [2, 4, 6]


def test_grad_of_grad() -> None:
    x = leaf()
    with autograd.record():
        y = x * x * x * x
        first = autograd.grad(y, x, create_graph=True)[0]
        second = autograd.grad(first, x, create_graph=True)[0]
        third = autograd.grad(second, x, create_graph=True)[0]
    third.backward()
    a = np.array([1.0, 2, 3])
    np.testing.assert_allclose(first.asnumpy(), 4 * a**3)
    np.testing.assert_allclose(second.asnumpy(), 12 * a**2)
    np.testing.assert_allclose(third.asnumpy(), 24 * a)
    np.testing.assert_allclose(x.grad.asnumpy(), [24, 24, 24])


def test_create_graph_outside_record() -> None:
    x = leaf()
    with autograd.record():
        y = nd.tanh(x)
    first = autograd.grad(y, x, create_graph=True)[0]
    assert not autograd.is_recording()
    with autograd.record():
        total = (first * first).sum()
    total.backward()
    t = np.tanh(np.array([1.0, 2, 3]))
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * (1 - t * t) * -2 * t * (1 - t * t), rtol=1e-4, atol=1e-7)


def test_get_symbol() -> None:
    x, w, c = nd.array([[1.0, 2, 3]]), nd.array([[0.5, 1, -1], [2, 0, 1]]), nd.array([[3.0, 4]])
    x.attach_grad()
    w.attach_grad()
    with autograd.record():
        y = nd.FullyConnected(x, w, num_hidden=2, no_bias=True)
        z = (nd.tanh(y) * c + x[:, 1:3] * 2 + y).sum(axis=1)
        first, second = nd.split(y, 2, axis=1)
    symbol = autograd.get_symbol(z)
    assert symbol.list_arguments() == ["var0", "var1", "null2"] and symbol.list_auxiliary_states() == []
    assert symbol.eval(var0=x, var1=w, null2=c)[0].asnumpy() == z.asnumpy()
    assert autograd.get_symbol(x).list_outputs() == ["var0"]
    assert autograd.get_symbol(second).list_outputs()[0].endswith("_output1")
    with autograd.record():
        parts = (w[0:1] * 2) + x
    assert mx.sym.load_json(autograd.get_symbol(parts).tojson()).list_arguments() == ["var0", "var1"]
    z.backward()
    for wrong in (z, c):
        with pytest.raises(mx.MXNetError, match="not part of a recorded graph"):
            autograd.get_symbol(wrong)


def test_get_symbol_of_keys() -> None:
    """Index arrays and masks of a key are variables; the symbol is saved, loaded, and run with others."""
    x, index = nd.array(np.arange(12.0).reshape(3, 4)), nd.array([1, 0], dtype="int32")
    masks = [nd.array(values).astype("bool") for values in ([1, 0, 1], [0, 1, 1])]
    x.attach_grad()
    keys = [((masks[0],), (masks[1],)), ((index,), (index + 1,)), ((index, index), (index, index + 1))]
    for arrays, others in [*keys, ((masks[0], index), (masks[1], index + 1))]:
        with autograd.record():
            y = x[arrays] * 2
        loaded = mx.sym.load_json(autograd.get_symbol(y).tojson())
        names = loaded.list_arguments()
        assert len(names) == 1 + len(arrays)
        assert loaded.infer_type(**dict(zip(names, ["float32", *(each.dtype for each in arrays)])))[1] == [np.float32]
        for given in (arrays, others):
            (got,) = loaded.eval(**dict(zip(names, [x, *given])))
            np.testing.assert_array_equal(got.asnumpy(), x.asnumpy()[tuple(each.asnumpy() for each in given)] * 2)


def test_get_symbol_of_long_chains_and_of_functions() -> None:
    class Twice(autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, dy):
            return dy * 2

    x = leaf()
    with autograd.record():
        y = z = x
        for _ in range(3000):
            y = y + x
        z = Twice()(z)
    assert autograd.get_symbol(y).list_outputs() == ["node_2999_output"]
    with pytest.raises(mx.MXNetError, match="a function of the caller's"):
        autograd.get_symbol(z)


# ---- hidden state and release ----


@pytest.mark.parametrize("retain", [False, True])
def test_hidden_state_is_carried(retain: bool) -> None:
    """Batches recorded one after another: after backward without retain_graph the old state is a constant."""
    w = leaf((4, 5, 6))
    h = nd.ones((3,))
    seen = []
    for _ in range(3):
        with autograd.record():
            h = h * w
            loss = h.sum()
        loss.backward(retain_graph=retain)
        seen.append(listed(w.grad))
    a = np.array([4.0, 5, 6])
    assert seen == (
        [[1, 1, 1], (2 * a).tolist(), (3 * a**2).tolist()] if retain else [[1, 1, 1], a.tolist(), (a * a).tolist()]
    )


def test_edges_recorded_before_a_release() -> None:
    x, w = leaf(), leaf()
    with autograd.record():
        h = x * x
        first, second = h * 2, h * w
    first.backward()
    with pytest.raises(mx.MXNetError):
        second.backward()
    assert listed(x.grad) == [4, 8, 12] and listed(w.grad) == [0, 0, 0]
    with autograd.record():
        third = h * w
    third.backward()
    assert listed(w.grad) == [1, 4, 9] and listed(x.grad) == [4, 8, 12]


# ---- length, threads ----


def test_long_chain() -> None:
    """100,000 operators record, run backward and are released without deep stacks."""
    x = leaf()
    with autograd.record():
        y = x
        for _ in range(100_000):
            y = y + 1
    y.backward()
    assert listed(x.grad) == [1, 1, 1]
    with autograd.record():
        y = x
        for _ in range(100_000):
            y = y + 1
    del y


def test_threads_share_leaves() -> None:
    """Gradients that several threads add to one variable are all there."""
    x = leaf(request="add")
    failures = []

    def work() -> None:
        try:
            for _ in range(200):
                with autograd.record():
                    y = (x * 2 + 1).sum()
                y.backward()
        except Exception as problem:  # noqa: BLE001
            failures.append(problem)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and listed(x.grad) == [1600, 1600, 1600]


def test_dropout_uses_its_mask() -> None:
    x = nd.ones((1000,))
    x.attach_grad()
    with autograd.record():
        y = nd.Dropout(x, p=0.5)
    y.backward(train_mode=False)
    assert listed(x.grad) == listed(y) and set(listed(x.grad)) == {0, 2}
    with autograd.record(train_mode=False):
        y = nd.Dropout(x, p=0.5)
    y.backward()
    assert set(listed(x.grad)) == {1}
