"""simple_bind with arrays that executors share by name; tests/dropin/checks/c_graphs.py asks the same of 1.9.1."""

import gc

import pytest

import mxlite as mx


def network():
    return mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc")


def test_large_arrays_are_used_and_others_are_made():
    weight = mx.nd.full((50,), 7.0)
    buffer = {"fc_weight": weight, "data": mx.nd.zeros((1, 1))}
    executor = network().simple_bind(mx.cpu(), data=(2, 5), shared_buffer=buffer)
    gc.collect()  # of the dictionary's old arrays
    executor.arg_dict["fc_weight"][:] = 2
    assert weight[:20].asnumpy().tolist() == [2] * 20 and weight[20:].asnumpy().tolist() == [7] * 30
    shapes = {name: array.shape for name, array in buffer.items()}
    made = {"data": (2, 5), "fc_weight": (4, 5), "fc_bias": (4,)}
    grads = {f"grad of {name}": shape for name, shape in made.items()}
    assert shapes == {**made, **grads, "fc_weight": (50,)}


def test_a_second_executor_shares():
    buffer = {}
    first = network().simple_bind(mx.cpu(), data=(8, 5), shared_buffer=buffer)
    second = network().simple_bind(mx.cpu(), data=(2, 5), shared_buffer=buffer)
    first.arg_dict["data"][:] = 3
    assert second.arg_dict["data"].shape == (2, 5) and second.arg_dict["data"].asnumpy().min() == 3
    second.forward(is_train=True)
    second.backward(mx.nd.ones((2, 4)))
    assert first.grad_dict["fc_bias"].asnumpy().tolist() == [2, 2, 2, 2]


def test_another_dtype_is_an_error():
    buffer = {"fc_weight": mx.nd.ones((4, 5), dtype="float16")}
    with pytest.raises(RuntimeError, match="fc_weight: the array of the shared buffer is of float16, not of float32"):
        network().simple_bind(mx.cpu(), data=(2, 5), shared_buffer=buffer)
    assert list(buffer) == ["fc_weight"] and buffer["fc_weight"].asnumpy().sum() == 20


def test_without_gradients():
    buffer = {}
    network().simple_bind(mx.cpu(), grad_req="null", data=(2, 5), shared_buffer=buffer)
    assert sorted(buffer) == ["data", "fc_bias", "fc_weight"]
