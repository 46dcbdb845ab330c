"""mx.test_utils: tolerances, comparisons that pass and that fail, random shapes, gradients; install_as_mxnet."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import mxlite as mx
from mxlite import test_utils as tu


def test_tolerances():
    assert tu.default_rtols()[np.dtype("float32")] == 1e-4 and tu.default_atols()[np.dtype("float64")] == 1e-20
    assert tu.get_rtol() == 1e-5 and tu.get_atol() == 1e-20 and tu.get_etol() == 0 and tu.get_rtol(0.5) == 0.5
    x = mx.nd.array([1, 2])
    assert tu.get_tols(x, np.ones(2), None, None) == (1e-4, 1e-3)
    assert tu.get_tols(x, x, 1e-2, None) == (1e-2, 1e-3)
    assert tu.get_tols(x, x, {"float32": 0.25}, {np.float64: 1}) == (0.25, 1e-3)
    assert tu.effective_dtype(mx.nd.ones(1, dtype="float16")) == np.float16
    assert tu.default_context() == mx.cpu() and tu.default_dtype() is np.float32


def test_comparisons_that_pass():
    x = mx.nd.array([1, 2])
    tu.assert_almost_equal(x, np.array([1, 2.00001]))
    tu.assert_almost_equal(mx.nd.ones(2, dtype="float16"), np.array([1.005, 1]))
    tu.assert_almost_equal(np.array([1, 2]), np.array([1, 2]))
    tu.assert_almost_equal(1.0, 1.0)
    tu.assert_almost_equal(np.ones((3, 2)), np.ones((1, 2)))
    tu.assert_almost_equal(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]), equal_nan=True)
    tu.assert_almost_equal(np.array([0.0]), np.array([0.0]))
    tu.assert_almost_equal(np.zeros((0, 2)), np.zeros((0, 2)))
    tu.assert_almost_equal_ignore_nan(np.array([np.nan, 1]), np.array([2, 1.0]))
    tu.assert_almost_equal_with_err(np.ones(4), np.array([1.0, 1, 1, 2]), etol=0.25)
    tu.assert_allclose(x, [1, 2])
    tu.compare_ndarray_tuple((x, (x, None)), (x, (x, None)))
    tu.assert_exception(lambda: 1 // 0, ZeroDivisionError)
    assert tu.same(x, np.array([1, 2])) and tu.almost_equal(x, x.asnumpy())


def test_comparisons_that_fail():
    x = mx.nd.array([1, 2])
    with pytest.raises(AssertionError, match=r"(?s)Error 769.230769 exceeds.*mismatch 50.*maximum error: \(1,\)"):
        tu.assert_almost_equal(x, np.array([1, 3]))
    for a, b in ((np.nan, np.nan), (np.inf, -np.inf), (1.0, np.nan), (np.inf, 1.0), (1.0, np.inf)):
        with pytest.raises(AssertionError):
            tu.assert_almost_equal(np.array([a]), np.array([b]))
    with pytest.raises(AssertionError):
        tu.assert_almost_equal(np.array([1]), np.array([2]))
    with pytest.raises(AssertionError):
        tu.assert_almost_equal(np.array([2**62]), np.array([2**62 + 1]))
    with pytest.raises(ValueError):
        tu.assert_almost_equal(np.ones((3, 2)), np.ones((2, 3)))
    with pytest.raises(AssertionError, match="shape"):
        tu.assert_almost_equal(np.ones((3, 2)), np.ones((1, 2)), use_broadcast=False)
    with pytest.raises(AssertionError):
        tu.assert_almost_equal_with_err(np.ones(4), np.array([1.0, 1, 1, 2]), etol=0.2)
    with pytest.raises(AssertionError):
        tu.assert_exception(lambda: 1, ValueError)
    with pytest.raises(AssertionError):
        tu.compare_ndarray_tuple((x, (x, None)), (x, (x + 1, None)))
    assert not tu.same(x, x + 1) and not tu.almost_equal(x, x + 1)


def test_same_array():
    x = mx.nd.array([1, 2])
    assert tu.same_array(x, x.reshape((2,))) and not tu.same_array(x, x.copy())
    assert x.asnumpy().tolist() == [1, 2]


def test_random_things():
    for allow in (False, True):
        shapes = [tu.rand_shape_nd(4, 3, allow) for _ in range(200)]
        assert {extent for shape in shapes for extent in shape} == set(range(0 if allow else 1, 4))
    assert len(tu.rand_shape_2d()) == 2 and tu.rand_shape_3d(1, 1, 1) == (1, 1, 1)
    assert tu.rand_ndarray((2, 3), dtype="float64").dtype is np.float64
    assert (tu.rand_ndarray((50,), modifier_func=abs).asnumpy() >= 0).all()
    with pytest.raises(NotImplementedError):
        tu.rand_ndarray((2, 3), stype="csr")
    one, (a, b) = tu.random_arrays((2,)), tu.random_arrays((2, 3), ())
    assert one.shape == (2,) and a.dtype == np.float32 and b.shape == ()
    (low,) = tu.random_uniform_arrays((100,), low=2, high=3)
    assert low.min() >= 2 and low.max() < 3
    assert sorted(tu.random_sample([5, 3, 9], 3)) == [3, 5, 9]
    x, y = tu.rand_coord_2d(0, 3, 5, 6)
    assert 0 <= x < 3 and y == 5


def test_over_elements():
    a = np.arange(6.0).reshape(2, 3)
    assert tu.np_reduce(a, 1, True, np.sum).tolist() == [[3], [12]]
    assert tu.np_reduce(a, None, False, np.sum) == 15 and tu.np_reduce(a, (0, 1), True, np.max).shape == (1, 1)
    assert tu.collapse_sum_like(np.ones((2, 3, 4)), (3, 1)).tolist() == [[8], [8], [8]]
    assert tu.assign_each(a, lambda v: v + 1).tolist() == (a + 1).tolist()
    assert tu.assign_each2(a, a, lambda v, w: v * w).tolist() == (a * a).tolist()
    assert tu.create_vector(3).asnumpy().tolist() == [0, 1, 2]
    assert tu.create_2d_tensor(2, 2).asnumpy().tolist() == [[0, 0], [1, 1]]


def test_check_numeric_gradient():
    square, point = (lambda x: x * x), np.array([[0.5, -1], [2, 3]])
    tu.check_numeric_gradient(square, [point])
    tu.check_numeric_gradient(lambda a, b: mx.nd.dot(a, b), {"a": point, "b": point.T}, dtype="float64")
    with pytest.raises(AssertionError, match="NUMERICAL_0"):
        tu.check_numeric_gradient(lambda x: x.detach() * x, [point])
    tu.check_numeric_gradient(lambda x, y: x * y.detach(), [point, point], grad_nodes=[0])
    with pytest.raises(NotImplementedError):
        tu.check_numeric_gradient(square, [point], aux_states={"a": point})


def test_distributions():
    generator = np.random.default_rng(3)
    assert tu.mean_check(lambda n: generator.normal(1, 2, n), 1, 2, 10000)
    assert not tu.mean_check(lambda n: generator.normal(1.5, 2, n), 1, 2, 10000)
    assert tu.var_check(lambda n: generator.normal(1, 2, n), 2, 10000)
    assert not tu.var_check(lambda n: generator.normal(1, 3, n), 2, 10000)


def test_environment():
    before = os.environ.get("HOME")
    with tu.environment("MXLITE_TEST", "1"):
        assert os.environ["MXLITE_TEST"] == "1"
    with tu.environment({"MXLITE_TEST": "2", "HOME": None}):
        assert os.environ["MXLITE_TEST"] == "2" and "HOME" not in os.environ
    assert "MXLITE_TEST" not in os.environ and os.environ.get("HOME") == before


def test_retry():
    calls = []

    @tu.retry(3)
    def third():
        calls.append(1)
        assert len(calls) == 3
        return "done"

    assert third() == "done"
    with pytest.raises(AssertionError):
        tu.retry(2)(lambda: tu.checkShapes(np.ones(1), np.ones(2)))()
    with pytest.raises(ValueError):
        tu.retry(0)


PROGRAM = """
import pickle
import mxlite
mxlite.install_as_mxnet()
mxlite.install_as_mxnet()
import mxnet as mx, mxnet.ndarray as nd, mxnet.nd
from mxnet import autograd, test_utils
from mxnet.ndarray.ndarray import NDArray
from mxnet.test_utils import assert_almost_equal
assert mx is mxlite and nd is mx.nd is mxnet.nd and NDArray is mxlite.nd.NDArray
old = b"cmxnet.ndarray.ndarray\\nNDArray\\n(NtR."
assert isinstance(pickle.loads(old), NDArray)
print("fine")
"""

TOO_LATE = """
import sys, types, mxlite
sys.modules["mxnet"] = types.ModuleType("mxnet")
try:
    mxlite.install_as_mxnet()
except RuntimeError as problem:
    print("fine" if "imported already" in str(problem) else problem)
"""


@pytest.mark.parametrize("program", [PROGRAM, TOO_LATE], ids=["in time", "too late"])
def test_install_as_mxnet(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "fine", done.stderr
