"""torch.optim and torch.utils.data: formulas of NumPy's, and guarantees of our own."""

from __future__ import annotations

import io
import math
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite.torch import nn, optim
from mxlite.torch.utils import data


class Stream(data.IterableDataset):
    def __iter__(self) -> Any:
        return iter(range(5))


# ---- optimizers ----


def run_steps(made: Any, parameter: Any, count: int = 5) -> np.ndarray:
    for _ in range(count):
        made.zero_grad()
        (parameter**2 * torch.tensor([1.0, 3.0])).sum().backward()
        made.step()
    return parameter.detach().numpy()


def test_sgd_by_its_formula() -> None:
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    found = run_steps(optim.SGD([p], 0.01, 0.9, 0.2, 0.1), p)
    x, b = np.array([1.0, -2.0]), None
    for _ in range(5):
        g = 2 * x * [1, 3] + 0.1 * x
        b = g if b is None else 0.9 * b + 0.8 * g
        x = x - 0.01 * b
    assert np.allclose(found, x, 1e-6)


@pytest.mark.parametrize("decoupled", [False, True])
def test_adam_by_its_formula(decoupled: bool) -> None:
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    found = run_steps((optim.AdamW if decoupled else optim.Adam)([p], 0.1, (0.8, 0.95), 1e-3, 0.2), p)
    x, m, v = np.array([1.0, -2.0]), 0.0, 0.0
    for step in range(1, 6):
        g = 2 * x * [1, 3] + (0 if decoupled else 0.2 * x)
        x = x * (1 - 0.1 * 0.2) if decoupled else x
        m, v = 0.8 * m + 0.2 * g, 0.95 * v + 0.05 * g * g
        x = x - 0.1 * (m / (1 - 0.8**step)) / (np.sqrt(v / (1 - 0.95**step)) + 1e-3)
    assert np.allclose(found, x, 1e-5)


def test_rmsprop_by_its_formula() -> None:
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    found = run_steps(optim.RMSprop([p], 0.01, 0.9, 1e-4, momentum=0.5, centered=True), p)
    x, s, a, b = np.array([1.0, -2.0]), 0.0, 0.0, 0.0
    for _ in range(5):
        g = 2 * x * [1, 3]
        s, a = 0.9 * s + 0.1 * g * g, 0.9 * a + 0.1 * g
        b = 0.5 * b + g / (np.sqrt(s - a * a) + 1e-4)
        x = x - 0.01 * b
    assert np.allclose(found, x, 1e-5)


@pytest.mark.parametrize("make", [optim.SGD, optim.Adam, optim.AdamW, optim.RMSprop])
def test_steps_go_on_from_a_file(make: Any) -> None:
    options = {"momentum": 0.9} if make is optim.SGD else {}
    p = nn.Parameter(torch.tensor([1.0, -2.0]))
    made = make([p], 0.01, **options)
    run_steps(made, p)
    stored = io.BytesIO()
    torch.save({"p": p, "state": made.state_dict()}, stored)
    whole = run_steps(made, p).copy()
    stored.seek(0)
    loaded = torch.load(stored)
    q = loaded["p"]
    again = make([q], 0.5, **options)
    again.load_state_dict(loaded["state"])
    assert type(q) is nn.Parameter and np.array_equal(run_steps(again, q), whole)


def test_a_closure_groups_and_parameters_without_gradients() -> None:
    p, q = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    made = optim.SGD([{"params": p, "lr": 0.5}], lr=0.1)
    made.add_param_group({"params": [q]})

    def closure() -> Any:
        made.zero_grad()
        loss = (p**2).sum()
        loss.backward()
        return loss

    assert made.step(closure).item() == 1.0 and p.item() == 0.0 and q.item() == 1.0
    assert p.grad_fn is None and p.requires_grad and [group["lr"] for group in made.param_groups] == [0.5, 0.1]
    named = optim.SGD(nn.Linear(1, 1).named_parameters(), 0.1)
    assert len(named.param_groups[0]["params"]) == 2


def test_schedules_by_their_formulas() -> None:
    formulas = {
        "StepLR(o, 3)": lambda t: 0.1 ** (t // 3),
        "MultiStepLR(o, [2, 5])": lambda t: 0.1 ** ((t >= 2) + (t >= 5)),
        "ExponentialLR(o, 0.9)": lambda t: 0.9**t,
        "CosineAnnealingLR(o, 4)": lambda t: (1 + math.cos(math.pi * t / 4)) / 2,
        "LambdaLR(o, lambda t: 1 / (t + 1))": lambda t: 1 / (t + 1),
        "LinearLR(o, 0.5, 1.0, 4)": lambda t: 0.5 + 0.5 * min(t, 4) / 4,
        "ConstantLR(o, 0.5, 3)": lambda t: 0.5 if t < 3 else 1.0,
    }
    for text, formula in formulas.items():
        o = optim.SGD([nn.Parameter(torch.ones(1))], 2.0)
        made = eval(text, {**vars(optim.lr_scheduler), "o": o})
        for t in range(12):
            assert made.last_epoch == t and math.isclose(o.param_groups[0]["lr"], 2 * formula(t), abs_tol=1e-12), text
            o.step()
            made.step()
        again = eval(text, {**vars(optim.lr_scheduler), "o": o})
        again.load_state_dict(made.state_dict())
        assert again.last_epoch == 12 and again.get_last_lr() == made.get_last_lr()


@pytest.mark.parametrize("text", ["StepLR(o, 2)", "OneCycleLR(o, 0.5, 20)", "SequentialLR(o, [StepLR(o, 2)], [])"])
def test_a_schedule_that_steps_before_its_optimizer_warns(text: str) -> None:
    o = optim.SGD([nn.Parameter(torch.ones(1))], 0.1, momentum=0.9)
    o.step()  # before there was a schedule: it does not count, as in PyTorch
    made = eval(text, {**vars(optim.lr_scheduler), "o": o})
    with pytest.warns(UserWarning, match="before the optimizer's"):
        made.step()
    o.step()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.step()
        made = eval(text, {**vars(optim.lr_scheduler), "o": o})
        made.step()


def test_hooks_of_optimizers() -> None:
    p, seen = nn.Parameter(torch.ones(1)), []
    o = optim.SGD([p], 0.5)
    handle = o.register_step_pre_hook(lambda o, args, kwargs: seen.append(("before", p.item())))
    o.register_step_post_hook(lambda o, args, kwargs: seen.append(("after", p.item())))
    o.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    o.register_load_state_dict_pre_hook(lambda o, state: seen.append(state["more"]))
    p.grad = torch.ones(1)
    o.step()
    handle.remove()
    o.step()
    o.load_state_dict(o.state_dict())
    assert seen == [("before", 1.0), ("after", 0.5), ("after", 0.0), 1]


def test_what_is_refused_by_name() -> None:
    p = nn.Parameter(torch.ones(1))
    for ask in (lambda: optim.SparseAdam([p]), lambda: optim.NAdam([p], capturable=True)):
        with pytest.raises(NotImplementedError, match="mxlite.torch"):
            ask()
    with pytest.raises(AttributeError, match="missing in mxlite"):
        nn.DataParallel  # noqa: B018


class Split(data.IterableDataset):
    def __iter__(self) -> Any:
        own = data.get_worker_info()
        assert own.num_workers == 2 and own.dataset is not self.__dict__.get("whole") and own.seed != 0
        return iter(range(own.id, 9, own.num_workers))


def test_workers_read_ahead_in_order_and_say_what_went_wrong() -> None:
    begun: list[int] = []
    loader = data.DataLoader(range(20), 3, num_workers=3, worker_init_fn=begun.append, persistent_workers=True)
    for _ in range(2):
        assert torch.cat(list(loader)).tolist() == list(range(20))
    assert sorted(begun) == [0, 0, 1, 1, 2, 2] and data.get_worker_info() is None and len(loader) == 7
    assert sorted(int(each) for each in data.DataLoader(Split(), None, num_workers=2)) == list(range(9))
    few = iter(data.DataLoader(range(1000), num_workers=2, prefetch_factor=4))
    assert next(few).item() == 0 and next(few).item() == 1
    few.close()

    def fail(*_: Any) -> Any:
        raise OSError("no such file")

    for options in ({"worker_init_fn": fail}, {"collate_fn": fail}):
        with pytest.raises(OSError, match="no such file"):
            list(data.DataLoader(range(4), num_workers=2, **options))


def test_a_schedule_and_an_optimizer_go_on_from_a_pickle() -> None:
    p = nn.Parameter(torch.ones(2))
    made = optim.NAdam([p], 0.1)
    run = lambda made, p: run_steps(made, p, 3).copy()  # noqa: E731
    q, again = pickle.loads(pickle.dumps((p, made)))
    again.register_step_pre_hook(lambda *_: None)
    again.param_groups[0]["params"] = [q]
    assert np.array_equal(run(made, p), run(again, q))


def test_gradients_are_clipped() -> None:
    a, b, c = (nn.Parameter(torch.zeros(2)) for _ in range(3))
    a.grad, b.grad = torch.tensor([3.0, 0.0]), torch.tensor([0.0, 4.0])
    assert nn.utils.clip_grad_norm_([a, b, c], 1.0).item() == 5.0
    assert np.allclose([*a.grad.tolist(), *b.grad.tolist()], [0.6, 0, 0, 0.8], atol=1e-6)
    assert math.isclose(nn.utils.clip_grad_norm_(a, 9.0, math.inf).item(), a.grad.max().item())
    nn.utils.clip_grad_value_([a, b], 0.1)
    assert a.grad.max().item() == b.grad.max().item() == pytest.approx(0.1)
    flat = nn.utils.parameters_to_vector([a, b])
    nn.utils.vector_to_parameters(flat + 1, [a, b])
    assert b.tolist() == [1.0, 1.0] and a.requires_grad


def test_a_network_learns() -> None:
    torch.manual_seed(6)
    x = torch.randn(64, 1, 6, 6)
    y = (x.sum((1, 2, 3)) > 0).long()
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 2)
    )
    made = optim.Adam(net.parameters(), 0.02)
    loader = data.DataLoader(data.TensorDataset(x, y), batch_size=16, shuffle=True)
    losses = []
    for _ in range(15):
        for images, labels in loader:
            made.zero_grad()
            loss = nn.CrossEntropyLoss()(net(images), labels)
            loss.backward()
            made.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0] and net[1].num_batches_tracked.item() == 60


# ---- data ----


def test_loaders_and_their_batches() -> None:
    rows = data.TensorDataset(torch.arange(7), torch.arange(7) * 2)
    assert [x.tolist() for x, _ in data.DataLoader(rows, 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [len(x) for x, _ in data.DataLoader(rows, 3, drop_last=True)] == [3, 3]
    assert len(data.DataLoader(rows, 3)) == 3 and len(data.DataLoader(rows, 3, drop_last=True)) == 2
    torch.manual_seed(7)
    shuffled = data.DataLoader(rows, 2, shuffle=True)
    orders = [[each for x, _ in shuffled for each in x.tolist()] for _ in range(2)]
    assert orders[0] != orders[1] and sorted(orders[0]) == list(range(7))
    assert [x.item() for x, _ in data.DataLoader(rows, None)] == list(range(7))
    assert [x.tolist() for x, _ in data.DataLoader(rows, batch_sampler=[[6, 0], [3]])] == [[6, 0], [3]]
    assert [x.tolist() for x, _ in data.DataLoader(rows, 2, sampler=[5, 4, 3])] == [[5, 4], [3]]
    assert list(data.DataLoader(range(4), 2, collate_fn=sum)) == [1, 5]
    assert [each.tolist() for each in data.DataLoader(Stream(), 2)] == [[0, 1], [2, 3], [4]]
    assert [each.tolist() for each in data.DataLoader(Stream(), 2, drop_last=True)] == [[0, 1], [2, 3]]


def test_batches_of_many_kinds() -> None:
    (found,) = data.DataLoader(
        [{"a": 1, "b": (2.5, "x"), "c": np.ones(2)}, {"a": 2, "b": (3.5, "y"), "c": np.zeros(2)}], 2
    )
    assert found["a"].dtype is torch.int64 and found["b"][0].dtype is torch.float64 and found["b"][1] == ("x", "y")
    assert found["c"].shape == (2, 2)
    assert data.default_collate([True, False]).dtype is torch.bool
    assert data.default_convert([np.ones(1), "x"])[1] == "x"


def test_parts_of_datasets() -> None:
    whole = data.TensorDataset(torch.arange(10))
    parts = data.random_split(whole, [7, 3])
    assert sorted(row[0].item() for part in parts for row in part) == list(range(10))
    assert [len(part) for part in data.random_split(whole, [0.5, 0.25, 0.25])] == [6, 2, 2]
    both = whole + data.Subset(whole, [4, 2])
    assert len(both) == 12 and both[11][0].item() == 2 and both[-12][0].item() == 0
    assert set(data.WeightedRandomSampler([0.0, 1.0], 5)) == {1}
    assert len(list(data.RandomSampler(range(3), num_samples=7))) == 7
    assert set(data.RandomSampler(range(2), True, 50)) == {0, 1}
    assert list(data.BatchSampler(data.SequentialSampler(range(3)), 2, True)) == [[0, 1]]


# ---- modules are imported when they are used ----


def test_importing_is_cheap_and_install_has_all() -> None:
    program = """
import sys, mxlite.torch
late = ["nn._module", "nn._plain", "nn.init", "optim", "utils.data", "_files"]
print([name for name in late if "mxlite.torch." + name in sys.modules])
mxlite.torch.install()
import torch, torch.nn as nn, torch.optim as optim, torch.nn.functional as F
from torch.utils.data import DataLoader
from torch.optim.lr_scheduler import StepLR
from torch.nn.utils import clip_grad_norm_
from torch.nn.parameter import Parameter
from torch.nn.init import xavier_uniform_
print(optim is mxlite.torch.optim, nn.Linear.__module__, Parameter is nn.Parameter, torch.save.__module__)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "True mxlite.torch.nn._linear True mxlite.torch._files"]
