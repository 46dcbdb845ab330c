"""Lists of any length: of numbers as a parameter, of arrays that go in and that come out; with derivatives."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite import autograd, nd
from mxlite._lib import LIB, check_call, hot
from mxlite.autograd._pictures.walk import walk

LENGTHS = [1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000]


def vector(count: int) -> nd.NDArray:
    """1, 2, 3, ... as a variable."""
    x = nd.array(np.arange(1.0, count + 1), dtype="float64")
    x.attach_grad()
    return x


def tensor(count: int) -> torch.Tensor:
    """1, 2, 3, ... that wants a gradient."""
    return torch.tensor(np.arange(1.0, count + 1), requires_grad=True)


def listed(parts) -> list:
    """One part is not in a list."""
    return list(parts) if isinstance(parts, (list, tuple)) else [parts]


CUT = {
    "split_v2": lambda x, n: nd.split_v2(x, tuple(range(1, n))),
    "split_v2 sections": lambda x, n: nd.split_v2(x, n),
    "split": lambda x, n: nd.split(x, n, axis=0),
    "rows": lambda x, n: [x[i : i + 1] for i in range(n)],
}
JOIN = {
    "concat": lambda parts: nd.concat(*parts, dim=0),
    "stack": lambda parts: nd.stack(*parts, axis=0),
    "add_n": lambda parts: nd.add_n(*parts),
}


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("join", JOIN)
@pytest.mark.parametrize("cut", CUT)
def test_arrays_are_cut_and_joined(cut, join, count):
    x = vector(count)
    values = np.arange(1.0, count + 1)
    with autograd.record():
        parts = listed(CUT[cut](x, count))
        assert len(parts) == count and parts[-1].asscalar() == count
        whole = JOIN[join](parts)
        y = (whole**3).sum()
        first = autograd.grad(y, x, create_graph=True, retain_graph=True)[0]
        first.sum().backward()
    if join == "add_n":  # (sum x)^3
        total = values.sum()
        np.testing.assert_allclose(first.asnumpy(), np.full(count, 3 * total**2), rtol=1e-13)
        np.testing.assert_allclose(x.grad.asnumpy(), np.full(count, 6 * total * count), rtol=1e-13)
    else:
        assert whole.asnumpy().reshape(-1).tolist() == values.tolist()
        np.testing.assert_allclose(first.asnumpy(), 3 * values**2, rtol=1e-13)
        np.testing.assert_allclose(x.grad.asnumpy(), 6 * values, rtol=1e-13)


TORCH_CUT = {
    "unbind": lambda t: t.unbind(0),
    "iter": list,
    "split": lambda t: t.split(1),
    "sections": lambda t: t.split([1] * len(t)),
    "chunk": lambda t: t.chunk(len(t)),
    "star": lambda t: (lambda *each: each)(*t),
}


@pytest.mark.parametrize("count", LENGTHS)
@pytest.mark.parametrize("name", TORCH_CUT)
def test_tensors_are_cut_and_joined(name, count):
    x = tensor(count)
    values = np.arange(1.0, count + 1)
    parts = TORCH_CUT[name](x)
    assert len(parts) == count and float(parts[-1]) == count
    with torch.no_grad():
        assert len(TORCH_CUT[name](x)) == count
    whole = torch.stack(list(parts))
    assert len(whole.grad_fn.next_functions) == count
    assert all(edge[0] is not None for edge in whole.grad_fn.next_functions)
    (first,) = torch.autograd.grad((whole**3).sum(), x, create_graph=True)
    np.testing.assert_allclose(first.detach().numpy(), 3 * values**2, rtol=1e-13)
    (second,) = torch.autograd.grad(first.sum(), x)
    np.testing.assert_allclose(second.numpy(), 6 * values, rtol=1e-13)
    joined = torch.cat([part.reshape(1) for part in parts])
    assert len(joined.grad_fn.next_functions) == count
    joined[-1].backward()
    assert x.grad.tolist() == [0.0] * (count - 1) + [1.0]


def test_rows_of_a_table():
    table = torch.ones(33, 2, requires_grad=True)
    for number, row in enumerate(table):
        (row * number).sum().backward()
    assert table.grad.tolist() == [[float(i)] * 2 for i in range(33)]
    rows = table.split(16)
    assert [len(part) for part in rows] == [16, 16, 1]
    with pytest.raises(RuntimeError):
        table.split([33, 1])


@pytest.mark.parametrize("count", LENGTHS)
def test_a_constant_list(count):
    """The same tuple again and again, as a constant of a program is; and the parameters of what was recorded."""
    x, where = vector(count), tuple(range(1, count))
    for _ in range(5):
        with autograd.record():
            parts = listed(nd.split_v2(x, where))
        assert [part.shape for part in parts] == [(1,)] * count
        assert walk(parts[0])[0][-1].params["indices"] == str((0, *where))
    indices = tuple(i % 2 for i in range(count))
    for _ in range(5):
        assert nd.contrib.index_array(nd.zeros((2, 3)), axes=indices).shape == (2, 3, count)
        places = nd.ravel_multi_index(nd.zeros((count, 2)), shape=(1,) * count)
        assert places.asnumpy().tolist() == [0, 0]


def newest_call(label: str) -> int:
    """The handle of a call prepared now. Those of calls prepared one after the other are equally far apart."""
    call = ctypes.c_void_p()
    arguments = (ctypes.c_char_p * 1)(b"axis")
    check_call(LIB.MXLPrepareAs(1, label.encode(), None, b"stack", 0, None, None, 1, arguments, ctypes.byref(call)))
    return call.value


def test_no_call_is_kept_for_a_number_of_inputs():
    tensors = [torch.ones(1)] * 40
    step = newest_call("second") - newest_call("first")
    before = newest_call("before")
    for count in range(1, 40):
        torch.cat(tensors[:count])
        torch.stack(tensors[:count])
    assert newest_call("after") - before <= 3 * abs(step), "cat or stack prepared a call for each number of tensors"


@pytest.mark.parametrize("count", LENGTHS)
def test_constants_of_an_operator(count):
    """Calls of one operator with more constants than it remembers, each met again and again."""
    x = nd.array(np.arange(12.0))
    bounds = [(float(i % 7), float(i % 7 + 1 + i)) for i in range(count)]
    shapes = [(1,) * (i % 20) + (12,) + (1,) * (i // 20 % 10) for i in range(count)]
    for _ in range(4):
        for (low, high), shape in zip(bounds, shapes):
            found = nd.clip(x, a_min=low, a_max=high)
            assert found.asnumpy().tolist() == np.clip(np.arange(12.0), low, high).tolist()
            assert nd.reshape(x, shape=shape).shape == shape


@pytest.mark.parametrize("count", LENGTHS)
def test_keywords(count):
    """Attributes are ignored everywhere, unknown keywords where an operator has no parameters."""
    x = nd.array([1.0, -2.0])
    attributes = {f"__key{i}__": "1" for i in range(count)}
    assert nd.clip(x, a_min=0, a_max=5, **attributes).asnumpy().tolist() == [1, 0]
    unknown = {f"key{i}": i for i in range(count)}
    assert nd.zeros_like(x, **unknown).asnumpy().tolist() == [0, 0]
    with pytest.raises((TypeError, mx.MXNetError), match="key"):
        nd.clip(x, a_min=0, a_max=5, **unknown)


@pytest.mark.parametrize("count", LENGTHS)
def test_names_in_a_file(tmp_path, count):
    named = {chr(97 + i % 26) * (i % 300) + f":{i}é": nd.full((1, i % 3 + 1), i) for i in range(count)}
    nd.save(tmp_path / "a", named)
    for found in (nd.load(tmp_path / "a"), nd.load_frombuffer((tmp_path / "a").read_bytes())):
        assert list(found) == list(named)
        assert all(found[name].asnumpy().tolist() == named[name].asnumpy().tolist() for name in named)
    nd.save(tmp_path / "a", list(named.values()))
    assert [each.shape for each in nd.load(tmp_path / "a")] == [each.shape for each in named.values()]


@pytest.mark.parametrize("count", LENGTHS)
def test_tables_of_tensors(count):
    """Functions of mxlite.torch that take a list, with as many numbers or tensors."""
    x, values = tensor(count), np.arange(1.0, count + 1)
    rolled = x.roll([1] * count, [0] * count)
    assert rolled.tolist() == np.roll(values, count).tolist()
    rolled[0].backward()
    assert x.grad.tolist() == [1.0] + [0.0] * (count - 1)
    places = [i * i % count - count * (i % 2) for i in range(count)]
    assert x[places].tolist() == values[places].tolist()
    for joined in (torch.hstack([x] * count), torch.cat(torch.broadcast_tensors(*[x] * count))):
        assert joined.tolist() == values.tolist() * count
    heads = [x * i for i in range(count)]
    (slope,) = torch.autograd.grad(heads, x, [torch.ones(count, dtype=torch.float64)] * count)
    assert slope.tolist() == [count * (count - 1) / 2] * count
    leaves = [tensor(1) for _ in range(count)]
    slopes = torch.autograd.grad(sum(leaf * i for i, leaf in enumerate(leaves)), leaves)
    assert [slope.item() for slope in slopes] == list(range(count))


def test_a_roll_has_as_many_shifts_as_dimensions():
    x = torch.arange(6.0).reshape(2, 3)
    for shifts, dims in (((1, 2), 0), (1, (0, 1)), ((1, 2), None), ((), ()), ((), 0), ([1] * 33, [0] * 32)):
        with pytest.raises(RuntimeError, match="one for each|no shifts"):
            x.roll(shifts, dims)
    assert x.roll((1, 2), (0, 1)).tolist() == [[4, 5, 3], [1, 2, 0]]
    with pytest.raises(IndexError, match="without dimensions"):
        torch.tensor(1.0).roll(1, 0)


@pytest.mark.parametrize("name", ["n" * 1000, "é" * 200, "F"])
def test_names_of_nodes(name):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    Twice.__name__ = name
    assert Twice.apply(tensor(1)).grad_fn.name() == f"{name}Backward"


def test_codes_of_a_reshape():
    x = nd.ones((4,) * 3 + (1,) * 13)
    codes = (-4, 2, 2) * 3 + (-4, 1, 1) * 13
    shape = (2,) * 6 + (1,) * 26
    assert x.reshape(codes).shape == shape
    assert nd.reshape(x, shape=codes).shape == shape


def test_there_are_at_most_32_axes():
    x = nd.ones((1,) * 32)
    assert x.ndim == 32 and (x + x).sum().asscalar() == 2
    for wrong in (
        lambda: nd.ones((1,) * 33),
        lambda: x.reshape((1,) * 33),
        lambda: nd.expand_dims(x, axis=0),
        lambda: nd.tile(x, reps=(1,) * 33),
        lambda: nd.random.uniform(shape=(1,) * 1000),
        lambda: nd.stack(x, x),
        lambda: mx.nd.array(np.ones(1)).broadcast_to((1,) * 33),
    ):
        with pytest.raises((mx.MXNetError, ValueError)):
            wrong()
    assert hot.info(x._h) == ((1,) * 32, 0)
