"""Custom operators on the real MXNet 1.9.1 and on mxlite: one program, whose lines must be the same.

`.venvs/mxnet/bin/python tests/reference/custom_ops.py > tests/reference/custom_ops.txt` records 1.9.1's lines;
tests/python/autograd/test_custom.py compares `lines(mxlite)` with them.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

#: What the operators below have seen since the last look.
seen: list[str] = []


def listed(array: Any) -> str:
    """Values and dtype of an array."""
    return f"{np.round(array.asnumpy().astype('float64'), 4).tolist()} {np.dtype(array.dtype).name}"


def flags(mx: types.ModuleType) -> str:
    """The thread's flags."""
    return f"recording {mx.autograd.is_recording()} training {mx.autograd.is_training()}"


def shapes(arrays: list) -> str:
    """The shapes of arrays; "-" where one has none."""
    return " ".join(str(tuple(each.shape)) if each.ndim > 0 else "-" for each in arrays)


def operators(mx: types.ModuleType) -> None:
    """Registers the operators of this program."""

    class Pair(mx.operator.CustomOp):
        """(a, b) -> (k * a * b, a + b), and a count of the forwards."""

        def __init__(self, k: float) -> None:
            self.k = k

        def forward(self, is_train, req, in_data, out_data, aux):
            a, b = in_data
            seen.append(f"forward {is_train} {req} {flags(mx)}: {shapes(in_data)} -> {shapes(out_data)} {shapes(aux)}")
            self.assign(out_data[0], req[0], self.k * a * b)
            self.assign(out_data[1], req[1], a + b)
            aux[0][:] += 1

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            a, b = in_data
            seen.append(
                f"backward {[each != 'null' for each in req]} {flags(mx)}: {shapes(out_grad)} {shapes(out_data)}"
            )
            self.assign(in_grad[0], req[0], self.k * out_grad[0] * b + out_grad[1])
            self.assign(in_grad[1], req[1], self.k * out_grad[0] * a + out_grad[1])

    @mx.operator.register("pair")
    class PairProp(mx.operator.CustomOpProp):
        def __init__(self, k="1"):
            super().__init__()
            seen.append(f"made with {k!r}")
            self.k = float(k)

        def list_arguments(self):
            return ["a", "b"]

        def list_outputs(self):
            return ["product", "sum"]

        def list_auxiliary_states(self):
            return ["count"]

        def infer_shape(self, in_shape):
            seen.append(f"infer_shape {in_shape}")
            return in_shape, [in_shape[0], in_shape[0]], [[1]]

        def infer_type(self, in_type):
            seen.append(f"infer_type {[each.__name__ for each in in_type]}")
            return in_type, [in_type[0]] * 2, [np.float32]

        def declare_backward_dependency(self, out_grad, in_data, out_data):
            seen.append(f"dependencies {out_grad} {in_data} {out_data}")
            return [*out_grad, *in_data]

        def create_operator(self, ctx, in_shapes, in_dtypes):
            seen.append(f"create {ctx} {in_shapes} {in_dtypes}")
            return Pair(self.k)

    class SoftmaxLoss(mx.operator.CustomOp):
        """The probabilities forward; backward the gradient of the cross entropy, whatever comes from above."""

        def forward(self, is_train, req, in_data, out_data, aux):
            x = in_data[0]
            y = mx.nd.exp(x - x.max(axis=1).reshape((x.shape[0], 1)))
            self.assign(out_data[0], req[0], y / y.sum(axis=1).reshape((x.shape[0], 1)))

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            label = in_data[1].asnumpy().astype("int64")
            y = out_data[0].asnumpy().copy()
            y[np.arange(len(label)), label] -= 1
            self.assign(in_grad[0], req[0], mx.nd.array(y))

    @mx.operator.register("softmax_loss")
    class SoftmaxLossProp(mx.operator.CustomOpProp):
        def __init__(self):
            super().__init__(need_top_grad=False)

        def list_arguments(self):
            return ["data", "label"]

        def infer_shape(self, in_shape):
            return in_shape, [in_shape[0]], []

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return SoftmaxLoss()

    class Cast(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0].astype(out_data[0].dtype))

    @mx.operator.register("cast_to")
    class CastProp(mx.operator.CustomOpProp):
        def __init__(self, **parameters):
            super().__init__()
            seen.append(f"made with {sorted(parameters.items())}")
            self.to = parameters.get("to", "float32")

        def infer_type(self, in_type):
            return in_type, [np.dtype(self.to).type]

        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Cast()


def looked() -> Iterator[str]:
    """What was seen, indented."""
    yield from (f"  {line}" for line in seen)
    seen.clear()


def pairs(mx: types.ModuleType) -> Iterator[str]:
    """Values, gradients by request, flags, the auxiliary state."""
    for requests in (("write", "write"), ("add", "write"), ("write", "null"), ("null", "add")):
        a, b, count = mx.nd.array([[1, 2, 3]]), mx.nd.array([[4, 5, 6]]), mx.nd.zeros((1,))
        a.attach_grad(requests[0])
        b.attach_grad(requests[1])
        for heads in ((0, 1), (1,)):
            with mx.autograd.record(train_mode=len(heads) > 1):
                out = mx.nd.Custom(a, b, count, k=2, op_type="pair")
            mx.nd.waitall()
            mx.autograd.backward([out[i] for i in heads])
            mx.nd.waitall()
            yield f"{requests} from {heads}: {listed(out[0])}, {listed(out[1])}, count {listed(count)}"
            for array, request in zip((a, b), requests):
                if request != "null":
                    yield f"  {listed(array.grad)}"
            yield from looked()


def calls(mx: types.ModuleType) -> Iterator[str]:
    """Without recording; the same input twice; given outputs; parameters of all kinds; dtypes; a class replaced."""
    x, count = mx.nd.array([1, 2, 3]), mx.nd.zeros((1,))
    out = [mx.nd.zeros((3,)), mx.nd.zeros((3,))]
    made = mx.nd.Custom(x, x, count, op_type="pair", out=out, name="ignored")
    mx.nd.waitall()
    yield f"given: {made is out} {listed(out[0])} {listed(out[1])}"
    yield from looked()
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.Custom(x, x, count, op_type="pair", k=0.5)[0] * 3
    y.backward(mx.nd.array([1, 10, 100]))
    yield f"twice the same: {listed(x.grad)}"
    yield from looked()
    for to in ("float64", "float16", "int32", "uint8"):
        yield f"to {to}: {listed(mx.nd.Custom(mx.nd.array([1.5, 2]), op_type='cast_to', to=to))}"
    parameters = {"i": 3, "f": 1e-8, "t": (1, 2), "n": None, "b": True, "l": [1.5], "s": "a b", "dtype": np.float32}
    mx.nd.Custom(x, op_type="cast_to", ctx=mx.cpu(0), **parameters).wait_to_read()
    yield from looked()
    for kwargs in ({"op_type": "nowhere"}, {}, {"op_type": "pair"}):
        try:
            mx.nd.Custom(x, **kwargs)
            yield f"{kwargs}: accepted"
        except mx.MXNetError:
            yield f"{kwargs}: an error"
    seen.clear()


def training(mx: types.ModuleType) -> Iterator[str]:
    """A network of one hidden layer on two rings, with the loss above."""
    random = np.random.RandomState(3)
    angle, ring = random.uniform(0, 2 * np.pi, 256), random.randint(0, 2, 256)
    points = np.stack([np.cos(angle), np.sin(angle)], 1) * (1 + ring[:, None]) + random.normal(0, 0.1, (256, 2))
    data, label = mx.nd.array(points), mx.nd.array(ring)
    weights = [mx.nd.array(random.normal(0, 0.5, shape)) for shape in ((16, 2), (16,), (2, 16), (2,))]
    for each in weights:
        each.attach_grad()
    for step in range(201):
        with mx.autograd.record():
            hidden = mx.nd.tanh(mx.nd.FullyConnected(data, weights[0], weights[1], num_hidden=16))
            scores = mx.nd.FullyConnected(hidden, weights[2], weights[3], num_hidden=2)
            y = mx.nd.Custom(scores, label, op_type="softmax_loss")
        y.backward()
        for each in weights:
            each -= 0.005 * each.grad
        if step % 50 == 0:
            right = (y.argmax(axis=1) == label).mean().asscalar()
            loss = -mx.nd.log(mx.nd.pick(y, label)).mean().asscalar()
            yield f"step {step}: {right:.3f} right, loss {loss:.3f}"


def lines(mx: types.ModuleType) -> list[str]:
    """All lines of the program."""
    operators(mx)
    return [*pairs(mx), *calls(mx), *training(mx)]


if __name__ == "__main__":
    import mxnet

    print("\n".join(lines(mxnet)))
