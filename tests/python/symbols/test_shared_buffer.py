"""simple_bind with arrays that executors share by name; tests/dropin/checks/c_graphs.py asks the same of 1.9.1."""

import gc

import numpy as np
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


def is_shared(one, other):
    """Whether two arrays begin in the same memory."""
    other[:] = 0
    one[:] = 5
    return other.asnumpy().ravel()[0] == 5


@pytest.mark.parametrize("names", [["fc_weight", "fc_bias"], ["fc_weight"], ["data"]])
def test_named_arguments_are_those_of_the_shared_executor_or_new(names):
    buffer = {}
    first = network().simple_bind(mx.cpu(), data=(2, 5), shared_buffer=buffer, shared_arg_names=names)
    others = sorted({"data", "fc_weight", "fc_bias"} - set(names))
    assert sorted(buffer) == others + [f"grad of {name}" for name in others]
    given = {"shared_buffer": buffer, "shared_arg_names": names}
    apart = network().simple_bind(mx.cpu(), data=(2, 5), **given)
    beside = network().simple_bind(mx.cpu(), data=(2, 5), shared_exec=first, **given)
    for name in ("data", "fc_weight", "fc_bias"):
        for what in ("arg_dict", "grad_dict"):
            arrays = [getattr(each, what)[name] for each in (first, apart, beside)]
            assert is_shared(arrays[0], arrays[1]) == (name not in names)
            assert is_shared(arrays[0], arrays[2])


def test_without_a_buffer_nothing_is_shared():
    net = mx.sym.BatchNorm(network(), name="bn")
    first = net.simple_bind(mx.cpu(), data=(2, 5))
    second = net.simple_bind(mx.cpu(), data=(2, 5), shared_exec=first, shared_arg_names=["fc_weight"])
    assert not is_shared(first.arg_dict["fc_weight"], second.arg_dict["fc_weight"])
    assert not is_shared(first.aux_dict["bn_moving_mean"], second.aux_dict["bn_moving_mean"])
    third = net.simple_bind(mx.cpu(), data=(2, 5), shared_exec=first, shared_buffer={})
    assert is_shared(first.aux_dict["bn_moving_mean"], third.aux_dict["bn_moving_mean"])


def test_what_is_shared_must_be_there_and_fit():
    first = network().simple_bind(mx.cpu(), data=(2, 5))
    given = {"shared_exec": first, "shared_arg_names": ["fc_weight", "other_weight"], "shared_buffer": {}}
    shapes = r"fc_weight is shared: in the shared executor it has shape \(4,5\) and dtype float32, here \(4,3\)"
    with pytest.raises(mx.MXNetError, match=shapes):
        network().simple_bind(mx.cpu(), data=(2, 3), **given)
    other = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="other")
    with pytest.raises(mx.MXNetError, match="other_weight is shared, and the shared executor does not have it"):
        other.simple_bind(mx.cpu(), data=(2, 5), **given)


def test_gradients_that_are_not_there_are_new():
    first = network().simple_bind(mx.cpu(), data=(2, 5), grad_req="null")
    given = {"shared_exec": first, "shared_arg_names": ["fc_weight"], "shared_buffer": {}}
    second = network().simple_bind(mx.cpu(), data=(2, 5), **given)
    assert is_shared(first.arg_dict["fc_weight"], second.arg_dict["fc_weight"])
    second.forward(is_train=True)
    second.backward(mx.nd.ones((2, 4)))
    assert second.grad_dict["fc_weight"].shape == (4, 5)


def test_a_small_array_of_another_dtype_is_replaced():
    buffer = {"fc_weight": mx.nd.ones((2,), dtype="float16")}
    network().simple_bind(mx.cpu(), data=(2, 5), shared_buffer=buffer)
    assert buffer["fc_weight"].dtype == np.float32 and buffer["fc_weight"].shape == (4, 5)
