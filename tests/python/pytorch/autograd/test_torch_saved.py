"""What is saved for backward, inference tensors, checkpoints, hooks of modules: beside cases_saved.py."""

from __future__ import annotations

import copy
import threading
import warnings

import pytest

import mxlite.torch as torch
from mxlite.torch.autograd import graph
from mxlite.torch.utils.checkpoint import CheckpointError, checkpoint, set_checkpoint_debug_enabled


def test_inference_mode_is_the_threads():
    found = []
    with torch.inference_mode():
        thread = threading.Thread(target=lambda: found.append(torch.ones(1).is_inference()))
        thread.start()
        thread.join()
        assert torch.ones(1).is_inference() and found == [False]
        assert torch.ones(0).is_inference() and torch.rand(2000).is_inference()
    assert not torch.ones(1).is_inference()


def test_inference_tensors_elsewhere():
    with torch.inference_mode():
        made = torch.ones(3)
        made[0] = 2
    with pytest.raises(RuntimeError, match="inference"):
        made[0] = 3
    with pytest.raises(RuntimeError, match="inference"):
        torch.nn.Parameter(made)
    assert made.tolist() == [2, 1, 1] and copy.deepcopy(made).tolist() == [2, 1, 1]
    x = torch.ones(3, requires_grad=True)
    (made + x).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        torch.mm(x.view(1, 3), made.view(3, 1))
    with pytest.raises(RuntimeError):
        torch.nn.functional.gelu(x) * made


def test_names_of_what_is_saved():
    x = torch.rand(2, 2, requires_grad=True)
    nodes = {
        "_saved_mat2": (x @ x).grad_fn,
        "_saved_mat1": torch.addmm(x, x, x).grad_fn,
        "_saved_result2": torch.nn.functional.layer_norm(x, (2,), x[0], x[1]).grad_fn,
        "_saved_indices": torch.nn.functional.embedding(torch.tensor([0]), x).grad_fn,
        "_saved_result": x.exp().grad_fn,
        "_saved_exponent": (x ** torch.ones(2, 2)).grad_fn,
        "_saved_self": x.sin().grad_fn,
    }
    for name, node in nodes.items():
        assert isinstance(getattr(node, name), torch.Tensor), name
        assert getattr(node, name.replace("_saved", "_raw_saved")).unpack().shape == getattr(node, name).shape
    assert not hasattr(x.sin().grad_fn, "_saved_result")
    with pytest.raises(RuntimeError):
        type(nodes["_saved_self"]._raw_saved_self)()


def test_saved_hooks_of_one_value_go_through_double_backward():
    x = torch.tensor([2.0], requires_grad=True)
    y = x.sin()
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t + 0, lambda t: t)
    first = torch.autograd.grad(y, x, create_graph=True)[0]
    second = torch.autograd.grad(first, x)[0]
    assert torch.allclose(second, -x.sin())


def test_mutation_blocks_of_threads():
    with graph.allow_mutation_on_saved_tensors():
        x = torch.ones(2, requires_grad=True)
        y = x.clone()
        z = (y**2).sum()
        y.mul_(5)
        z.backward()
        assert x.grad.tolist() == [2, 2]
    with graph.allow_mutation_on_saved_tensors() as copies:
        assert not copies.cloned


def test_a_checkpoint_explains_itself():
    runs = []

    def function(x):
        runs.append(1)
        return x.sin() if len(runs) == 1 else torch.cat([x, x]).sin()

    x = torch.ones(2, requires_grad=True)
    y = checkpoint(function, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match="array 0"):
        y.sum().backward()
    runs.clear()
    with set_checkpoint_debug_enabled(True):
        y = checkpoint(function, x, use_reentrant=False)
    with pytest.raises(CheckpointError, match="saved again:\n  0: \\[4\\] torch.float32"):
        y.sum().backward()


def test_hooks_of_a_module_are_copied_and_removed():
    module, seen = torch.nn.Linear(2, 2), []
    handle = module.register_full_backward_hook(lambda m, i, o: seen.append(m))
    other = copy.deepcopy(module)
    x = torch.ones(1, 2, requires_grad=True)
    other(x).sum().backward()
    assert seen == [other]
    handle.remove()
    module(x).sum().backward()
    assert seen == [other]


def test_warnings():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="keeps none"):
        assert (x * 2).grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = x * 2
        y.retain_grad()
        assert x.grad is y.grad is None and torch.ones(1).grad is None

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.mark_dirty(y)
            return y

    with pytest.warns(UserWarning, match="no input"):
        Double.apply(x)
