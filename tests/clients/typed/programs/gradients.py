"""Gradients of gradients, a rule of one's own, and derivatives as functions."""

from __future__ import annotations

from typing_extensions import assert_type

from mxlite import autograd, nd


class Cube(autograd.Function):
    """x ** 3 with its rule."""

    def forward(self, x: nd.NDArray) -> nd.NDArray:
        self.save_for_backward(x)
        return x**3

    def backward(self, dy: nd.NDArray) -> nd.NDArray:
        (x,) = self.saved_tensors
        return 3 * x**2 * dy


def penalty(x: nd.NDArray, weight: nd.NDArray) -> nd.NDArray:
    """How far the length of the gradient of a function of x is from 1."""
    with autograd.record():
        y = nd.tanh(nd.dot(x, weight)).sum()
        (slope,) = autograd.grad([y], [x], create_graph=True, retain_graph=True)
        assert_type(slope, nd.NDArray)
        return ((slope.norm() - 1) ** 2).sum()


def main() -> None:
    x, weight = nd.random.uniform(shape=(3, 4)), nd.random.uniform(shape=(4, 2))
    x.attach_grad()
    weight.attach_grad(grad_req="add")
    with autograd.record():
        loss = penalty(x, weight)
    loss.backward()
    assert weight.grad is not None and weight.grad.shape == (4, 2)
    with autograd.record(train_mode=False):
        cubes: nd.NDArray = Cube()(x)
        with autograd.pause():
            assert not autograd.is_recording()
    autograd.backward([cubes], head_grads=[nd.ones_like(cubes)])
    assert abs(float((x.grad - 3 * x**2).sum())) < 1e-4
    rows = autograd.functional.jacobian(lambda v: (v * v).sum(), nd.array([1.0, 2.0]))
    assert rows.asnumpy().tolist() == [[2, 4]]
    point = nd.array([0.5, 1.0], dtype="float64")
    point.attach_grad()
    assert autograd.gradcheck(lambda v: nd.sin(v).sum(), [point])


if __name__ == "__main__":
    main()
