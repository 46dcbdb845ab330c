"""Keys and views: `x[i]`, `x[i:j]` and NDArray's `reshape`, which C makes, beside their Python functions."""

from __future__ import annotations

import copy
import inspect
import itertools
import operator
from typing import Any, Callable

import numpy as np
import pytest
from _small_calls import arrays, outcome, tensors

import mxlite as mx
import mxlite.torch as torch
from mxlite import nd
from mxlite._lib import hot
from mxlite.torch._calls import adopt, prepare, run

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


def _parts(np_: Any) -> list[Any]:
    """Keys that C reads, and some that it leaves to Python, of an array of shape (3, 2, 4)."""
    index, mask = np_.array([2, 0], dtype="int32"), np_.array([1, 0, 1]).astype("bool")
    whole = slice(None)
    return [
        (0, 1),
        (0, 1, 2),
        (-1, slice(1, None)),
        (slice(None, None, -1), 0),
        (slice(1, -5, -1),),
        (..., 1),
        (0, ..., slice(-2, None)),
        (None, 1),
        (whole, None, 1, ...),
        index,
        mask,
        (index, index[:, None]) if np_ is mx.np else (index, 0),
        (whole, 1, index),
        (mask, 1),
        (index, whole, -1),
        (slice(0, 3), whole),
        (0, 1, 2, 3),
        (5, 0),
        (slice(0, 1, 0),),
        (..., ...),
        (1 << 40, 0),
        (True, 0),
        (whole, whole, whole),
        (0,) * 20,
        whole,
        ...,
        [0, 2],
        ([2, -1], 0),
        ([0, 9], 1),
        [],
        [True, False, True],
        [0, 1.5],
        [1 << 70],
        ([0, 1], [1, 0], index[:2]),
        np_.array([1.0, 0.0]),
        (0, 1.0),
    ]


def _filled(np_: Any) -> Any:
    values = np.arange(24, dtype="float32").reshape(3, 2, 4)
    return np_.array(values)


@pytest.mark.filterwarnings("ignore:x.key.:UserWarning")
@pytest.mark.parametrize("np_", [nd, mx.np])
def test_keys_of_several_parts_are_their_definition(np_: Any) -> None:
    """Reading, and writing numbers and arrays; what is refused leaves the array as it was."""
    cls = type(_filled(np_))
    read = hot.subscript_functions.get(cls, cls.__getitem__)
    write = inspect.unwrap(cls.__setitem__)
    for key in _parts(np_):
        assert outcome(operator.getitem, _filled(np_), key) == outcome(read, _filled(np_), key), key
        for value in (7, 2.5, True, np_.array([9.0]), np_.ones((7, 7)), np.float32(3)):
            mine, theirs = _filled(np_), _filled(np_)
            found = [outcome(put, x, key, value) for put, x in ((operator.setitem, mine), (write, theirs))]
            assert found[0] == found[1], (key, value)
            assert mine.asnumpy().tolist() == theirs.asnumpy().tolist(), (key, value)


@pytest.mark.parametrize("np_", [nd, mx.np])
def test_writing_by_keys_while_recording(np_: Any) -> None:
    x = _filled(np_)
    x.attach_grad()
    with mx.autograd.record(), pytest.raises(mx.MXNetError):
        x[0, 1] = 3
    assert x.asnumpy().tolist() == _filled(np_).asnumpy().tolist()
    with mx.autograd.record():  # the whole of an array that is not recorded is
        z = np_.array(np.ones((3, 2, 4), "float32"))
        z[:] = x * 2
    z.backward()
    assert set(x.grad.asnumpy().ravel()) == {2.0}
    read_only = np_.array([[1.0, 2.0], [3.0, 4.0]])
    read_only.writable = False
    with pytest.raises(ValueError, match="readonly"):
        read_only[0, 1] = 3
    with mx.autograd.record():
        y = x[:, 1, ::2] * 2 + x[np_.array([0, 1, 2], dtype="int32"), 1, ::2]
    y.backward()
    wanted = np.zeros((3, 2, 4))
    wanted[:, 1, ::2] = 3
    assert x.grad.asnumpy().tolist() == wanted.tolist()
