"""Arrays of mx.np, which a checker knows from the arrays of mx.nd."""

from __future__ import annotations

import mxlite as mx
from mxlite import autograd, np, npx


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def parts(x: np.ndarray, count: int) -> list[np.ndarray]:
    return np.split(x, count, axis=0)


def spectrum(x: np.ndarray) -> np.ndarray:
    _, values, _ = np.linalg.svd(x.T)
    return values


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
    assert new.astype("float64").dtype == "float64" and float(new.mean()) == float(x.mean())
    npx.reset_np()


if __name__ == "__main__":
    main()
