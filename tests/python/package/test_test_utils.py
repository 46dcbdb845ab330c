"""mx.test_utils: tolerances, comparisons that pass and that fail, random shapes, gradients; install_as_mxnet."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import mxlite as mx
from mxlite import test_utils as tu
from mxlite._public import imported


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
    assert tu.rand_ndarray((2, 3), stype="csr").stype == "csr"
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
    x, y = mx.sym.var("x"), mx.sym.var("y")
    given = {"x": mx.nd.array(point), "y": mx.nd.array(point + 1)}
    tu.check_numeric_gradient(mx.sym.Group([x * y, x + y]), given, numeric_eps=1e-2)
    assert given["x"].asnumpy().tolist() == point.tolist()  # what is looked at is a copy


def test_distributions():
    generator = np.random.default_rng(3)
    assert tu.mean_check(lambda n: generator.normal(1, 2, n), 1, 2, 10000)
    assert not tu.mean_check(lambda n: generator.normal(1.5, 2, n), 1, 2, 10000)
    assert tu.var_check(lambda n: generator.normal(1, 2, n), 2, 10000)
    assert not tu.var_check(lambda n: generator.normal(1, 3, n), 2, 10000)


def test_chi_square_tail():
    """Against values of tables, and of 2 degrees of freedom, where it is an exponential function."""
    from mxlite.test_utils._distributions import _chi_square_tail

    for freedom, statistic in ((1, 3.841459), (2, 5.991465), (5, 11.0705), (10, 18.307038), (100, 124.342113)):
        assert abs(_chi_square_tail(statistic, freedom) - 0.05) < 1e-7
    for freedom, statistic in ((1, 0.003932), (5, 1.145476), (10, 3.940299), (100, 77.929465)):
        assert abs(_chi_square_tail(statistic, freedom) - 0.95) < 1e-5
    for x in (0.1, 1.0, 3.9, 4.1, 50.0, 300.0):
        assert _chi_square_tail(x, 2) == pytest.approx(np.exp(-x / 2), rel=1e-12)
    assert _chi_square_tail(0, 3) == 1 and _chi_square_tail(np.inf, 3) == 0 and _chi_square_tail(1e6, 3) < 1e-300
    assert _chi_square_tail(0, 0) == 1 and _chi_square_tail(1, 0) == 0
    assert _chi_square_tail(10**6 + 3290.0, 10**6) == pytest.approx(0.01, rel=0.01)


def test_buckets():
    buckets, probs = tu.gen_buckets_probs_with_ppf(lambda q: 2 * q, 4)
    assert buckets == [(0, 0.5), (0.5, 1), (1, 1.5), (1.5, 2)] and probs == [0.25] * 4
    with pytest.raises(ValueError):
        tu.gen_buckets_probs_with_ppf(lambda q: q, 0)


def test_chi_square_check():
    halves = [(0, 0.5), (0.5, 1)]
    p, seen, expected = tu.chi_square_check(lambda n: [0.1] * (n // 4) + [0.5] * (n - n // 4), halves, [0.5, 0.5], 100)
    assert seen.tolist() == [25, 75] and expected.tolist() == [50, 50] and p == pytest.approx(5.733e-7, rel=1e-3)
    assert tu.chi_square_check(lambda n: [0.2, 1.0] * (n // 2), halves, [0.5, 0.5], 100)[0] == 1
    assert tu.chi_square_check(lambda n: [0.2, 0.7] * (n // 2), halves, [0.25, 0.75], 100)[0] < 1e-8
    # Values, and what is no bucket's.
    p, seen, _ = tu.chi_square_check(lambda n: np.arange(n) % 4, [0, 1, 2], [0.25, 0.25, 0.25], 100)
    assert p == 1 and seen.tolist() == [25, 25, 25]
    assert tu.chi_square_check(lambda n: np.arange(n) % 4, [0, 1, 2], [0.2, 0.2, 0.2], 10000)[0] < 1e-8
    assert tu.chi_square_check(lambda n: np.arange(n) % 4, [0, 1, 2], [1 / 3] * 3, 100)[0] == 0
    assert tu.chi_square_check(lambda n: np.zeros(n), [0, 1], [1, 0], 100)[0] == 1
    mx.random.seed(3)
    buckets, probs = tu.gen_buckets_probs_with_ppf(lambda q: q, 10)
    assert tu.chi_square_check(lambda n: mx.nd.random.uniform(shape=n), buckets, probs, 20000)[0] > 1e-3
    assert tu.chi_square_check(lambda n: mx.nd.random.uniform(0, 0.99, n), buckets, probs, 20000)[0] < 1e-3
    for wrong in ([], [(0, 1)], [(0.5, 1), (0, 0.5)], [(0, 0.6), (0.5, 1)], [(1, 0), (1, 2)]):
        with pytest.raises(ValueError):
            tu.chi_square_check(lambda n: np.zeros(n), wrong, [0.5, 0.5], 10)
    with pytest.raises(TypeError):
        tu.chi_square_check(lambda n: np.zeros(n), [(0, 1), 1], [0.5, 0.5], 10)


def test_verify_generator():
    mx.random.seed(5)
    rate, most = 3.0, 8
    probs = [float(np.exp(-rate) * rate**k / np.prod(np.arange(1.0, k + 1))) for k in range(most)]
    results = tu.verify_generator(lambda n: mx.nd.random.poisson(rate, n), list(range(most)), probs, 20000, nrepeat=4)
    assert len(results) == 4 and all(0 <= result <= 1 for result in results) and len(set(results)) == 4
    with pytest.raises(AssertionError, match="0 of 3 tests succeeded"):
        tu.verify_generator(lambda n: mx.nd.random.poisson(3.2, n), list(range(most)), probs, 20000, nrepeat=3)
    with pytest.raises(AssertionError, match="1 of 1 tests succeeded, 200%"):
        tu.verify_generator(lambda n: np.arange(n) % 2, [0, 1], [0.5, 0.5], 100, nrepeat=1, success_rate=2)


def test_matrices():
    np.random.seed(3)
    assert tu.get_identity_mat(3).tolist() == np.eye(3).tolist() and tu.get_identity_mat(2).dtype == np.float32
    assert tu.get_identity_mat_batch(2).tolist() == [np.eye(2).tolist()] * 2
    q = tu.new_orthonormal_matrix_2d(4)
    np.testing.assert_allclose(q @ q.T, np.eye(4), atol=1e-12)
    for make, symmetric in (
        (tu.new_matrix_with_real_eigvals_nd, False),
        (tu.new_sym_matrix_with_real_eigvals_nd, True),
    ):
        matrices = make((2, 3, 4, 4))
        assert matrices.shape == (2, 3, 4, 4) and matrices.dtype == np.float64
        values = np.linalg.eigvals(matrices)
        assert np.abs(values.imag).max() < 1e-9 and 1 < np.abs(values.real).max() < 10.001
        assert (matrices == np.swapaxes(matrices, -1, -2)).all() == symmetric
        for wrong in ((3,), (2, 3)):
            with pytest.raises(ValueError):
                make(wrong)
    assert tu.new_matrix_with_real_eigvals_2d(3).shape == tu.new_sym_matrix_with_real_eigvals_2d(3).shape == (3, 3)


def test_discard_stderr(capfd):
    print("one", file=sys.stderr)
    with tu.discard_stderr():
        print("two", file=sys.stderr)
        os.write(2, b"three")
    with pytest.raises(KeyError), tu.discard_stderr():
        os.write(2, b"four")
        raise KeyError
    os.write(2, b"five")
    assert capfd.readouterr().err == "one\nfive"


def test_what_the_machine_is(monkeypatch):
    assert tu.is_op_runnable() and not tu.has_tvm_ops()
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert tu.is_aarch64_run()
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert not tu.is_aarch64_run()
    monkeypatch.setenv("CD_JOB", "1")
    assert tu.is_cd_run()
    monkeypatch.setenv("CD_JOB", "0")
    assert not tu.is_cd_run()


def test_how_many_helpers_there_are():
    assert len(tu.__all__) == 78 + len(imported.names("test_utils"))


def test_a_program_gets_what_1_9_1_imports_there() -> None:
    names: dict = {}
    exec("from mxlite.test_utils import *", names)
    assert names["np"] is np and names["mx"] is mx and names["os"] is os and names["same"] is tu.same


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
import pickle, sys
import mxlite
mxlite.install_as_mxnet()
mxlite.install_as_mxnet()
assert sys.modules["mxnet.ndarray"] is mxlite.nd  # einops looks there
assert sys.modules["mxnet"].sym is sys.modules["mxnet.symbol"]
import mxnet as mx, mxnet.ndarray as nd, mxnet.nd
from mxnet import autograd, test_utils
from mxnet.ndarray.ndarray import NDArray
from mxnet.test_utils import assert_almost_equal
assert mx.nd is mxlite.nd and mx.__version__ == "1.9.1" and nd is mx.nd is mxnet.nd and NDArray is mxlite.nd.NDArray
old = b"cmxnet.ndarray.ndarray\\nNDArray\\n(NtR."
assert isinstance(pickle.loads(old), NDArray)
scope = {}
exec("from mxnet.test_utils import *", scope)
assert scope["mx"] is mx and scope["mx"].__version__ == "1.9.1"
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
