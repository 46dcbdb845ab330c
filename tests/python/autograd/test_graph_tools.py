"""checkpoint, saved_tensors_hooks, detect_anomaly, gradcheck, autograd.functional: for NDArrays."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from conftest import live_bytes

import mxlite as mx
from mxlite import autograd, nd
from mxlite.autograd import functional
from mxlite.error import MXNetError


def leaf(values=(1, 2, 3), dtype: str = "float64") -> nd.NDArray:
    return nd.array(values, dtype=dtype).requires_grad_()


def listed(array: nd.NDArray) -> list:
    return array.asnumpy().tolist()


# ---- saved_tensors_hooks ----


def test_saved_values_go_through_the_hooks() -> None:
    x, log = leaf(), []

    def pack(array: nd.NDArray) -> tuple:
        log.append(("pack", listed(array), array.grad_fn, autograd.is_recording()))
        return ("packed", array.asnumpy())

    def unpack(packed: tuple) -> nd.NDArray:
        log.append(("unpack", packed[0]))
        return nd.array(packed[1], dtype="float64")

    with autograd.record():
        with autograd.saved_tensors_hooks(pack, unpack):
            y = nd.exp(x * 0)
        z = y * y  # outside: not packed
    assert log == [("pack", [1, 1, 1], None, False)]
    z.backward()
    assert log[1:] == [("unpack", "packed")] and listed(x.grad) == [0, 0, 0]


def test_hooks_see_what_functions_save() -> None:
    class Square(autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * x * grad

    x, log = leaf(), []
    with autograd.saved_tensors_hooks(lambda array: log.append(1) or array * 10, lambda packed: packed):
        with autograd.record():
            y = Square.apply(x)
    y.backward()
    assert log == [1] and listed(x.grad) == [20, 40, 60]


def test_the_innermost_hooks_hold_and_failures_arrive() -> None:
    x, log = leaf(), []

    def hooks(name: str) -> autograd.saved_tensors_hooks:
        return autograd.saved_tensors_hooks(lambda array: log.append(name) or array, lambda array: array)

    with autograd.record(), hooks("outer"):
        with hooks("inner"):
            nd.exp(x)
        nd.exp(x)
    assert log == ["inner", "outer"]
    with autograd.record(), autograd.saved_tensors_hooks(lambda array: 1 / 0, lambda array: array):
        with pytest.raises(MXNetError, match="ZeroDivisionError"):
            nd.exp(x)
    with autograd.record(), autograd.saved_tensors_hooks(lambda array: 5, lambda packed: packed):
        y = nd.exp(x)
    with pytest.raises(MXNetError, match="unpack must return an array, it returned int"):
        y.backward()


# ---- checkpoint ----


def test_checkpoint_computes_again() -> None:
    x, w, calls = leaf(), leaf((2, 2, 2)), []

    def part(a: nd.NDArray, times: float) -> nd.NDArray:
        calls.append(autograd.is_training())
        return nd.exp(a * w) * times  # w is no argument

    def run(way) -> list:
        x.grad = w.grad = None
        with autograd.record():
            y = way(part, x * 1, 2.0).sum()
        y.backward()
        return [listed(x.grad), listed(w.grad)]

    expected = run(lambda fn, *args: fn(*args))
    assert calls == [True]
    assert run(autograd.checkpoint) == expected
    assert calls == [True] * 3
    assert part(x, 1.0).grad_fn is None and autograd.checkpoint(part, x, 1.0).grad_fn is None


def test_checkpoint_keeps_less() -> None:
    def part(a: nd.NDArray) -> nd.NDArray:
        for _ in range(10):
            a = nd.exp(a * 1e-3)
        return a

    def grown(way) -> int:
        x = nd.ones((4096,)).requires_grad_()
        before = live_bytes()
        with autograd.record():
            y = way(part, x)
        kept = live_bytes() - before
        y.backward()
        return kept

    assert grown(autograd.checkpoint) < grown(lambda fn, *args: fn(*args)) / 3


def test_checkpoint_draws_the_same_numbers() -> None:
    x, drawn = leaf((1.0,) * 50), []

    def part(a: nd.NDArray) -> nd.NDArray:
        mask = nd.random.uniform(shape=(50,), dtype="float64")
        drawn.append(listed(mask))
        return nd.exp(a * mask)

    mx.random.seed(7)
    with autograd.record():
        y = autograd.checkpoint(part, x)
    after = listed(nd.random.uniform(shape=(3,)))
    y.backward()
    assert drawn[0] == drawn[1] and listed(nd.random.uniform(shape=(3,))) != after
    np.testing.assert_allclose(x.grad.asnumpy(), np.array(drawn[0]) * y.asnumpy(), 1e-12)
    with autograd.record():
        y = autograd.checkpoint(part, x, preserve_rng_state=False)
    y.backward()
    assert drawn[2] != drawn[3]


def test_checkpoint_with_grad_retained_graphs_and_second_order() -> None:
    x, calls = leaf(), []

    def part(a: nd.NDArray) -> nd.NDArray:
        calls.append(1)
        return a * a * a

    with autograd.record():
        y = autograd.checkpoint(part, x)
    for _ in range(2):  # once for each backward
        (grad,) = autograd.grad(y, [x], retain_graph=True)
        assert listed(grad) == [3, 12, 27]
    assert len(calls) == 3
    with autograd.record():
        y = autograd.checkpoint(part, x)
        (first,) = autograd.grad(y, [x], create_graph=True)
    (second,) = autograd.grad(first, [x])
    assert listed(second) == [6, 12, 18]


def test_checkpoint_within_checkpoint() -> None:
    x = leaf((0.1, 0.2, 0.3))

    def inner(a: nd.NDArray) -> nd.NDArray:
        return nd.sin(a) * a

    def outer(a: nd.NDArray) -> nd.NDArray:
        return nd.exp(autograd.checkpoint(inner, nd.tanh(a)))

    grads = []
    for way in (outer, lambda a: autograd.checkpoint(outer, a)):
        x.grad = None
        with autograd.record():
            y = way(x)
        y.backward()
        grads.append(x.grad.asnumpy())
    np.testing.assert_allclose(*grads, 1e-14)


def test_what_checkpoint_refuses() -> None:
    x, switch = leaf(), []

    def changing(a: nd.NDArray) -> nd.NDArray:
        switch.append(1)
        return nd.exp(nd.exp(a)) if len(switch) == 1 else nd.exp(a)

    with autograd.record():
        y = autograd.checkpoint(changing, x)
    with pytest.raises(MXNetError, match="saved 2 arrays when it was first run, and 1"):
        y.backward()
    c = nd.ones((3,), dtype="float64")
    with autograd.record():
        y = autograd.checkpoint(lambda a, b: nd.exp(a * b), x, c)
    c[0] = 5
    with pytest.raises(MXNetError, match="an argument was written to"):
        y.backward()


# ---- detect_anomaly ----


def test_anomaly_in_a_result() -> None:
    x = leaf((1, 0, 3))
    with autograd.record(), autograd.detect_anomaly():
        with pytest.raises(
            MXNetError, match=r"log \(LogBackward0\) made a NaN or an infinity .*\(1,\).*test_graph_"
        ) as e:
            nd.log(x)  # this line
    assert "nd.log(x)  # this line" in str(e.value)
    with autograd.record(), autograd.detect_anomaly("nan"):
        assert listed(nd.log(x))[1] == float("-inf")
        with pytest.raises(MXNetError, match="made NaN"):
            nd.sqrt(x - 2)


def test_anomaly_in_backward() -> None:
    x = leaf((0, 1))
    with autograd.record(), autograd.detect_anomaly():
        y = nd.sqrt(x)  # the culprit
        z = y * 2
        with pytest.raises(MXNetError, match=r"sqrt.*input 0.*recorded at .*in test_anomaly_in_backward") as e:
            z.backward()
    assert "y = nd.sqrt(x)  # the culprit" in str(e.value)
    with autograd.record():
        y = nd.sqrt(x)
    with autograd.detect_anomaly(), pytest.raises(MXNetError, match="recorded before detect_anomaly"):
        autograd.backward(y, retain_graph=True)
    y.backward()
    assert listed(x.grad)[0] == float("inf")


def test_anomaly_keeps_places_and_ends() -> None:
    x = leaf((0, 1))
    with autograd.record():
        with autograd.detect_anomaly(None):
            y = nd.log(x)
            with autograd.detect_anomaly():
                pass
            y = nd.log(x)
        z = nd.log(x)
    path, _, name = y.grad_fn.metadata["traceback_"][0]
    assert path == __file__ and name == "test_anomaly_keeps_places_and_ends"
    assert z.grad_fn.metadata == {}
    with pytest.raises(ValueError, match="detect_anomaly"):
        autograd.detect_anomaly("all")


# ---- gradcheck ----


def test_gradcheck_agrees_and_finds_mistakes() -> None:
    x, w = leaf((0.5, 1.5)), leaf((2.0, 0.3))
    assert autograd.gradcheck(lambda a, b: (nd.sin(a) * b, a / b), (x, w))
    assert autograd.gradgradcheck(lambda a, b: nd.exp(a) * b, (x, w))

    class Wrong(autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, grad):
            (a,) = ctx.saved_tensors
            return a * grad

    with pytest.raises(autograd.GradcheckError, match="output 0 with respect to input 0"):
        autograd.gradcheck(Wrong.apply, x)
    assert not autograd.gradcheck(Wrong.apply, x, raise_exception=False)
    with pytest.raises(autograd.GradcheckError):
        autograd.gradgradcheck(lambda a: Wrong.apply(a) * a, x)
    with pytest.raises(ValueError, match="at least one input must require a gradient"):
        autograd.gradcheck(nd.exp, nd.array([1.0]))
    with pytest.warns(UserWarning, match="not of double precision"):
        autograd.gradcheck(lambda a: a * 1, leaf((1.0,), "float32"), eps=1e-2)


def test_gradcheck_of_what_the_function_reads_where_it_is() -> None:
    x, w = leaf((0.5, 1.5)), leaf((2.0, 0.3))
    assert autograd.gradcheck(lambda *_: nd.sin(x) * w, (x, w))
    assert autograd.gradgradcheck(lambda *_: nd.exp(x) * w, (x, w), gen_non_contig_grad_outputs=True)
    assert autograd.gradgradcheck(lambda a: (a * a * a).sum(), x)
    assert autograd.gradgradcheck(lambda a: a * a * a, x, nd.array([1.0, 2.0]))  # float32
    assert listed(x) == [0.5, 1.5]


# ---- functional ----


def cubes(a: nd.NDArray) -> nd.NDArray:
    return (a * a * a).sum()


def test_products_with_jacobians() -> None:
    x, v = leaf((1, 2)), nd.array([10, 1], dtype="float64")
    output, found = functional.vjp(lambda a: a * a, x, v)
    assert listed(output) == [1, 4] and listed(found) == [20, 4]
    output, found = functional.jvp(lambda a: (a * a, a.sum()), x, v)
    assert [listed(each) for each in output] == [[1, 4], [3]]
    assert [listed(each) for each in found] == [[20, 4], [11]]
    assert found[0].grad_fn is None and x.grad is None


def test_products_with_hessians() -> None:
    x, v = leaf((1, 2)), nd.array([10, 1], dtype="float64")
    for function in (functional.hvp, functional.vhp):
        output, found = function(cubes, x, v)
        assert listed(output) == [9] and listed(found) == [60, 12]
    _, (one, two) = functional.hvp(lambda a, b: (a * b).sum(), (x, v), (v, x))
    assert listed(one) == [1, 2] and listed(two) == [10, 1]


def test_jacobian_and_hessian() -> None:
    x, w = leaf((1, 2)), leaf((3, 4))
    assert listed(functional.jacobian(lambda a: a * a, x)) == [[2, 0], [0, 4]]
    rows = functional.jacobian(lambda a, b: (a * b, a.sum()), (x, w))
    assert [[listed(each) for each in row] for row in rows] == [
        [[[3, 0], [0, 4]], [[1, 0], [0, 2]]],
        [[[1, 1]], [[0, 0]]],
    ]
    assert listed(functional.hessian(cubes, x)) == [[6, 0], [0, 12]]
    blocks = functional.hessian(lambda a, b: (a * b * b).sum(), (x, w))
    assert [[listed(each) for each in row] for row in blocks] == [
        [[[0, 0], [0, 0]], [[6, 0], [0, 8]]],
        [[[6, 0], [0, 8]], [[2, 0], [0, 4]]],
    ]


def test_derivatives_can_be_differentiated() -> None:
    x = leaf((1, 2))
    with autograd.record():
        hessian = functional.hessian(cubes, x, create_graph=True)
        total = hessian.sum()
    total.backward()
    assert listed(x.grad) == [6, 6]


def test_what_functional_refuses() -> None:
    x = leaf()
    with pytest.raises(MXNetError, match="v can be left out"):
        functional.vjp(lambda a: a * 2, x)
    with pytest.raises(MXNetError, match="v has shapes"):
        functional.vjp(lambda a: a * 2, x, nd.ones((2,), dtype="float64"))
    with pytest.raises(MXNetError, match="one array of one element"):
        functional.hessian(lambda a: a * 2, x)
    with pytest.raises(TypeError, match="must return arrays"):
        functional.jacobian(lambda a: 5, x)
    with pytest.raises(TypeError, match="inputs must be arrays"):
        functional.jacobian(lambda a: a, 5)
    with pytest.raises(MXNetError, match="jacobian: no output depends on input 0"):
        functional.jacobian(lambda a: nd.ones((1,), dtype="float64"), x, strict=True)
    with pytest.raises(MXNetError, match="jvp: output 0 depends on no input"):
        functional.jvp(lambda a: nd.ones((1,), dtype="float64"), x, nd.ones((3,), dtype="float64"), strict=True)
    assert listed(functional.jacobian(lambda a: nd.ones((1,), dtype="float64"), x)) == [[0, 0, 0]]


def test_nothing_is_left_of_it_all() -> None:
    x = leaf((1, 2))
    with autograd.record(), autograd.detect_anomaly():
        y = autograd.checkpoint(lambda a: nd.exp(a), x)
    y.grad_fn.metadata["me"] = y  # a cycle that Python's collector cannot see through the library
    y.grad_fn.metadata.clear()
    del y
    gc.collect()


# ---- the same for tensors ----


def test_the_tools_of_tensors() -> None:
    import mxlite.torch as torch

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.functional.jacobian(lambda a: a * a, x).tolist() == [[2, 0], [0, 4]]
    assert torch.autograd.functional.hessian(lambda a: (a * a * a).sum(), x).tolist() == [[6, 0], [0, 12]]
    log = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: log.append("pack") or t.tolist(), torch.tensor):
        y = x.exp()
    with pytest.raises(RuntimeError):
        y.sum().backward()  # torch.tensor makes float32 of lists
    assert log == ["pack"]
