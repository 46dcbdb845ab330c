"""Arrays of mx.np, which a checker knows from the arrays of mx.nd."""

from __future__ import annotations

from typing import Any

import mxlite as mx
from mxlite import autograd, gluon, np, npx
from mxlite.gluon import nn


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def parts(x: np.ndarray, count: int) -> list[np.ndarray]:
    return np.split(x, count, axis=0)


def spectrum(x: np.ndarray) -> np.ndarray:
    _, values, _ = np.linalg.svd(x.T)
    return values


class Doubled(gluon.HybridBlock):
    """A block of a program over mx.np."""

    def hybrid_forward(self, F: Any, x: np.ndarray) -> np.ndarray:  # noqa: N803
        """Twice the input."""
        return x * 2


def layers() -> float:
    """Layers, losses and recurrent layers give arrays of the class of their inputs."""
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.LayerNorm())
    net.initialize()
    x = np.ones((2, 4))
    y: np.ndarray = net(x)
    z: np.ndarray = Doubled()(nn.Activation("relu")(x))
    loss: np.ndarray = gluon.loss.L2Loss()(y, y + z[:, :3])
    layer = gluon.rnn.LSTM(3)
    layer.initialize()
    out, states = layer(np.ones((5, 2, 4)), layer.begin_state(2))
    sums: list[np.ndarray] = [out.sum(), *states]
    with mx.util.np_array(False):
        legacy: mx.nd.NDArray = nn.Activation("relu")(mx.nd.ones((2, 3)))
    return float(loss.mean() + sums[0] + legacy.sum().as_np_ndarray())


def main() -> None:
    npx.set_np()
    x: np.ndarray = np.random.normal(0, 1, size=(4, 3))
    x.attach_grad("add")
    with autograd.record():
        y = np.concatenate([softmax(x), 2 * x + 1], axis=1)
        loss = np.where(y > 0, y, 0).sum()
    loss.backward()
    gradient: np.ndarray = x.grad
    assert gradient.shape == x.shape and len(parts(x, 2)) == 2 and spectrum(x).ndim == 1
    picked: np.ndarray = x[x > 0]
    indices, counts = np.unique(np.array([1, 2, 2]), return_counts=True)
    assert npx.relu(picked).size == picked.size and counts.tolist() == [1, 2] and indices.size == 2
    old: mx.nd.NDArray = x.as_nd_ndarray()
    new: np.ndarray = old.as_np_ndarray()
    assert layers() > 0 and new.astype("float64").dtype == "float64" and float(new.mean()) == float(x.mean())
    npx.reset_np()


if __name__ == "__main__":
    main()
