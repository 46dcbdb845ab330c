"""Everything that reads or writes by index, with indices that repeat, count from the end, and lie outside.

Values are NumPy's; gradients to order 2 are compared with central differences. In mxlite.torch the gradient of what is
overwritten at a repeated index (scatter, index_put) is PyTorch's, which counts every writer: those have unique indices
here. Where the last of several stays in mx.nd, it alone has a gradient.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Callable, NamedTuple

import numpy as np
import pytest
from _derivatives import Engine, check

import mxlite as mx
import mxlite.torch as torch
from mxlite import nd

pytestmark = pytest.mark.one_binding

X = np.arange(12.0).reshape(3, 4) / 7 - 0.6
ROWS = np.array([2, 0, 2, 2, 1])
FROM_END = np.array([-1, 0, 2, -1, -2])
ALONG = np.array([[0, 3, 3, 1, 3], [2, 2, 2, 2, 2], [1, 0, 0, 1, 3]])
SOURCE = np.arange(20.0).reshape(5, 4) / 9 - 1
BESIDE = np.arange(15.0).reshape(3, 5) / 8 - 1
OUTSIDE = np.array([3, 0, -4, 2, 7])
PLACES = np.array([[2, 0, 2, -1], [3, 1, 3, 3]])
EACH_ROW = np.arange(3)


class Row(NamedTuple):
    """A function of a module and arrays, NumPy's function of the arrays, the arrays."""

    call: Callable
    numpy: Callable
    arrays: tuple = (X,)


def added(x: np.ndarray, key: Any, values: Any) -> np.ndarray:
    """x with values added at a key, each as often as it occurs."""
    made = x.copy()
    np.add.at(made, key, values)
    return made


def written(x: np.ndarray, key: Any, values: Any) -> np.ndarray:
    """x with values written at a key; of several at one place the last stays."""
    made = x.copy()
    made[key] = values
    return made


# ---- mxlite.torch ----


def long(torch: Any, values: Any) -> Any:
    return torch.tensor(np.asarray(values).tolist(), dtype=torch.int64)


def edited(x: Any, edit: Callable) -> Any:
    """A copy after an edit in place."""
    made = x * 1
    edit(made)
    return made


def assigned(x: Any, key: Any, value: Any) -> Any:
    return edited(x, lambda y: y.__setitem__(key, value))


SOME = np.array([[True, False, True, True], [False] * 4, [True, True, False, True]])
ONCE = np.array([[1, 3], [0, 2], [3, 0]])

TORCH = {
    "gather": Row(lambda t, x: x.gather(1, long(t, ALONG)), lambda x: np.take_along_axis(x, ALONG, 1)),
    "gather of a part": Row(
        lambda t, x: x.gather(0, long(t, [[0, 2, 2], [0, 2, 1]])),
        lambda x: np.take_along_axis(x[:, :3], np.array([[0, 2, 2], [0, 2, 1]]), 0),
    ),
    "take_along_dim": Row(
        lambda t, x: t.take_along_dim(x, long(t, ALONG), 1), lambda x: np.take_along_axis(x, ALONG, 1)
    ),
    "take_along_dim round the extent": Row(
        lambda t, x: t.take_along_dim(x, long(t, [[-1, 4, 5, -9]]), 1), lambda x: x[:, [3, 0, 1, 3]]
    ),
    "take_along_dim of all": Row(
        lambda t, x: t.take_along_dim(x, long(t, [5, 5, 0])), lambda x: x.reshape(-1)[[5, 5, 0]]
    ),
    "index_select": Row(lambda t, x: x.index_select(0, long(t, ROWS)), lambda x: x[ROWS]),
    "index_select of columns": Row(lambda t, x: x.index_select(1, long(t, [3, 3, 0])), lambda x: x[:, [3, 3, 0]]),
    "embedding": Row(lambda t, x: t.nn.functional.embedding(long(t, ROWS), x), lambda x: x[ROWS]),
    "embedding of a matrix": Row(
        lambda t, x: t.nn.functional.embedding(long(t, [[2, 2], [0, 2]]), x), lambda x: x[np.array([[2, 2], [0, 2]])]
    ),
    "embedding but for a padding row": Row(
        lambda t, x: t.nn.functional.embedding(long(t, [0, 1, 0]), x, padding_idx=-1), lambda x: x[[0, 1, 0]]
    ),
    "take": Row(lambda t, x: x.take(long(t, [5, -1, 5, 0])), lambda x: x.reshape(-1)[[5, -1, 5, 0]]),
    "scatter": Row(
        lambda t, x, y: x.scatter(1, long(t, ONCE), y),
        lambda x, y: written(x, (EACH_ROW[:, None], ONCE), y),
        (X, BESIDE[:, :2]),
    ),
    "scatter of a number": Row(
        lambda t, x: x.scatter(1, long(t, ALONG), 2.5), lambda x: written(x, (EACH_ROW[:, None], ALONG), 2.5)
    ),
    "scatter_add": Row(
        lambda t, x, y: x.scatter_add(1, long(t, ALONG), y),
        lambda x, y: added(x, (EACH_ROW[:, None], ALONG), y),
        (X, BESIDE),
    ),
    "scatter_add of a part": Row(
        lambda t, x, y: x.scatter_add(0, long(t, [[2, 2, 0], [2, 0, 0]]), y),
        lambda x, y: added(x, (np.array([[2, 2, 0], [2, 0, 0]]), np.arange(3)), y[:2, :3]),
        (X, BESIDE),
    ),
    "index_add": Row(
        lambda t, x, y: x.index_add(0, long(t, ROWS), y, alpha=3), lambda x, y: added(x, ROWS, 3 * y), (X, SOURCE)
    ),
    "index_add of columns": Row(
        lambda t, x, y: x.index_add(1, long(t, [3, 3]), y),
        lambda x, y: added(x, (slice(None), np.array([3, 3])), y),
        (X, BESIDE[:, :2]),
    ),
    "index_fill": Row(lambda t, x: x.index_fill(0, long(t, [2, 0, 2]), 1.5), lambda x: written(x, [2, 0, 2], 1.5)),
    "masked_select": Row(lambda t, x: x.masked_select(t.tensor(SOME.tolist())), lambda x: x[SOME]),
    "masked_fill": Row(lambda t, x: x.masked_fill(t.tensor(SOME.tolist()), 2.0), lambda x: written(x, SOME, 2.0)),
    "key of rows": Row(lambda t, x: x[long(t, FROM_END)], lambda x: x[FROM_END]),
    "key of a list": Row(lambda t, x: x[[0, 0, -1]], lambda x: x[[0, 0, -1]]),
    "key of columns": Row(lambda t, x: x[:, long(t, [3, 3, -4])], lambda x: x[:, [3, 3, -4]]),
    "key of places": Row(lambda t, x: x[long(t, PLACES[0]), long(t, PLACES[1])], lambda x: x[PLACES[0], PLACES[1]]),
    "key that broadcasts": Row(
        lambda t, x: x[long(t, [[0], [-3]]), long(t, [1, 1, 2])], lambda x: x[np.array([[0], [-3]]), [1, 1, 2]]
    ),
    "key of a mask": Row(lambda t, x: x[t.tensor(SOME.tolist())], lambda x: x[SOME]),
    "key with an index and a slice": Row(lambda t, x: x[long(t, [1, 1]), 1:3], lambda x: x[[1, 1], 1:3]),
    "write by a key": Row(
        lambda t, x, y: assigned(x, long(t, [2, -3]), y), lambda x, y: written(x, [2, -3], y), (X, SOURCE[:2])
    ),
    "write a number by a key": Row(
        lambda t, x: assigned(x, long(t, [2, -1, 0]), 3.0), lambda x: written(x, [2, -1, 0], 3.0)
    ),
    "write by a mask": Row(
        lambda t, x, y: assigned(x, t.tensor(SOME.tolist()), y), lambda x, y: written(x, SOME, y), (X, SOURCE[0, :1])
    ),
    "index_put_ that adds": Row(
        lambda t, x, y: edited(x, lambda z: z.index_put_((long(t, PLACES[0]), long(t, PLACES[1])), y, True)),
        lambda x, y: added(x, (PLACES[0], PLACES[1]), y),
        (X, SOURCE[0]),
    ),
    "repeat_interleave": Row(
        lambda t, x: x.repeat_interleave(long(t, [2, 0, 3]), 0), lambda x: np.repeat(x, [2, 0, 3], 0)
    ),
    "nll_loss": Row(
        lambda t, x: t.nn.functional.nll_loss(x, long(t, [3, 3, 0]), reduction="none"),
        lambda x: -x[EACH_ROW, [3, 3, 0]],
    ),
    "nll_loss but for ignored rows": Row(
        lambda t, x: t.nn.functional.nll_loss(x, long(t, [1, 3, 1]), ignore_index=1, reduction="none"),
        lambda x: np.array([0.0, -x[1, 3], 0.0]),
    ),
}


def of_torch(row: Row, *arrays: np.ndarray) -> np.ndarray:
    inputs = [torch.tensor(array.tolist(), dtype=torch.float64) for array in arrays]
    return np.array(row.call(torch, *inputs).tolist(), np.float64)


@pytest.mark.parametrize("name", TORCH)
def test_torch(name: str) -> None:
    row = TORCH[name]
    arrays = list(row.arrays)
    np.testing.assert_allclose(of_torch(row, *arrays), row.numpy(*arrays), rtol=1e-14)
    check(name, partial(Engine.torch, row.call), row.numpy, arrays)


#: Functions of mxlite.torch with indices along dimension 0, and the dtypes that PyTorch takes for them.
INDICES = {
    "index_select": (lambda x, i: x.index_select(0, i), "int32 int64"),
    "gather": (lambda x, i: x.gather(0, i.reshape(-1, 1)), "int32 int64"),
    "scatter": (lambda x, i: x.scatter(0, i.reshape(-1, 1), 2.0), "int32 int64"),
    "scatter_add": (lambda x, i: x.scatter_add(0, i.reshape(-1, 1), x.detach()[:2]), "int32 int64"),
    "index_add": (lambda x, i: x.index_add(0, i, x.detach()[:2]), "int32 int64"),
    "embedding": (lambda x, i: torch.nn.functional.embedding(i, x), "int32 int64"),
    "index_fill": (lambda x, i: x.index_fill(0, i, 2.0), "int64"),
    "take": (lambda x, i: x.take(i), "int64"),
    "take_along_dim": (lambda x, i: x.take_along_dim(i.reshape(-1, 1), 0), "int64"),
    "key": (lambda x, i: x[:2][i], "int32 int64 uint8 bool"),
    "index_put_": (lambda x, i: (x[:2] * 1).index_put_((i,), torch.tensor(2.0)), "int32 int64 uint8 bool"),
}


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("kind", ["int64", "int32", "uint8", "int8", "bool", "float32"])
def test_dtypes_of_indices(name: str, kind: str) -> None:
    call, taken = INDICES[name]
    x = torch.tensor(X.tolist(), requires_grad=True)
    index = torch.tensor([1, 0], dtype=getattr(torch, kind))
    if kind not in taken.split():
        with pytest.raises((IndexError, RuntimeError), match=r"(?i)long|int64|int32"):
            call(x, index)
        return
    plain = torch.tensor([1, 0]) if kind.startswith("int") else torch.tensor([True, False])
    other = torch.tensor(X.tolist(), requires_grad=True)
    found, wanted = call(x, index), call(other, plain)
    assert found.tolist() == wanted.tolist()
    found.sum().backward()
    wanted.sum().backward()
    assert x.grad.tolist() == other.grad.tolist()


def test_losses_of_rows_that_are_all_ignored() -> None:
    # As in PyTorch: the mean of nothing is NaN, the gradient 0.
    for loss in (torch.nn.functional.nll_loss, torch.nn.functional.cross_entropy):
        x = torch.tensor(X.tolist(), requires_grad=True)
        mean = loss(x, long(torch, [-100] * 3))
        mean.backward()
        assert np.isnan(mean.item()) and x.grad.tolist() == [[0.0] * 4] * 3


def test_triangles_far_from_the_diagonal() -> None:
    x = torch.tensor(X.tolist())
    for far in (100, 2**63 - 1):
        assert x.tril(far).tolist() == x.triu(-far - 1).tolist() == x.tolist()
        assert x.tril(-far - 1).tolist() == x.triu(far).tolist() == [[0.0] * 4] * 3


def test_a_padding_row_of_torch_gets_no_gradient() -> None:
    w = torch.ones(3, 2, requires_grad=True)
    torch.nn.functional.embedding(long(torch, [0, 2, 0, 1]), w, padding_idx=-1).sum().backward()
    assert w.grad.tolist() == [[2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]


def test_several_writers_of_torch() -> None:
    # As in PyTorch, each of them gets the gradient of the element; the last one's value stays.
    x, y = torch.zeros(2, requires_grad=True), torch.tensor([1.0, 2.0], requires_grad=True)
    made = x.scatter(0, long(torch, [0, 0]), y)
    assert made.tolist() == [2.0, 0.0]
    made.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0] and y.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: x.gather(0, i.reshape(1, 1)),
        lambda x, i: x.take_along_dim(i * 100),
        lambda x, i: x.index_select(0, i),
        lambda x, i: torch.nn.functional.embedding(i, x),
        lambda x, i: x.take(i * 100),
        lambda x, i: x.scatter(0, i.reshape(1, 1), 1.0),
        lambda x, i: x.scatter_add(0, i.reshape(1, 1), x),
        lambda x, i: x.index_add(0, i, x[:1]),
        lambda x, i: x.index_fill(0, i, 1.0),
        lambda x, i: x[i],
        lambda x, i: x[:, i],
        lambda x, i: x[i, i],
        lambda x, i: assigned(x, i, 1.0),
        lambda x, i: edited(x, lambda y: y.index_put_((i,), x[:1])),
    ],
)
@pytest.mark.parametrize("index", [7, -7])
def test_torch_out_of_range(call: Callable, index: int) -> None:
    x = torch.tensor(X.tolist(), requires_grad=True)
    with pytest.raises((IndexError, RuntimeError), match="outside|bounds|range"):
        call(x, long(torch, [index]))
    assert x.tolist() == torch.tensor(X.tolist()).tolist() and x.requires_grad


# ---- mx.nd ----


def array(values: Any, dtype: str = "float64") -> nd.NDArray:
    return nd.array(np.asarray(values), dtype=dtype)


def clipped(at: Any, extent: int) -> np.ndarray:
    return np.clip(at, 0, extent - 1)


ND = {
    "take": Row(lambda n, x: n.take(x, array(ROWS)), lambda x: x[ROWS]),
    "take that clips": Row(lambda n, x: n.take(x, array(OUTSIDE)), lambda x: x[clipped(OUTSIDE, 3)]),
    "take that wraps": Row(lambda n, x: n.take(x, array(OUTSIDE), mode="wrap"), lambda x: x[OUTSIDE % 3]),
    "take of columns": Row(
        lambda n, x: n.take(x, array([[3, 3], [-1, 9]], "int32"), axis=1), lambda x: x[:, [[3, 3], [0, 3]]]
    ),
    "take that may not clip": Row(lambda n, x: n.take(x, array(ROWS, "int64"), mode="raise"), lambda x: x[ROWS]),
    "Embedding": Row(
        lambda n, x: n.Embedding(array([[2, 2], [0, 9]]), x, input_dim=3, output_dim=4),
        lambda x: x[np.array([[2, 2], [0, 2]])],
    ),
    "take by what is no number": Row(
        lambda n, x: n.take(x, array([np.nan, np.inf, -np.inf, 1.7])), lambda x: x[[0, 0, 0, 1]]
    ),
    "Embedding by what is no number": Row(
        lambda n, x: n.Embedding(array([np.nan, -np.inf, 2.9]), x, input_dim=3, output_dim=4), lambda x: x[[0, 0, 2]]
    ),
    "pick by what is no number": Row(
        lambda n, x: n.pick(x, array([np.nan, np.inf, 2.9])), lambda x: x[EACH_ROW, [0, 0, 2]]
    ),
    "pick": Row(lambda n, x: n.pick(x, array([3, 3, -2])), lambda x: x[EACH_ROW, [3, 3, 0]]),
    "pick that wraps": Row(
        lambda n, x: n.pick(x, array([3, 7, -2]), mode="wrap", keepdims=True), lambda x: x[EACH_ROW, [3, 3, 2]][:, None]
    ),
    "pick of columns": Row(
        lambda n, x: n.pick(x, array([2, 2, 5, -1]), axis=0), lambda x: x[[2, 2, 2, 0], np.arange(4)]
    ),
    "choose_element_0index": Row(
        lambda n, x: n.choose_element_0index(x, array([3, 3, 0])), lambda x: x[EACH_ROW, [3, 3, 0]]
    ),
    "batch_take": Row(lambda n, x: n.batch_take(x, array([3, 3, 0], "int32")), lambda x: x[EACH_ROW, [3, 3, 0]]),
    "gather_nd": Row(lambda n, x: n.gather_nd(x, array(PLACES, "int64")), lambda x: x[PLACES[0], PLACES[1]]),
    "gather_nd of rows": Row(lambda n, x: n.gather_nd(x, array([[2, 2, -3]], "int64")), lambda x: x[[2, 2, -3]]),
    "scatter_nd": Row(
        lambda n, x: n.scatter_nd(x, array([[0, -1], [2, 1]], "int64"), shape=(3, 4)),
        lambda x: written(np.zeros((3, 4)), ([0, -1], [2, 1]), x),
        (SOURCE[0, :2],),
    ),
    "scatter_nd twice": Row(
        lambda n, x: n.scatter_nd(x, array([[1, 1, -1], [2, 2, 1]], "int64"), shape=(3, 4)),
        lambda x: written(np.zeros((3, 4)), ([1, 1, -1], [2, 2, 1]), x),
        (SOURCE[0, :3],),
    ),
    "_scatter_set_nd": Row(
        lambda n, x, y: n._internal._scatter_set_nd(x, y, array([[1, 1, -1]], "int64"), shape=(3, 4)),
        lambda x, y: written(x, [1, 1, -1], y),
        (X, SOURCE[:3]),
    ),
    "index_copy": Row(
        lambda n, x, y: n.contrib.index_copy(x, array([2, 2, 0], "int64"), y),
        lambda x, y: written(x, [2, 2, 0], y),
        (X, SOURCE[:3]),
    ),
    "fill_element_0index": Row(
        lambda n, x, y: n.fill_element_0index(x, y, array([3, 3, -4])),
        lambda x, y: written(x, (EACH_ROW, [3, 3, -4]), y),
        (X, SOURCE[0, :3]),
    ),
    "boolean_mask": Row(lambda n, x: n.contrib.boolean_mask(x, array([1, 0, 1])), lambda x: x[[0, 2]]),
    "where by rows": Row(
        lambda n, x, y: n.where(array([1, 0, 1]), x, y), lambda x, y: np.where([[1], [0], [1]], x, y), (X, SOURCE[:3])
    ),
    "key of a list": Row(lambda n, x: x[[0, 0, -1]], lambda x: x[[0, 0, -1]]),
    "key of an array": Row(lambda n, x: x[array(FROM_END, "int32")], lambda x: x[FROM_END]),
    "key of places": Row(
        lambda n, x: x[array(PLACES[0], "int32"), array(PLACES[1], "int32")], lambda x: x[PLACES[0], PLACES[1]]
    ),
    "key of columns": Row(lambda n, x: x[:, [3, 3, -4]], lambda x: x[:, [3, 3, -4]]),
    "SequenceReverse": Row(
        lambda n, x: n.SequenceReverse(x, array([3, 2, 1, 2]), use_sequence_length=True),
        lambda x: x[np.array([[2, 1, 0, 1], [1, 0, 1, 0], [0, 2, 2, 2]]), np.arange(4)],
    ),
    "SequenceMask": Row(
        lambda n, x: n.SequenceMask(x, array([0, 2, 9, np.nan]), use_sequence_length=True, value=3),
        lambda x: np.where(EACH_ROW[:, None] < [0, 2, 9, 0], x, 3),
    ),
    "SequenceLast": Row(
        lambda n, x: n.SequenceLast(x, array([3, 2, 1, 2]), use_sequence_length=True),
        lambda x: x[[2, 1, 0, 1], np.arange(4)],
    ),
}


@pytest.mark.parametrize("name", ND)
def test_nd(name: str) -> None:
    row = ND[name]
    arrays = list(row.arrays)
    found = row.call(nd, *map(array, arrays)).asnumpy()
    np.testing.assert_array_equal(found, row.numpy(*arrays))
    check(name, partial(Engine.nd, row.call), row.numpy, arrays)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: nd.take(x, i, mode="raise"),
        lambda x, i: nd.gather_nd(x, i.reshape((1, 1))),
        lambda x, i: nd.scatter_nd(x[:1], i.reshape((1, 1)), shape=(3, 4)),
        lambda x, i: nd.contrib.index_copy(x, i, x[:1]),
        lambda x, i: nd.fill_element_0index(x, nd.ones((3,), dtype="float64"), nd.full((3,), i.asscalar())),
        lambda x, i: x[[int(i.asscalar())]],
        lambda x, i: x[i],
        lambda x, i: x.__setitem__(i, 1.0),
    ],
)
@pytest.mark.parametrize("index", [7, -7])
def test_nd_out_of_range(call: Callable, index: int) -> None:
    x = array(X)
    with pytest.raises((IndexError, mx.MXNetError), match="outside|bounds|range|exceed"):
        call(x, array([index], "int64"))
    np.testing.assert_array_equal(x.asnumpy(), X)


def test_one_hot_of_nd() -> None:
    found = nd.one_hot(array([2, 2, -1, 5, 0]), 3).asnumpy()
    np.testing.assert_array_equal(found, [[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0], [1, 0, 0]])


# ---- gradients that are not finite ----


def gradients(kind: str, row: Row, heads: np.ndarray) -> list[np.ndarray]:
    """Gradients of the inputs, where those of the result are given."""
    if kind == "torch":
        inputs = [torch.tensor(each.tolist(), dtype=torch.float64, requires_grad=True) for each in row.arrays]
        result = row.call(torch, *inputs)
        result.backward(torch.tensor(heads.tolist(), dtype=torch.float64).reshape(result.shape))
    else:
        inputs = [array(each) for each in row.arrays]
        for each in inputs:
            each.attach_grad()
        with mx.autograd.record():
            result = row.call(nd, *inputs)
        result.backward(array(heads))
    return [np.array(each.grad.tolist()).reshape(each.shape) for each in inputs]


@pytest.mark.parametrize("kind, name", [("torch", name) for name in TORCH] + [("nd", name) for name in ND])
def test_what_is_not_finite_stays_where_it_leads(kind: str, name: str) -> None:
    """A NaN or an infinity of one element's gradient reaches the inputs of that element, and no others."""
    row = (TORCH if kind == "torch" else ND)[name]
    ones = np.ones_like(row.numpy(*row.arrays))
    for place in {0, ones.size // 2, ones.size - 1}:
        alone = np.zeros_like(ones)
        alone.flat[place] = 1
        leads, plain = gradients(kind, row, alone), gradients(kind, row, ones)
        for value in (np.nan, np.inf):
            heads = ones.copy()
            heads.flat[place] = value
            for found, through, otherwise in zip(gradients(kind, row, heads), leads, plain):
                np.testing.assert_array_equal(np.isfinite(found), through == 0)
                np.testing.assert_allclose(found[through == 0], otherwise[through == 0], rtol=1e-12)
