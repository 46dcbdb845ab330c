"""mxlite.torch: which results are copies, edits of views whose base is no leaf, and edits of empty selections."""

from __future__ import annotations

import pytest

import mxlite.torch as torch

#: Functions of a matrix of one row whose result PyTorch copies in any case.
COPIES = {
    "repeat": lambda x: x.repeat(3, 1),
    "repeat once": lambda x: x.repeat(1, 1),
    "repeat in front": lambda x: x.repeat(2, 1, 1),
    "tile": lambda x: x.tile(2, 1),
    "tile once": lambda x: x.tile(()),
    "matrix_power": lambda x: torch.matrix_power(x[:, :1], 1),
    "ravel": lambda x: x.expand(2, 3).ravel(),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_written_to_alone(name):
    x = torch.tensor([[1.0, 2.0, 3.0]])
    made = COPIES[name](x)
    before = made.clone()
    made.view(-1)[0] = 7.0
    assert x.tolist() == [[1.0, 2.0, 3.0]]
    assert (made != before).sum() == 1 and made.is_contiguous()


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x,
        lambda x: x.t(),
        lambda x: x[:, 1:],
        lambda x: x[1:],
        lambda x: x[:, ::2],
        lambda x: x[:, :1],
        lambda x: x[:1, ::3],
        lambda x: x[:, :1].expand(3, 4),
        lambda x: x[:0].t(),
        lambda x: x.flip(0),
        lambda x: x[1, 2],
        lambda x: x[:, None, :, None],
    ],
)
def test_elements_in_order(change):
    """By the definition: strides of rows, sizes of 1 and tensors without elements aside."""
    x = change(torch.zeros(3, 4))
    expected, in_order = 1, True
    for size, stride in zip(reversed(x.shape), reversed(x.stride())):
        in_order = in_order and (size == 1 or stride == expected)
        expected *= size
    assert x.is_contiguous() == (in_order or x.numel() == 0)


# ---- leaves that are views ----


@pytest.mark.parametrize(
    "edit",
    [lambda x: x[0].mul_(2), lambda x: x.view(-1).add_(1), lambda x: x[:1].zero_(), lambda x: x.t().tanh_()],
    ids=["select", "view", "slice", "transposed"],
)
def test_a_view_of_a_leaf_that_is_a_view_is_not_edited(edit):
    x = torch.arange(4.0).reshape(2, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a variable whose gradient is wanted cannot be edited in place"):
        edit(x)
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    x[1].sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0], [1.0, 1.0]]


def test_a_key_is_not_assigned_in_a_leaf_that_is_a_view():
    x = torch.arange(4.0).view(2, 2)
    x.requires_grad = True
    with pytest.raises(RuntimeError, match="a view of a variable whose gradient is wanted"):
        x[0] = 5
    with torch.no_grad():
        x[0] = 5
    assert x.tolist() == [[5.0, 5.0], [2.0, 3.0]] and x.is_leaf


def test_the_other_part_of_the_memory_of_a_leaf_is_edited():
    whole = torch.zeros(4)
    leaf, other = whole[:2].requires_grad_(), whole[2:]
    other.add_(1)
    assert whole.tolist() == [0.0, 0.0, 1.0, 1.0] and leaf.is_leaf and not other.requires_grad


# ---- selections of nothing ----


@pytest.mark.parametrize("key", ["x > 100", "[]", "torch.tensor([], dtype=torch.int64)", "torch.zeros(2).bool()"])
def test_nothing_that_is_selected_is_edited(key):
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    x = leaf * 3
    chosen = eval(key, {"x": x, "torch": torch})
    x[chosen] *= 2
    x[chosen] += torch.ones(1)
    assert x[chosen].mul_(2).tolist() == []
    assert x.tolist() == [3.0, 6.0]
    x.sum().backward()
    assert leaf.grad.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("limit", [0.0, 100.0])
def test_a_mask_of_a_tensor_without_dimensions(limit):
    leaf = torch.tensor(2.0, requires_grad=True)
    x = leaf * 1
    x[x > limit] *= 3
    x.backward()
    assert leaf.grad.item() == (3.0 if limit < 2 else 1.0)


# ---- lists as keys ----

GRID = torch.arange(6).reshape(2, 3)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ([[0, 1], [1, 2]], [1, 5]),
        ([[0, 1]], [[0, 1, 2], [3, 4, 5]]),
        ([0, [1, 0]], [1, 0]),
        ([slice(0, 1), 0], [0]),
        ([None, 0], [[0, 1, 2]]),
        ([..., 0], [0, 3]),
        ([torch.tensor([0, 1]), torch.tensor([1, 2])], [1, 5]),
        ([[True, False], [True, False, True]], [0, 2]),
        ([0, 1], [[0, 1, 2], [3, 4, 5]]),
        (range(1), [[0, 1, 2]]),
        ((slice(None), range(2)), [[0, 1], [3, 4]]),
    ],
    ids=str,
)
def test_a_list_of_indices_is_a_tuple_of_them(key, expected):
    assert GRID[key].tolist() == expected
    written = GRID.clone()
    written[key] = -1
    assert (written == -1).sum() == len(set(GRID[key].reshape(-1).tolist()))
    assert (written[key] == -1).all()


@pytest.mark.parametrize("kind", ["int16", "uint16", "uint32", "int64"])
def test_index_arrays_of_numpys_integers(kind):
    np = pytest.importorskip("numpy")
    assert GRID[np.array([1, 0], kind)].tolist() == [[3, 4, 5], [0, 1, 2]]


def test_tensors_of_ranges():
    assert torch.tensor(range(3)).tolist() == [0, 1, 2]
    assert torch.tensor([range(2), range(1, 3)]).tolist() == [[0, 1], [1, 2]]
    assert torch.as_tensor(range(0)).dtype is torch.float32
