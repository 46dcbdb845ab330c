"""Optimizers beyond single calls: several steps, several weights beside one, the lists of mx.nd.contrib."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import mxlite as mx
from mxlite import nd

pytestmark = pytest.mark.one_binding

SHAPES = ((3, 4), (1037,), (), (70001,))


def _arrays(count: int, dtype: str = "float32", positive: bool = False) -> list[list]:
    """`count` lists with an array of each shape."""
    draw = np.random.RandomState(count).uniform
    low = 0.25 if positive else -2
    with mx.np_shape(True):
        return [[nd.array(draw(low, 2, shape), dtype=dtype) for shape in SHAPES] for _ in range(count)]


def _same(some: list, others: list) -> None:
    for one, other in zip(some, others):
        np.testing.assert_array_equal(one.asnumpy(), other.asnumpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_several_steps_of_several_weights(dtype: str) -> None:
    """Four steps with rates that change: the bits are those of calls of one weight."""
    with mx.np_shape(True):
        (weights, grads, moms), (alone, _, alone_moms) = _arrays(3, dtype), _arrays(3, dtype)
        for step in range(1, 5):
            lrs = tuple(0.1 / step * (i + 1) for i in range(len(SHAPES)))
            flat = [each for group in zip(weights, grads, moms) for each in group]
            nd.multi_sgd_mom_update(*flat, lrs=lrs, wds=(0.5,) * len(lrs), momentum=0.9, num_weights=len(lrs),
                                    out=weights)  # fmt: skip
            for weight, grad, mom, lr in zip(alone, grads, alone_moms, lrs):
                nd.sgd_mom_update(weight, grad, mom, lr=lr, wd=0.5, momentum=0.9, out=weight)
        _same(weights + moms, alone + alone_moms)


@pytest.mark.parametrize(("dtype", "within"), [("float32", 1e-5), ("float64", 1e-6), ("float16", 2e-2)])
def test_nag_in_place(dtype: str, within: float) -> None:
    """The momentum has the decay of the new weight, in float16 too, which is computed in float32."""
    with mx.np_shape(True):
        for weight, grad, mom in zip(*_arrays(3, dtype)):
            w, g, m = (each.asnumpy().astype("float64") for each in (weight, grad, mom))
            step = 0.1 * (g + 0.5 * w)
            new = w + 0.9 * (0.9 * m - step) - step
            nd.nag_mom_update(weight, grad, mom, lr=0.1, wd=0.5, momentum=0.9, out=weight)
            np.testing.assert_allclose(weight.asnumpy(), new, rtol=within, atol=within / 10)
            decayed = 0.9 * m - 0.1 * (g + 0.5 * new)
            np.testing.assert_allclose(mom.asnumpy(), decayed, rtol=within, atol=within / 10)


def test_adamw_of_lists() -> None:
    with mx.np_shape(True):
        sets = [[*_arrays(2), *_arrays(2, positive=True)] for _ in range(2)]
        for step in range(1, 4):
            (weights, grads, means, variances), numbers = sets[0], [0.1 / step] * len(SHAPES)
            made = nd.contrib.multi_adamw_update(
                weights, grads, means, variances, 0.5, numbers, [0.25] * len(SHAPES), [1.0] * len(SHAPES), out=weights
            )
            assert made is weights
            for each in zip(*sets[1]):
                nd.contrib.adamw_update(*each, 0.5, 0.1 / step, 1.0, wd=0.25, out=each[0])
        for some, others in zip(*sets):
            _same(some, others)


@pytest.mark.parametrize("size", [0, len(SHAPES)])
def test_mixed_precision_of_lists(size: int) -> None:
    with mx.np_shape(True):
        weights, grads = _arrays(2, "float16")
        means, variances, copies = _arrays(3, positive=True)
        count = len(SHAPES)
        nd.contrib.multi_mp_adamw_update(weights, grads, means, variances, copies, nd.array([1.0]), (0.1,) * count,
                                         (0.0,) * count, (1.0,) * count, out=weights, size=size)  # fmt: skip
        _same(weights, [copy.astype("float16") for copy in copies])
        nd.contrib.multi_mp_lamb_update(weights, grads, means, variances, copies, [1] * count, (0.1,) * count,
                                        (0.0,) * count, out=weights, num_tensors=size)  # fmt: skip
        _same(weights, [copy.astype("float16") for copy in copies])


def test_lamb_is_its_two_phases() -> None:
    with mx.np_shape(True):
        (weights, grads), (means, variances) = _arrays(2), _arrays(2, positive=True)
        found = nd.contrib.multi_lamb_update(weights, grads, [m.copy() for m in means], [v.copy() for v in variances],
                                             [2] * len(SHAPES), [0.1] * len(SHAPES), [0.5] * len(SHAPES))  # fmt: skip
        for weight, grad, mean, var, new in zip(weights, grads, means, variances, found):
            direction = nd.lamb_update_phase1(weight, grad, mean, var, t=2, wd=0.5)
            norms = [nd.array([np.linalg.norm(each.asnumpy().astype("float64"))]) for each in (weight, direction)]
            wanted = nd.lamb_update_phase2(weight, direction, *norms, lr=0.1)
            np.testing.assert_allclose(new.asnumpy(), wanted.asnumpy(), rtol=1e-5, atol=1e-6)


def test_lists_of_other_lengths_are_refused() -> None:
    one = nd.ones((2,))
    with pytest.raises(ValueError, match="as many"):
        nd.contrib.multi_lamb_update([one, one], [one], [one], [one], [1], [0.1], [0.0])
    with pytest.raises(mx.MXNetError, match="learning_rates"):
        nd.contrib.multi_lamb_update([one], [one.copy()], [one.copy()], [one.copy()], [1], [0.1, 0.2], [0.0])
    with pytest.raises(mx.MXNetError):
        nd.contrib.multi_adamw_update([], [], [], [], 1.0, [], [], [])


def test_signatures_of_contrib() -> None:
    """Those of 1.9.1's functions."""
    wanted = {
        "adamw_update": "weight grad mean var rescale_grad lr eta beta1 beta2 epsilon wd clip_gradient out name kwargs",
        "mp_adamw_update": "weight grad mean var weight32 rescale_grad lr eta beta1 beta2 epsilon wd clip_gradient out "
        "name kwargs",
        "multi_adamw_update": "weights grads mean var rescale_grad lrs wds etas out name size kwargs",
        "multi_mp_adamw_update": "weights grads mean var weights32 rescale_grad lrs wds etas out name size kwargs",
        "multi_lamb_update": "weights grads mean var step_count lrs wds out num_tensors kwargs",
        "multi_mp_lamb_update": "weights grads mean var weights32 step_count lrs wds out num_tensors kwargs",
    }
    for name, parameters in wanted.items():
        assert list(inspect.signature(getattr(nd.contrib, name)).parameters) == parameters.split()


def test_all_finite_can_be_joined() -> None:
    held = nd.array([1.0])
    for values, answer in (([1.0], 1), ([np.inf], 0), ([1.0], 0)):
        nd.all_finite(nd.array(values), init_output=False, out=held)
        assert held.asnumpy() == answer
    assert nd.all_finite(nd.array([2.0]), init_output=False).asnumpy() == 1
    over = nd.array([7.0])
    assert nd.all_finite(over, out=over).asnumpy() == 1


def test_reset_arrays() -> None:
    arrays = [nd.ones((3,)), nd.ones((2, 2), dtype="float64")]
    assert nd.reset_arrays(*arrays, num_arrays=2) == []
    assert not any(array.asnumpy().any() for array in arrays)
    part = nd.ones((4, 4))
    nd.reset_arrays(part[1], num_arrays=1)
    assert part.asnumpy().sum(axis=1).tolist() == [4, 0, 4, 4]


def test_what_is_updated_must_not_be_recorded() -> None:
    weight, grad, mom = nd.ones((3,)), nd.ones((3,)), nd.ones((3,))
    mom.attach_grad()
    with mx.autograd.record():
        for call in (
            lambda: nd.multi_sgd_mom_update(weight, grad, mom, lrs=(0.1,), wds=(0.0,)),
            lambda: nd.reset_arrays(mom, num_arrays=1),
        ):
            with pytest.raises(mx.MXNetError, match="edits in place"):
                call()
    assert mom.asnumpy().tolist() == [1, 1, 1]
