"""Small calls: what `hot.direct` makes in C does what its Python function does, and nothing else.

Over ctypes the Python functions run themselves; the tests hold for both bindings.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import inspect
import itertools
import operator
import pickle
import pydoc
import sys
import threading
import weakref
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite import _lib, nd
from mxlite._lib import hot
from mxlite.torch._calls import adopt, prepare, run

BINARY = ["add", "sub", "mul", "truediv", "mod", "pow", "eq", "ne", "lt", "le", "gt", "ge"]
REFLECTED = [f"r{name}" for name in BINARY[:6]]
IN_PLACE = ["iadd", "isub", "imul", "itruediv", "imod"]


class Foreign:
    """Knows no array, but every operator."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


for _name in (*BINARY, *REFLECTED):
    setattr(Foreign, f"__{_name}__", lambda self, other, name=_name: f"Foreign.{name}")


class SubArray(nd.NDArray):
    """A subclass."""


class SubTensor(torch.Tensor):
    """A subclass."""


def arrays() -> list[Any]:
    """Operands that are usual and others, of mx.nd."""
    values = np.arange(1, 7, dtype="float32").reshape(2, 3)
    read_only = nd.array(values)
    read_only.writable = False
    return [
        nd.array(values),
        nd.array(values[0]),
        nd.array(values.T),
        nd.array(values, dtype="int32"),
        nd.array(values, dtype="float64"),
        read_only,
        nd.zeros((40, 40)),
        _of_class(SubArray, nd.array(values)),
        nd.NDArray(None),
    ]


def _of_class(cls: type, array: Any) -> Any:
    """The array in an object of a subclass; `array` has no handle then."""
    made = object.__new__(cls)
    made._h, array._h = array._h, 0
    if isinstance(array, torch.Tensor):
        made._dtype = array._dtype
    return made


def tensors() -> list[Any]:
    """The same of mxlite.torch."""
    values = np.arange(1, 7, dtype="float32").reshape(2, 3)
    moved = torch.tensor(values)
    sub = _of_class(SubTensor, moved)
    return [
        torch.tensor(values),
        torch.tensor(values[0]),
        torch.tensor(values.T.copy()),
        torch.tensor(values.astype("int32")),
        torch.tensor(values.astype("uint8")),
        torch.tensor(values.astype("float64")),
        torch.tensor(values.astype("float16")),
        torch.tensor(values > 2),
        torch.tensor(values, requires_grad=True),
        torch.zeros(40, 40),
        sub,
        moved,
    ]


OTHERS = [
    2.5,
    3,
    -1,
    0,
    True,
    1 << 60,
    10**400,
    float("nan"),
    np.float32(1.5),
    np.int64(2),
    np.ones((2, 3), "float32"),
    np.ones((2, 3)),
    None,
    "x",
    Foreign(),
    1j,
]


def outcome(function: Callable, *operands: Any) -> Any:
    """What a call gives: class, dtype and values, or the class and the words of its exception."""
    try:
        with np.errstate(all="ignore"):
            made = function(*operands)
    except Exception as problem:
        return type(problem), str(problem)
    if isinstance(made, (nd.NDArray, torch.Tensor)):
        values = made.asnumpy() if isinstance(made, nd.NDArray) else made.detach().numpy()
        return type(made), str(made.dtype), values.shape, values.tobytes()
    return type(made), str(made)


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


KEYS = [
    *range(-3, 3),
    True,
    1 << 70,
    -(1 << 63),
    np.int64(1),
    None,
    ...,
    1.0,
    "x",
    *(slice(i, j) for i in (None, -9, -1, 0, 1, 2, 9, 1 << 70) for j in (None, -9, -1, 0, 1, 2, 9, -(1 << 70))),
    slice(0, 2, 1),
    slice(None, None, 2),
    slice(True, np.int64(2)),
    slice(0.0, 1),
    (0, slice(1, 3)),
    [0, 1],
]


@pytest.mark.parametrize("make", [arrays, tensors])
def test_keys_are_their_definition(make: Callable) -> None:
    for position in range(len(make())):
        array = make()[position]
        method = type(array).__getitem__
        definition = getattr(method, "__wrapped__", method)
        for key in KEYS:
            found = outcome(operator.getitem, array, key)
            assert found == outcome(method, array, key) == outcome(definition, array, key), (position, key)


def test_views_share_memory_and_are_recorded() -> None:
    x = nd.zeros((4, 2))
    x[1:3][0] = 5
    x[-1] += 7
    assert x.asnumpy().tolist() == [[0, 0], [5, 5], [0, 0], [7, 7]]
    t = torch.zeros(4, 2)
    t[1:3] += 1
    t[0][1:] += 2
    assert t.tolist() == [[0, 2], [1, 1], [1, 1], [0, 0]]
    w = torch.ones(4, 2, requires_grad=True)
    assert w[1:3].grad_fn.name() == "SliceBackward0" and w[-1].grad_fn.name() == "SelectBackward0"
    (w[1:3] * w[-1]).sum().backward()
    assert w.grad.tolist() == [[0, 0], [1, 1], [1, 1], [2, 2]]
    v = nd.ones((4, 2))
    v.attach_grad()
    with mx.autograd.record():
        loss = (v[1:3] * v[-1]).sum()
    loss.backward()
    assert v.grad.asnumpy().tolist() == [[0, 0], [1, 1], [1, 1], [2, 2]]


def test_a_row_count_follows_the_shape() -> None:
    """A tensor's first size may change in place."""
    t = torch.arange(6.0)
    assert t[-1].item() == 5 and t[4:].tolist() == [4, 5]
    t.unsqueeze_(0)
    assert t[-1].tolist() == [0, 1, 2, 3, 4, 5] and t[0:9].shape == (1, 6)
    for made in (t, t * 1, torch.ones(1, 6, requires_grad=True) * t):
        assert made[-1].shape == (6,)
        made.squeeze_(0)
        assert made[-1].item() == 5 and made[-2:].tolist() == [4, 5]


def _edited(view: Any) -> Any:
    view *= 2
    return view


def _facts(base: Any, take: Callable) -> tuple:
    """What one sees of a view, and what an edit of it gives."""
    view = take(base)
    place = view.shape, view.stride(), view.storage_offset(), view.data_ptr() - base.data_ptr(), view.is_contiguous()
    graph = view.requires_grad, view.is_leaf, view.grad_fn.name() if view.grad_fn else None
    found = (*place, *graph, str(view.dtype), view.detach().tolist())
    return (*found, outcome(_edited, view), base.detach().tolist(), base.requires_grad)


def _sources() -> list[Callable]:
    """Functions that make a tensor to take rows of, in all its states."""
    w = torch.ones(4, 3, requires_grad=True)

    def edited_later() -> Any:
        base = w * 1
        part = base[1:]
        base *= 3
        return part

    return [
        lambda: torch.arange(12.0).reshape(4, 3),
        lambda: torch.arange(12).reshape(4, 3),
        lambda: torch.arange(12.0).reshape(4, 3)[1:],
        lambda: torch.arange(12.0).reshape(3, 4).t(),
        lambda: torch.arange(12.0).reshape(4, 3)[:, 1:],
        lambda: torch.ones(4, 1).t()[:, :3],
        lambda: torch.ones(4, 1, 1).transpose(0, 1),
        lambda: torch.ones(4, 3, 1).transpose(1, 2),
        lambda: torch.zeros(4, 0),
        lambda: torch.zeros(0, 4),
        lambda: torch.arange(4.0),
        lambda: torch.ones(2, 2, 2, 2, 2),
        lambda: torch.ones(()),
        lambda: w,
        lambda: w * 2,
        lambda: (w * 2)[1:],
        lambda: (w * 2).detach(),
        lambda: (w * 2).unbind(0)[0],
        edited_later,
    ]


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("count", range(len(_sources())))
def test_rows_are_those_of_the_operator(count: int, recorded: bool) -> None:
    """Rows of a tensor by the calls that x[i:j] and x[i] make, and by calls that the library has no short way for."""
    quick = prepare("SliceBackward0", "slice_axis", "axis", "begin", "end")
    plain = prepare("SliceBackward0", "slice_axis", "begin", "end", axis=0)
    row = prepare("SelectBackward0", "_mxl_select", "index", axis=0)
    plain_row = prepare("SelectBackward0", "_mxl_select", "axis", "index")
    for begin, end in ((0, 2), (1, 2), (0, 1), (0, 4), (2, 9), (-2, 4), (1, 1), (0, -1), (3, 2)):
        pairs = [
            (lambda x, b=begin, e=end: run(quick, [x], 0, b, e), lambda x, b=begin, e=end: run(plain, [x], b, e)),
            (lambda x, b=begin: adopt(hot.call1_int(row, x._h, b)), lambda x, b=begin: run(plain_row, [x], 0, b)),
        ]
        for takes in pairs:
            found = []
            for take in takes:
                base = _sources()[count]()
                with torch.set_grad_enabled(recorded):
                    found.append(outcome(_facts, base, take))
            assert found[0] == found[1], (begin, end)


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
    sub = _of_class(Sub, plain())
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


@pytest.mark.parametrize("x", [nd.array([[1, 2, 3], [4, 5, 6]]), torch.tensor([[1, 2, 3], [4, 5, 6]])])
def test_keys_are_taken_in_every_way(x: Any) -> None:
    """Of the class, of a class that comes from it, and of one that has a `__getitem__` of its own."""
    cls = type(x)

    class Plain(cls):
        __slots__ = ()

    class Doubled(cls):
        __slots__ = ()

        def __getitem__(self, key: Any) -> Any:
            return super().__getitem__(key) * 2

    for key, rows in ((1, [4, 5, 6]), (-2, [1, 2, 3]), (slice(0, 1), [[1, 2, 3]]), ((1, 2), 6)):
        own = [x[key], x.__getitem__(key), cls.__getitem__(x, key), operator.getitem(x, key)]
        assert [np.array(each.tolist()).reshape(-1).tolist() for each in own] == [np.ravel(rows).tolist()] * 4
        for kind, times in ((Plain, 1), (Doubled, 2)):
            other = copy.copy(x)
            other.__class__ = kind
            assert np.ravel(other[key].tolist()).tolist() == (np.ravel(rows) * times).tolist()
    assert cls.__getitem__.__doc__ and inspect.isroutine(cls.__getitem__)
    assert [np.ravel(each.tolist()).tolist() for each in x] == [[1, 2, 3], [4, 5, 6]]
    for wrong in (2, -3, "x", 1.5, (0, 0, 0)):
        with pytest.raises((IndexError, TypeError, ValueError)):
            x[wrong]


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
    with pytest.raises(RuntimeError, match="leaf Variable"):
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


@pytest.mark.one_binding
@pytest.mark.parametrize("shape", [(1,), (4,), (2, 3), (2, 0), (2, 1, 3)])
def test_reshape_is_that_of_the_function(shape: tuple[int, ...]) -> None:
    """Every list of up to two codes, and what is no code."""
    method = nd.NDArray.reshape
    function = getattr(method, "__wrapped__", method)
    x = nd.array(np.arange(int(np.prod(shape))).reshape(shape))

    def outcome_of(call: Any, given: tuple) -> Any:
        try:
            made = call(x, *given)
        except Exception as problem:
            return type(problem), str(problem)
        return made.shape, made.dtype, made.asnumpy().tolist()

    codes = (0, 1, 2, 3, 4, 6, -1, -2, -3, -4, -5, True, 1 << 70, np.int64(3), 2.0)
    for count in range(3):
        for given in itertools.product(codes, repeat=count):
            for form in (given, (given,), (list(given),)):
                assert outcome_of(method, form) == outcome_of(function, form), form
