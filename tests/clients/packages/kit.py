"""What the programs here share: parameters that are drawn by their names, and answers as JSON has them."""

import zlib

import mxnet as mx
import numpy as np


def draw(seed, *shape):
    return np.random.RandomState(seed).randn(*shape).astype("float32")


def set_parameters(net):
    """Gives every parameter values that follow from its name behind the block's own prefix, and its shape."""
    for name, each in net.collect_params().items():
        seed = zlib.crc32(name.split("_", 1)[-1].encode()) % 2**31
        if "running_var" in name or "gamma" in name:
            values = np.ones(each.shape)
        elif len(each.shape) > 1:
            values = draw(seed, *each.shape) * np.sqrt(1.5 / np.prod(each.shape[1:]))
        else:
            values = draw(seed, *each.shape) * 0.02
        each.set_data(mx.nd.array(values, dtype=each.dtype))


def arrays_in(value):
    """The arrays in nested lists and tuples."""
    if isinstance(value, (list, tuple)):
        return [array for each in value for array in arrays_in(each)]
    return [value] if isinstance(value, mx.nd.NDArray) else []


def answer(*arrays):
    """Of each array its shape, its first elements, and the mean of all that are finite."""
    found = []
    for array in arrays_in(arrays):
        numbers = array.asnumpy().astype("float64")
        mean = float(np.nan_to_num(numbers).mean())
        found.append({"shape": list(array.shape), "first": numbers.ravel()[:6].tolist(), "mean": mean})
    return found


def gradients(net, compute):
    """The results of `compute`, and the first gradients of the sum of their means of squares."""
    with mx.autograd.record():
        results = arrays_in(compute())
        loss = sum((each * each).mean() for each in results)
    loss.backward()
    given = [each for each in net.collect_params().values() if each.grad_req != "null"]
    return answer(results, [each.grad() for each in given[:3]])
