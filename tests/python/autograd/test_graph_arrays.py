"""NDArrays in the graph: requires_grad, grad_fn, nodes and their names, hooks, backward to chosen arrays, grad."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from mxlite import autograd, nd
from mxlite.autograd._run import run_from_edges
from mxlite.error import MXNetError, MXRecursionError
from mxlite.ndarray._gradient import FRONT_END


def leaf(values=(1, 2, 3), request: str | None = None) -> nd.NDArray:
    """A variable: by requires_grad_(), or with a buffer."""
    array = nd.array(list(values), dtype="float64")
    if request is None:
        return array.requires_grad_()
    array.attach_grad(request)
    return array


def listed(array: nd.NDArray) -> list:
    return array.asnumpy().tolist()


# ---- what an array says of itself ----


def test_constants_variables_and_computed_arrays() -> None:
    c, x = nd.array([1, 2]), leaf((1, 2))
    with autograd.record():
        y, parts = x * 2, x.split(num_outputs=2, axis=0)
    assert [a.requires_grad for a in (c, x, y)] == [False, True, True]
    assert [a.is_leaf for a in (c, x, y)] == [True, True, False]
    assert c.grad_fn is None and x.grad_fn is None and y.grad_fn.name() == "MulBackward0"
    assert [a.output_nr for a in (x, y, *parts)] == [0, 0, 0, 1]
    assert parts[0].grad_fn is parts[1].grad_fn


def test_requires_grad_can_be_set_and_ended() -> None:
    x = nd.array([1.0, 2])
    x.requires_grad = True
    assert x.requires_grad and x.grad is None
    x.requires_grad_(False)
    assert not x.requires_grad
    with pytest.raises(MXNetError, match="MXLNDArraySetRequiresGrad"):
        nd.array([1], dtype="int32").requires_grad_()
    x.requires_grad_()
    with autograd.record():
        y = x * 2
    assert y.requires_grad_() is y
    with pytest.raises(MXNetError, match="MXLNDArraySetRequiresGrad"):
        y.requires_grad_(False)


def test_requires_grad_keeps_a_buffer() -> None:
    x = leaf(request="write")
    x.requires_grad_()
    with autograd.record():
        y = x * 2
    y.backward(retain_graph=True)
    y.backward()
    assert listed(x.grad) == [2, 2, 2]  # it writes, as attach_grad said


def test_gradients_add_up_in_variables_without_a_buffer() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
    y.backward(retain_graph=True)
    y.backward()
    assert listed(x.grad) == [4, 8, 12]
    x.grad = None
    assert x.grad is None
    x.grad = nd.ones((3,), dtype="float64")
    with autograd.record():
        y = x * 2
    y.backward()
    assert listed(x.grad) == [3, 3, 3]


def test_version_counts_writes() -> None:
    x = nd.array([1, 2, 3])
    before = x._version
    x[0] = 5
    x += 1
    assert x[1:]._version == x._version == before + 2


def test_unused_attributes_cost_no_memory() -> None:
    assert not hasattr(nd.array([1]), "__dict__")


# ---- nodes ----

ARITHMETIC = {
    "x + 5": ("AddBackward0", [True, False]),
    "5 + x": ("AddBackward0", [True, False]),
    "x - 5": ("SubBackward0", [True, False]),
    "x * 5": ("MulBackward0", [True, False]),
    "x / 5": ("DivBackward0", [True, False]),
    "5 - x": ("RsubBackward1", [True]),
    "x ** 2": ("PowBackward0", [True]),
    "2 ** x": ("PowBackward2", [True]),
    "x % 2": ("RemainderBackward0", [True]),
    "-x": ("NegBackward0", [True]),
    "x + x": ("AddBackward0", [True, True]),
    "x - x": ("SubBackward0", [True, True]),
    "x * w": ("MulBackward0", [True, True]),
    "x / w": ("DivBackward0", [True, True]),
    "x ** w": ("PowBackward1", [True, True]),
    "x * c": ("MulBackward0", [True, False]),
    "nd.elemwise_add(x, w)": ("AddBackward0", [True, True]),
    "nd.exp(x)": ("ExpBackward0", [True]),
    "nd.log_softmax(x)": ("LogSoftmaxBackward0", [True]),
    "nd.arctan(x)": ("AtanBackward0", [True]),
    "nd.maximum(x, 1)": ("MaximumBackward0", [True]),
    "x.sum()": ("SumBackward0", [True]),
    "nd.concat(x, w, dim=0)": ("CatBackward0", [True, True]),
    "x.expand_dims(0)": ("UnsqueezeBackward0", [True]),
}


@pytest.mark.parametrize("text", ARITHMETIC)
def test_names_and_slots(text: str) -> None:
    name, slots = ARITHMETIC[text]
    scope = {"x": leaf(), "w": leaf((4, 5, 6)), "c": nd.array([1, 2, 3], dtype="float64"), "nd": nd}
    with autograd.record():
        y = eval(text, scope)
    assert y.grad_fn.name() == type(y.grad_fn).__name__ == name
    assert [node is not None for node, _ in y.grad_fn.next_functions] == slots
    assert all(output == 0 for _, output in y.grad_fn.next_functions)


def test_a_node_is_one_object_that_can_be_held() -> None:
    x = leaf()
    with autograd.record():
        y = nd.exp(x)
        z = y + 5
    node = y.grad_fn
    assert node is y.grad_fn is z.grad_fn.next_functions[0][0]
    assert len({node, y.grad_fn}) == 1
    assert repr(node).startswith("<ExpBackward0 object at 0x")
    node.metadata["key"] = 1
    assert y.grad_fn.metadata == {"key": 1}
    seen = weakref.ref(node)
    del y, z
    assert node.next_functions[0][0].variable is x  # a node outlives its array
    del node
    assert seen() is None


def test_the_variable_of_an_accumulating_node_is_the_array_itself() -> None:
    for x in (leaf(), leaf(request="write"), leaf(request="add")):
        with autograd.record():
            y = x * 2
        node = y.grad_fn.next_functions[0][0]
        assert type(node).__name__ == "AccumulateGrad" and node.variable is x and node.next_functions == ()
    marked, buffer = nd.array([1.0]), nd.zeros((1,))
    autograd.mark_variables(marked, buffer)
    with autograd.record():
        y = marked * 2
    assert y.grad_fn.next_functions[0][0].variable is marked
    with pytest.raises(AttributeError, match="MulBackward0"):
        _ = y.grad_fn.variable


# ---- hooks ----


def test_hooks_run_in_order_and_replace_gradients() -> None:
    x, log = leaf(), []
    with autograd.record():
        y = x * 2
        z = y * 3
    y.register_hook(lambda grad: log.append(("first", listed(grad))))
    y.register_hook(lambda grad: grad * 10)
    removed = y.register_hook(lambda grad: log.append("removed"))
    y.register_hook(lambda grad: log.append(("last", listed(grad))))
    x.register_hook(lambda grad: log.append(("x", listed(grad))))
    removed.remove()
    removed.remove()
    z.backward()
    assert log == [("first", [3] * 3), ("last", [30] * 3), ("x", [60] * 3)]
    assert listed(x.grad) == [60] * 3


def test_hooks_of_nodes_and_of_accumulation() -> None:
    x, log = leaf(), []
    with autograd.record():
        y = x * 2
    y.grad_fn.register_prehook(lambda outputs: tuple(grad + 1 for grad in outputs))
    y.grad_fn.register_hook(lambda inputs, outputs: log.append((listed(inputs[0]), inputs[1], listed(outputs[0]))))
    with x.register_post_accumulate_grad_hook(lambda array: log.append(array is x and listed(array.grad))):
        y.backward()
    assert log == [([4] * 3, None, [2] * 3), [4] * 3]
    with autograd.record():
        y = x * 2
    y.backward()
    assert len(log) == 2


def test_hooks_that_fail() -> None:
    x = leaf()
    for number, hook in enumerate((lambda grad: 1 / 0, lambda grad: 5, lambda grad: grad[:2])):
        with autograd.record():
            y = x * 2
        y.register_hook(hook)
        with pytest.raises(MXNetError, match=("ZeroDivisionError", "TypeError: hooks must return", "shape")[number]):
            y.backward()
    assert x.grad is None


def test_endless_recursion_through_hooks() -> None:
    """10,000 levels of backward inside backward are the most; one more ends them all, and no gradient has changed."""
    x, levels = leaf(), 0

    def deeper(grad: nd.NDArray | None = None) -> None:
        nonlocal levels
        levels += 1
        with autograd.record():
            y = x * 2
        y.register_hook(deeper)
        y.backward()

    assert issubclass(MXRecursionError, RecursionError) and issubclass(MXRecursionError, MXNetError)
    with pytest.raises(MXRecursionError, match="inside of 10000 others"):
        deeper()
    assert levels == 10001
    assert x.grad is None
    assert not autograd.is_recording()


def test_what_takes_no_hook() -> None:
    c, x = nd.array([1.0]), leaf()
    with autograd.record():
        y = x * 2
    with pytest.raises(MXNetError, match="constant"):
        c.register_hook(print)
    with pytest.raises(MXNetError, match="constant"):
        c.retain_grad()
    with pytest.raises(MXNetError, match="computed"):
        y.register_post_accumulate_grad_hook(print)


def test_a_hook_that_holds_its_array_is_let_go() -> None:
    """When backward releases the graph, and when it is removed."""
    x = leaf()
    for ends in ("backward", "remove"):
        with autograd.record():
            y = x * 2
        seen = weakref.ref(y)
        handle = y.register_hook(lambda grad, y=y: None)
        if ends == "backward":
            y.backward()
        else:
            handle.remove()
        del y
        gc.collect()
        assert seen() is None, ends


def test_retain_grad() -> None:
    x = leaf()
    with autograd.record():
        y = x * 2
        z = y * y
    y.retain_grad()
    y.register_hook(lambda grad: grad * 10)
    assert y.retains_grad and not z.retains_grad and y.grad is None
    z.backward(retain_graph=True)
    assert listed(y.grad) == [40, 80, 120]  # after all hooks
    z.backward()
    assert listed(y.grad) == [80, 160, 240]
    y.grad = None
    assert y.grad is None and y.retains_grad
    x.retain_grad()
    assert not x.retains_grad


# ---- backward and grad ----


def test_backward_to_chosen_arrays() -> None:
    x, w = leaf(), leaf((4, 5, 6))
    with autograd.record():
        y = x * w
        z = y * 2
    z.backward(inputs=x, retain_graph=True)
    assert listed(x.grad) == [8, 10, 12] and w.grad is None
    autograd.backward([z], inputs=[y, w])
    assert listed(y.grad) == [2] * 3 and listed(w.grad) == [2, 4, 6] and listed(x.grad) == [8, 10, 12]
    with pytest.raises(ValueError, match="empty"):
        z.backward(inputs=[])
    with pytest.raises(TypeError, match="inputs must be NDArrays"):
        z.backward(inputs=[5])
    with pytest.raises(MXNetError, match="constant"):
        z.backward(inputs=[nd.array([1])])


def test_backward_with_create_graph() -> None:
    x = leaf()
    with autograd.record():
        y = x * x * x
        y.backward(create_graph=True)
        first = x.grad
        x.grad = None
    first.backward()
    assert listed(x.grad) == [6, 12, 18]


def test_grad_of_what_is_not_used() -> None:
    x, w = leaf(), leaf((4, 5, 6))
    with autograd.record():
        y = x * 2
    with pytest.raises(MXNetError):
        autograd.grad(y, [x, w], retain_graph=True)
    used, unused = autograd.grad(y, [x, w], retain_graph=True, allow_unused=True)
    assert listed(used) == [2] * 3 and unused is None
    assert [listed(grad) for grad in autograd.grad(y, [x, w], materialize_grads=True)] == [[2] * 3, [0] * 3]
    with pytest.raises(ValueError, match="materialize_grads"):
        autograd.grad(y, [x], materialize_grads=True, allow_unused=False)


def test_grad_of_batches() -> None:
    x = leaf()
    with autograd.record():
        y = x * x
    (rows,) = autograd.grad(y, x, nd.array(np.eye(3), dtype="float64"), is_grads_batched=True)
    assert listed(rows) == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    with autograd.record():
        y = x * x
    with pytest.raises(ValueError, match="first axes"):
        autograd.grad(y, x, is_grads_batched=True)


def test_threads_share_variables() -> None:
    """No gradient is lost, and none is added twice."""
    x, count = leaf((1, 2, 3)), 200

    def work() -> None:
        for _ in range(count):
            with autograd.record():
                y = x * 2 + x
            y.backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert listed(x.grad) == [3 * 4 * count] * 3


def test_edges_of_a_graph_and_backward_from_them() -> None:
    x = leaf()
    with autograd.record():
        y = x * 2
    node, output = y.grad_fn, y.output_nr
    target, place = node.next_functions[0]
    del y
    edges = [(node._h, output)], [None], [(target._h, place)]
    (handle,) = run_from_edges(FRONT_END, *edges, keep_graph=False, create_graph=False, training=True)
    assert listed(nd.NDArray(handle)) == [2] * 3
