"""`mx.nd.contrib.foreach`, `while_loop` and `cond`. What they answer here, 1.9.1 answered, but for `differs`."""

from __future__ import annotations

import numpy as np
import pytest

import mxlite as mx
from mxlite import autograd, nd
from mxlite.ndarray.contrib import cond, foreach, while_loop


def _values(nested):
    """Arrays as lists of numbers, in the lists around them."""
    if isinstance(nested, nd.NDArray):
        return nested.asnumpy().tolist()
    return type(nested)(_values(each) for each in nested)


@pytest.fixture
def x():
    return nd.array([[1, 2], [3, 4], [5, 6]])


@pytest.fixture
def y():
    return nd.array([[10], [20], [30]])


@pytest.fixture
def s():
    return nd.array([0, 0])


@pytest.fixture
def zero():
    return nd.array([0])


# ---- foreach ----


def test_foreach_of_an_array_and_a_state(x, s) -> None:
    sums = [[1, 2], [4, 6], [9, 12]]
    assert _values(foreach(lambda d, s: (d + s, d + s), x, s)) == (sums, [9, 12])
    assert _values(foreach(lambda d, s: [d + s[0], [d + s[0]]], x, [s])) == (sums, [[9, 12]])
    assert _values(foreach(body=lambda d, s: (d * 2, s), data=x, init_states=[])) == (_values(x * 2), [])


def test_foreach_of_lists(x, y, s, zero) -> None:
    got = foreach(lambda d, s: (d[0] + s, d[1] + s), [x, y], zero)
    assert _values(got) == ([[1, 2], [13, 14], [35, 36]], [60])
    got = foreach(lambda d, s: ((d, [d * 2]), (s[0] + 1,)), x, (s,))
    assert _values(got) == ([_values(x), [_values(x * 2)]], ([3, 3],))
    assert _values(foreach(lambda d, s: ([], s + d), x, s)) == ([], [9, 12])


def test_foreach_hands_states_on_as_they_are(x, s) -> None:
    seen = []

    def body(d, states):
        seen.append(states)
        return d, len(seen)

    assert foreach(body, x, (s, [s]))[1] == 3
    assert seen[0] == (s, [s]) and seen[1:] == [1, 2]


def test_foreach_of_nested_data_differs(x, y, s) -> None:
    """1.9.1 cannot take it apart."""
    got = foreach(lambda d, s: (d[1][0] * 2, s + d[1][1][0]), [x, [y, [x]]], s)
    assert _values(got) == ([[20], [40], [60]], [9, 12])


def test_foreach_lists_outputs_as_the_last_step(x, s) -> None:
    def body(d, count):
        return ([[d], d] if count else [d, [d]]), count + [d]

    assert _values(foreach(body, x, [])[0]) == [[_values(x)], _values(x)]


def test_foreach_in_foreach(x, s, zero) -> None:
    got = foreach(lambda d, s: (foreach(lambda e, t: (e + t, t + e), d, zero)[0], s + 1), x, s)
    assert _values(got) == ([[[1], [3]], [[3], [7]], [[5], [11]]], [3, 3])


def test_gradients_of_foreach(x) -> None:
    s = nd.array([1, 1])
    x.attach_grad()
    s.attach_grad()
    with autograd.record():
        outputs, state = foreach(lambda d, s: (d * s, s * d), x, s)
        loss = outputs.sum() + state.sum()
    loss.backward()
    assert _values([x.grad, s.grad]) == [[[34, 53], [11, 26], [6, 16]], [34, 106]]


def test_second_gradients_of_foreach() -> None:
    x = nd.array([2, 3])
    x.attach_grad()
    with autograd.record():
        product = foreach(lambda d, s: (d, s * d * d), x, nd.array([1]))[1]
        (first,) = autograd.grad(product, [x], create_graph=True)
        loss = first.sum()
    loss.backward()
    assert _values(x.grad) == [2 * 9 + 4 * 6, 4 * 6 + 2 * 4]


def test_foreach_refuses(x, s) -> None:
    def same(d, s):
        return d, s

    for data, states in ((np.ones((2, 2)), s), (None, s), ({"a": x}, s), (x, None), (x, 1)):
        with pytest.raises(AssertionError, match="foreach"):
            foreach(same, data, states)
    for output in (1, None):
        with pytest.raises(AssertionError, match="outputs"):
            foreach(lambda d, s, output=output: (output, s), x, s)
    with pytest.raises(TypeError):
        foreach(3, x, s)
    with pytest.raises(ValueError, match="unpack"):
        foreach(lambda d, s: (d, d, s), x, s)
    with pytest.raises(IndexError):
        foreach(lambda d, s: (d[0], s), [x, nd.ones((2, 2))], s)
    with pytest.raises(mx.MXNetError):
        foreach(lambda d, s: (nd.ones((int(d[0].asscalar()),)), s), x, s)


def test_foreach_without_steps_or_of_other_outputs_differs(x, s) -> None:
    """1.9.1 ends in an UnboundLocalError or an IndexError of its own."""
    with pytest.raises(ValueError, match="one step"):
        foreach(lambda d, s: (d, s), [], s)
    with mx.util.np_shape(True), pytest.raises(ValueError, match="one step"):
        foreach(lambda d, s: (d, s), nd.zeros((0, 2)), s)
    with pytest.raises(ValueError, match="step 1 has 2 outputs"):
        foreach(lambda d, count: ([d] * (len(count) + 1), count + [d]), x, [])


# ---- while_loop ----


def test_while_loop(zero) -> None:
    got = while_loop(lambda i, s: i < 3, lambda i, s: ([i + s], [i + 1, s + i]), (zero, nd.array([1])), 3)
    assert _values(got) == ([[[1], [2], [4]]], [[3], [4]])
    got = while_loop(cond=lambda i: i < 3, func=lambda i: (i * 2, i + 1), loop_vars=zero, max_iterations=3)
    assert _values(got) == ([[0], [2], [4]], [3])


def test_while_loop_pads_with_zeros_which_differs(zero) -> None:
    """In 1.9.1 what lay in memory."""
    x = nd.array([[1, 2]])
    got = while_loop(lambda i: i < 2, lambda i: ([i + 1, x.astype("float64")], [i + 1]), [zero], 4)
    assert _values(got) == ([[[1], [2], [0], [0]], [[[1, 2]], [[1, 2]], [[0, 0]], [[0, 0]]]], [[2]])
    assert got[0][1].dtype == np.float64


def test_while_loop_stops_at_the_most_iterations(zero) -> None:
    for most, steps in ((4, 4), (4.75, 4), (np.int64(2), 2)):
        got = while_loop(lambda i: i < 30, lambda i: (i * 2, [i + 1]), [zero], max_iterations=most)
        assert _values(got) == ([[2.0 * k] for k in range(steps)], [[steps]])


def test_while_loop_without_a_step(zero) -> None:
    assert while_loop(lambda i: i < 0, lambda i: (i, i), zero, 3) == ([], zero)
    assert while_loop(lambda i, j: False, lambda i, j: (i, [i, j]), (zero, zero), 3) == ([], (zero, zero))
    for most in (0, -1):
        assert while_loop(lambda i: i < 3, lambda i: (i, [i]), [zero], max_iterations=most) == ([], [zero])


def test_while_loop_without_outputs(zero) -> None:
    for none in ([], (), None):
        got = while_loop(lambda i: i < 3, lambda i, none=none: (none, [i + 1]), [zero], 5)
        assert _values(got) == ([], [[3]])


def test_lists_of_loop_variables(zero) -> None:
    def go(*_):
        return True

    assert _values(while_loop(go, lambda i: (i, [i + 1]), zero, 2)) == ([[0], [1]], [2])
    assert _values(while_loop(go, lambda i: (i, i + 1), [zero], 2)) == ([[0], [1]], [[2]])
    assert _values(while_loop(go, lambda i, j: ((i, j), (i + 1, j)), (zero, zero), 1)) == ([[[0]], [[0]]], [[1], [0]])
    got = while_loop(go, lambda i, j: ([i, [j[0]]], [i + 1, [j[0] * 2]]), [zero, [zero + 1]], 2)
    assert _values(got) == ([[[0], [1]], [[[1], [2]]]], [[2], [[4]]])
    got = while_loop(go, lambda i, j: (i, [i + 1, (j if isinstance(j, nd.NDArray) else j[0])]), [zero, [zero]], 2)
    assert _values(got) == ([[0], [1]], [[2], [0]])


def test_conditions_of_while_loop(zero) -> None:
    for condition, steps in ((True, 2), (1, 2), ("a", 2), (False, 0), (None, 0), (nd.array([[2]]), 2)):
        got = while_loop(lambda i, condition=condition: condition, lambda i: (i, [i + 1]), [zero], 2)
        assert _values(got[1]) == [[steps]]


def test_gradients_of_while_loop(zero) -> None:
    a = nd.array([2])
    a.attach_grad()
    with autograd.record():
        outputs, last = while_loop(lambda i, p: i < 3, lambda i, p: (p * a, [i + 1, p * a]), [zero, nd.ones(1)], 5)
        loss = outputs.sum() + last[1].sum()
    loss.backward()
    assert _values([a.grad, outputs[:3], last]) == [[29], [[2], [4], [8]], [[3], [8]]]


def test_while_loop_refuses(zero) -> None:
    def go(*_):
        return True

    def same(i):
        return i, [i]

    for arguments, kind in (
        ((go, same, [zero]), ValueError),
        ((go, same, [zero], "a"), ValueError),
        ((go, same, [], 3), ValueError),
        ((go, same, None, 3), TypeError),
        ((go, same, [1], 3), AssertionError),
        ((3, same, [zero], 3), TypeError),
        ((go, 3, [zero], 3), TypeError),
        ((lambda i: nd.ones(2), same, [zero], 3), ValueError),
        ((go, lambda i: (i, [i, i]), [zero], 3), ValueError),
        ((go, lambda i: (i, None), [zero], 3), ValueError),
        ((go, lambda i: (1, [i]), [zero], 3), AssertionError),
        ((go, lambda i: [i], [zero], 3), ValueError),
        ((go, lambda i: ([i] * (int(i.asscalar()) + 1), [i + 1]), [zero], 3), ValueError),
        ((go, lambda i: (nd.ones(int(i.asscalar()) + 1), [i + 1]), [zero], 3), mx.MXNetError),
    ):
        with pytest.raises(kind):
            while_loop(*arguments)


# ---- cond ----


def test_cond(x, y) -> None:
    for true in (nd.array([1]), nd.array([[-1]]), nd.array([3], dtype="int32"), nd.array([np.nan]), 1, True, "a"):
        assert cond(true, lambda: x, lambda: y) is x
    for false in (nd.array([0]), 0, np.bool_(False), None, []):
        assert cond(pred=false, then_func=lambda: x, else_func=lambda: y) is y
    assert cond(1, lambda: (x, [y]), 3) == (x, [y])
    with pytest.raises(ValueError, match="scalar"):
        cond(nd.ones(2), lambda: x, lambda: y)
    with pytest.raises(TypeError):
        cond(0, lambda: x, 3)


def test_gradients_of_cond(x) -> None:
    x.attach_grad()
    with autograd.record():
        loss = cond(x.sum() > 20, lambda: x * x, lambda: x).sum()
    loss.backward()
    assert _values(x.grad) == _values(2 * x)
