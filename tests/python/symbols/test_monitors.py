"""What a monitor of an executor is called with."""

from __future__ import annotations

import mxlite as mx


def _seen(monitor_all: bool) -> list[tuple[str, tuple[int, ...], float]]:
    """Names, shapes and sums of what a monitor sees of a forward and a backward."""
    seen: list[tuple[str, tuple[int, ...], float]] = []
    hidden = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc1"), "relu", name="r1")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")
    requests = {name: "write" if name.startswith("fc") else "null" for name in net.list_arguments()}
    one = net.simple_bind(mx.cpu(), grad_req=requests, data=(2, 4))
    for i, array in enumerate(one.arg_arrays):
        array[:] = 0.5 + 0.25 * i * mx.nd.arange(array.size).reshape(array.shape)
    one.arg_dict["softmax_label"][:] = mx.nd.array([0, 2])

    def look(name: bytes, handle: int) -> None:
        array = mx.nd.NDArray(handle)  # frees the handle, which is the callback's
        seen.append((name.decode(), array.shape, float(array.sum().asscalar())))

    one.set_monitor_callback(look, monitor_all=monitor_all)
    one.forward(is_train=True)
    one.backward()
    for name, shape, total in seen:
        which = {"fc1_backward_output1": "fc1_weight", "fc2_backward_output2": "fc2_bias"}.get(name)
        if which is not None:
            assert (shape, total) == (one.grad_dict[which].shape, float(one.grad_dict[which].sum().asscalar()))
    return seen


def test_monitors_see_forward_and_backward() -> None:
    """The names, in the order of the real 1.9.1."""
    shapes = [(name, shape) for name, shape, _ in _seen(monitor_all=False)]
    assert shapes == [
        ("fc1_output", (2, 4)),
        ("r1_output", (2, 4)),
        ("fc2_output", (2, 3)),
        ("softmax_output", (2, 3)),
        ("softmax_backward_output0", (2, 3)),
        ("softmax_backward_output1", (2,)),
        ("fc2_backward_output0", (2, 4)),
        ("fc2_backward_output1", (3, 4)),
        ("fc2_backward_output2", (3,)),
        ("r1_backward_output", (2, 4)),
        ("fc1_backward_output0", (2, 4)),
        ("fc1_backward_output1", (4, 4)),
        ("fc1_backward_output2", (4,)),
    ]


def test_monitors_see_the_inputs_of_the_forward() -> None:
    names = [name for name, _, _ in _seen(monitor_all=True)]
    assert names[:8] == "data fc1_data fc1_weight fc1_weight fc1_bias fc1_bias fc1_output r1_input0".split()
    assert not any("backward_input" in name for name in names)  # 1.9.1 has these too


def test_gradients_are_those_of_the_inputs() -> None:
    seen: dict[str, mx.nd.NDArray] = {}
    x = mx.sym.var("x")
    net = mx.sym.exp(mx.sym.sin(x, name="s") * 3, name="e")
    one = net.simple_bind(mx.cpu(), x=(2,))
    one.arg_dict["x"][:] = mx.nd.array([0.5, -1])
    one.set_monitor_callback(lambda name, handle: seen.update({name.decode(): mx.nd.NDArray(handle)}))
    for _ in range(2):
        one.forward(is_train=True)
        one.backward([mx.nd.array([1, 2])])
        inner = 3 * mx.nd.sin(one.arg_dict["x"])
        into = mx.nd.array([1, 2]) * mx.nd.exp(inner)
        assert seen["e_backward_output"].asnumpy().tolist() == into.asnumpy().tolist()
        assert seen["s_backward_output"].asnumpy().tolist() == one.grad_dict["x"].asnumpy().tolist()


def test_outputs_that_are_not_there() -> None:
    """1.9.1's backward of a maximum reads a second output, which a monitor sees."""
    seen: dict[str, mx.nd.NDArray] = {}
    net = mx.sym.Pooling(mx.sym.var("data"), kernel=(2, 2), name="pool")
    one = net.simple_bind(mx.cpu(), data=(1, 1, 3, 3))

    def look(name: bytes, handle: int) -> None:
        seen[name.decode()] = mx.nd.NDArray(handle)

    one.set_monitor_callback(look)
    one.forward(is_train=False)
    assert list(seen) == ["pool_output", "pool_workspace"]
    assert seen["pool_workspace"].shape == (1, 1, 2, 2)
    assert not seen["pool_workspace"].asnumpy().any()
