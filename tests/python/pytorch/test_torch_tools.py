"""mxlite.torch: detect_anomaly, utils.checkpoint, and what tests beside PyTorch found in edits and text."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings
from typing import Any, Callable

import numpy as np
import pytest
from conftest import live_bytes

import mxlite.torch as torch
from mxlite import autograd as mx_autograd
from mxlite.torch.utils.checkpoint import checkpoint, checkpoint_sequential


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


# ---- anomalies ----


def test_a_nan_in_backward_is_found():
    x = leaf(-1.0, 1.0)
    with pytest.warns(UserWarning, match="detect_anomaly: slows down"):
        block = torch.autograd.detect_anomaly()
    with block:
        y = x.sqrt()  # a NaN here is none of its business
        with (
            pytest.warns(
                UserWarning, match=r"SqrtBackward0: its backward failed; it was recorded at:(.|\n)*x.sqrt\(\)"
            ),
            pytest.raises(RuntimeError, match="SqrtBackward0: its backward made NaN in output 0"),
        ):
            y.sum().backward()
        assert y.grad_fn.metadata["traceback_"][0][0] == __file__
    x.grad = None
    y.sum().backward()  # and now nobody looks


def test_what_was_recorded_before():
    y = leaf(-1.0).sqrt()
    with (
        torch.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="it is not known where it was recorded"),
    ):
        with pytest.raises(RuntimeError, match="made NaN"):
            y.backward()


def test_modes_of_anomalies_nest_and_are_the_threads_own():
    seen = []
    torch.autograd.set_detect_anomaly(True, check_nan=False)
    try:
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
        with torch.autograd.set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled()
        with mx_autograd.detect_anomaly(), torch.autograd.set_detect_anomaly(True):
            assert torch.is_anomaly_check_nan_enabled()
        assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
        thread = threading.Thread(target=lambda: seen.append(torch.is_anomaly_enabled()))
        thread.start()
        thread.join()
    finally:
        torch.set_anomaly_enabled(False)
    assert seen == [False] and not torch.is_anomaly_enabled()


# ---- derivatives through hooks ----


def test_running_products_read_their_result_and_its_hooks():
    x = leaf(0.5, 0.8, 1.3)
    y = x.cumprod(0)
    y.register_hook(lambda g: g * 2)
    (first,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((first * first).sum(), x)
    # PyTorch 2.13.0
    np.testing.assert_allclose(second.tolist(), [440.71436288, 229.0757824, 93.5593984], 1e-12)


# ---- checkpoints ----


def test_a_checkpoint_keeps_nothing():
    def work(x):
        for _ in range(10):
            x = x.sin()
        return x

    x = torch.ones(1000, dtype=torch.float64, requires_grad=True)
    before = live_bytes()
    y = work(x)
    kept = live_bytes() - before
    del y
    y = checkpoint(work, x, use_reentrant=False)
    assert live_bytes() - before < kept / 5
    y.sum().backward()
    found, x.grad = x.grad, None
    work(x).sum().backward()
    assert found.tolist() == x.grad.tolist()


def test_what_is_kept_of_a_later_run_keeps_nothing_else():
    kept = []

    def work(x):
        for _ in range(10):
            x = x.sin()
        kept.append(x.detach())
        kept.append(x * 1)
        return x

    x = torch.ones(1000, dtype=torch.float64, requires_grad=True)
    y = checkpoint(work, x, use_reentrant=False, early_stop=False)
    before = live_bytes()
    for count in (1, 2, 3):
        y.sum().backward(retain_graph=True)
        assert len(kept) == 2 * (count + 1)  # each backward runs it again
    assert live_bytes() - before < 50_000 + 3 * 12 * 8_000
    kept.clear()
    assert live_bytes() - before < 50_000


STOPS = {"early": ({}, 1), "at its end": ({"early_stop": False}, 2), "reentrant": ({"use_reentrant": True}, 2)}


@pytest.mark.parametrize("name", STOPS)
def test_where_a_later_run_stops(name):
    options, expected = STOPS[name]
    ends = []

    def work(x):
        y = x.sin()
        ends.append(1)
        return y

    x = leaf(0.5, 1.0)
    checkpoint(work, x, **{"use_reentrant": False, **options}).sum().backward()
    assert len(ends) == expected
    np.testing.assert_allclose(x.grad.tolist(), np.cos([0.5, 1.0]), 1e-15)


def test_a_checkpoint_that_differentiates_within_stops_early_then_too():
    seen = []

    def work(x):
        mine = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad((mine * mine).sum(), mine)
        seen.append(slope.tolist())
        return x * slope

    x = leaf(0.5, 1.0)
    checkpoint(work, x, use_reentrant=False).sum().backward()
    assert seen == [[1.0, 2.0]] * 2 and x.grad.tolist() == [1.0, 2.0]


def test_a_value_that_the_function_writes_to_later_is_an_error():
    def work(x):
        y = x.exp()
        return y.sigmoid_()

    x = leaf(0.5, 1.0)
    y = checkpoint(work, x, use_reentrant=False)
    with pytest.raises(RuntimeError, match="the function wrote to an array after it was saved"):
        y.sum().backward()
    assert x.grad is None


def test_random_numbers_of_a_checkpoint():
    x = torch.ones(50, dtype=torch.float64, requires_grad=True)
    y = checkpoint(lambda x: torch.nn.functional.dropout(x * 2, 0.5), x, use_reentrant=False)
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()


def test_sequences_and_what_is_refused():
    x = leaf(0.5, 1.0)
    y = checkpoint_sequential([torch.sin, torch.exp, torch.cos], 2, x, use_reentrant=False)
    (found,) = torch.autograd.grad(y.sum(), x)
    (expected,) = torch.autograd.grad(x.sin().exp().cos().sum(), x)
    assert found.tolist() == expected.tolist()
    with pytest.warns(UserWarning, match="checkpoint: say use_reentrant"):
        checkpoint(torch.sin, x)
    with pytest.raises(ValueError, match="keyword arguments, got input"):
        checkpoint(torch.sin, input=x, use_reentrant=True)
    with pytest.raises(ValueError, match="debug need use_reentrant=False"):
        checkpoint(torch.sin, x, use_reentrant=True, debug=True)


def test_scripts_find_them_under_the_name_of_torch():
    program = """
import mxlite.torch
mxlite.torch.install()
import torch
import torch.utils.checkpoint as cp
from torch.autograd.functional import jacobian
from torch.autograd.anomaly_mode import set_detect_anomaly
assert torch.utils.checkpoint.checkpoint is cp.checkpoint and torch.autograd.set_detect_anomaly is set_detect_anomaly
print(jacobian(lambda x: cp.checkpoint(torch.sin, x, use_reentrant=False), torch.zeros(1)))
try:
    torch.utils.bottleneck
except AttributeError as problem:
    print(problem)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("tensor([[1.]])\nmodule 'mxlite.torch.utils' has no attribute 'bottleneck'")


# ---- edits and text ----


def test_a_value_is_broadcast_in_the_graph():
    w = leaf(7.0)
    y = torch.zeros(2, 3, dtype=torch.float64)
    y[0] = w * 3
    assert y.grad_fn.next_functions[1][0].name() == "ExpandBackward0"
    y[:] = w[None, None]
    assert y.grad_fn.name() == "torch::autograd::CopyBackwards" and "grad_fn=<CopyBackwards>" in str(y)
    y.sum().backward()
    assert w.grad.tolist() == [6.0]


def test_an_expanded_view_is_filled():
    x = leaf(1.0, 2.0)
    y = x * 2
    wide = y[:1].expand(3)
    wide.zero_()
    assert y.tolist() == [0.0, 4.0] and wide.tolist() == [0.0] * 3
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 2.0]
    assert torch.zeros(1).expand(2).fill_(3).tolist() == [3.0, 3.0]


def test_parts_of_parts_are_not_edited():
    y = leaf(1.0, 2.0, 3.0) * 2
    part = y.view(3, 1).unbind(0)[0]
    with pytest.raises(RuntimeError, match="one output of an operator with several"):
        part[0] = 1


def test_a_view_is_edited_by_itself():
    x = leaf(1.0, 2.0)
    y = x * 3
    part = y[1:]
    part.sub_(part, alpha=2)
    assert [node.name() for node, _ in y.grad_fn.next_functions] == ["MulBackward0", "SliceBackward0"]
    y.sum().backward()
    assert x.grad.tolist() == [3.0, -3.0]


def test_shapes_that_change_in_place_are_edits():
    y = torch.zeros(2, 3)
    assert [each._version for each in (y.t_(), y.unsqueeze_(0), y.squeeze_(0))] == [3, 3, 3]
    x = leaf(1.0, 2.0)[None] * 1
    z = x * x
    x.t_()
    with pytest.raises(RuntimeError, match="was edited in place"):
        z.sum().backward()


def test_truth_values_are_edited():
    flags = torch.zeros(2, dtype=torch.bool)
    flags += True
    assert flags.tolist() == [True, True] and flags.mul_(torch.tensor([True, False])).tolist() == [True, False]


def test_a_number_of_numpys_and_a_parameter():
    number = np.array(1.5)
    x = torch.from_numpy(number)
    x.add_(1)
    assert x.shape == () and number == 2.5 and x.requires_grad_().is_leaf
    assert str(torch.nn.Parameter(torch.ones(1))) == "Parameter containing:\ntensor([1.], requires_grad=True)"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        str(x)


# ---- what carries a gradient ----


def test_gradients_flow_through_fractions_alone():
    x = leaf(1.5, -2.5)
    for made in (x > 1, x != x, x.long(), x.bool(), torch.logical_not(x), torch.isnan(x), x.argmax()):
        assert not made.requires_grad and made.is_leaf and made.grad_fn is None, made
    whole = torch.zeros(2, dtype=torch.int64)
    whole[:1].copy_(x[:1])
    whole[1] = x[1]
    assert whole.tolist() == [1, -2] and whole.is_leaf
    assert str(x > 1) == "tensor([ True, False])"


@pytest.mark.parametrize("name", ["floor", "ceil", "sign", "round", "trunc"])
def test_gradients_of_steps_are_zeros(name):
    x = leaf(1.5, -2.5)
    (found,) = torch.autograd.grad(getattr(x, name)().sum(), x)
    assert found.tolist() == [0.0, 0.0]
    getattr(torch, name)(x * 2).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def _keeps_the_error(x: torch.Tensor) -> torch.Tensor:
    try:
        return (x * x).exp()
    except RuntimeError as problem:
        kept = problem
        raise kept  # noqa: B904


@pytest.mark.parametrize(
    "last",
    [
        lambda x: torch.where(x > 0.6, x * x, x),
        lambda x: x @ (x * x),
        lambda x: torch.addmm(x, x, x * x),
        lambda x: (x * x).exp(),
        _keeps_the_error,
    ],
)
def test_values_of_a_later_run_end_with_its_backward(last: Callable) -> None:
    """Each backward runs the function again: nothing that a run is ended by keeps the values of the one before."""
    runs = []

    def function(x: torch.Tensor) -> torch.Tensor:
        runs.append(len(runs))
        return last((x * 1.5).exp())

    x = torch.tensor([[0.5, 0.8], [1.3, 0.2]], dtype=torch.float64, requires_grad=True)
    made = checkpoint(function, x, use_reentrant=False).sum()
    for count in range(1, 4):
        made = torch.autograd.grad(made, x, create_graph=True)[0].sum()
        assert len(runs) == 1 + count


def test_the_profiler_counts_operators_and_named_blocks(tmp_path) -> None:
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        with torch.profiler.record_function("mine"):
            (torch.ones(3, 3) @ torch.ones(3, 3)).sum().item()
    rows = {each.key: each for each in seen.key_averages()}
    assert rows["mine"].count == 1 and rows["mine"].cpu_time_total > 0
    assert "mine" in seen.key_averages().table(sort_by="cpu_time_total", row_limit=10)
    seen.export_chrome_trace(str(tmp_path / "trace.json"))
    assert (tmp_path / "trace.json").stat().st_size
    with torch.autograd.profiler.profile(enabled=False) as off:
        torch.ones(3).exp()
    assert off.key_averages() == []
    with pytest.raises(NotImplementedError, match=r"^mxlite\.torch: "):
        torch.profiler.profile(schedule=print)


@pytest.mark.parametrize(
    ("kinds", "counts"),
    [
        ((True, True, True), [2, 3, 4]),
        ((False, True), [2, 3]),
        ((True, False, True), [2, 3, 4]),
        ((False, False, False), [2, 2, 2]),
    ],
)
def test_nested_checkpoints_run_as_often_as_pytorchs(kinds: tuple[bool, ...], counts: list[int]) -> None:
    ran = [0] * len(kinds)

    def part(place: int) -> Any:
        def run(x: Any) -> Any:
            ran[place] += 1
            y = (x * 2).sin()
            return checkpoint(part(place + 1), y, use_reentrant=kinds[place + 1]) if place + 1 < len(kinds) else y.exp()

        return run

    x = torch.ones(3, requires_grad=True)
    checkpoint(part(0), x, use_reentrant=kinds[0]).sum().backward()
    assert ran == counts


def test_a_reentrant_checkpoint_is_a_node_of_its_own() -> None:
    x = torch.ones(3, requires_grad=True)
    y = checkpoint(lambda a: a * 2, x, use_reentrant=True)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"
    for ask in (lambda: torch.autograd.grad(y.sum(), x), lambda: y.sum().backward(inputs=[x])):
        with pytest.raises(RuntimeError, match="use_reentrant=False does"):
            ask()
    with pytest.raises(RuntimeError, match="requires a gradient"):
        checkpoint(lambda a: a.detach(), x, use_reentrant=True).sum().backward()
    drawn = []

    def draws(a: Any) -> Any:
        drawn.append(torch.rand(3))
        return a * drawn[-1]

    checkpoint(draws, x, use_reentrant=True).sum().backward()
    assert torch.equal(*drawn)
    assert torch.equal(x.grad, drawn[0])
