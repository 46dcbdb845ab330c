"""Names of layers, hooks and functions that few programs use; numbers are PyTorch 2.13's."""

from __future__ import annotations

import collections
from typing import Any

import mxlite.torch.nn.modules.module as modules
import numpy as np
import pytest
from mxlite.torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

import mxlite.torch as torch
from mxlite.torch import nn, optim
from mxlite.torch.nn import functional as F


def test_hooks_of_all_modules_come_before_a_modules_own() -> None:
    log: list[Any] = []
    handles = [
        modules.register_module_forward_pre_hook(lambda m, i: log.append("all pre")),
        modules.register_module_forward_hook(lambda m, i, o: log.append("all forward")),
        modules.register_module_full_backward_hook(lambda m, gi, go: log.append(("all backward", len(gi), len(go)))),
        modules.register_module_full_backward_pre_hook(lambda m, go: log.append("all backward pre")),
    ]
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda m, i, o: log.append("own forward"))
    layer.register_full_backward_hook(lambda m, gi, go: log.append("own backward"))
    layer.register_forward_pre_hook(lambda m, i: log.append("own pre"))
    layer(torch.ones(1, 2, requires_grad=True)).sum().backward()
    forward = ["all pre", "own pre", "all forward", "own forward"]
    assert log == [*forward, "all backward pre", ("all backward", 1, 1), "own backward"]
    for each in handles:
        each.remove()
    log.clear()
    layer(torch.ones(1, 2))
    assert log == ["own pre", "own forward"]


def test_hooks_that_are_always_called() -> None:
    class Fails(nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("no")

    log: list[Any] = []
    module = Fails()
    module.register_forward_hook(lambda m, i, o: log.append(o), always_call=True)
    module.register_forward_hook(lambda m, i, o: log.append("never"))
    with pytest.raises(ValueError, match="no"):
        module(torch.ones(1))
    assert log == [None]


def test_hooks_of_all_optimizers() -> None:
    log: list[str] = []
    optimizer = optim.SGD([nn.Parameter(torch.ones(1))], 0.1)
    handles = [
        register_optimizer_step_pre_hook(lambda *_: log.append("all pre")),
        register_optimizer_step_post_hook(lambda *_: log.append("all post")),
    ]
    optimizer.register_step_pre_hook(lambda *_: log.append("pre"))
    optimizer.register_step_post_hook(lambda *_: log.append("post"))
    optimizer.step()
    for each in handles:
        each.remove()
    optimizer.step()
    assert log == ["all pre", "pre", "post", "all post", "pre", "post"]


def test_buffers_as_attributes() -> None:
    class Holds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept = nn.Buffer(torch.ones(1))
            self.passing = nn.Buffer(torch.ones(1), persistent=False)

    module = Holds()
    assert list(module.state_dict()) == ["kept"]
    assert [name for name, _ in module.named_buffers()] == ["kept", "passing"]
    assert isinstance(module.kept, nn.Buffer)
    assert not isinstance(torch.ones(1), nn.Buffer)


def test_ldl() -> None:
    a = torch.tensor([[1.0, 2, 3, 4], [2, -1, 0, 5], [3, 0, 0, 1], [4, 5, 1, 0]], dtype=torch.float64)
    batch = torch.stack([a, a * 0.1 + torch.eye(4, dtype=torch.float64) * 3, torch.eye(4, dtype=torch.float64)])
    ld, pivots = torch.linalg.ldl_factor(batch)
    assert pivots.tolist() == [[-4, -4, 4, 4], [1, 2, 3, 4], [1, 2, 3, 4]]
    b = torch.arange(24, dtype=torch.float64).reshape(3, 4, 2)
    assert np.allclose(batch @ torch.linalg.ldl_solve(ld, pivots, b), b)
    swapped, two = torch.linalg.ldl_factor(torch.tensor([[0.0, 1], [1, 0]]))
    assert (swapped.tolist(), two.tolist()) == ([[0, 0], [1, 0]], [-2, -2])
    assert torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info.item() == 1
    with pytest.raises(RuntimeError, match="column 1"):
        torch.linalg.ldl_factor(torch.zeros(2, 2))
    assert torch.linalg.ldl_factor(torch.zeros(0, 3, 3)).LD.shape == (0, 3, 3)


def test_histograms_of_points() -> None:
    points = torch.tensor([[0.0, 1], [1, 0], [2, 2], [2, 2]])
    counts, edges = torch.histogramdd(points, [2, 3])
    assert counts.tolist() == [[0, 1, 0], [1, 0, 2]]
    assert [each.shape[0] for each in edges] == [3, 4]
    weights = torch.tensor([1.0, 2, 4, 8])
    found = torch.histogramdd(points, [2, 2], range=[0.0, 1, 0, 1], weight=weights, density=True)
    assert np.allclose(found.hist, [[0, 4 / 3], [8 / 3, 0]])


def test_pooling_at_random_distances() -> None:
    image, samples = torch.arange(25.0).reshape(1, 5, 5), torch.tensor([[[0.3, 0.7]]])
    options = {"output_size": 3, "_random_samples": samples}
    found, places = F.fractional_max_pool2d(image, 2, return_indices=True, **options)
    assert found.tolist() == [[[6, 7, 9], [11, 12, 14], [21, 22, 24]]]
    assert torch.equal(places, found.long())
    image.requires_grad_()
    made = nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.7))(image)
    made.sum().backward()
    assert (made.shape, image.grad.sum().item(), made.grad_fn.name()) == ((1, 2, 3), 6, "FractionalMaxPool2DBackward0")
    assert nn.FractionalMaxPool3d(2, output_size=2)(torch.rand(2, 3, 4, 4, 4)).shape == (2, 3, 2, 2, 2)
    assert F.max_pool2d_with_indices(torch.rand(1, 1, 4, 4), 2)[1].dtype is torch.int64
    with pytest.raises(ValueError, match="output_size or output_ratio"):
        F.fractional_max_pool2d(image, 2)


def test_the_first_channel_stays_in_cross_map_lrn() -> None:
    found = nn.CrossMapLRN2d(2)(torch.arange(8.0).reshape(1, 4, 1, 2)).reshape(4, 2)
    assert np.allclose(found, [[0, 1], [1.9997, 2.9989], [3.9976, 4.9951], [5.9919, 6.9869]], atol=1e-4)


def test_modules_in_utils() -> None:
    layer = nn.utils.skip_init(nn.Linear, 2, 3)
    assert not layer.weight.is_meta
    assert layer.weight.requires_grad
    state: Any = collections.OrderedDict({"module.a": 1, "b": 2})
    nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert sorted(state) == ["a", "b"]
    net = nn.Sequential(nn.Linear(2, 2))
    net.set_submodule("0", nn.ReLU())
    assert isinstance(net[0], nn.ReLU)
    linear, norm = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
    norm.running_var.fill_(2)
    x = torch.ones(1, 2)
    assert torch.allclose(nn.utils.fuse_linear_bn_eval(linear, norm)(x), norm(linear(x)), atol=1e-6)
    with pytest.warns(FutureWarning):
        assert torch.equal(nn.utils.stateless.functional_call(linear, {}, x), linear(x))
    assert nn.Linear(1, 1).bfloat16().weight.dtype is torch.bfloat16
    with pytest.warns(FutureWarning):
        torch.testing.assert_allclose([1.0, 2.0], torch.tensor([1.0, 2.0]))
    assert torch.empty_permuted((2, 3), (1, 0)).stride() == (1, 2)
    assert torch.cond(torch.tensor(True), lambda x: x + 1, lambda x: x, (torch.ones(1),)).item() == 2


def test_options_of_optimizers_and_texts() -> None:
    group = optim.SGD([("a", nn.Parameter(torch.ones(1)))], 0.1).param_groups[0]
    assert list(group)[:3] == ["params", "param_names", "lr"]
    assert group["param_names"] == ["a"]
    with pytest.raises(RuntimeError, match="fused or foreach"):
        optim.Adam([nn.Parameter(torch.ones(1))], fused=True, foreach=True)
    assert type(nn.Linear(1, 1).load_state_dict({}, strict=False)).__name__ == "_IncompatibleKeys"
    assert torch.finfo(torch.float16).resolution == 0.001
    with pytest.raises(RuntimeError, match="std"):
        torch.normal(torch.ones(2), -1.0)
