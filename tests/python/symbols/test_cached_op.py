"""mx.nd.CachedOp by itself (the cases of cached_ops.py have it beside 1.9.1), and copies of what has a handle."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any, Callable

import pytest

import mxlite as mx


def _square() -> Any:
    return mx.sym.var("a") ** 2


def test_a_second_derivative() -> None:
    call, x = mx.nd.CachedOp(mx.sym.var("a") ** 3), mx.nd.array([1, 2, 3])
    x.attach_grad()
    with mx.autograd.record():
        (first,) = mx.autograd.grad(call(x), [x], create_graph=True)
    first.backward()
    assert first.asnumpy().tolist() == [3, 12, 27] and x.grad.asnumpy().tolist() == [6, 12, 18]


def test_an_exception_of_a_hook_is_the_calls() -> None:
    call, x = mx.nd.CachedOp(_square()), mx.nd.ones(2)

    def hook(name: bytes, operator: bytes, handle: int) -> None:
        mx.nd.NDArray(handle)
        raise KeyError("mine")

    call._register_op_hook(hook)
    for out in (None, mx.nd.zeros(2)):
        with pytest.raises(KeyError, match="mine"):
            call(x, out=out)
    call._register_op_hook(lambda name, operator, handle: mx.nd.NDArray(handle))
    assert call(x).asnumpy().tolist() == [1, 1]


@pytest.mark.parametrize("flags", [(), [("static_alloc", True)]])
def test_graphs_of_no_operator_and_of_no_input(flags: Any) -> None:
    x = mx.nd.array([1, 2])
    x.attach_grad()
    with mx.autograd.record():
        made = mx.nd.CachedOp(mx.sym.var("a"), flags)(x)
    made.backward()
    assert made.asnumpy().tolist() == [1, 2] and x.grad.asnumpy().tolist() == [1, 1]
    assert mx.nd.CachedOp(mx.sym.ones((2, 1)), flags)().asnumpy().tolist() == [[1], [1]]


def test_a_refused_call_writes_nothing() -> None:
    a, x, out = mx.sym.var("a"), mx.nd.ones(3), mx.nd.full((4,), 7)
    call = mx.nd.CachedOp(a + 1)
    for given in (out, [out], [out, out], [x, "out"]):
        with pytest.raises((mx.MXNetError, TypeError)):
            call(x, out=given)
    assert out.asnumpy().tolist() == [7] * 4 and x.asnumpy().tolist() == [1] * 3
    with pytest.raises(TypeError, match="a CachedOp takes NDArrays, got Symbol"):
        call(a)


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        (("static_alloc", 2), "static_alloc is True or False, not '2'"),
        (("is_dynamic", ""), "is_dynamic is True or False, not ''"),
        (("inline_limit", 2.5), "inline_limit is an integer, not '2.5'"),
        (("data_indices", "x"), "data_indices is a tuple of integers, not 'x'"),
        (("static_aloc", True), "there is no flag static_aloc"),
    ],
)
def test_flags_say_what_they_are(flag: tuple[str, Any], message: str) -> None:
    with pytest.raises(mx.MXNetError, match=message):
        mx.nd.CachedOp(_square(), [flag])


@pytest.mark.parametrize("flag", [("static_alloc", "TRUE"), ("inline_limit", " -1 "), ("data_indices", (0, 2))])
def test_spellings_of_flags(flag: tuple[str, Any]) -> None:
    assert mx.nd.CachedOp(_square(), [flag])(mx.nd.array([3])).asscalar() == 9


def test_threads_share_one() -> None:
    call = mx.nd.CachedOp(_square(), [("static_alloc", True), ("static_shape", True)])
    wrong: list[int] = []

    def run(number: int) -> None:
        for size in range(1, 100):
            if (call(mx.nd.full((size,), number)).asnumpy() != number**2).any():
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []


def test_the_symbol_may_go() -> None:
    graph = _square()
    call, handle = mx.nd.CachedOp(graph), graph.handle
    del graph
    assert handle and call(mx.nd.array([5])).asscalar() == 25


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_what_has_a_handle_has_no_copies(make: Callable[[Any], Any]) -> None:
    """Two owners would free it twice."""
    executor = _square().simple_bind(mx.cpu(), a=(2,))
    for each in (mx.nd.CachedOp(_square()), executor):
        with pytest.raises(TypeError, match=f"{type(each).__name__} holds a handle of the library"):
            make(each)
    assert executor.forward(a=mx.nd.array([1, 2]))[0].asnumpy().tolist() == [1, 4]
    assert make(_square()) is not None
