"""mx.operator and mx.nd.Custom: operators written in Python."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from conftest import live_handles

import mxlite as mx
from mxlite import autograd, nd

REFERENCE = Path(__file__).resolve().parents[2] / "reference"

#: Which method fails, and with what; None: none.
failing: tuple[str, BaseException] | None = None
instances: weakref.WeakSet = weakref.WeakSet()


def maybe_fail(where: str) -> None:
    if failing is not None and failing[0] == where:
        raise failing[1]


class Scaled(mx.operator.CustomOp):
    """k * x * x, made of operators; a state counts the forwards."""

    def __init__(self, k: float) -> None:
        self.k = k
        instances.add(self)

    def forward(self, is_train, req, in_data, out_data, aux):
        maybe_fail("forward")
        self.assign(out_data[0], req[0], self.k * in_data[0] * in_data[0])
        aux[0][:] = aux[0] + 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        maybe_fail("backward")
        self.assign(in_grad[0], req[0], out_grad[0] * in_data[0] * (2 * self.k))


@mx.operator.register("test_scaled")
class ScaledProp(mx.operator.CustomOpProp):
    def __init__(self, k="1"):
        super().__init__()
        instances.add(self)
        maybe_fail("__init__")
        self.k = float(k)

    def list_arguments(self):
        maybe_fail("list_arguments")
        return ["x"]

    def list_outputs(self):
        maybe_fail("list_outputs")
        return ["y"]

    def list_auxiliary_states(self):
        maybe_fail("list_auxiliary_states")
        return ["count"]

    def infer_shape(self, in_shape):
        maybe_fail("infer_shape")
        return in_shape, in_shape, [(1,)]

    def infer_type(self, in_type):
        maybe_fail("infer_type")
        return in_type, in_type, [np.float32]

    def infer_storage_type(self, in_stype):
        maybe_fail("infer_storage_type")
        return super().infer_storage_type(in_stype)

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        maybe_fail("declare_backward_dependency")
        return [*out_grad, *in_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        maybe_fail("create_operator")
        return Scaled(self.k)


METHODS = """
    __init__ list_arguments list_outputs list_auxiliary_states infer_shape infer_type infer_storage_type
    declare_backward_dependency create_operator forward backward
""".split()


@pytest.fixture(autouse=True)
def nothing_fails():
    """Methods fail only where a test says so, and no operator outlives its graph."""
    global failing
    yield
    failing = None
    gc.collect()
    assert not list(instances)


def scaled(x: nd.NDArray, count: nd.NDArray | None = None, **parameters) -> nd.NDArray:
    return nd.Custom(x, nd.zeros((1,)) if count is None else count, op_type="test_scaled", **parameters)


def leaf(*values: float) -> nd.NDArray:
    array = nd.array(values)
    array.attach_grad()
    return array


def listed(array: nd.NDArray) -> list:
    return array.asnumpy().tolist()


def test_as_mxnet_runs_it() -> None:
    """A program of several operators, with a network that they train, prints the lines that it prints on 1.9.1."""
    sys.path.insert(0, str(REFERENCE))
    try:
        import custom_ops
    finally:
        sys.path.remove(str(REFERENCE))
    assert custom_ops.lines(mx) == (REFERENCE / "custom_ops.txt").read_text(encoding="ascii").splitlines()


def test_gradients_of_higher_order() -> None:
    """A backward that is made of operators is differentiated like any other."""
    x = leaf(1, 2, 3)
    with autograd.record():
        y = scaled(x, k=2) * x  # 2 x^3
        (first,) = autograd.grad(y, [x], create_graph=True)
        (second,) = autograd.grad(first, [x], create_graph=True)
    second.backward()
    assert listed(first) == [6, 24, 54] and listed(second) == [12, 24, 36] and listed(x.grad) == [12, 12, 12]


def test_a_gradient_of_numpys_is_a_constant() -> None:
    class Op(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            out_data[0][:] = in_data[0].asnumpy() ** 2

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], nd.array(2 * in_data[0].asnumpy()) * out_grad[0])

    registered("test_numpy", Op)
    x = leaf(1, 2)
    with autograd.record():
        y = nd.Custom(x, op_type="test_numpy")
        (first,) = autograd.grad(y, [x], create_graph=True)
        z = first * x
    z.backward()
    assert listed(first) == [2, 4] and listed(x.grad) == [2, 4]


def registered(name: str, op: type, top: bool = True, **methods) -> type:
    """Registers an operator whose description has these methods."""
    made = {"__init__": lambda self: mx.operator.CustomOpProp.__init__(self, top), "create_operator": lambda *_: op()}
    return mx.operator.register(name)(type("Prop", (mx.operator.CustomOpProp,), {**made, **methods}))


def test_inputs_by_name() -> None:
    """1.9.1 takes them for parameters."""
    x, count = leaf(1, 2), nd.zeros((1,))
    assert listed(nd.Custom(count=count, x=x, op_type="test_scaled", k=3)) == [3, 12]
    assert listed(nd.Custom(x, count=count, op_type="test_scaled")) == [1, 4]
    assert listed(count) == [2]
    for inputs, kwargs, words in (
        ((), {"x": x}, "'count' of 'test_scaled' is missing"),
        ((x,), {"x": x}, "takes no further input 'x'"),
        ((x,), {"z": x}, "its inputs are x, count"),
    ):
        with pytest.raises(TypeError, match=words):
            nd.Custom(*inputs, op_type="test_scaled", **kwargs)
    with pytest.raises(TypeError, match="are not known here"):
        nd.Custom(x=x, op_type="test_nowhere")


def test_what_is_refused() -> None:
    x = leaf(1, 2)
    with pytest.raises(TypeError, match="input 1 must be an NDArray, got NoneType"):
        nd.Custom(x, None, op_type="test_scaled")
    with pytest.raises(TypeError, match="out must be an NDArray"):
        nd.Custom(x, x, op_type="test_scaled", out=3)
    for kwargs, words in (
        ({"op_type": "test_nowhere"}, 'no operator "test_nowhere" is registered'),
        ({}, '"op_type" is missing'),
        ({"op_type": "test_scaled"}, "takes 2 inputs, got 1"),
    ):
        with pytest.raises(mx.MXNetError, match=words):
            nd.Custom(x, **kwargs)
    with pytest.raises(mx.MXNetError, match="unexpected keyword argument 'z'"):
        scaled(x, z=1)
    with pytest.raises(mx.MXNetError, match=r"expects shape \(1,\) of input 1, given \(2,\)"):
        scaled(x, nd.zeros((2,)))


@pytest.mark.parametrize("method", METHODS)
def test_exceptions_arrive_whole(method: str) -> None:
    """The error names the method and has the exception as its cause; the next call is as if nothing had happened."""
    global failing
    x, problem = leaf(1, 2), ValueError("a reason")
    before = live_handles()
    failing = method, problem
    with autograd.record(), pytest.raises(mx.MXNetError) as caught:
        scaled(x).backward()
    words = "the creator" if method == "__init__" else method
    assert str(caught.value) == f'Custom: {words} of operator "test_scaled" failed: ValueError: a reason'
    assert caught.value.__cause__ is problem
    problem.__traceback__ = None
    del caught
    gc.collect()
    assert live_handles() == before
    failing = None
    with autograd.record():
        scaled(x).backward()
    assert listed(x.grad) == [2, 4]


@pytest.mark.parametrize("method", ["__init__", "forward", "backward"])
def test_an_interrupt_is_no_error_of_the_library(method: str) -> None:
    global failing
    failing = method, KeyboardInterrupt()
    x = leaf(1)
    with autograd.record(), pytest.raises(KeyboardInterrupt):
        scaled(x).backward()
    failing[1].__traceback__ = None


def test_a_signal_arrives_within_the_operator(interruptible) -> None:
    class Op(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            signal.raise_signal(signal.SIGINT)

    registered("test_signal", Op)
    with pytest.raises(KeyboardInterrupt):
        nd.Custom(leaf(1), op_type="test_signal")


def test_wrong_answers_of_a_description() -> None:
    x = leaf(1, 2)
    for methods, words in (
        ({"infer_shape": lambda self, s: (s, s + s, [])}, "infer_shape returned 2 entries for 1 outputs"),
        ({"infer_shape": lambda self, s: (s,)}, "infer_shape must return lists"),
        ({"infer_shape": lambda self, s: (s, [(-1,)])}, "negative|below"),
        ({"infer_shape": lambda self, s: ([(7,)], s)}, r"expects shape \(7,\) of input 0, given \(2,\)"),
        ({"infer_type": lambda self, t: ([np.float64], t)}, "expects float64 of input 0, given float32"),
        ({"infer_type": lambda self, t: (t, [np.complex64])}, "infer_type .* failed: .*complex64 is not supported"),
        ({"infer_storage_type": lambda self, t: (t, ["csr"])}, "sparse"),
        ({"list_outputs": lambda self: []}, "has no outputs"),
        ({"declare_backward_dependency": lambda *_: [9]}, "lists 9"),
        ({"create_operator": lambda *_: None}, "must return a CustomOp, it returned NoneType"),
        ({}, "CustomOp has no forward"),
    ):
        registered("test_wrong", mx.operator.CustomOp, **methods)
        with pytest.raises(mx.MXNetError, match=words):
            nd.Custom(x, op_type="test_wrong")


def test_nothing_that_backward_does_not_read_is_kept() -> None:
    log: list = []

    class Op(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * 2)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            log.append([each.ndim for each in (*out_grad, *in_data, *out_data, *in_grad)])
            self.assign(in_grad[0], req[0], 2)

    registered("test_loss", Op, top=False, declare_backward_dependency=lambda *_: [])
    x = leaf(1, 2)
    with autograd.record():
        y = nd.Custom(x, op_type="test_loss")
    x[:] = 0  # a saved input could not be edited
    y.backward()
    assert listed(x.grad) == [2, 2] and log == [[0, 0, 0, 1]]


def test_what_it_is_given_is_apart() -> None:
    """An operator may differentiate within its methods; the caller's arrays keep their gradients and places."""

    class Op(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            x = in_data[0]
            x.attach_grad()
            with autograd.record():
                y = x**3
            y.backward()
            self.assign(out_data[0], req[0], x.grad)
            self.kept = in_data, out_data

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            x = in_data[0]
            x.attach_grad()
            with autograd.record():
                y = (3 * x * x * out_grad[0]).sum()
            y.backward()
            self.assign(in_grad[0], req[0], x.grad)

    registered("test_inner", Op)
    x = leaf(1, 2)
    with autograd.record():
        y = nd.Custom(x, op_type="test_inner")
    y.backward()
    assert listed(y) == [3, 12] and listed(x.grad) == [6, 12]


def test_operators_within_operators() -> None:
    class Op(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            out_data[0][:] = scaled(in_data[0], k=3)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], scaled(in_data[0], k=5) * out_grad[0])

    registered("test_outer", Op)
    x = leaf(1, 2)
    with autograd.record():
        y = nd.Custom(x, op_type="test_outer")
        (first,) = autograd.grad(y, [x], create_graph=True)
    first.backward()
    assert listed(y) == [3, 12] and listed(first) == [5, 20] and listed(x.grad) == [10, 20]


def test_a_class_is_replaced() -> None:
    """What is on the graph stays as it was."""

    class Op(mx.operator.CustomOp):
        number = 2

        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] * self.number)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], out_grad[0] * self.number)

    registered("test_again", Op)
    x = leaf(1, 2)
    with autograd.record():
        y = nd.Custom(x, op_type="test_again")
    registered("test_again", type("Other", (Op,), {"number": 5}))
    assert listed(nd.Custom(x, op_type="test_again")) == [5, 10]
    y.backward()
    assert listed(x.grad) == [2, 2]


def test_several_threads() -> None:
    results: dict[int, list] = {}

    def work(number: int) -> None:
        x = leaf(*range(number, number + 3))
        for _ in range(20):
            with autograd.record():
                y = scaled(x, k=number) + scaled(x)
            y.backward()
        results[number] = listed(x.grad)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert results == {k: [2.0 * (k + 1) * x for x in range(k, k + 3)] for k in range(4)}


def test_a_failed_forward_leaves_the_given_output() -> None:
    global failing
    x, out = leaf(1, 2), nd.array([7, 7])
    failing = "forward", ValueError("no")
    with pytest.raises(mx.MXNetError):
        scaled(x, out=out)
    assert listed(out) == [7, 7]
    failing[1].__traceback__ = None
    failing = None
    assert scaled(x, out=out) is out and listed(out) == [1, 4]


def test_layouts_and_devices() -> None:
    x = nd.array(np.arange(6).reshape(2, 3), ctx=mx.cpu(1))
    y = scaled(x.T)
    assert y.context == mx.cpu(1) and listed(y) == (x.asnumpy().T ** 2).tolist()
    state = nd.zeros((4,))
    scaled(x, state[1:2])  # a view of another array is a state too
    assert listed(state) == [0, 1, 0, 0]
    with mx.np_shape():
        assert scaled(nd.array(3.0)).shape == () and scaled(nd.zeros((0, 2))).shape == (0, 2)


def test_registering() -> None:
    with pytest.raises(TypeError, match="the name must be a string, got int"):
        mx.operator.register(3)
    with pytest.raises(TypeError, match="takes a subclass of CustomOpProp"):
        mx.operator.register("test_int")(int)


def test_assign() -> None:
    array, op = nd.array([1, 1]), mx.operator.CustomOp()
    for request, value in (("null", 1), ("write", 3), ("inplace", 3), ("add", 6)):
        op.assign(array, request, nd.array([3, 3]))
        assert listed(array) == [value, value]
    op.assign(array, "write", 5)
    assert listed(array) == [5, 5]
    with pytest.raises(ValueError, match="no request 'plus'"):
        op.assign(array, "plus", 5)


def test_defaults_of_a_description() -> None:
    """As in 1.9.1."""
    prop = mx.operator.CustomOpProp()
    assert (prop.list_arguments(), prop.list_outputs(), prop.list_auxiliary_states()) == (["data"], ["output"], [])
    assert prop.infer_shape([(2, 3), (4,)]) == ([(2, 3), (4,)], ((2, 3),), ())
    assert prop.infer_type(["f"]) == (["f"], ["f"], [])
    assert prop.infer_storage_type(["default"]) == (["default"], ["default"], [])
    stypes = ["default"], ["default", "default"], ["default"], ["default"], []
    assert prop.infer_storage_type_backward(*stypes) == stypes
    assert prop.declare_backward_dependency([10], [20, 21], [30]) == [10, 20, 21, 30]
    assert mx.operator.CustomOpProp(False).declare_backward_dependency([10], [20, 21], [30]) == [20, 21, 30]
    assert type(prop.create_operator(mx.cpu(), [], [])) is mx.operator.CustomOp
    with pytest.raises(NotImplementedError, match="not csr"):
        prop.infer_storage_type(["csr"])


def test_lists_of_operators() -> None:
    names = mx.operator.get_all_registered_operators()
    assert {"Custom", "dot", "broadcast_add"} <= set(names)
    assert mx.operator.get_operator_arguments("Custom") == (
        2,
        ["data", "op_type"],
        ["NDArray-or-Symbol[]", "string"],
    )
    assert mx.operator.get_operator_arguments("dot").narg == 5
    with pytest.raises(mx.MXNetError, match="nowhere is not registered"):
        mx.operator.get_operator_arguments("nowhere")


def test_node_of_a_call() -> None:
    x = leaf(1, 2)
    with autograd.record():
        y = scaled(x, k=2)
    assert y.grad_fn.name() == "CustomBackward0" and "test_scaled" in autograd.graph.to_json(y)


class Remembers(mx.operator.CustomOp):
    """x * x, whose backward uses what this instance's forward has seen."""

    def forward(self, is_train, req, in_data, out_data, aux):
        self.doubled = 2 * in_data[0]
        self.assign(out_data[0], req[0], in_data[0] * in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * self.doubled)


@mx.operator.register("test_remembers")
class RemembersProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return Remembers()


@pytest.mark.parametrize("hybridized", [False, True])
def test_each_step_of_a_loop_has_an_operator_of_its_own(hybridized: bool) -> None:
    class Loop(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):  # noqa: N803
            def step(part, state):
                return F.Custom(part, op_type="test_remembers") * state, state + part

            return F.contrib.foreach(step, x, F.ones((2,)))[0]

    block, x = Loop(), nd.array([[1, 2], [3, 4], [5, 6]])
    if hybridized:
        block.hybridize()
    x.attach_grad()
    with autograd.record():
        total = block(x) + block(x * 2)
    total.backward()
    assert x.grad.asnumpy().tolist() == [[316, 488], [309, 508], [410, 708]]
