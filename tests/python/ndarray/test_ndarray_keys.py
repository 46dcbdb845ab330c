"""Every kind of key, read and written: 5,000 made from a seed against NumPy and against what 1.9.1 did
(tests/reference/keys.txt); gradients through reading by index arrays and masks; what may be written while recording."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from _keys import COUNT, Case, cases, checksum, faults

import mxlite as mx
from mxlite import autograd, nd

CASES = cases()
ANSWERS = (Path(__file__).resolve().parents[2] / "reference" / "keys.txt").read_text().split()
#: Which errors of 1.9.1 are errors of the same class here.
CLASSES = {"I": IndexError, "V": ValueError, "T": TypeError}
STEP = 250


def test_the_answers_are_of_these_keys() -> None:
    """`tests/reference/make_keys.py` makes them anew."""
    assert int(ANSWERS[0]) == checksum() and len(ANSWERS) == COUNT + 1


def selection(case: Case) -> np.ndarray | None:
    """What the key selects, None where NumPy refuses it."""
    try:
        return np.array(case.array()[case.numpy_key()])
    except (IndexError, ValueError, TypeError):
        return None


def differences(case: Case, write: bool) -> set[str]:
    """Why 1.9.1 may not do what NumPy does (docs/compatibility.md has a row for each)."""
    kinds = [kind.partition(" ")[0] for kind, _ in case.parts]
    arrays = [(kind, content) for kind, content in case.parts if kind.partition(" ")[0] in ARRAYS]
    found = set()
    if any(np.array(content).dtype == bool for _, content in arrays):
        found.add("mask")
    if "scalar int8" in [kind for kind, _ in case.parts]:
        found.add("NumPy integer")
    if any(np.ndim(content) == 0 for kind, content in arrays if kind != "range"):
        found.add("index array without axes")
    if "none" in kinds and (arrays or write):
        found.add("new axis")
    selected = selection(case)
    if selected is not None and selected.size == 0:
        found.add("nothing selected")
    if not case.shape or (selected is not None and selected.ndim == 0):
        found.add("scalar")
    if write and arrays:
        indices = [content for kind, content in case.parts if kind.startswith(("int", "scalar"))]
        if min([0, *indices]) < 0 or any(np.size(content) and np.min(content) < 0 for _, content in arrays):
            found.add("negative index written")
    if write and case.dtype == "bool":
        found.add("part of bool written")
    return found


def is_backward_range(case: Case) -> bool:
    """x[2:1] and nothing else."""
    kind, content = case.parts[0]
    if not case.single or kind != "slice" or content[2] is not None or not case.shape:
        return False
    start, stop, _ = slice(*content).indices(case.shape[0])
    return start > stop


ARRAYS = ("list", "tuple", "numpy", "nd", "range")


def check(case: Case, write: bool, letter: str) -> None:
    """One key, read or written."""
    array = nd.array(case.array(), dtype=case.dtype)

    def run() -> np.ndarray:
        if not write:
            return array[case.key(nd)].asnumpy()
        array[case.key(nd)] = case.written(nd)
        return array.asnumpy()

    try:
        wanted = case.written_by_numpy() if write else case.read_by_numpy()
    except (IndexError, ValueError, TypeError):
        with pytest.raises((IndexError, ValueError, TypeError)) as caught:
            run()
        if letter in CLASSES and not differences(case, write) and len(faults(case)) == 1:
            assert isinstance(caught.value, CLASSES[letter])
        if write:
            np.testing.assert_array_equal(array.asnumpy(), case.array())
        return
    if not write and is_backward_range(case):
        assert letter == "M"
        with pytest.raises(mx.MXNetError):
            run()
        return
    assert letter == "=" or differences(case, write), f"1.9.1 answers {letter}"
    got = run()
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
@pytest.mark.parametrize("start", range(0, COUNT, STEP))
def test_keys(start: int, write: bool) -> None:
    for case in CASES[start : start + STEP]:
        with mx.util.np_shape(case.numpy_mode):
            try:
                check(case, write, ANSWERS[1 + case.number][write])
            except (Exception, pytest.fail.Exception) as problem:
                raise AssertionError(f"case {case!r}: {problem}") from problem


# ---- keys that the generator does not make ----


def base() -> np.ndarray:
    return np.arange(1, 25, dtype="float64").reshape(3, 4, 2)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ([None], TypeError),
        ([slice(0, 1)], TypeError),
        ([[0, 1], [1]], TypeError),
        (["a"], TypeError),
        ([1j], TypeError),
        (np.array(["a"]), ValueError),
        (np.array([1j]), ValueError),
        (b"a", ValueError),
        (iter([0]), ValueError),
        ({1}, ValueError),
        ([2**40], IndexError),
        ([2**70], IndexError),
        (np.array([2**64 - 1], dtype="uint64"), IndexError),  # not -1
        (np.array([2**70], dtype=object), IndexError),
        ([float("nan")], IndexError),
        (np.array([np.inf]), IndexError),
        (np.array([1e19]), IndexError),
        ((slice(0.5, 1), [0]), TypeError),
        (([0], slice(None, None, 0)), ValueError),
    ],
)
@pytest.mark.filterwarnings("error")
def test_keys_that_are_none(key, kind) -> None:
    x = nd.array(base(), dtype="float64")
    for use in (lambda: x[key], lambda: x.__setitem__(key, 0)):
        with pytest.raises(kind):
            use()
    np.testing.assert_array_equal(x.asnumpy(), base())


def test_too_many_indices() -> None:
    x = nd.array(base(), dtype="float64")
    for key in ((0, 0, 0, [0]), ([0], 0, 0, 0), (..., [0], [0], [0], [0]), (np.ones((3, 4, 2), bool), 0), (0, 0, 0, 0)):
        for use in (lambda: x[key], lambda: x.__setitem__(key, 0)):  # noqa: B023
            with pytest.raises(IndexError, match="too many indices"):
                use()


def test_the_whole_of_a_scalar() -> None:
    """`:` selects it, as in 1.9.1; NumPy refuses."""
    with mx.util.np_shape(True):
        x = nd.array(5)
        assert x[:].shape == () and x[:].asscalar() == 5
        x[:] = 3
        x[:] = x + nd.array(1)
        assert x.asscalar() == 4
        for refused in (slice(0, 1), slice(None, None, 2), 0, [0]):
            with pytest.raises(IndexError):
                x[refused]
            with pytest.raises(IndexError):
                x[refused] = 1


def test_arrays_without_elements() -> None:
    """Outside numpy-shape mode too, where 1.9.1's slices make them."""
    empty = nd.array(base())[0:0]
    assert empty.shape == empty[[]].shape == empty[:, ::-1].shape == (0, 4, 2)
    assert empty[:, [0, 1, 1]].shape == (0, 3, 2) and empty[None].shape == (1, 0, 4, 2)
    assert empty[np.ones((0, 4), bool)].shape == (0, 2) and empty[..., 0].shape == (0, 4)
    empty[:, [0]] = 5
    with pytest.raises(IndexError):
        empty[[0]]


def test_numbers_that_are_no_integers_are_cut() -> None:
    x = nd.array(base(), dtype="float64")
    for key in ([0.9, -0.5, 1.99], np.array([0.9, -0.5, 1.99]), nd.array([0.9, -0.5, 1.99])):
        np.testing.assert_array_equal(x[key].asnumpy(), base()[[0, 0, 1]])
    assert x[np.array([[0, 1]], dtype=object)].shape == (1, 2, 4, 2)


def test_last_value_of_a_place_stays() -> None:
    x = nd.zeros((3,))
    x[[0, 0, 2, 0]] = nd.array([1, 2, 3, 4])
    assert x.asnumpy().tolist() == [4, 0, 3]


def test_values_that_overlap_what_is_written() -> None:
    values = base()
    x = nd.array(values, dtype="float64")
    x[[1, 2]] = x[0:2]
    values[[1, 2]] = values[0:2].copy()
    np.testing.assert_array_equal(x.asnumpy(), values)
    x[[2, 1, 0]] = x
    np.testing.assert_array_equal(x.asnumpy(), values[::-1])


def test_views_see_what_is_written() -> None:
    x = nd.array(base(), dtype="float64")
    view, flat = x[1:3], x.reshape((-1,))
    x[[1], :, [0]] = -1
    assert (view.asnumpy()[0, :, 0] == -1).all() and (flat.asnumpy() == -1).sum() == 4
    view[view > 20] = 0  # numbers: 0 and 1 are rows, as in 1.9.1
    view[(view > 20).astype("bool")] = 0
    assert x.asnumpy().max() <= 20


def test_results_are_copies() -> None:
    x = nd.array(base(), dtype="float64")
    part = x[[0, 1, 2]]
    part[:] = 0
    np.testing.assert_array_equal(x.asnumpy(), base())


def test_values_with_more_axes() -> None:
    """Axes of extent 1 in front are left out, and the rest is broadcast."""
    for make in (nd.array, np.array):
        for key in (slice(0, 2), [0, 1]):
            x, values = nd.array(base(), dtype="float64"), base()
            x[key] = make([[[[[7, 8]]]]])
            values[key] = [7, 8]
            np.testing.assert_array_equal(x.asnumpy(), values)
        for key in ((0, 0, slice(0, 0)), (0, 0, [])):
            with pytest.raises(ValueError):
                x[key] = make(np.ones((2, 0)))


def test_refused_values_change_nothing() -> None:
    x = nd.array(base(), dtype="float64")
    for key in ([0, 1], slice(0, 0), (slice(None), [True, False, True, False])):
        for value, kind in (
            (nd.ones((5,)), ValueError),
            (np.ones((5, 1)), ValueError),
            ("a", TypeError),
            (1j, TypeError),
            ([[1], [1, 2]], TypeError),
        ):
            with pytest.raises(kind):
                x[key] = value
    np.testing.assert_array_equal(x.asnumpy(), base())


# ---- gradients and recording ----

GRADIENT_KEYS = {
    "rows": [0, 2, 0],
    "negative": np.array([-1, 0]),
    "ndarray": "ndarray",
    "matrix": [[0, 1], [1, 0]],
    "mask": np.array([True, False, True]),
    "whole-mask": np.arange(24).reshape(3, 4, 2) % 3 == 0,
    "second": (slice(None), [1, 1, 3]),
    "middle": (slice(1, None), [0, -1], 1),
    "apart": ([0, 1, 0], slice(None, None, -1), [1, 1, 1]),
    "paired": ([0, 1, 1], [3, 2, 2]),
    "all": ([0, 1], [1, 1], [0, 0]),
    "new": (None, [0, 0], None),
    "dots": (..., [1, 0, 1]),
    "nothing": [],
}


@pytest.mark.parametrize("name", GRADIENT_KEYS)
def test_gradients_through_reading(name: str) -> None:
    """First and second order, against how often each element is selected."""
    key = GRADIENT_KEYS[name]
    ours, theirs = (nd.array([2, 0, 2]), [2, 0, 2]) if name == "ndarray" else (key, key)
    times = np.zeros(base().shape)
    np.add.at(
        times,
        np.array(theirs, dtype=int) if name == "nothing" else tuple(theirs) if isinstance(theirs, tuple) else theirs,
        1,
    )
    x = nd.array(base(), dtype="float64")
    x.attach_grad()
    with autograd.record():
        part = x[ours]
        (first,) = autograd.grad((part * part * part).sum() + x.sum() * 0, [x], create_graph=True)
        loss = (first * first).sum()
    np.testing.assert_allclose(first.asnumpy(), times * 3 * base() ** 2, rtol=1e-12)
    loss.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), times**2 * 36 * base() ** 3, rtol=1e-12)
    x.grad[:] = 0


def test_writing_while_recording() -> None:
    """As for slices: not into what is recorded, into constants only constants."""
    x = nd.array(base(), dtype="float64")
    x.attach_grad()
    mask = base() > 5
    with autograd.record():
        y = x * 2
        constant = nd.zeros((3, 4, 2), dtype="float64")
        for refused, value in ((x, 1), (y, 1), (x, constant[0]), (constant, y[0])):
            before = refused.asnumpy()
            with pytest.raises(mx.MXNetError):
                refused[[0, 1]] = value
            np.testing.assert_array_equal(refused.asnumpy(), before)
        constant[[0, 2]] = 5
        constant[mask] = nd.full((int(mask.sum()),), 7, dtype="float64")
        z = x * constant
    z.backward()
    wanted = np.zeros((3, 4, 2))
    wanted[[0, 2]] = 5
    wanted[mask] = 7
    np.testing.assert_array_equal(x.grad.asnumpy(), wanted)


def test_a_saved_array_that_was_written_to() -> None:
    x, constant = nd.ones((3,)), nd.ones((3,))
    x.attach_grad()
    with autograd.record():
        y = x * constant
    constant[[0]] = 9
    with pytest.raises(mx.MXNetError):
        y.backward()
    x[[1]] = 5  # a variable, outside of record()
    assert x.asnumpy().tolist() == [1, 5, 1]
