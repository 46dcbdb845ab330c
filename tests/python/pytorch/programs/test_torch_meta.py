"""The device meta: tensors with dtype, shape and strides but no values, modules of them, and what refuses them."""

from __future__ import annotations

import copy
import pickle
import threading
import warnings
from typing import Any, Callable

import numpy as np
import pytest

import mxlite as mx
import mxlite.torch as torch
from mxlite.torch import nn
from mxlite.torch.nn import functional as F


def meta(*shape: int, **given: Any) -> Any:
    return torch.empty(shape, device="meta", **given)


def facts(tensor: Any) -> tuple:
    return tuple(tensor.shape), tensor.dtype, tensor.stride(), tensor.is_meta


def test_what_a_tensor_on_meta_is() -> None:
    x = meta(2, 3)
    assert (x.is_meta, x.is_cpu, x.device, x.data_ptr()) == (True, False, torch.device("meta"), 0)
    assert repr(x) == "tensor(..., device='meta', size=(2, 3))"
    assert repr(meta(2, dtype=torch.int64)) == "tensor(..., device='meta', size=(2,), dtype=torch.int64)"
    assert "requires_grad=True" in repr(meta(2, requires_grad=True))
    assert x.type() == "torch.meta.FloatTensor"
    assert x.untyped_storage().nbytes() == 24
    assert f"{meta()}" == repr(meta())
    assert not torch.ones(2).is_meta


#: What a tensor of 2 x 3 becomes; on the CPU with the same shape, dtype and strides.
CALLS: tuple[Callable, ...] = (
    lambda x: x + 1,
    lambda x: x + x.T.reshape(2, 3),
    lambda x: x @ x.T,
    lambda x: x.T.exp(),
    lambda x: x.sum(0),
    lambda x: x.mean(),
    lambda x: x.max(1).indices,
    lambda x: x > 0,
    lambda x: x.double(),
    lambda x: x[1],
    lambda x: x[:, ::2],
    lambda x: x[torch.zeros(4, dtype=torch.int64, device=x.device)],
    lambda x: torch.cat([x, x]),
    lambda x: torch.where(x > 0, x, 0.0),
    lambda x: x.softmax(1),
    lambda x: x.sort()[1],
    lambda x: x.cumprod(0),
    lambda x: torch.einsum("ij,kj->ik", x, x),
    lambda x: torch.linalg.svd(x)[2],
    lambda x: torch.linalg.slogdet(x @ x.T)[1],
    lambda x: x.clone().index_fill(0, torch.zeros(1, dtype=torch.int64, device=x.device), 1),
    lambda x: torch.diag_embed(x),
    lambda x: x.to(torch.int64) // 2,
    lambda x: torch.zeros_like(x.T),
    lambda x: x.new_ones(3),
    lambda x: F.dropout(x),
    lambda x: F.cross_entropy(x, torch.zeros(2, dtype=torch.int64, device=x.device)),
    lambda x: F.binary_cross_entropy(x * 0, x * 0),
    lambda x: x.masked_fill(x > 0, 1.0),
    lambda x: copy.deepcopy(x),
)


@pytest.mark.parametrize("call", range(len(CALLS)))
def test_operators_give_shapes_dtypes_and_strides(call: int) -> None:
    found, expected = CALLS[call](meta(2, 3)), CALLS[call](torch.zeros(2, 3))
    assert facts(found) == (*facts(expected)[:3], True)


def test_no_memory_is_taken() -> None:
    x = meta(1_000_000, 1_000_000, requires_grad=True)
    y = (x.exp() * 2).reshape(-1)
    y.sum().backward()
    assert x.grad.shape == x.shape
    assert x.grad.is_meta


def test_backward_on_meta() -> None:
    w = meta(3, 4, requires_grad=True)
    loss = (meta(2, 3) @ w).relu().cumprod(0).sum()
    (first,) = torch.autograd.grad(loss, w, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), w)
    assert (facts(first)[0], facts(second)[0]) == ((3, 4), (3, 4))
    assert second.is_meta
    assert (loss.grad_fn.name(), first.requires_grad) == ("SumBackward0", True)


def test_views_and_edits_share_a_version() -> None:
    x = meta(2, 3)
    row = x[0]
    assert row._is_view()
    row.add_(1)
    x.fill_(2)
    x[1] = 3.0
    assert (x._version, row._version) == (3, 3)
    x.copy_(torch.ones(2, 3))
    assert x.is_meta


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda x: x[0, 0].item(), RuntimeError),
        (lambda x: bool(x[0, 0]), RuntimeError),
        (lambda x: float(x[0, 0]), RuntimeError),
        (lambda x: 1.0 in x, RuntimeError),
        (lambda x: torch.allclose(x, x), RuntimeError),
        (lambda x: x.tolist(), NotImplementedError),
        (lambda x: x.numpy(), TypeError),
        (lambda x: np.asarray(x), TypeError),
        (lambda x: x.cpu(), NotImplementedError),
        (lambda x: x.to("cpu"), NotImplementedError),
        (lambda x: torch.ones(2, 3).copy_(x), NotImplementedError),
        (lambda x: x.nonzero(), NotImplementedError),
        (lambda x: x.unique(), NotImplementedError),
        (lambda x: x[x > 0], NotImplementedError),
        (lambda x: torch.add(x, 1, out=torch.ones(2, 3)), RuntimeError),
        (lambda x: torch.add(torch.ones(2, 3), 1, out=x), RuntimeError),
        (lambda x: torch.to_dlpack(x), BufferError),
        (lambda x: nn.Linear(2, 2, device="meta").to("cpu"), NotImplementedError),
    ],
)
def test_who_asks_for_values_is_told(call: Callable, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"meta|no values|depends on values"):
        call(meta(2, 3))


def test_tensors_move_to_meta_and_not_back() -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.to("meta")
    assert (y.is_meta, y.grad_fn.name()) == (True, "ToCopyBackward0")
    assert y.to("meta") is y
    assert x.to(y).is_meta
    assert facts(y.detach().to("meta", torch.float64))[1] is torch.float64
    assert facts(pickle.loads(pickle.dumps(meta(2, 3)))) == facts(meta(2, 3))  # noqa: S301 - our own
    assert not torch.empty_like(y, device="cpu").is_meta
    assert torch.zeros_like(torch.ones(3), device="meta").is_meta


def test_a_block_says_where_new_tensors_go() -> None:
    with torch.device("meta"):
        made = [torch.ones(2), torch.tensor([1]), torch.randn(2), torch.arange(3), torch.full((2,), 3), torch.eye(2)]
        layer = nn.Linear(2, 3)
        with torch.device("cpu"):
            inner = torch.ones(1)
        assert all(each.is_meta for each in [*made, layer.weight, layer.bias, torch.zeros(1)])
        assert not any(each.is_meta for each in (inner, torch.ones(1, device="cpu"), torch.from_numpy(np.ones(2))))
        others: list[bool] = []
        thread = threading.Thread(target=lambda: others.append(torch.ones(1).is_meta))
        thread.start()
        thread.join()
        assert others == [False]
    assert not torch.ones(1).is_meta
    torch.set_default_device("meta")
    try:
        assert torch.get_default_device() == torch.device("meta")
        assert torch.ones(1).is_meta
    finally:
        torch.set_default_device("cpu")
    assert torch.ones(1).tolist() == [1.0]
    assert torch.get_default_device() == torch.device("cpu")


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2)), (2, 3, 8, 8)),
        (lambda: nn.LSTM(3, 4), (5, 2, 3)),
        (lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (2, 5, 4)),
        (
            lambda: nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.PReLU(), nn.Bilinear(4, 4, 2) and nn.GELU()),
            (2, 3),
        ),
    ],
)
def test_networks_on_meta(layer: Callable, shape: tuple) -> None:
    with torch.device("meta"):
        net = layer()
    assert all(each.is_meta for each in net.state_dict().values())
    first = lambda y: y[0] if isinstance(y, tuple) else y  # noqa: E731
    y = first(net(meta(*shape)))
    assert facts(y)[0] == facts(first(layer()(torch.zeros(shape))))[0]
    optimizer = torch.optim.Adam(net.parameters())
    y.sum().backward()
    optimizer.step()
    assert all(each.grad.is_meta for each in net.parameters())


def test_a_network_on_meta_gets_values() -> None:
    real = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    net = nn.Sequential(nn.Linear(2, 3, device="meta"), nn.BatchNorm1d(3, device="meta"))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        net.load_state_dict(real.state_dict())
    assert len(seen) == 7
    assert net[0].weight.is_meta
    net.load_state_dict(real.state_dict(), assign=True)
    x = torch.randn(4, 2)
    assert torch.equal(net.eval()(x), real.eval()(x))
    assert net[0].weight.requires_grad
    empty = nn.Linear(2, 3, device="meta").to_empty(device="cpu")
    empty.load_state_dict(real[0].state_dict())
    assert torch.equal(empty(x), real[0](x))
    assert empty.to("meta").weight.is_meta


def test_functions_of_mx_nd_refuse_it() -> None:
    x = meta(2)
    with pytest.raises(BufferError):
        mx.nd.from_dlpack(x)
