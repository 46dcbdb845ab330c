"""Small calls: what `hot.direct` makes in C does what its Python function does, and nothing else.

Over ctypes the Python functions run themselves; the tests hold for both bindings.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import inspect
import operator
import pickle
import pydoc
import sys
import threading
import weakref
from typing import Any, Callable

import numpy as np
import pytest
from _small_calls import BINARY, IN_PLACE, OTHERS, REFLECTED, Foreign, arrays, of_class, outcome, tensors

import mxlite as mx
import mxlite.torch as torch
from mxlite import _lib, nd


@pytest.mark.parametrize("make", [arrays, tensors])
@pytest.mark.parametrize("name", [*BINARY, *REFLECTED, *IN_PLACE, "neg", "abs"])
def test_operators_are_their_definitions(make: Callable, name: str) -> None:
    count = len(make())
    for position in range(count):
        method = getattr(type(make()[position]), f"__{name}__", None)
        if method is None:
            continue
        definition = getattr(method, "__wrapped__", method)
        if name in ("neg", "abs"):
            assert outcome(method, make()[position]) == outcome(definition, make()[position])
            assert outcome(method, make()[position], 1)[0] is TypeError
            continue
        for number, _ in enumerate(OTHERS):
            found = (outcome(each, make()[position], OTHERS[number]) for each in (method, definition))
            assert next(found) == next(found), (position, OTHERS[number])
        for other in range(count):
            results = []
            for each in (method, definition):
                operands = make()
                results.append(outcome(each, operands[position], operands[other]))
            assert results[0] == results[1], (position, other)


# ---- Python's protocol ----


@pytest.mark.parametrize("base", [nd.NDArray, torch.Tensor])
def test_subclasses_override_operators(base: type) -> None:
    class Sub(base):
        def __add__(self, other: Any) -> Any:
            return "add", base.__add__(self, other).sum()

        def __radd__(self, other: Any) -> Any:
            return "radd"

        def __getitem__(self, key: Any) -> Any:
            return "item", key

    plain = (lambda: nd.ones((2,))) if base is nd.NDArray else (lambda: torch.ones(2))
    sub = of_class(Sub, plain())
    sub.more = 1
    assert sub[1:2] == ("item", slice(1, 2)) and sub[0] == ("item", 0)
    assert (sub + plain())[0] == "add" and (sub + 1)[0] == "add"
    assert plain() + sub == "radd" and 1 + sub == "radd"
    assert type(sub * 2) is base and type(plain() * sub) is base


@pytest.mark.parametrize("x", [nd.ones((2,)), torch.ones(2)])
def test_foreign_objects_get_their_turn(x: Any) -> None:
    for name in BINARY[:6]:
        assert getattr(operator, name)(x, Foreign()) == f"Foreign.r{name}"
        assert getattr(operator, name)(Foreign(), x) == f"Foreign.{name}"
    with pytest.raises(TypeError, match="unsupported operand"):
        x + None
    with pytest.raises(TypeError):
        x + "x"
    assert x.__add__(Foreign()) is NotImplemented and type(x).__radd__(x, Foreign()) is NotImplemented


@pytest.mark.parametrize("x", [nd.ones((2,)), torch.ones(2)])
def test_methods_are_called_in_every_way(x: Any) -> None:
    two = [2.0, 2.0]
    cls = type(x)
    assert x.__add__(x).tolist() == cls.__add__(x, x).tolist() == cls.__dict__["__add__"](x, x).tolist() == two
    assert cls.__add__(self=x, other=x).tolist() == x.__add__(other=x).tolist() == two
    assert cls.__add__(*(x, x), **{}).tolist() == two
    assert operator.methodcaller("__add__", x)(x).tolist() == two
    assert list(map(cls.__neg__, [x]))[0].tolist() == [-1, -1]
    for wrong in ((), (x,), (x, x, x)):
        with pytest.raises(TypeError):
            cls.__add__(*wrong)
    assert x.exp().tolist() == cls.exp(x).tolist()


@pytest.mark.parametrize("function", [nd.exp, nd.sum, torch.exp])
def test_functions_look_like_functions(function: Any) -> None:
    assert inspect.isroutine(function) and callable(function)
    assert function.__doc__ and inspect.getdoc(function)
    assert function.__name__ in pydoc.plain(pydoc.render_doc(function)) and repr(function).startswith("<function ")
    signature = inspect.signature(function)
    assert "self" in signature.parameters or "data" in signature.parameters or "input" in signature.parameters
    assert copy.copy(function) is copy.deepcopy(function) is function
    assert function.__globals__ and function.__code__ and function.__module__.startswith("mxlite.")


def test_functions_are_pickled_by_name() -> None:
    for function in (nd.exp, nd.sum, nd.linalg.potrf):
        assert pickle.loads(pickle.dumps(function)) is function


def test_wrong_calls_of_functions() -> None:
    x, y = nd.ones((2, 3)), nd.ones((2, 3))
    for wrong in (
        lambda: nd.exp(),
        lambda: nd.exp(1.0),
        lambda: nd.exp(np.ones(3)),
        lambda: nd.sum(x, y),
        lambda: nd.sum(x, y, axis=1),
        lambda: nd.sum(x, 1, axis=1),
        lambda: nd.sum(x, axis=7),
        lambda: nd.dot(x, y),
        lambda: nd.dot(x, 2.0),
        lambda: torch.exp(x),
        lambda: torch.exp(torch.ones(2), torch.ones(2)),
        lambda: torch.exp(),
    ):
        for _ in range(3):
            with pytest.raises((TypeError, ValueError, mx.MXNetError)):
                wrong()


def test_known_parameters() -> None:
    """Constants of the program are found by identity: 1, 1.0 and True are equal, but not the same parameters."""
    values = np.arange(6, dtype="float32").reshape(2, 3)
    x = nd.array(values)
    for _ in range(4):
        assert nd.sum(x, axis=1).shape == x.sum(1).shape == nd.sum(x, 1, False).shape == (2,)
        assert nd.sum(x, axis=1, keepdims=True).shape == nd.sum(x, keepdims=True, axis=1).shape == (2, 1)
        assert nd.sum(x, axis=(0, 1)).shape == (1,) and nd.sum(data=x, axis=0).shape == (3,)
        np.testing.assert_array_equal(nd.sum(x, axis=1, exclude=True).asnumpy(), values.sum(0))
        np.testing.assert_array_equal(nd.dot(x, x, transpose_b=True).asnumpy(), values @ values.T)
        np.testing.assert_array_equal(nd.dot(x, x, True).asnumpy(), values.T @ values)
        np.testing.assert_array_equal(nd.clip(x, 1, 3).asnumpy(), values.clip(1, 3))
        np.testing.assert_array_equal(nd.clip(x, a_min=2, a_max=3).asnumpy(), values.clip(2, 3))
        out = nd.zeros((2,))
        assert nd.sum(x, axis=1, out=out) is out and out.asnumpy().tolist() == values.sum(1).tolist()
    for n in range(200):  # more than are kept
        assert nd.sum(x, axis=(n % 2,)).shape == (2 + (n + 1) % 2,)


def test_functions_of_several_arrays() -> None:
    """With inputs that may be left out, at the end or in the middle, and with some by keyword."""
    values = np.arange(6, dtype="float32").reshape(2, 3)
    x, w, b = nd.array(values), nd.array(values + 1), nd.array([1.0, 2.0])
    product = values @ (values + 1).T
    full, function, out = product + [1.0, 2.0], nd.FullyConnected, nd.zeros((2, 2))
    for _ in range(4):
        for made in (function(x, w, b, num_hidden=2), function(x, w, bias=b, num_hidden=2), function(x, w, b, 2)):
            np.testing.assert_array_equal(made.asnumpy(), full)
        for made in (function(x, w, num_hidden=2, no_bias=True), function(x, w, None, num_hidden=2, no_bias=True)):
            np.testing.assert_array_equal(made.asnumpy(), product)
        np.testing.assert_array_equal(nd.where(x > 2, x, w).asnumpy(), np.where(values > 2, values, values + 1))
        assert function(x, w, b, num_hidden=2, out=out) is out and out.asnumpy().tolist() == full.tolist()
        assert nd.where(x, x, x, out=x) is x
        for wrong in (
            lambda: function(x, w, 1.0, num_hidden=2),
            lambda: function(x, w, num_hidden=2),
            lambda: function(x, w, b, b, num_hidden=2),
            lambda: function(x, w, b, num_hidden=3),
            lambda: function(x, w, b),
            lambda: function(x, w, b, num_hidden=2, out=[]),
            lambda: function(x, w, b, num_hidden=2, out=out[0:1]),
            lambda: nd.where(x, x),
            lambda: nd.where(x, x, b),
        ):
            with pytest.raises((TypeError, ValueError, mx.MXNetError)):
                wrong()
    x.attach_grad()
    with mx.autograd.record():
        function(x, w, b, num_hidden=2).sum().backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.broadcast_to((values + 1).sum(0), (2, 3)))


# ---- results, errors, memory ----


def test_in_place_gives_the_same_object() -> None:
    for x, y in ((nd.ones((2,)), nd.ones((2,))), (torch.ones(2), torch.ones(2))):
        first = x
        x += y
        x *= 3.0
        x -= 1
        assert x is first and x.tolist() == [5, 5]
    read_only = nd.ones((2,))
    read_only.writable = False
    with pytest.raises(ValueError, match="readonly"):
        read_only += 1.0
    leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="gradient is wanted"):
        leaf += 1
    t = torch.ones(2)
    assert t.neg_() is t and t.abs_() is t and t.exp_() is t and t.tolist() == pytest.approx([np.e, np.e])


def test_errors_keep_operands() -> None:
    for x, y, error in (
        (nd.ones((2, 3)), nd.ones((4, 5)), mx.MXNetError),
        (torch.ones(2, 3), torch.ones(4, 5), RuntimeError),
    ):
        before = sys.getrefcount(x), sys.getrefcount(y)
        for _ in range(50):
            for name in (*BINARY, *IN_PLACE):
                with pytest.raises(error):
                    getattr(operator, name)(x, y)
        gc.collect()
        assert (sys.getrefcount(x), sys.getrefcount(y)) == before
        assert x.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_a_failing_hook_runs_once() -> None:
    """A call that the library refuses is not made again."""
    calls = []

    def pack(tensor: torch.Tensor) -> Any:
        calls.append(tensor.shape)
        raise KeyError("mine")

    x = torch.ones(2, requires_grad=True)
    for operate in (lambda: x.exp(), lambda: torch.sin(x), lambda: x * x, lambda: x**2.0):
        calls.clear()
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed):
            with pytest.raises(KeyError, match="mine"):
                operate()
        assert len(calls) == 1
    assert (x * x).tolist() == [1, 1]


def test_recorded_calls_call_hooks() -> None:
    seen = []
    x = torch.full((3,), 2.0, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: seen.append("pack") or t, lambda t: seen.append("un") or t):
        y = x * x
    y.register_hook(lambda grad: seen.append("grad") or grad * 10)
    (y + 1.0)[0:2].sum().backward()
    assert x.grad.tolist() == [40, 40, 0] and seen.count("pack") == seen.count("un") == 2 and "grad" in seen
    with torch.no_grad():
        assert not (x * x).requires_grad
    assert (-(x + 2)).grad_fn.name() == "NegBackward0"


def test_nothing_is_left() -> None:
    def live() -> int:
        count = ctypes.c_int64()
        _lib.check_call(_lib.LIB.MXLGetLiveHandles(ctypes.byref(count)))
        return count.value

    def use(x: Any, y: Any, exp: Callable) -> None:
        for _ in range(300):
            z = exp(x + y * 2.0 - 1) / (-x)
            z += y
            z[0:1], z[1], z[-1], 2.0 - z, z < x, z == 1.0
            for wrong in (lambda: x + x[0:0] if exp is nd.exp else x @ x[0], lambda: x[9], lambda: x + None):
                try:
                    wrong()
                except Exception:
                    pass

    pairs = [(nd.ones((2, 2)), nd.ones((2, 2)), nd.exp), (torch.ones(2, 2), torch.ones(2, 2), torch.exp)]
    for x, y, exp in pairs:
        use(x, y, exp)
        gc.collect()
        before = (
            live(),
            sys.getrefcount(type(x)),
            sys.getrefcount(exp),
            sys.getrefcount(2.5),
            sys.getrefcount(None) >> 9,
        )
        use(x, y, exp)
        gc.collect()
        now = live(), sys.getrefcount(type(x)), sys.getrefcount(exp), sys.getrefcount(2.5), sys.getrefcount(None) >> 9
        assert now == before


def test_weak_references_end() -> None:
    ended = []
    for x in (nd.ones((2,)), torch.ones(2)):
        made = x + 1.0
        reference = weakref.ref(made, lambda _: ended.append(1))
        assert reference() is made
        del made
        gc.collect()
        assert reference() is None
    assert len(ended) == 2


def test_an_object_without_a_handle() -> None:
    for cls in (nd.NDArray, torch.Tensor):
        empty = object.__new__(cls)
        for use in (lambda e: e + e, lambda e: e + 1.0, lambda e: -e, lambda e: e[0], lambda e: e[0:1]):
            with pytest.raises(AttributeError):
                use(empty)


def test_threads() -> None:
    """Results of threads that share operands, small and large ones, with errors between them."""
    wrong: list[Any] = []
    small, large = nd.ones((3,)), nd.ones((100, 100))
    t = torch.ones(3)

    def work(number: float) -> None:
        try:
            for _ in range(300):
                if (small * number).asnumpy()[1] != number or (t + number)[1:].tolist() != [number + 1] * 2:
                    wrong.append(number)
                if (large + number)[-1].asnumpy()[0] != number + 1 or nd.sum(large, axis=1).asnumpy()[0] != 100:
                    wrong.append(number)
                with pytest.raises(mx.MXNetError):
                    small + large[0:2]
        except BaseException as problem:
            wrong.append(problem)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
