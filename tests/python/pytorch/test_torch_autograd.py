"""mxlite.torch: backward and grad in all their forms, old spellings, modes, hooks, functions, edits, views."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings

import pytest

import mxlite.torch as torch
from mxlite.torch.autograd import Variable

engine = Variable._execution_engine


def leaf(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


# ---- backward ----


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
@pytest.mark.parametrize("kind", [torch.float16, torch.float32, torch.float64])
def test_the_backward_of_one_element_agrees_with_the_general_one(shape, kind):
    # The backward of one tensor is one call over cffi; that of a list goes the general way.
    x, other = (torch.ones(shape, dtype=kind, requires_grad=True) for _ in range(2))
    for _ in range(2):
        (x * 3).backward()
        torch.autograd.backward([other * 3])
        assert x.grad.shape == other.grad.shape == shape and x.grad.dtype is other.grad.dtype is kind
        assert x.grad.item() == other.grad.item()
    assert x.grad.item() == 6


def test_the_backward_of_one_element_keeps_its_graph_where_told():
    x = leaf(2.0)
    y = x * x
    y.backward(retain_graph=True)
    torch.autograd.backward(y)
    assert x.grad.tolist() == [8.0]
    with pytest.raises(RuntimeError, match="released by an earlier backward"):
        y.backward()
    with pytest.raises(RuntimeError, match="requires no gradient"):
        torch.ones(1).backward()
    with pytest.raises(RuntimeError, match="of one element has 1 by itself"):
        (leaf(1.0, 2.0) * 2).backward()
    with pytest.raises(RuntimeError, match="of one element has 1 by itself"):
        (torch.ones(0, requires_grad=True) * 2).backward()
    assert x.grad.tolist() == [8.0]


def test_an_input_that_takes_in_its_own_result_is_let_go():
    # A formula saves its input; the fixture sees that nothing stays alive.
    x = leaf(1.0, 2.0)
    y = x * 2
    y[0] = torch.dot(y, y)
    assert y.tolist() == [20.0, 4.0]
    with pytest.raises(RuntimeError, match="was edited in place"):
        y.sum().backward()


def test_gradients_add_up_and_stay_one_object():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad
    assert x.grad is first and first.tolist() == [2.0, 4.0]
    (x * 3).sum().backward()
    assert x.grad is first and first.tolist() == [5.0, 7.0]
    x.grad = None
    assert x.grad is None


@pytest.mark.parametrize("how", ["backward", "grad", "run_backward"])
@pytest.mark.parametrize("heads", [1, 2, "repeated"])
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("create", [True, False])
def test_ways_of_running(how, heads, given, create):
    x = leaf(2.0)
    y = (x**3).sum()
    outputs = [y] if heads == 1 else [y, y] if heads == "repeated" else [y, (x * 5).sum()]
    expected = {1: 12.0, "repeated": 24.0, 2: 17.0}[heads] * (2 if given else 1)
    grads = [torch.tensor(2.0, dtype=torch.float64)] * len(outputs) if given else [None] * len(outputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if how == "backward":
            torch.autograd.backward(outputs, grads, create_graph=create)
            found = x.grad
        elif how == "grad":
            (found,) = torch.autograd.grad(outputs, x, grads, create_graph=create)
        else:
            ones = [torch.ones((), dtype=torch.float64) if each is None else each for each in grads]
            (found,) = engine.run_backward(tuple(outputs), tuple(ones), create, create, (x,), allow_unreachable=True)
    assert found.tolist() == [expected]
    assert found.requires_grad == create
    x.grad = None


def test_a_graph_is_used_once():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match="released by an earlier backward"):
        y.backward()
    z = (x + 1).sum()  # nothing is saved for it
    z.backward()
    z.backward()


def test_the_old_spelling_of_retain_graph():
    x = leaf(1.0)
    y = x * x
    for run in (y.backward, lambda **given: torch.autograd.backward(y, **given)):
        with pytest.warns(UserWarning, match="retain_variables is an old name"):
            run(retain_variables=True)
        with pytest.raises(ValueError, match="retain_graph; give one of them"):
            run(retain_graph=True, retain_variables=True)


def test_the_old_spelling_of_grad_tensors():
    x = leaf(1.0)
    with pytest.warns(FutureWarning, match="grad_variables"):
        torch.autograd.backward(x * 2, grad_variables=[torch.ones(1)])
    assert x.grad.tolist() == [2.0]
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="give one of them"):
        torch.autograd.backward(x * 2, [torch.ones(1)], grad_variables=[torch.ones(1)])


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda x: (x * 2).backward(), RuntimeError, "of one element has 1 by itself"),
        (lambda x: x.detach().sum().backward(), RuntimeError, "tensor 0 has no grad_fn"),
        (
            lambda x: (x * 2).backward(torch.ones(3)),
            RuntimeError,
            "gradient of output 0 has shape .*3.* the output .*2",
        ),
        (lambda x: torch.autograd.backward([x.sum()], [1.0]), TypeError, "a tensor or None, got float"),
        (lambda x: torch.autograd.backward([x.sum(), x.sum()], [None]), RuntimeError, "got 2 tensors and 1 gradients"),
        (lambda x: torch.autograd.grad(x.sum(), []), RuntimeError, "`inputs` is empty"),
        (lambda x: torch.autograd.grad(x.sum(), torch.ones(1)), RuntimeError, "a tensor requires no gradient"),
        (lambda x: torch.autograd.grad(x.sum(), leaf(1.0)), RuntimeError, "input 0 is not used"),
        (lambda x: engine.run_backward((x.sum(),), (None,), False, False), RuntimeError, "gradient 0 is None"),
        (lambda x: engine.run_backward((), (), False, False), RuntimeError, "give inputs"),
        (lambda x: engine.run_backward([x.sum()], (None,), False, False), RuntimeError, "tensors is a tuple, got list"),
        (
            lambda x: engine.run_backward((x,), (torch.ones(3),), True, True, (x,)),
            RuntimeError,
            "gradient of tensor 0 has shape",
        ),
        (lambda x: engine.queue_callback(print), RuntimeError, "no backward under way"),
    ],
)
def test_what_is_wrong_is_said(call, kind, says):
    with pytest.raises(kind, match=says):
        call(leaf(1.0, 2.0))


def test_unused_inputs():
    x, other = leaf(1.0), leaf(1.0, 2.0)
    assert torch.autograd.grad(x * 2, (x, other), allow_unused=True)[1] is None
    assert torch.autograd.grad(x * 2, (x, other), materialize_grads=True)[1].tolist() == [0.0, 0.0]


def test_the_engine_sums_a_gradient_of_a_larger_shape():
    x = leaf(1.0, 2.0)
    given = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (found,) = engine.run_backward((x * 2,), (given,), True, True, (x,))
    assert found.tolist() == [8.0, 12.0] and found.dtype is torch.float64
    found.sum().backward()
    assert given.grad.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_chosen_inputs_alone_get_gradients():
    x, y = leaf(1.0), leaf(2.0)
    z = x * y
    (z * z).backward(inputs=[x, z])
    assert (x.grad.tolist(), y.grad, z.grad.tolist()) == ([8.0], None, [4.0])


def test_batched_gradients():
    x = leaf(1.0, 2.0)
    (found,) = torch.autograd.grad(x * x, x, torch.eye(2, dtype=torch.float64), is_grads_batched=True)
    assert found.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_gradients_to_any_order():
    x = leaf(2.0)
    y = x**4
    for expected in (32.0, 48.0, 48.0, 24.0):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
        assert y.item() == expected


def test_threads_lose_no_gradient():
    x = leaf(0.0)

    def work():
        for _ in range(50):
            (x * 1).backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.item() == 200.0


# ---- modes ----


def test_modes():
    x = leaf(1.0)

    @torch.no_grad()
    def off():
        return x * 2

    @torch.no_grad
    def bare():
        return x * 2

    @torch.enable_grad()
    def on():
        return x * 2

    assert not off().requires_grad and not bare().requires_grad
    with torch.no_grad():
        assert not torch.is_grad_enabled() and not (x * 2).requires_grad and on().requires_grad
        with torch.set_grad_enabled(True):
            assert (x * 2).requires_grad
        assert not torch.is_grad_enabled()
    with torch.inference_mode():
        assert not (x * 2).requires_grad and torch.is_inference_mode_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    with pytest.raises(KeyError), torch.no_grad():
        raise KeyError
    assert torch.is_grad_enabled()


def test_a_generator_keeps_its_mode_to_itself():
    @torch.no_grad()
    def steps():
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    for flag in steps():
        assert not flag and torch.is_grad_enabled()


# ---- the graph ----


def test_the_example_of_the_issue():
    x = torch.rand(5, 5, requires_grad=True)
    y = torch.rand(5, 5, requires_grad=True)
    z = x**2 + y**3
    z.backward(torch.ones_like(x))
    assert torch.allclose(x.grad, 2 * x.detach())
    (power, _), (other, _) = z.grad_fn.next_functions
    assert power.name() == other.name() == "PowBackward0" and repr(power).startswith("<PowBackward0 object at 0x")
    accumulating = power.next_functions[0][0]
    assert str(type(accumulating)) == "<class 'AccumulateGrad'>" and accumulating.variable is x
    assert z.grad_fn is z.grad_fn and z.grad_fn.next_functions[0][0] is power
    node = z.grad_fn
    node.metadata["mine"] = 1
    del node
    assert z.grad_fn.metadata == {"mine": 1}
    assert (x + 5).grad_fn.next_functions[1] == (None, 0)


def test_hooks_run_in_order_and_replace():
    x = leaf(1.0, 2.0)
    y = x * 2
    seen = []
    y.retain_grad()
    y.register_hook(lambda grad: seen.append("first") or grad * 10)
    removed = y.register_hook(lambda grad: seen.append("removed"))
    removed.remove()
    y.register_hook(lambda grad: seen.append(grad.tolist()))
    x.register_hook(lambda grad: seen.append("leaf"))
    last = x.register_post_accumulate_grad_hook(lambda variable: seen.append(variable is x))
    y.grad_fn.register_prehook(lambda grads: seen.append("before"))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((len(inputs), len(outputs))))
    y.sum().backward()
    assert seen == ["first", [10.0, 10.0], "before", (2, 1), "leaf", True]
    assert x.grad.tolist() == [20.0, 20.0] and y.grad.tolist() == [10.0, 10.0]
    last.remove()  # it holds its own tensor


def test_what_hooks_at_nodes_may_return():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    for returned, kind in ((list, TypeError), (lambda grads: grads[0], TypeError), (lambda grads: (), RuntimeError)):
        z = x * y
        z.grad_fn.register_prehook(returned)
        with pytest.raises(kind, match="a hook at a node must return"):
            z.sum().backward()
    z = x * y
    z.grad_fn.register_hook(lambda inputs, outputs: (None, inputs[1] * 2))
    z.sum().backward()
    assert x.grad is None and y.grad.tolist() == [2.0, 4.0]
    z = x * y
    z.grad_fn.register_prehook(lambda grads: (None,))
    assert torch.autograd.grad(z.sum(), x, allow_unused=True) == (None,)


def test_a_retained_gradient_follows_an_edit():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    y[0] *= 5
    (y * 7).sum().backward()
    assert y.grad.tolist() == [7.0, 7.0] and x.grad.tolist() == [210.0, 42.0]


def test_what_a_hook_raises_comes_out():
    x = leaf(1.0)

    def fail(grad):
        raise KeyError("mine")

    x.register_hook(fail)
    with pytest.raises(KeyError, match="mine"):
        (x * 2).backward()
    assert x.grad is None


def test_endless_recursion_through_hooks():
    x = leaf(1.0)

    def deeper(grad=None):
        with torch.enable_grad():
            y = x * 2
        y.register_hook(deeper)
        y.backward()

    with pytest.raises(RecursionError, match="inside of 10000 others"):
        deeper()
    assert x.grad is None
    assert torch.is_grad_enabled()


def test_callbacks_at_the_end():
    x = leaf(1.0)
    seen = []

    def queue(grad):
        engine.queue_callback(lambda: seen.append(x.grad.item()))
        seen.append(engine.is_checkpoint_valid())

    with x.register_hook(queue):  # it holds its own tensor
        (x * 2).backward()
    assert seen == [True, 2.0]


# ---- edits in place, views, versions ----


def test_edits_are_followed():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    part = y[1:]
    y *= 2
    y[0] = 5
    part.add_(1)
    assert y.tolist() == [5.0, 5.0, 7.0] and part.grad_fn is not None
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 2.0]


def test_masks_and_indices_may_be_written():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    y[y > 3] = 0.5
    y[[0]] = x[2:]
    y.sum().backward()
    assert y.tolist() == [3.0, 0.5, 0.5] and x.grad.tolist() == [0.0, 0.0, 1.0]


def test_edits_that_are_refused():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="a variable whose gradient is wanted cannot be edited"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a variable whose gradient is wanted"):
        x[0].add_(1)
    with pytest.raises(RuntimeError, match="does not fit in an array of dtype"):
        torch.tensor([1]).add_(0.5)
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2.0, 3.0]
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="was edited in place"):
        y.sum().backward()


def test_a_formula_finds_edited_values():
    x = leaf(1.0, 2.0)
    y = x * 1
    z = y.logsumexp(0)
    y.add_(1)
    with pytest.raises(RuntimeError, match="was edited in place"):
        z.backward()


def test_views_share_memory():
    x = torch.zeros(2, 3)
    for view in (x.t(), x.view(3, 2), x[1], x[:, 1], x[None], x.expand(2, 2, 3), x.diagonal(), x.unbind()[1]):
        before = x._version
        with torch.no_grad():
            x.add_(1)
        assert view.max().item() == x.max().item() and x._version == before + 1
    x.detach().zero_()
    assert x.tolist() == [[0.0] * 3] * 2
    array = x.numpy()
    array[0, 0] = 7
    assert x[0, 0].item() == 7.0


@pytest.mark.parametrize(
    ("target", "other", "says"),
    [
        ((3,), (1, 3), r"the result has shape \[1, 3\], which a tensor of shape \[3\]"),
        ((3, 1), (1, 3), r"the result has shape \[3, 3\], which a tensor of shape \[3, 1\]"),
        ((), (1,), r"the result has shape \[1\], which a tensor of shape \[\]"),
        ((2, 3), (4,), r"sizes 3 and 4 of dimension 1 differ"),
    ],
)
def test_an_edit_keeps_the_shape(target, other, says):
    x = torch.zeros(target)
    with pytest.raises(RuntimeError, match=says):
        x -= torch.ones(other)
    assert x.shape == target and x.sum().item() == 0 and x._version == 0


def test_a_gradient_is_taken_away():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    kept, x.grad = x.grad, None
    assert x.grad is None and kept.tolist() == [2.0, 4.0]
    y = x * 1
    y.retain_grad()
    y.sum().backward()
    y.grad = None
    constant = torch.ones(2)
    constant.grad = None
    assert y.grad is None and constant.grad is None and x.grad.tolist() == [1.0, 1.0]
    x.requires_grad_(False)
    x.grad = None
    assert x.grad is None


# ---- under the name of torch ----


def test_install():
    program = """
import mxlite.torch
mxlite.torch.install()
import torch
import torch.nn.functional as F
from torch.autograd import Function, Variable
from torch.autograd.function import once_differentiable
assert torch is mxlite.torch and F.relu(torch.tensor([-1.0])).item() == 0
try:
    torch.jit
except AttributeError as problem:
    print(problem)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("module 'mxlite.torch' has no attribute 'jit': it is missing in mxlite")


# ---- what a backward without retain_graph releases: the nodes that ran ----


def _two_branches():
    a, b = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in "ab")
    h, k = a * a, b * b
    return a, b, h, k, (h * k).sum()


def _edge(tensor):
    return torch.autograd.graph.get_gradient_edge(tensor)


STOPS = {
    "grad": lambda a, h, loss: torch.autograd.grad(loss, h),
    "grad of an edge": lambda a, h, loss: torch.autograd.grad(loss, _edge(h)),
    "grad from an edge": lambda a, h, loss: torch.autograd.grad(_edge(loss), h, torch.tensor(1.0)),
    "grad, recorded": lambda a, h, loss: torch.autograd.grad(loss, h, create_graph=True, retain_graph=False),
    "grad with a hook": lambda a, h, loss: (h.grad_fn.register_hook(lambda *_: None), torch.autograd.grad(loss, h)),
    "grad with a hook before": lambda a, h, loss: (
        h.grad_fn.register_prehook(lambda grads: None),
        torch.autograd.grad(loss, h),
    ),
    "grad with a tensor's hook": lambda a, h, loss: (h.register_hook(lambda g: None), torch.autograd.grad(loss, h)),
    "grad, kept": lambda a, h, loss: (h.retain_grad(), torch.autograd.grad(loss, h)),
}


@pytest.mark.parametrize("stop", STOPS)
def test_a_node_that_did_not_run_is_not_released(stop):
    a, b, h, k, loss = _two_branches()
    STOPS[stop](a, h, loss)
    h.backward(torch.ones(2))
    k.backward(torch.ones(2))
    assert a.grad.tolist() == b.grad.tolist() == [2, 4]
    for ran in (h, k, loss):
        with pytest.raises(RuntimeError, match="retain_graph=True"):
            ran.sum().backward()


def test_a_backward_for_some_leaves_keeps_the_other_branches():
    a, b, h, k, loss = _two_branches()
    loss.backward(inputs=[a])
    k.backward(torch.ones(2))
    assert b.grad.tolist() == [2, 4]
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        h.backward(torch.ones(2))
    a, b, h, k, loss = _two_branches()
    loss.backward(inputs=[h])  # adds to h.grad: the node of h counts as run, as in PyTorch
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        h.backward(torch.ones(2))
