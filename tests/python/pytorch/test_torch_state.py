"""What goes on: schedules made anew, modules that say how they are saved, running statistics, copies of one memory.

tests/torch/modules/cases_modules.py and check_layers.py compare more with PyTorch.
"""

from __future__ import annotations

import copy
import io
import math
import warnings
from typing import Any

import pytest

import mxlite.torch as torch
from mxlite.torch import nn, optim

L = optim.lr_scheduler

SCHEDULES = {
    "StepLR": lambda o, **k: L.StepLR(o, 2, 0.5, **k),
    "MultiStepLR": lambda o, **k: L.MultiStepLR(o, [2, 4, 4, 6], 0.5, **k),
    "ExponentialLR": lambda o, **k: L.ExponentialLR(o, 0.5, **k),
    "ConstantLR": lambda o, **k: L.ConstantLR(o, 0.5, 5, **k),
    "LinearLR": lambda o, **k: L.LinearLR(o, 0.1, 1, 6, **k),
    "CosineAnnealingLR": lambda o, **k: L.CosineAnnealingLR(o, 3, 0.1, **k),
    "LambdaLR": lambda o, **k: L.LambdaLR(o, lambda epoch: 1 / (1 + epoch), **k),
}

#: Rates of epochs 0 to 8 as formulas.
RATES = {
    "StepLR": lambda e: 0.5 ** (e // 2),
    "MultiStepLR": lambda e: 0.5 ** sum(e >= each for each in (2, 4, 4, 6)),
    "ExponentialLR": lambda e: 0.5**e,
    "ConstantLR": lambda e: 0.5 if e < 5 else 1.0,
    "LinearLR": lambda e: 0.1 + 0.9 * min(e, 6) / 6,
    "CosineAnnealingLR": lambda e: 0.1 + 0.9 * (1 + math.cos(math.pi * e / 3)) / 2,
    "LambdaLR": lambda e: 1 / (1 + e),
}


def sgd() -> Any:
    return optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0)


def rate(optimizer: Any) -> float:
    return optimizer.param_groups[0]["lr"]


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_made_anew_goes_on(name: str) -> None:
    for stop in range(1, 8):
        first = sgd()
        schedule = SCHEDULES[name](first)
        for _ in range(stop):
            schedule.step()
        second = sgd()
        second.load_state_dict(first.state_dict())
        again = SCHEDULES[name](second, last_epoch=stop - 1)
        assert (again.last_epoch, again.get_last_lr()) == (stop, [rate(second)])
        assert rate(second) == pytest.approx(RATES[name](stop))
        for epoch in range(stop + 1, 9):
            again.step()
            assert rate(second) == pytest.approx(RATES[name](epoch))


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_step_to_an_epoch(name: str) -> None:
    optimizer = sgd()
    schedule = SCHEDULES[name](optimizer)
    for epoch in (5, 0, 3, 8):
        with pytest.warns(UserWarning, match="deprecated"):
            schedule.step(epoch)
        assert (schedule.last_epoch, rate(optimizer)) == (epoch, pytest.approx(RATES[name](epoch)))


def test_bounds_of_schedules() -> None:
    for schedule, expected in (
        ("ConstantLR(o, 0.5, 0)", 0.5),
        ("ConstantLR(o, 0.0, 3)", 0.0),
        ("LinearLR(o, 0.5, 1, 0)", 0.5),
    ):
        o = sgd()
        made = eval(schedule, {**vars(L), "o": o})
        made.step()
        assert rate(o) == expected, schedule


def test_callable_objects_of_lambda_lr_keep_their_state() -> None:
    class Counting:
        def __init__(self) -> None:
            self.calls = 0

        def __call__(self, epoch: int) -> int:
            self.calls += 1
            return self.calls

    class Slots:
        __slots__ = ()

        def __call__(self, epoch: int) -> int:
            return 1

    o = optim.SGD([{"params": [torch.ones(1, requires_grad=True)]} for _ in range(3)], lr=1.0)
    counting = Counting()
    schedule = L.LambdaLR(o, [counting, lambda epoch: 1, Slots()])
    schedule.step()
    state = schedule.state_dict()
    assert state["lr_lambdas"] == [{"calls": 2}, None, None]
    schedule.step()
    schedule.load_state_dict(state)
    assert (counting.calls, schedule.last_epoch) == (2, 1)
    schedule.step()
    assert schedule.get_last_lr() == [3, 1, 1]


class Extra(nn.Module):
    _version = 3

    def __init__(self, value: int = 1) -> None:
        super().__init__()
        self.value, self.child = value, nn.Linear(2, 2)

    def get_extra_state(self) -> Any:
        return {"value": self.value}

    def set_extra_state(self, state: Any) -> None:
        self.value = state["value"]


def test_extra_state_is_saved_and_loaded() -> None:
    one, other = Extra(1), Extra(2)
    state = one.state_dict()
    assert list(state) == ["_extra_state", "child.weight", "child.bias"]
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other.value == 1
    del state["_extra_state"]
    with pytest.raises(RuntimeError, match="_extra_state"):
        other.load_state_dict(state)
    assert other.load_state_dict(state, strict=False).missing_keys == ["_extra_state"]
    with pytest.raises(RuntimeError, match="none of .*_extra_state"):
        one.child.load_state_dict({**one.child.state_dict(), "_extra_state": 1})


def test_overridden_saving_and_loading() -> None:
    class Own(nn.Linear):
        def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "extra"] = torch.tensor(11)

        def _load_from_state_dict(self, state_dict: Any, prefix: str, *others: Any) -> None:
            self.extra, self.version = state_dict.pop(prefix + "extra", None), others[0].get("version")
            super()._load_from_state_dict(state_dict, prefix, *others)

    net = nn.Sequential(Own(2, 2), Extra())
    state = net.state_dict()
    assert list(state)[:3] == ["0.weight", "0.bias", "0.extra"]
    net.load_state_dict(state)
    assert (net[0].extra.item(), net[0].version, "0.extra" in state) == (11, 1, True)


def test_versions_go_through_files() -> None:
    file = io.BytesIO()
    torch.save(nn.Sequential(Extra(), nn.BatchNorm1d(2)).state_dict(), file)
    file.seek(0)
    assert dict(torch.load(file)._metadata)["0"] == {"version": 3}


def test_old_batch_norms_have_no_count() -> None:
    norm = nn.BatchNorm1d(2)
    state = norm.state_dict()
    norm.load_state_dict({name: each for name, each in state.items() if "batches" not in name})
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match="num_batches_tracked"):
        norm.load_state_dict(state)


def test_hooks_of_dictionaries() -> None:
    seen: list[Any] = []
    net = Extra()
    net.register_state_dict_pre_hook(lambda module, prefix, keep_vars: seen.append((prefix, keep_vars)))
    handle = net.child.register_state_dict_post_hook(lambda module, state, prefix, kept: seen.append((prefix, kept)))
    state = net.state_dict()
    assert seen == [("", False), ("child.", {"version": 1})]
    handle.remove()
    state["child.old"] = state.pop("child.weight") * 0

    def rename(module: Any, state: Any, prefix: str, *_: Any) -> None:
        state[prefix + "weight"] = state.pop(prefix + "old")

    net.child.register_load_state_dict_pre_hook(rename)
    net.register_load_state_dict_post_hook(lambda module, names: seen.append(names))
    net.load_state_dict(state)
    assert not net.child.weight.any() and seen[-1] == ([], [])
    net.register_state_dict_post_hook(lambda *_: 1)
    with pytest.raises(RuntimeError, match="must return None"):
        net.state_dict()
    net.register_load_state_dict_post_hook(lambda *_: 1)
    with pytest.raises(AssertionError, match="must return None"):
        net.load_state_dict(state)


def test_nothing_is_copied_if_a_dictionary_does_not_fit() -> None:
    net = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 2))
    before = net[0].weight.tolist()
    state = {name: each + 1 for name, each in net.state_dict().items()}
    state["1.bias"] = torch.ones(3)
    with pytest.raises(RuntimeError, match=r"1\.bias.* has shape .*3.* in the state"):
        net.load_state_dict(state)
    assert net[0].weight.tolist() == before


def test_methods_that_go_through_all_modules_call_overridden_ones() -> None:
    calls: list[str] = []

    class Frozen(nn.BatchNorm1d):
        def train(self, mode: bool = True) -> Any:
            calls.append("train")
            return super().train(False)

        def _apply(self, fn: Any, recurse: bool = True) -> Any:
            calls.append("_apply")
            return super()._apply(fn, recurse)

    net = nn.Sequential(Frozen(2))
    net.train()
    assert (net[0].training, net.training) == (False, True)
    net.to("cpu").double().cpu()
    assert calls == ["train", "_apply", "_apply", "_apply"]


def test_apply_replaces_values_of_any_kind() -> None:
    layer = nn.Linear(2, 2)
    weight = layer.weight
    weight.grad = torch.ones(2, 2)
    layer._apply(lambda tensor: tensor * 0 + 5)
    assert layer.weight is weight and weight.requires_grad
    assert (weight.tolist(), weight.grad.tolist()) == ([[5, 5]] * 2, [[5, 5]] * 2)
    layer._apply(lambda tensor: tensor[:1].clone())
    assert (list(weight.shape), list(weight.grad.shape), layer.weight is weight) == ([1, 2], [1, 2], True)
    with pytest.raises(RuntimeError, match="floating dtype"):
        layer._apply(lambda tensor: tensor.long())
    assert layer.weight.dtype is torch.float32


def test_statistics_that_are_no_longer_tracked() -> None:
    norm = nn.BatchNorm1d(2)
    norm.track_running_stats = False
    norm(torch.rand(4, 2))
    assert (norm.running_mean.tolist(), norm.num_batches_tracked.item()) == ([0, 0], 0)
    norm = nn.BatchNorm1d(2)
    norm.num_batches_tracked = None
    norm(torch.ones(4, 2))
    assert norm.running_mean.tolist() == pytest.approx([0.1, 0.1])


def test_arguments_of_to() -> None:
    x, layer = torch.ones(2), nn.Linear(2, 2)
    for wrong in (("cpu", True), (None, True), ([],), (torch.float64, "cpu"), (torch.float64, True, False, 1), (x, x)):
        for each in (x, layer):
            with pytest.raises(TypeError):
                each.to(*wrong)
    with pytest.raises(RuntimeError, match="copy"):
        layer.to(torch.float64, copy=True)
    assert x.to("cpu", torch.float64, True).dtype is layer.to(None, torch.float64).weight.dtype is torch.float64


def test_deep_copies_share_what_is_shared() -> None:
    x = torch.arange(4.0)
    made = copy.deepcopy({"part": x[1:3], "all": x, "turned": x.view(2, 2).t(), "one": x[2]})
    made["all"].mul_(10)
    assert (made["part"].tolist(), made["turned"].tolist(), made["one"].item()) == ([10, 20], [[0, 20], [10, 30]], 20)
    assert (made["turned"].stride(), made["part"].storage_offset()) == ((1, 2), 1)
    assert x.tolist() == [0, 1, 2, 3]
    net = nn.Linear(2, 2)
    net.register_buffer("b", torch.zeros(3))
    net.register_buffer("rest", net.b[1:])
    twin = copy.deepcopy(net)
    twin.b.fill_(7)
    assert (twin.rest.tolist(), net.rest.tolist()) == ([7, 7], [0, 0])


def test_a_shallow_copy_shares_its_memory() -> None:
    x = torch.ones(3, requires_grad=True)
    x.name = "x"
    y = copy.copy(x)
    with torch.no_grad():
        y[0] = 5
    assert (x.tolist(), y.requires_grad, y.is_leaf, y.name) == ([5, 1, 1], True, True, "x")
    assert type(copy.copy(nn.Parameter(torch.ones(1)))) is nn.Parameter


def test_a_copy_is_no_view() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = copy.deepcopy([torch.ones(3)] + [torch.ones(4)[1:]])
    w = torch.ones(3, requires_grad=True)
    for each in made:
        each.mul_(w)
        assert each.requires_grad
