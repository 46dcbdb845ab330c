"""What cases of blocks over mx.np share."""

from __future__ import annotations

import functools

from gluon_cases._parts import numbers


def in_numpy(function):
    """A decorator: the case runs with NumPy's shapes and arrays."""

    @functools.wraps(function)
    def run(mx, **values):
        with mx.util.np_shape(True), mx.util.np_array(True):
            return function(mx, **values)

    return run


def array(mx, shape, seed=0, low=-1.0, high=1.0, dtype="float32"):
    return mx.np.array(numbers(shape, seed, low, high, dtype), dtype=dtype)


def integers(mx, shape, count, seed=0, dtype="float32"):
    return mx.np.array((numbers(shape, seed, 0.0, count)).astype("int64"), dtype=dtype)


def fill(mx, block):
    """Sets the parameters of a block, which have shapes, to given numbers; the block."""
    for number, param in enumerate(block.collect_params().values()):
        positive = param.name.endswith("_var")
        param.set_data(array(mx, param.shape, number, 0.5 if positive else -1.0))
    return block


def ready(mx, block, *inputs):
    """A block that is initialized, has its shapes from a run on inputs, and given numbers as parameters."""
    block.initialize()
    block(*inputs)
    return fill(mx, block)


def classes(value):
    """The classes of arrays in lists, with what they hold."""
    if isinstance(value, (list, tuple)):
        return [classes(each) for each in value]
    return [type(value).__name__, value]


def trained(mx, block, *inputs):
    """Outputs of a block in training, and the gradients of its parameters and its inputs, with their classes."""
    floating = [each for each in inputs if each.dtype.kind == "f"]
    for each in floating:
        each.attach_grad()
    with mx.autograd.record():
        out = block(*inputs)
        first = out[0] if isinstance(out, (list, tuple)) else out
        loss = (first * first).sum()
    loss.backward()
    grads = [each.grad() for each in block.collect_params().values() if each.grad_req != "null"]
    return classes([out, loss, *(each.grad for each in floating), *grads])
