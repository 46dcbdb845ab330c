"""torch.nn: what PyTorch says (training.json, which tests/torch/modules/check_layers.py records), formulas of NumPy's,
and guarantees of our own. The errors are those of torch.optim and torch.utils.data too."""

from __future__ import annotations

import copy
import json
import math
import pickle
import re
import warnings
from collections import OrderedDict
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _net import Net

import mxlite.torch as torch
from mxlite.torch import nn, optim
from mxlite.torch.nn import functional as F  # noqa: N812
from mxlite.torch.utils import data

RECORD = json.loads((Path(__file__).parent / "training.json").read_text())


class Stream(data.IterableDataset):
    def __iter__(self) -> Any:
        return iter(range(5))


def names() -> dict[str, Any]:
    p, inf = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    inf.grad = torch.full((2,), math.inf)
    found = {"torch": torch, "nn": nn, "optim": optim, "data": data, "Stream": Stream, "p": p, "inf": inf}
    return {**found, "l": nn.Linear(2, 3), "OrderedDict": OrderedDict}


@pytest.mark.parametrize("text", RECORD["errors"])
def test_errors_are_those_of_pytorch(text: str) -> None:
    expected = RECORD["errors"][text]
    run = exec if re.match(r"[^(]* = ", text) else eval
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = ["", str(run(text, names()))]
        except Exception as problem:  # noqa: BLE001
            found = [type(problem).__name__, ""]  # the words of an error are each library's
    assert found == expected


@pytest.mark.parametrize("text", RECORD["layers"])
def test_texts_and_states_of_layers(text: str) -> None:
    layer = eval(text, names())
    state = [[name, list(each.shape)] for name, each in layer.state_dict().items()]
    assert [repr(layer), state] == RECORD["layers"][text]


# ---- layers ----


def test_a_convolution_by_its_formula() -> None:
    torch.manual_seed(1)
    x, layer = torch.randn(2, 4, 6, 5), nn.Conv2d(4, 6, (2, 3), (2, 1), (1, 0), groups=2)
    y = layer(x).detach().numpy()
    w, b = (each.detach().numpy() for each in layer.parameters())
    wide = np.pad(x.numpy(), ((0, 0), (0, 0), (1, 1), (0, 0)))
    for n, k, i, j in product(range(2), range(6), range(y.shape[2]), range(y.shape[3])):
        part = wide[n, 2 * (k // 3) : 2 * (k // 3) + 2, 2 * i : 2 * i + 2, j : j + 3]
        assert abs((part * w[k]).sum() + b[k] - y[n, k, i, j]) < 1e-5


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: nn.Conv1d(2, 4, 2, padding="same"), (2, 2, 4)),
        (lambda: nn.ConvTranspose1d(2, 3, 2, 2, output_padding=1), (1, 2, 3)),
        (lambda: nn.BatchNorm1d(2), (3, 2, 2)),
        (lambda: nn.InstanceNorm1d(2, affine=True), (2, 2, 3)),
        (lambda: nn.LayerNorm((2, 3)), (2, 2, 3)),
        (lambda: nn.GroupNorm(1, 2), (2, 2, 3)),
        (lambda: nn.AvgPool1d(2, ceil_mode=True), (1, 2, 3)),
        (lambda: nn.AdaptiveAvgPool1d(2), (1, 2, 3)),
        (lambda: nn.GRU(2, 2, bidirectional=True), (3, 1, 2)),
        (lambda: nn.LSTM(2, 2, batch_first=True), (1, 3, 2)),
    ],
)
def test_derivatives_of_both_orders(make: Any, shape: tuple) -> None:
    torch.manual_seed(2)
    layer = make().double()
    x = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    given = (x, *layer.parameters())

    def run(x: Any, *parameters: Any) -> Any:
        layer._parameters.update(zip(list(layer._parameters), parameters))
        made = layer(x)
        return (made[0] if isinstance(made, tuple) else made).tanh()

    assert torch.autograd.gradcheck(run, given)
    assert torch.autograd.gradgradcheck(run, given)


def test_an_lstm_by_its_formula() -> None:
    torch.manual_seed(3)
    layer, x = nn.LSTM(2, 3), torch.randn(4, 1, 2)
    y, (h, c) = layer(x)
    w, r, b, d = (each.detach().numpy() for each in layer.parameters())
    hidden, cell = np.zeros(3), np.zeros(3)
    for step in range(4):
        i, f, g, o = np.split(w @ x.numpy()[step, 0] + b + r @ hidden + d, 4)
        i, f, o = (1 / (1 + np.exp(-each)) for each in (i, f, o))
        cell = f * cell + i * np.tanh(g)
        hidden = o * np.tanh(cell)
        assert np.allclose(y[step, 0].detach().numpy(), hidden, atol=1e-6)
    assert np.allclose(h.detach().numpy(), hidden, atol=1e-6) and np.allclose(c.detach().numpy(), cell, atol=1e-6)


def test_dropout_between_recurrent_layers() -> None:
    torch.manual_seed(4)
    layer, x = nn.GRU(2, 3, 2, dropout=1.0, bidirectional=True), torch.randn(4, 1, 2)
    y, h = layer(x)
    zeros, states = layer._run(range(1, 2), torch.zeros(4, 1, 6), [torch.zeros(2, 1, 3)])
    assert torch.equal(y, zeros) and torch.equal(h[2:], states) and h.shape == (4, 1, 3)
    layer.eval()
    assert torch.equal(layer(x)[0], layer(x)[0]) and not torch.equal(layer(x)[0], y)


def test_dropout_drops_while_training_alone() -> None:
    torch.manual_seed(5)
    x = torch.ones(200, 50)
    layer = nn.Dropout(0.25)
    y = layer(x).numpy()
    assert set(np.unique(y).tolist()) == {0.0, float(np.float32(1 / 0.75))} and abs((y == 0).mean() - 0.25) < 0.02
    assert torch.equal(layer.eval()(x), x)
    channels = nn.Dropout2d(0.5)(torch.ones(40, 10, 3, 3)).numpy()
    assert (channels.min((2, 3)) == channels.max((2, 3))).all() and abs((channels == 0).mean() - 0.5) < 0.1


@pytest.mark.parametrize(
    "ask",
    [
        lambda: nn.ConvTranspose1d(1, 1, 2, output_padding=1, dilation=2)(torch.ones(1, 1, 3)),
        lambda: nn.Embedding(2, 3, sparse=True),
        lambda: nn.EmbeddingBag(2, 3, scale_grad_by_freq=True),
        lambda: F.embedding(torch.tensor([0]), torch.ones(2, 3), sparse=True),
        lambda: optim.SparseAdam([torch.ones(1)]),
        lambda: optim.Adam([torch.ones(1)], capturable=True),
        lambda: optim.SGD([torch.ones(1)], differentiable=True),
    ],
)
def test_what_is_missing_says_so(ask: Any) -> None:
    with pytest.raises(NotImplementedError, match="^mxlite.torch: "):
        ask()


def test_options_of_a_layer_are_checked() -> None:
    for ask in (lambda: nn.ReLU(1, 2, 3), lambda: nn.Threshold(1), lambda: nn.MaxPool2d(2, size=3)):
        with pytest.raises(TypeError, match=r"\(\) "):
            ask()


# ---- modules ----


def test_members_of_a_module() -> None:
    net = Net()
    assert [name for name, _ in net.named_parameters()] == [
        "scale", "first.weight", "first.bias", "norm.weight", "norm.bias", "last.weight", "last.bias",
    ]  # fmt: skip
    assert [name for name, _ in net.named_buffers()][0] == "seen" and "seen" not in net.state_dict()
    assert [name for name, _ in net.named_modules()] == ["", "first", "norm", "last"]
    net.tied = net.first
    assert len(list(net.children())) == 3 and len(list(net.parameters())) == 7
    assert "tied.weight" in net.state_dict() and "first" in dir(net)
    del net.tied
    assert not hasattr(net, "tied")
    net.first = None
    assert net.first is None and "first" in net._modules
    net.scale = None
    assert "scale" not in net.state_dict()
    net.last = nn.Identity()
    assert list(net.last.parameters()) == []
    assert net.get_submodule("norm") is net.norm and net.get_parameter("norm.bias") is net.norm.bias


def test_a_plain_attribute_gives_way_to_a_parameter() -> None:
    net = nn.Module()
    net.w = 3
    net.w = nn.Parameter(torch.ones(2))
    assert "w" not in vars(net) and [name for name, _ in net.named_parameters()] == ["w"]
    net.register_buffer("b", torch.ones(1))
    net.b = torch.zeros(1)
    assert "b" in dict(net.named_buffers()) and net.b.item() == 0


def test_hooks_of_a_module() -> None:
    layer, seen = nn.Linear(2, 2), []
    x = torch.ones(1, 2)
    plain = layer(x)
    with layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,)):
        assert torch.allclose(layer(x), layer.forward(x * 2))
    handle = layer.register_forward_hook(lambda module, args, result: seen.append("first"))
    layer.register_forward_hook(lambda module, args, kwargs, result: seen.append(sorted(kwargs)), with_kwargs=True)
    layer.register_forward_hook(lambda module, args, result: result + 1, prepend=True)
    assert torch.allclose(layer(input=x), plain + 1) and seen == ["first", ["input"]]
    handle.remove()
    handle.remove()
    layer(x)
    assert seen == ["first", ["input"], []]
    again = nn.Linear(2, 2)
    again.register_forward_pre_hook(lambda module, args, kwargs: ((x * 3,), {}), with_kwargs=True)
    assert torch.equal(again(x), again.forward(x * 3))
    again.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="forward pre-hook with kwargs returns None or the pair"):
        again(x)


def test_copies_and_pickles_of_a_module() -> None:
    net, x = Net().eval(), torch.randn(3, 2)
    for made in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert torch.equal(made(x), net(x)) and not made.training
        assert made.first.weight is not net.first.weight and type(made.first.weight) is nn.Parameter


def test_to_a_dtype_keeps_the_parameters() -> None:
    net = Net()
    before = list(net.parameters())
    net.scale.grad = torch.ones(1)
    net.last.bias.requires_grad_(False)
    assert net.double() is net and all(a is b for a, b in zip(before, net.parameters()))
    assert net.scale.dtype is net.scale.grad.dtype is net.norm.running_mean.dtype is torch.float64
    assert net.norm.num_batches_tracked.dtype is torch.int64
    assert not net.last.bias.requires_grad and net.scale.requires_grad
    net(torch.ones(3, 2, dtype=torch.float64)).sum().backward()
    assert net.first.weight.grad.dtype is torch.float64 and net.scale.grad is not None
    assert net.to("cpu", torch.float16).scale.dtype is torch.float16
    assert net.to(torch.ones(1)).scale.dtype is torch.float32
    assert net.float().half().cpu().scale.dtype is torch.float16


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    net, state = Net(), Net().state_dict()
    before = {name: each.clone() for name, each in net.state_dict().items()}
    state["last.bias"] = torch.ones(7)
    with pytest.raises(RuntimeError, match=r"last.bias.* has shape .*7.* in the state"):
        net.load_state_dict(state)
    assert all(torch.equal(each, before[name]) for name, each in net.state_dict().items())


def test_state_dict_shares_memory_and_assign_replaces() -> None:
    layer = nn.Linear(2, 1)
    state = layer.state_dict()
    with torch.no_grad():
        layer.weight.fill_(5)
    assert state["weight"][0, 0].item() == 5 and not state["weight"].requires_grad
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight
    weight = layer.weight
    layer.load_state_dict({"weight": torch.zeros(1, 2), "bias": torch.zeros(1)}, assign=True)
    assert layer.weight is not weight and type(layer.weight) is nn.Parameter and layer.weight.requires_grad


def test_gradients_are_cleared_and_apply_reaches_all() -> None:
    net, seen = Net(), []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "BatchNorm1d", "Linear", "Net"]
    net(torch.ones(3, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert not net.scale.grad.any()
    net.zero_grad()
    assert net.scale.grad is None
    assert not any(each.requires_grad for each in net.requires_grad_(False).parameters())
    assert not net.eval().norm.training and net.train().norm.training


def test_lists_and_dictionaries_of_modules() -> None:
    made = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    assert len(made[1:]) == 2 and list(made[1:].state_dict()) == ["2.weight", "2.bias"] and made[-1] is made[2]
    made[1] = nn.Tanh()
    assert isinstance(made[1], nn.Tanh)
    made.append(nn.ReLU()).insert(0, nn.Identity())
    assert [type(each).__name__ for each in made] == ["Identity", "Linear", "Tanh", "Linear", "ReLU"]
    del made[0]
    assert list(made._modules) == ["0", "1", "2", "3"] and isinstance(made.pop(-1), nn.ReLU)
    listed = nn.ModuleList([nn.ReLU()]) + [nn.Tanh()]
    listed += [nn.ReLU()]
    assert len(listed) == 3 and len(listed[:2]) == 2
    named = nn.ModuleDict({"a": nn.ReLU()})
    named["b"] = nn.Linear(1, 1)
    assert (
        list(named) == ["a", "b"]
        and "a" in named
        and len(named) == 2
        and list(named.state_dict()) == ["b.weight", "b.bias"]
    )
    assert isinstance(named.pop("a"), nn.ReLU) and list(named.keys()) == ["b"] and list(dict(named.items())) == ["b"]
    params = nn.ParameterList([torch.ones(1)]).append(torch.zeros(2))
    assert len(list(params.parameters())) == 2 and params[1].shape == (2,)


@pytest.mark.parametrize("name", [name for name, module in nn._WHERE.items()])
def test_every_class_has_a_document(name: str) -> None:
    made = getattr(nn, name)
    assert made.__name__ == name and made.__doc__ and issubclass(made, nn.Module)


def test_functions_agree_with_layers() -> None:
    x, w = torch.randn(1, 2, 5, 5), torch.randn(3, 2, 3, 3)
    layer = nn.Conv2d(2, 3, 3, bias=False)
    layer.weight = nn.Parameter(w)
    assert torch.equal(layer(x), F.conv2d(x, w)) and torch.equal(nn.MaxPool2d(2)(x), F.max_pool2d(x, 2))
