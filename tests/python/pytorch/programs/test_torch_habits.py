"""What programs of PyTorch's users do and tutorials show: tensors in place of parameters, inner paths, generators."""

from __future__ import annotations

import importlib
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite.torch import nn, optim
from mxlite.torch.autograd import forward_ad
from mxlite.torch.nn.utils import prune
from mxlite.torch.utils import data

LAYERS = [
    (lambda: nn.Linear(3, 4), (2, 3)),
    (lambda: nn.Conv1d(3, 4, 2), (2, 3, 5)),
    (lambda: nn.ConvTranspose1d(3, 4, 2), (2, 3, 5)),
    (lambda: nn.LayerNorm(3), (2, 3)),
    (lambda: nn.GroupNorm(1, 3), (2, 3)),
    (lambda: nn.BatchNorm1d(3), (4, 3)),
    (lambda: nn.LSTM(3, 4, bidirectional=True), (5, 2, 3)),
    (lambda: nn.GRUCell(3, 4), (2, 3)),
]


@pytest.mark.parametrize("make, shape", LAYERS, ids=lambda each: None if isinstance(each, tuple) else "layer")
def test_a_tensor_stands_in_the_place_of_a_parameter(make: Any, shape: tuple) -> None:
    layer, x = make().double(), torch.randn(*shape, dtype=torch.float64)

    def result() -> Any:
        found = layer(x)
        return found[0] if isinstance(found, tuple) else found

    params = {name: each.detach().clone() for name, each in layer.named_parameters()}
    tangents = {name: torch.randn_like(each) for name, each in params.items()}
    with torch.no_grad():
        ends = []
        for sign in (1, -1):
            for name, each in layer.named_parameters():
                each.copy_(params[name] + tangents[name] * sign * 1e-5)
            ends.append(result())
    with forward_ad.dual_level():
        for name, each in params.items():
            delattr(layer, name)
            setattr(layer, name, forward_ad.make_dual(each, tangents[name]))
        found = forward_ad.unpack_dual(result()).tangent
    assert torch.allclose(found, (ends[0] - ends[1]) / 2e-5, atol=1e-6)
    assert not list(layer.parameters())


def test_buffers_give_way_to_tensors() -> None:
    layer = nn.BatchNorm1d(2).eval()
    del layer.running_mean
    layer.running_mean = torch.tensor([1.0, 2.0])
    assert torch.allclose(layer(torch.tensor([[1.0, 2.0]])), torch.zeros(1, 2))


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW"])
def test_steps_in_float64_have_options_in_float64(name: str) -> None:
    p = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    made = getattr(optim, name)([p], lr=0.1, weight_decay=0.01)
    p.grad = torch.tensor([0.3, -0.7], dtype=torch.float64)
    made.step()
    start, g = np.array([1.0, 2.0]), np.array([0.3, -0.7])
    if name == "AdamW":
        start = start * (1 - 0.1 * 0.01)
    else:
        g = g + 0.01 * start
    wanted = start - 0.1 * (g if name == "SGD" else g / (np.abs(g) + 1e-8))
    assert np.abs(p.detach().numpy() - wanted).max() < 1e-15


@pytest.mark.parametrize("kind", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("options", [{}, {"amsgrad": True}, {"weight_decay": 0.1}])
def test_adam_steps_alike_in_each_dtype(kind: Any, options: dict) -> None:
    ends = []
    for each in (kind, torch.float64):
        p = torch.tensor([1.0, -2.0, 0.5], dtype=each, requires_grad=True)
        made = optim.Adam([p], lr=0.05, eps=1e-4, **options)
        for _ in range(6):
            made.zero_grad()
            (p**3).sum().backward()
            made.step()
        ends.append(p.detach().double())
    assert torch.allclose(*ends, atol=5e-3 if kind is torch.float16 else 1e-6)


def test_data_of_another_shape_or_dtype() -> None:
    p, source = nn.Parameter(torch.ones(2)), torch.arange(3.0)
    (p * 2).sum().backward()
    p.data = source
    assert p.grad.shape == (2,) and p.requires_grad and p.data_ptr() == source.data_ptr()
    with pytest.raises(RuntimeError):  # the gradient of before does not fit
        (p * p).sum().backward()
    p.grad = None
    (p * p).sum().backward()
    assert p.grad.tolist() == [0, 2, 4]
    p.data = p.data.double()
    assert p.dtype is torch.float64 and isinstance(p, nn.Parameter)
    with pytest.raises(RuntimeError):
        p.data = torch.arange(2)
    assert p.tolist() == [0, 1, 2]
    made = p * 2
    made.data = torch.ones(5)
    assert made.shape == (5,) and made.grad_fn is not None
    empty = torch.ones(0)
    empty.data = torch.ones(0, 3, dtype=torch.float64)
    assert empty.shape == (0, 3) and empty.dtype is torch.float64


def test_generators_of_loaders_and_first_values() -> None:
    rows = data.TensorDataset(torch.arange(40))

    def orders(seed: int) -> list:
        g = torch.Generator().manual_seed(seed)
        loader = data.DataLoader(rows, 8, shuffle=True, generator=g, num_workers=2)
        parts = data.random_split(range(40), [0.5, 0.5], generator=g)
        weighted = data.WeightedRandomSampler([1.0] * 40, 5, generator=g)
        some = data.SubsetRandomSampler(range(40), generator=g)
        again = data.RandomSampler(rows, replacement=True, num_samples=7, generator=g)
        found: list = [torch.cat([batch[0] for batch in loader]).tolist(), parts[0].indices]
        found += map(list, (weighted, some, again))
        for draw in (nn.init.xavier_normal_, nn.init.kaiming_uniform_, nn.init.orthogonal_, nn.init.trunc_normal_):
            found.append(draw(torch.empty(4, 4), generator=g).tolist())
        return [*found, nn.init.sparse_(torch.empty(4, 4), 0.5, generator=g).tolist()]

    torch.manual_seed(1)
    first = orders(5)
    torch.manual_seed(2)
    state = torch.get_rng_state()
    assert orders(5) == first and torch.equal(torch.get_rng_state(), state)
    assert all(one != other for one, other in zip(orders(6), first))


def test_inner_paths_have_the_public_names() -> None:
    inner = {
        "nn.modules.conv": "Conv2d", "nn.modules": "Module", "nn.modules.loss": "MSELoss", "random": "manual_seed",
        "utils.data.dataset": "Dataset", "utils.data.dataloader": "DataLoader", "optim.optimizer": "Optimizer",
        "nn.utils.clip_grad": "clip_grad_norm_", "serialization": "load", "optim.adam": "Adam",
    }  # fmt: skip
    for path, name in inner.items():
        outer = path.split(".")[0] if path[:2] != "ut" else "utils.data"
        public = torch if path in ("random", "serialization") else importlib.import_module(f"mxlite.torch.{outer}")
        public = torch.nn.utils if "clip" in path else public
        assert getattr(importlib.import_module(f"mxlite.torch.{path}"), name) is getattr(public, name), path
    base = importlib.import_module("mxlite.torch.nn.modules.batchnorm")._BatchNorm
    assert isinstance(nn.BatchNorm2d(1), base) and not isinstance(nn.InstanceNorm1d(1), base)
    assert importlib.import_module("mxlite.torch.nn.modules.utils")._pair(3) == (3, 3)
    with pytest.raises(AttributeError, match="missing in mxlite"):
        _ = importlib.import_module("mxlite.torch.nn.modules").nothing
    before = torch.get_rng_state()
    with torch.random.fork_rng():
        torch.manual_seed(3)
    assert torch.equal(torch.get_rng_state(), before)
    torch.backends.cudnn.benchmark = True
    assert torch.backends.cudnn.benchmark and not torch.backends.mps.is_available() and torch.version.cuda is None
    code = "import mxlite.torch as t; t.install(); from torch.nn.modules.conv import Conv1d; print(Conv1d.__name__)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "Conv1d\n"


def test_states_of_optimizers_that_programs_define() -> None:
    class Own(optim.Optimizer):
        def step(self, closure: Any = None) -> None:
            for group in self.param_groups:
                for p in group["params"]:
                    self.state[p].update(step=self.state[p].get("step", 0) + 1, mean=torch.zeros_like(p))

    p = nn.Parameter(torch.ones(2))
    made = Own([p], {"lr": 1.0})
    made.step()
    state = made.state_dict()
    assert state["state"][0]["step"] == 1 and isinstance(state["state"][0]["step"], int)
    made.load_state_dict(state)
    made.step()
    assert made.state[p]["step"] == 2


def test_small_names_that_programs_use() -> None:
    layer = nn.LSTM(2, 3, 2, bias=False, bidirectional=True)
    assert [[each.shape for each in row] for row in layer.all_weights][0] == [(12, 2), (12, 3)]
    assert len(layer.all_weights) == 4 and layer.all_weights[3][1] is layer.weight_hh_l1_reverse
    assert nn.init._calculate_fan_in_and_fan_out(nn.Conv2d(3, 8, 3).weight) == (27, 72)
    found = torch.linalg.slogdet(torch.eye(2) * 3)
    assert found.sign == 1 and math.isclose(found.logabsdet, math.log(9), rel_tol=1e-6)
    assert torch.zeros_like(torch.ones(2), memory_format=torch.preserve_format).tolist() == [0, 0]
    for shape in ((), (2,), (2, 2), (2, 2, 2)):
        assert {"sum", "stride"} <= set(dir(torch.ones(shape))) and "istft" not in dir(torch.ones(shape))


def test_pruned_weights() -> None:
    layer = nn.Linear(4, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, -2, 3, -4], [5, -6, 7, -8]]))
    prune.l1_unstructured(layer, "weight", amount=0.25)
    assert layer.weight.tolist() == [[0, 0, 3, -4], [5, -6, 7, -8]] and prune.is_pruned(layer)
    prune.l1_unstructured(layer, "weight", amount=0.5)  # half of the six that are left
    assert layer.weight.tolist() == [[0, 0, 0, 0], [0, -6, 7, -8]]
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    layer(torch.ones(1, 4)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[0, 0, 0, 0], [0, 1, 1, 1]]
    prune.remove(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter) and not prune.is_pruned(layer)
    other = nn.Conv1d(2, 3, 2)
    prune.ln_structured(other, "weight", amount=1, n=2, dim=0)
    assert other.weight_mask.sum(dim=(1, 2)).sort().values.tolist() == [0, 4, 4]
    prune.random_structured(other, "weight", amount=1, dim=1)
    prune.random_unstructured(other, "bias", amount=2)
    assert other.weight_mask.sum() == 4 and other.bias_mask.sum() == 1
    pair = [nn.Linear(2, 2), nn.Linear(2, 2)]
    with torch.no_grad():
        pair[0].weight.fill_(1.0)
        pair[1].weight.fill_(-2.0)
    prune.global_unstructured([(each, "weight") for each in pair], prune.L1Unstructured, amount=4)
    assert [int(each.weight_mask.sum()) for each in pair] == [0, 4]
    for bad in (1.5, 9, -1):
        with pytest.raises(ValueError, match="amount"):
            prune.l1_unstructured(nn.Linear(4, 2), "weight", amount=bad)
    with pytest.raises(ValueError):
        prune.remove(nn.Linear(1, 1), "weight")


@pytest.mark.parametrize("old, now", [
    ({"size_average": False}, "sum"), ({"reduce": False}, "none"), ({"size_average": True, "reduction": "sum"}, "mean"),
    ({"size_average": False, "reduce": False}, "none"), ({"reduce": True}, "mean"),
])  # fmt: skip
def test_losses_take_what_reduction_was_once(old: dict, now: str) -> None:
    x, labels, signs = torch.randn(3, 4), torch.tensor([0, 1, 2]), torch.ones(3, 4)
    calls: dict[str, tuple] = {
        "mse_loss": (x, signs), "l1_loss": (x, signs), "smooth_l1_loss": (x, signs), "nll_loss": (x, labels),
        "cross_entropy": (x, labels), "binary_cross_entropy": (x.sigmoid(), signs), "soft_margin_loss": (x, signs),
        "margin_ranking_loss": (x, -x, signs), "poisson_nll_loss": (x, signs), "kl_div": (x, signs),
    }  # fmt: skip
    for name, inputs in calls.items():
        loss = getattr(nn.functional, name)
        with pytest.warns(UserWarning, match=f"reduction='{now}'"):
            assert torch.equal(loss(*inputs, **old), loss(*inputs, reduction=now)), name
    with pytest.warns(UserWarning, match="reduction"):
        assert nn.CrossEntropyLoss(**old).reduction == now
    with pytest.warns(UserWarning, match="reduction"):
        assert torch.equal(nn.functional.l1_loss(x, signs, False), nn.functional.l1_loss(x, signs, reduction="sum"))
    with pytest.raises(TypeError):
        nn.functional.l1_loss(x, signs, None, None, "sum", 7)
