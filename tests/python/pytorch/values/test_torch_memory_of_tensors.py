"""bfloat16; storages, `set_` and `data`; orders in memory; generators."""

from __future__ import annotations

import io
import pickle

import pytest

import mxlite.torch as torch
from mxlite.torch import nn
from mxlite.torch.utils import data


def _bf16() -> torch.Tensor:
    return torch.tensor([1.0, 2.5, 3.14159], dtype=torch.bfloat16)


def test_bfloat16() -> None:
    x = _bf16()
    assert repr(x) == "tensor([1.0000, 2.5000, 3.1406], dtype=torch.bfloat16)"
    assert x.tolist() == [1.0, 2.5, 3.140625] and x[1].item() == 2.5 and x.element_size() == 2
    for made, kind in (
        (x + x, torch.bfloat16),
        (x + 1, torch.bfloat16),
        (x * torch.ones(3), torch.float32),
        (x + x.half(), torch.float32),
        (x > 2, torch.bool),
        (x.exp(), torch.bfloat16),
        (x[None] @ x[:, None], torch.bfloat16),
        (torch.randn(3, dtype=torch.bfloat16), torch.bfloat16),
        (torch.eye(3, dtype=torch.bfloat16), torch.bfloat16),
        (torch.arange(3, dtype=torch.bfloat16), torch.bfloat16),
        (torch.linspace(0, 1, 5, dtype=torch.bfloat16), torch.bfloat16),
    ):
        assert made.dtype is kind
    assert torch.promote_types(torch.bfloat16, torch.float16) is torch.float32
    assert torch.finfo(torch.bfloat16).eps == 2**-7
    leaf = _bf16().requires_grad_()
    (leaf * leaf).sum().backward()
    assert leaf.grad.dtype is torch.bfloat16 and leaf.grad.tolist() == [2.0, 5.0, 6.28125]
    file = io.BytesIO()
    torch.save({"x": x}, file)
    file.seek(0)
    for again in (torch.load(file)["x"], pickle.loads(pickle.dumps(x))):
        assert again.dtype is torch.bfloat16 and torch.equal(again, x)
    with pytest.raises(TypeError):
        x.numpy()
    assert nn.Linear(2, 2).to(torch.bfloat16).weight.dtype is torch.bfloat16
    assert torch.zeros(0, dtype=torch.bfloat16).tolist() == []


def test_storages() -> None:
    x = torch.arange(6.0).reshape(3, 2)
    whole = x.untyped_storage()
    assert (whole.nbytes(), len(whole), whole.data_ptr()) == (24, 24, x.data_ptr())
    assert x[1:].untyped_storage() == whole and x[1:].storage_offset() == 2
    assert x.clone().untyped_storage() != whole
    assert x.storage().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and x.storage().size() == 6
    x.storage()[0] = 7
    assert x[0, 0] == 7
    assert torch.empty(0).set_(x.storage(), 1, (2, 2), (2, 1)).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    made = torch.ones(2).set_(x)
    made[0, 0] = 9
    assert x[0, 0] == 9 and made.shape == (3, 2)
    assert torch.ones(3).set_().shape == (0,)
    with pytest.raises(RuntimeError):
        torch.ones(2, requires_grad=True).set_(x)
    with pytest.raises(NotImplementedError, match=r"^mxlite\.torch: "):
        whole.resize_(0)


def test_data_of_another_shape_or_dtype() -> None:
    p = nn.Parameter(torch.ones(2))
    values = torch.full((3,), 2.0)
    p.data = values
    assert p.data_ptr() == values.data_ptr() and p.requires_grad and p.is_leaf
    (p**2).sum().backward()
    assert p.grad.tolist() == [4.0, 4.0, 4.0]
    p.data = torch.zeros(2, dtype=torch.float64)
    assert (p.dtype, p.shape) == (torch.float64, (2,))
    with pytest.raises(RuntimeError):
        p.data = torch.zeros(2, dtype=torch.int64)
    with pytest.raises(TypeError):
        p.data = 3
    layer = nn.Linear(2, 2)
    step = torch.optim.SGD(layer.parameters(), lr=1.0)
    layer.weight.data = torch.eye(2)
    layer(torch.ones(1, 2)).sum().backward()
    step.step()
    assert layer.weight.tolist() == [[0.0, -1.0], [-1.0, 0.0]]


def test_orders_in_memory() -> None:
    image = torch.arange(48.0).reshape(2, 3, 2, 4)
    last = image.to(memory_format=torch.channels_last)
    assert last.stride() == (24, 1, 12, 3) and torch.equal(last, image)
    assert last.is_contiguous(memory_format=torch.channels_last) and not last.is_contiguous()
    for made in (
        last.clone(),
        last.relu() + 1,
        image.contiguous(memory_format=torch.channels_last),
        torch.zeros_like(last),
        torch.empty_like(image, memory_format=torch.channels_last),
        torch.empty(2, 3, 2, 4, memory_format=torch.channels_last),
    ):
        assert made.stride() == (24, 1, 12, 3)
    assert last.clone(memory_format=torch.contiguous_format).stride() == (24, 8, 4, 1)
    assert nn.Conv2d(3, 4, 2).to(memory_format=torch.channels_last).weight.stride() == (12, 1, 6, 3)
    with pytest.raises(RuntimeError):
        torch.ones(2).clone(memory_format=torch.channels_last)
    leaf = torch.ones(3, 2).t().requires_grad_()
    (leaf * torch.ones(2, 3)).sum().backward()
    assert leaf.grad.stride() == leaf.stride() == (1, 2)
    with torch.device("cpu"):
        assert torch.ones(2).device.type == "cpu"


def test_generators() -> None:
    def seeded() -> torch.Generator:
        return torch.Generator().manual_seed(3)

    before = torch.get_rng_state()
    for draw in (
        lambda g: nn.init.kaiming_uniform_(torch.empty(3, 3), generator=g).tolist(),
        lambda g: [list(each.indices) for each in data.random_split(range(10), [5, 5], generator=g)],
        lambda g: [each.tolist() for each in data.DataLoader(range(9), shuffle=True, generator=g)],
        lambda g: list(data.WeightedRandomSampler([1.0, 2.0, 3.0], 8, generator=g)),
    ):
        assert draw(seeded()) == draw(seeded())
    assert torch.equal(torch.get_rng_state(), before)
