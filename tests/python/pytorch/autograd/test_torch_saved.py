"""What is saved for backward, inference tensors, checkpoints, hooks of modules: beside cases_saved.py."""

from __future__ import annotations

import copy
import threading
import warnings

import pytest

import mxlite.torch as torch
from mxlite._lib import hot
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


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x: x**2.5, {"exponent": 2.5}),
        (lambda x: x**2, {"exponent": 2}),
        (lambda x: 2.0**x, {"self": 2.0}),
        (lambda x: torch.add(x, x, alpha=3), {"alpha": 3}),
        (lambda x: x + x, {"alpha": 1}),
        (lambda x: x.sum(), {"self_sym_sizes": (2, 3, 4)}),
        (lambda x: x.sum((0, 2), keepdim=True), {"dim": (0, 2), "keepdim": True, "self_sym_sizes": (2, 3, 4)}),
        (lambda x: x.mean(1), {"dim": (1,), "keepdim": False, "self_sym_numel": 24, "self_sym_sizes": (2, 3, 4)}),
        (lambda x: x.prod(1), {"dim": 1, "keepdim": False}),
        (lambda x: x.var(1), {"dim": (1,), "keepdim": False, "correction": 1}),
        (lambda x: x.clamp(min=0.25), {"min": 0.25, "max": None}),
        (lambda x: x.max(1).values, {"dim": 1, "keepdim": False, "self_sym_sizes": (2, 3, 4)}),
        (lambda x: x.softmax(1), {"dim": 1}),
        (lambda x: x.cumsum(0), {"dim": 0}),
        (lambda x: x.transpose(0, 1), {"dim0": 0, "dim1": 1}),
        (lambda x: x.permute(2, 0, 1), {"dims": (2, 0, 1)}),
        (lambda x: x[:, 1], {"dim": 1, "index": 1, "self_sym_sizes": (2, 3, 4)}),
        (lambda x: x[0:2], {"dim": 0, "start": 0, "end": 2, "step": 1, "self_sym_sizes": (2, 3, 4)}),
        (lambda x: torch.cat([x, x], 1), {"dim": 1}),
        (lambda x: torch.stack([x, x]), {"dim": 0}),
        (lambda x: x.repeat(2, 1, 1), {"repeats": (2, 1, 1), "self_sym_sizes": (2, 3, 4)}),
        (lambda x: x.gather(1, torch.zeros(2, 1, 4, dtype=torch.long)), {"dim": 1, "sparse_grad": False}),
        (lambda x: x.diagonal(0, 1, 2), {"dim1": 1, "dim2": 2, "offset": 0, "self_sym_sizes": (2, 3, 4)}),
        (lambda x: x.float(), {}),
        (lambda x: x.exp(), {}),
    ],
)
def test_options_of_nodes(call, expected):
    if "start" in expected and not hasattr(hot, "lib"):
        pytest.skip("over ctypes a slice is read as a key, whose node has no options")
    result = call(torch.rand(2, 3, 4, dtype=torch.float64, requires_grad=True))
    node = result.grad_fn
    names = [each for each in dir(node) if each.startswith("_saved_")]
    tensors = [each for each in names if isinstance(getattr(node, each), torch.Tensor)]
    found = {each[7:]: getattr(node, each) for each in names if each not in tensors}
    assert found == expected and all(type(found[each]) is type(expected[each]) for each in found)
    assert [each for each in dir(node) if each.startswith("_raw_saved_")] == ["_raw" + each for each in tensors]
    result.sum().backward()
    assert {each[7:]: getattr(node, each) for each in names if each not in tensors} == expected
    for each in tensors:
        with pytest.raises(RuntimeError):
            getattr(node, each)


def test_saved_tensors_that_are_not_needed():
    x = torch.rand(3, 3, requires_grad=True)
    node = (x @ torch.ones(3, 3).t()).grad_fn
    assert node._saved_self is None and node._raw_saved_self is None
    assert node._saved_mat2_sym_sizes == (3, 3) and node._saved_mat2_sym_strides == (1, 3)
    other = (x * 3).grad_fn._saved_other
    assert other.item() == 3 and other.dtype == torch.int64 and (x * 2.0).grad_fn._saved_other.item() == 2
    chosen = torch.where(x > 0.5, x * 2, x).grad_fn
    assert chosen._saved_condition.dtype == torch.bool
    product = (x * 2) * x.sin()
    assert product.grad_fn._saved_other.grad_fn.name() == "SinBackward0" and product.grad_fn._saved_self.requires_grad
    for missing in ("_saved_nothing", "_saved_result", "_raw_saved_alpha"):
        assert not hasattr((x + x).grad_fn, missing)
    assert not hasattr(x[::2].grad_fn, "_saved_start")
    assert not hasattr(torch.nn.functional.elu(x).grad_fn, "_saved_self")


def test_masks_of_bytes_warn():
    x, mask = torch.arange(4.0), torch.tensor([1, 0, 1, 0], dtype=torch.uint8)
    for call in (lambda: x[mask], lambda: x[None, mask], lambda: torch.where(mask, x, x), lambda: x.where(mask, x)):
        with pytest.warns(UserWarning, match="uint8"):
            call()


def test_mark_dirty_of_what_is_no_input():
    class Copy(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, dirty):
            y = x.clone()
            ctx.mark_dirty(y if dirty is None else dirty)
            return y

        @staticmethod
        def backward(ctx, g):
            return g, None

    with pytest.warns(UserWarning, match="mark_dirty"):
        Copy.apply(torch.ones(2, requires_grad=True), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Copy.apply(torch.ones(2), None)
    with pytest.raises(RuntimeError, match="mark_dirty"):
        Copy.apply(torch.ones(2), 3)
