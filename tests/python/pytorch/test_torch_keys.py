"""Keys of tensors made from seeds, read and written beside NumPy, with gradients: by PyTorch's rule integers are taken
away before index tensors select. And how often a key crosses the border to the library: once."""

from __future__ import annotations

import random
from typing import Any, Callable

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite import nd
from mxlite._lib import LIB, hot

COUNT, STEP = 1000, 250


def _index(make: random.Random, extent: int) -> np.ndarray:
    shape = make.choice([(2,), (2,), (1,), (0,), (2, 1), (3,), (2, 2)]) if extent else (0,)
    values = [make.randrange(-extent, extent) for _ in range(int(np.prod(shape)))]
    return np.array(values, dtype=make.choice(["int64", "int32"])).reshape(shape)


def key_of(make: random.Random, shape: tuple[int, ...]) -> tuple:
    """A key for an array of the shape, of NumPy arrays."""
    parts: list[Any] = []
    axis = 0
    while axis < len(shape) and make.random() < 0.85:
        extent, choice = shape[axis], make.random()
        if choice < 0.12:
            parts.append(None)
        elif choice < 0.2 and Ellipsis not in [part for part in parts if not isinstance(part, np.ndarray)]:
            parts.append(Ellipsis)
            axis += make.randint(0, len(shape) - axis)
        elif choice < 0.4 and extent:
            parts.append(make.randrange(-extent, extent))
            axis += 1
        elif choice < 0.6:
            bounds = [make.choice([None, make.randint(-extent - 1, extent + 1)]) for _ in range(2)]
            parts.append(slice(*bounds, make.choice([None, None, 1, 2])))
            axis += 1
        elif choice < 0.85:
            parts.append(_index(make, extent))
            axis += 1
        else:
            axes = make.randint(1, min(len(shape) - axis, 2))
            size = int(np.prod(shape[axis : axis + axes]))
            parts.append(np.array([make.random() < 0.5 for _ in range(size)], bool).reshape(shape[axis : axis + axes]))
            axis += axes
    return tuple(parts)


def as_numpy_has_it(key: tuple, ndim: int) -> tuple[tuple, tuple]:
    """The key as two: integers, slices and new axes; then index arrays beside whole slices."""
    taken = sum(
        part.ndim if isinstance(part, np.ndarray) and part.dtype == bool else part is not None and part is not Ellipsis
        for part in key
    )
    first: list[Any] = []
    second: list[Any] = []
    for part in key:
        if part is Ellipsis:
            first += [slice(None)] * (ndim - taken)
            second += [slice(None)] * (ndim - taken)
        elif isinstance(part, np.ndarray):
            first += [slice(None)] * (part.ndim if part.dtype == bool else 1)
            second.append(part)
        else:
            first.append(part)
            second += [] if isinstance(part, int) else [slice(None)]
    return tuple(first), tuple(second)


def for_torch(make: random.Random, key: tuple) -> Any:
    """The key with tensors, or lists, in place of arrays."""
    ways = (torch.tensor, torch.tensor, lambda each: each, lambda each: each.tolist() if each.size else each)
    parts = tuple(make.choice(ways)(part) if isinstance(part, np.ndarray) else part for part in key)
    return parts[0] if len(parts) == 1 and not isinstance(parts[0], list) else parts


def check(number: int) -> None:
    make = random.Random(number)
    shape = tuple(make.choice([1, 2, 3, 4]) for _ in range(make.randint(1, 4)))
    values = np.arange(1.0, 1 + int(np.prod(shape))).reshape(shape)
    key = key_of(make, shape)
    first, second = as_numpy_has_it(key, len(shape))
    places = np.arange(values.size).reshape(shape)
    try:
        chosen = places[first][second]
    except IndexError:
        with pytest.raises(IndexError):
            torch.tensor(values)[for_torch(make, key)]
        return
    mine = for_torch(make, key)
    x = torch.tensor(values, requires_grad=True)
    read = x[mine]
    wanted = values.reshape(-1)[chosen]
    assert tuple(read.shape) == wanted.shape and np.array_equal(read.detach().numpy(), wanted)
    weights = np.arange(1.0, wanted.size + 1).reshape(wanted.shape)
    (grad,) = torch.autograd.grad((read * read * torch.tensor(weights)).sum(), x, create_graph=True)
    (second_grad,) = torch.autograd.grad(grad.sum(), x)
    slopes, curves = np.zeros(values.size), np.zeros(values.size)
    np.add.at(slopes, chosen, 2 * weights * wanted)
    np.add.at(curves, chosen, 2 * weights)
    assert np.allclose(grad.detach().numpy().reshape(-1), slopes)
    assert np.allclose(second_grad.numpy().reshape(-1), curves)
    check_written(make, values, mine, chosen)


def check_written(make: random.Random, values: np.ndarray, key: Any, chosen: np.ndarray) -> None:
    """A value, and a number, written to an array, and to a part of a transposed one; with gradients."""
    extents = list(chosen.shape)
    if extents and make.random() < 0.4:
        extents[make.randrange(len(extents))] = 1
    given = 101.0 + np.arange(int(np.prod(extents))).reshape(extents)
    written, filled, kept = values.reshape(-1).copy(), values.reshape(-1).copy(), np.ones(values.size)
    np.put(written, chosen, np.broadcast_to(given, chosen.shape))
    filled[chosen], kept[chosen] = -5, 0
    x, value = torch.tensor(values, requires_grad=True), torch.tensor(given, requires_grad=True)
    y = x * 1
    y[key] = value
    assert np.array_equal(y.detach().numpy().reshape(-1), written)
    (y * torch.tensor(values)).sum().backward()
    assert np.array_equal(x.grad.numpy().reshape(-1), values.reshape(-1) * kept)
    back = np.zeros(given.shape)
    np.add.at(back, tuple(i % n for i, n in zip(np.indices(chosen.shape), given.shape)), values.reshape(-1)[chosen])
    assert np.array_equal(value.grad.numpy(), back)
    turned = torch.tensor(np.ascontiguousarray(values.T))
    turned.permute(*reversed(range(values.ndim)))[key] = -5
    assert np.array_equal(turned.numpy().T.reshape(-1), filled)


@pytest.mark.one_binding
@pytest.mark.parametrize("start", range(0, COUNT, STEP))
def test_keys_beside_numpy(start: int) -> None:
    for number in range(start, start + STEP):
        try:
            check(number)
        except Exception as problem:
            raise AssertionError(f"key {number}: {problem!r}") from problem


def test_a_part_that_shows_each_element_once_is_written() -> None:
    x = torch.zeros(3)
    x.expand(2, 3)[0] = 1
    assert x.tolist() == [1, 1, 1]
    x.expand(2, 3)[1, 1:] = torch.tensor([5.0, 6.0])
    assert x.tolist() == [1, 5, 6]
    for use in (lambda y: y.__setitem__((slice(None), 0), 1), lambda y: y.__setitem__(slice(0, 2), torch.ones(3))):
        with pytest.raises(RuntimeError):
            use(x.expand(2, 3))
    assert x.tolist() == [1, 5, 6]


def test_a_view_of_an_edited_base_is_read_by_a_key() -> None:
    w = torch.tensor([2.0, 3.0], requires_grad=True)
    base = torch.zeros(3, 2)
    view = base[1:]
    base[2] = w
    read = view[1, 0:2]
    assert read.grad_fn.name() == "SliceBackward0" and read.grad_fn.next_functions[0][0].name() == "SelectBackward0"
    (read * read).sum().backward()
    assert w.grad.tolist() == [4, 6]


# ---- crossings ----


def crossings(monkeypatch: pytest.MonkeyPatch, use: Callable[[], Any]) -> int:
    """How many functions of the library, hot or by ctypes, a call makes."""
    calls: list[str] = []
    use()  # prepares calls, and looks functions up

    def counted(name: str, function: Callable) -> Callable:
        def wrapper(*args: Any) -> Any:
            calls.append(name)
            return function(*args)

        return wrapper

    with monkeypatch.context() as patch:
        for name in ("run", "call_n", "call_into", "array_of", "call1_list", "info", "into1", "into2", "into1_float"):
            patch.setattr(hot, name, counted(name, getattr(hot, name)))
        for name in (
            "copy_in",
            "copy_out",
            "call1",
            "call2",
            "call1_int",
            "num_outputs",
            "at",
            "slice_rows",
            "reshape",
        ):
            patch.setattr(hot, name, counted(name, getattr(hot, name)))
        for name, function in list(vars(LIB).items()):
            if name.startswith("MX"):
                patch.setattr(LIB, name, counted(name, function))
        use()
    return len(calls)


@pytest.mark.skipif(not hasattr(hot, "lib"), reason="over ctypes a hot function is made of others")
def test_keys_are_read_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    x, index, mask = torch.zeros(4, 3, 5), torch.tensor([0, -1]), torch.zeros(4, 3, 5) > 1
    w = torch.zeros(4, 3, 5, requires_grad=True)
    y, rows, flags = nd.zeros((4, 3, 5)), nd.array([0, -1], dtype="int32"), nd.zeros((4, 3, 5)).astype("bool")
    reads = [(slice(1, None), None, index), (index, 0, slice(None, None, 2)), mask, (0, slice(1, 3)), (..., None, -1)]
    for key in reads:
        for each in (x, w):
            assert crossings(monkeypatch, lambda each=each, key=key: each[key]) == 0, key
        for value in (2.0, torch.tensor(1.0)):
            assert crossings(monkeypatch, lambda key=key, v=value: x.__setitem__(key, v)) == 0, key
    for key in [(slice(1, None), None, rows), (rows, 0), flags, (0, slice(1, 3)), (slice(None), 1), (..., None, -1)]:
        assert crossings(monkeypatch, lambda key=key: y[key]) == 0, key  # all of it is in C
        for value in (2.0, nd.ones(1)):
            assert crossings(monkeypatch, lambda key=key, v=value: y.__setitem__(key, v)) == 0, key
    assert crossings(monkeypatch, lambda: x[[0, 1]]) == 0
    assert crossings(monkeypatch, lambda: x.clone().requires_grad_().mul(1).__setitem__((0, index), 1.0)) > 0
