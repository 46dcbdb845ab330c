"""Back ends: OpenBLAS where it is found and routines of our own where it is not answer the same; choosing; forks.

The rows of linalg_* run here in both ways, whatever the environment prefers. OpenBLAS is there when pip installed the
wheel scipy-openblas32 (`make venv` does) or MXLITE_OPENBLAS names a library.
"""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from _table import assert_close, given_out, invoke, invoke_text, to_nd
from cases import CASES
from test_cases_forward import run as run_case
from test_cases_gradient import test_first as check_first

import mxlite as mx
from mxlite import autograd
from mxlite._lib import LIB, check_call

pytestmark = pytest.mark.one_binding

_NUMPY = {f"_npi_{name}" for name in "cholesky eig eigvals eigh eigvalsh svd pinv_scalar_rcond pinv solve norm".split()}
LINALG = [case for case in CASES if case.op.startswith("_linalg_") or case.op in _NUMPY]
VALUES = [case for case in LINALG if case.forward is not None]
ERRORS = [case for case in LINALG if case.error]
FIRST = [case for case in VALUES if case.order and not case.defined]
HAS_OPENBLAS = bool(os.environ.get("MXLITE_OPENBLAS")) or importlib.util.find_spec("scipy_openblas32") is not None
WAYS = ["portable", "openblas"] if HAS_OPENBLAS else ["portable"]


def fact(name: str) -> str:
    """One answer of MXLGetInfo."""
    text = ctypes.c_char_p()
    check_call(LIB.MXLGetInfo(name.encode(), ctypes.byref(text)))
    return text.value.decode()


@pytest.fixture(params=WAYS)
def way(request, monkeypatch) -> Iterator[str]:
    """Each way in turn, and afterwards what the environment says."""
    before = os.environ.get("MXLITE_BACKENDS")
    if request.param == "portable":
        check_call(LIB.MXLSetBackend(b"openblas", None))
    else:
        LIB.MXSetEnv(b"MXLITE_BACKENDS", b"")
        check_call(LIB.MXLSetBackend(b"openblas", b""))
    yield request.param
    LIB.MXSetEnv(b"MXLITE_BACKENDS", (before or "").encode())
    check_call(LIB.MXLSetBackend(b"openblas", b""))


def test_the_way_is_taken(way: str) -> None:
    assert fact("backends") == ("openblas portable" if way == "openblas" else "portable")
    assert ("OpenBLAS" in fact("openblas")) == (way == "openblas")
    assert (fact("openblas") == "none") == (way == "portable")


@pytest.mark.parametrize("case", VALUES, ids=lambda case: case.id)
def test_values(case, way: str) -> None:
    with mx.np_shape(case.np_shape):
        got, _ = run_case(case, "function")
    for position, (one, two) in enumerate(zip(got, case.expected())):
        assert_close(one, np.asarray(two), case.close(one.dtype.name), f"{case.id}, output {position}")


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case.id)
def test_errors(case, way: str) -> None:
    with mx.np_shape(case.np_shape), pytest.raises(mx.MXNetError):
        invoke(case, [to_nd(array) for array in case.arrays()], "text", given_out(case))


@pytest.mark.parametrize("case", FIRST, ids=lambda case: case.id)
def test_gradients(case, way: str) -> None:
    check_first(case)


def random_matrix(n: int, dtype: str = "float64", seed: int = 0) -> np.ndarray:
    """A matrix with a heavy diagonal."""
    return (np.random.default_rng(seed).standard_normal((n, n)) + n * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 97])
def test_spectra_around_a_block(n: int, dtype: str, way: str) -> None:
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-9}
    wide = np.random.default_rng(n).standard_normal((2, n, n + 3)).astype(dtype)
    u, values, v = (each.asnumpy() for each in invoke_text("_npi_svd", [to_nd(wide)], {}))
    np.testing.assert_allclose(u @ (values[..., None] * v), wide, **tolerance)
    np.testing.assert_allclose(values, np.linalg.svd(wide.astype("float64"), compute_uv=False), **tolerance)
    np.testing.assert_allclose(v @ v.swapaxes(1, 2), np.broadcast_to(np.eye(n), (2, n, n)), **tolerance)
    np.testing.assert_allclose(u @ u.swapaxes(1, 2), np.broadcast_to(np.eye(n), (2, n, n)), **tolerance)
    a = (np.random.default_rng(n).standard_normal((n, n)) / n + np.diag(np.arange(n))).astype(dtype)
    values, vectors = (each.asnumpy() for each in invoke_text("_npi_eig", [to_nd(a)], {}))
    np.testing.assert_allclose(a @ vectors, vectors * values, atol=tolerance["atol"] * n)
    np.testing.assert_allclose(np.sort(values), np.sort(np.linalg.eigvals(a.astype("float64"))), **tolerance)
    np.testing.assert_allclose((vectors**2).sum(0), np.ones(n), **tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 31, 32, 47, 48, 49, 97, 257])
def test_sizes_around_a_block(n: int, dtype: str, way: str) -> None:
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-9, "atol": 1e-9}
    a = random_matrix(n, dtype)
    eye = np.eye(n)
    spd = a @ a.T / n + eye.astype(dtype)
    x = to_nd(a)
    low = mx.nd.linalg.potrf(to_nd(spd)).asnumpy()
    np.testing.assert_allclose(low @ low.T, spd, **tolerance)
    np.testing.assert_array_equal(np.triu(low, 1), 0)
    np.testing.assert_allclose(mx.nd.linalg.inverse(x).asnumpy() @ a, eye, **tolerance)
    shuffled = np.random.default_rng(n).permutation(n)
    np.testing.assert_allclose(mx.nd.linalg.inverse(to_nd(a[shuffled])).asnumpy() @ a[shuffled], eye, **tolerance)
    sign, log = mx.nd.linalg.slogdet(to_nd(a[shuffled]))
    wanted = np.linalg.slogdet(a[shuffled].astype("float64"))
    assert sign.asscalar() == wanted[0]
    np.testing.assert_allclose(log.asnumpy(), [wanted[1]], rtol=1e-5)
    wide = np.random.default_rng(1).standard_normal((n, n + 5)).astype(dtype)
    q, low = (each.asnumpy() for each in mx.nd.linalg.gelqf(to_nd(wide)))
    np.testing.assert_allclose(low @ q, wide, **tolerance)
    np.testing.assert_allclose(q @ q.T, eye, **tolerance)
    u, values = (each.asnumpy() for each in mx.nd.linalg.syevd(to_nd(a + a.T)))
    np.testing.assert_allclose(u.T @ (values[:, None] * u) / n, (a + a.T) / n, **tolerance)
    np.testing.assert_allclose(u @ u.T, eye, **tolerance)
    assert (np.diff(values) >= 0).all()
    for right in (False, True):
        for transpose in (False, True):
            for lower in (False, True):
                b = np.random.default_rng(2).standard_normal((5, n) if right else (n, 5)).astype(dtype)
                y = mx.nd.linalg.trsm(x, to_nd(b), rightside=right, transpose=transpose, lower=lower).asnumpy()
                op = np.tril(a) if lower else np.triu(a)
                op = op.T if transpose else op
                np.testing.assert_allclose(y @ op if right else op @ y, b, **tolerance)


def test_extreme_numbers(way: str) -> None:
    """No square on the way overflows or vanishes."""
    for n, scale in itertools.product((5, 40), (1e200, 1e-200)):
        a = random_matrix(n)
        u, values = (each.asnumpy() for each in mx.nd.linalg.syevd(to_nd((a + a.T) * scale)))
        np.testing.assert_allclose(values, np.linalg.eigvalsh(a + a.T) * scale, rtol=1e-12)
        q, low = (each.asnumpy() for each in mx.nd.linalg.gelqf(to_nd(a * scale)))
        np.testing.assert_allclose(low @ q, a * scale, rtol=1e-10, atol=1e-10 * scale * n)


def test_clustered_eigenvalues(way: str) -> None:
    """Vectors are orthonormal although values coincide."""
    q = np.linalg.qr(random_matrix(36))[0]
    values = np.repeat([1.0, 1.0 + 1e-14, 5.0], 12)
    a = q.T @ (values[:, None] * q)
    u, got = (each.asnumpy() for each in mx.nd.linalg.syevd(to_nd((a + a.T) / 2)))
    np.testing.assert_allclose(got, values, rtol=1e-12)
    np.testing.assert_allclose(u @ u.T, np.eye(36), atol=1e-12)


@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("name", ["potrf", "potri", "inverse"])
def test_an_output_that_is_given_is_not_half_written(name: str, n: int, way: str) -> None:
    good = np.eye(n)
    a = to_nd(np.stack([good, -0.0 * good]))
    out = to_nd(np.full((2, n, n), 7.0))
    with pytest.raises(mx.MXNetError, match="matrix 1"):
        getattr(mx.nd.linalg, name)(a, out=out)
    np.testing.assert_array_equal(out.asnumpy(), 7)


@pytest.mark.parametrize("n", [4, 40])
@pytest.mark.parametrize("name", ["potrf", "potri", "inverse"])
def test_the_output_may_be_the_input(name: str, n: int, way: str) -> None:
    a = np.tril(random_matrix(n)) + n * np.eye(n)
    a = a if name == "potri" else a @ a.T
    x = to_nd(a)
    wanted = getattr(mx.nd.linalg, name)(x).asnumpy()
    getattr(mx.nd.linalg, name)(x, out=x)
    np.testing.assert_array_equal(x.asnumpy(), wanted)


def test_second_gradient_of_a_singular_determinant(way: str) -> None:
    x = to_nd(np.array([[1.0, 2.0], [2.0, 4.0]]))
    x.attach_grad()
    with autograd.record():
        (gradient,) = autograd.grad(mx.nd.linalg.det(x), [x], create_graph=True)
        total = gradient.sum()
    np.testing.assert_allclose(gradient.asnumpy(), [[4, -2], [-2, 1]])
    with pytest.raises(mx.MXNetError, match="singular"):
        total.backward()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradients_of_eigenvalues_alone(dtype: str, way: str) -> None:
    """No difference of eigenvalues is divided by: repeated ones do no harm."""
    x = to_nd(np.eye(3, dtype=dtype))
    x.attach_grad()
    with autograd.record():
        _, values = mx.nd.linalg.syevd(x)
        total = (values * values).sum()
    total.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * np.eye(3), atol=1e-6)


@pytest.mark.parametrize(("dtype", "guard"), [("float32", 1e-30), ("float64", 1e-100)])
def test_repeated_eigenvalues_are_guarded(dtype: str, guard: float, way: str) -> None:
    """As in 1.9.1: a difference below the guard counts as the guard, so that gradients are huge, and no NaN."""
    x = to_nd(np.eye(2, dtype=dtype))
    x.attach_grad()
    with autograd.record():
        vectors, _ = mx.nd.linalg.syevd(x)
        total = vectors[0, 1]
    total.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [[0, -0.5 / guard], [-0.5 / guard, 0]], rtol=1e-5)


_PRODUCTS = """
import itertools
import numpy as np, mxlite as mx
random = np.random.default_rng(0)
def array(*shape):
    return random.standard_normal(shape).astype(DTYPE)
worst = 0
def compare(got, want):
    global worst
    assert got.shape == want.shape and got.dtype == want.dtype
    worst = max(worst, np.abs(got.asnumpy() - want).max() / np.sqrt(70))
def nd(x):
    return mx.nd.array(x, dtype=x.dtype)
for m, n, k in ((16, 17, 70), (70, 16, 16), (31, 70, 300), (80, 90, 1)):
    for ta, tb in itertools.product((False, True), repeat=2):
        a, b = array(2, *((k, m) if ta else (m, k))), array(2, *((n, k) if tb else (k, n)))
        left, right = a.swapaxes(1, 2) if ta else a, b.swapaxes(1, 2) if tb else b
        flags = {"transpose_a": ta, "transpose_b": tb}
        compare(mx.nd.dot(nd(a[0]), nd(b[0]), **flags), left[0] @ right[0])
        compare(mx.nd.batch_dot(nd(a), nd(b), **flags), left @ right)
        compare(mx.nd.linalg.gemm2(nd(a), nd(b), alpha=-2, **flags), -2 * (left @ right))
        c = array(2, m, n)
        got = mx.nd.linalg.gemm(nd(a), nd(b), nd(c), alpha=3, beta=-1, **flags)
        compare(got, 3 * (left @ right) - c)
        across = [nd(np.ascontiguousarray(x.swapaxes(0, 1))) for x in (a, b)]  # rows are not neighbours
        compare(mx.nd.linalg.gemm2(*across, axis=0, **flags), (left @ right).swapaxes(0, 1))
    x, w, bias = array(m, k), array(n, k), array(n)
    compare(mx.nd.FullyConnected(nd(x), nd(w), nd(bias), num_hidden=n), x @ w.T + bias)
    compare(mx.nd.FullyConnected(nd(x), nd(w), num_hidden=n, no_bias=True), x @ w.T)
    compare(mx.nd.linalg.syrk(nd(x)), x @ x.T)
print(worst < (5e-5 if DTYPE == "float32" else 1e-13) or worst)
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("level", ["baseline", pytest.param("avx2", marks=pytest.mark.whole), "avx512"])
@pytest.mark.parametrize("chosen", WAYS)
def test_products(chosen: str, level: str, dtype: str) -> None:
    """Shapes that are OpenBLAS's at the baseline, in a process of that level."""
    levels = ["baseline", "avx2", "avx512"]
    if level in levels[levels.index(fact("vector_level")) + 1 :]:
        pytest.skip("this processor has not got it")
    environment = {"MXLITE_VECTOR_LEVEL": level, "MXLITE_BACKENDS": "none" if chosen == "portable" else "openblas"}
    assert check(f"DTYPE = {dtype!r}\n" + _PRODUCTS, **environment) == "True"


# ---- choosing ----


def check(code: str, **environment: str) -> str:
    """What a fresh interpreter prints; it must end with 0 and nothing in stderr."""
    env = {name: value for name, value in os.environ.items() if name not in ("MXLITE_BACKENDS", "MXLITE_OPENBLAS")}
    if HAS_OPENBLAS and "MXLITE_OPENBLAS" in os.environ:
        env["MXLITE_OPENBLAS"] = os.environ["MXLITE_OPENBLAS"]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env={**env, **environment}
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


_FACTS = """
import ctypes, mxlite as mx
from mxlite._lib import LIB, check_call
def fact(name):
    text = ctypes.c_char_p()
    check_call(LIB.MXLGetInfo(name, ctypes.byref(text)))
    return text.value.decode()
def loaded():
    with open("/proc/self/maps") as file:
        return any("openblas" in line and "numpy" not in line for line in file)
"""


def test_the_environment_turns_back_ends_off() -> None:
    assert check(_FACTS + "print(fact(b'backends'), fact(b'openblas'))", MXLITE_BACKENDS="none") == "portable none"
    code = _FACTS + "mx.nd.linalg.inverse(mx.nd.ones((1, 1))); print(loaded())"
    assert check(code, MXLITE_BACKENDS="none") == "False"


def test_a_library_that_cannot_be_opened_is_an_error_of_what_needs_it() -> None:
    code = """
try:
    mx.nd.linalg.potrf(mx.nd.ones((1, 1)))
except mx.MXNetError as problem:
    print(problem)
print(mx.nd.dot(mx.nd.ones((2, 2)), mx.nd.ones((2, 2))).asnumpy().tolist())
"""
    first, second = check(_FACTS + code, MXLITE_OPENBLAS="/nowhere/libopenblas.so").splitlines()
    assert "MXLITE_OPENBLAS" in first
    assert second == "[[2.0, 2.0], [2.0, 2.0]]"


def test_setting_refuses_what_cannot_be_used() -> None:
    before = fact("backends")
    for name, path, message in (
        (b"openblas", b"/nowhere/libopenblas.so", "cannot be opened"),
        (b"openblas", mx.get_library().encode(), "is no OpenBLAS"),
        (b"onednn", b"", "unknown back end"),
    ):
        with pytest.raises(mx.MXNetError, match=message):
            check_call(LIB.MXLSetBackend(name, path))
    with pytest.raises(mx.MXNetError, match="the path has"):
        check_call(LIB.MXLHintBackend(b"openblas", b"x" * 5000))
    assert fact("backends") == before


def test_importing_opens_nothing() -> None:
    """OpenBLAS is opened by the first operator that asks for it."""
    wanted = f"False {HAS_OPENBLAS}"
    code = "before = loaded(); mx.nd.linalg.potrf(mx.nd.ones((1, 1))); print(before, loaded())"
    assert check(_FACTS + code) == wanted


if HAS_OPENBLAS:

    def test_openblas_uses_as_many_threads_as_we_do() -> None:
        code = """
blas = ctypes.CDLL(fact(b"openblas").split(": ")[0])
ask = getattr(blas, "scipy_openblas_get_num_threads", None) or blas.openblas_get_num_threads
seen = []
for count in (1, 2, 1):
    LIB.MXSetNumOMPThreads(count)
    mx.nd.linalg.potrf(mx.nd.eye(256))
    seen.append(ask())
LIB.MXSetNumOMPThreads(2)
for n in (256, 255):  # below that its threads cost more than they bring
    mx.nd.linalg.potrf(mx.nd.eye(n))
    seen.append(ask())
print(seen)
"""
        assert check(_FACTS + code) == "[1, 2, 1, 2, 1]"

    def test_products_of_the_baseline_are_openblas_s() -> None:
        """At the other levels our own kernels are at least as fast (docs/performance.md): it is not opened."""
        code = """
mx.nd.dot(mx.nd.ones((15, 64)), mx.nd.ones((64, 64)))
before = loaded()
mx.nd.dot(mx.nd.ones((16, 64)), mx.nd.ones((64, 64)))
print(before, loaded())
"""
        assert check(_FACTS + code, MXLITE_VECTOR_LEVEL="baseline") == "False True"
        assert check(_FACTS + code, MXLITE_VECTOR_LEVEL="baseline", MXLITE_BACKENDS="none") == "False False"
        if fact("vector_level") != "baseline":
            assert check(_FACTS + code) == "False False"

    def test_an_explicit_path_is_used() -> None:
        code = """
path = fact(b"openblas").split(": ")[0]
check_call(LIB.MXLSetBackend(b"openblas", None))
off = fact(b"backends")
check_call(LIB.MXLSetBackend(b"openblas", path.encode()))
print(off, fact(b"backends"))
"""
        assert check(_FACTS + code) == "portable openblas portable"


# ---- forks ----


def _in_child(work) -> int:
    """The exit status of a forked child that does `work`; it is killed when it hangs."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            signal.alarm(60)
            code = 0 if work() else 2
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_children_compute(way: str) -> None:
    """After a fork, also one in the midst of another thread's work, a child computes and does not hang."""
    a = random_matrix(200)
    x = to_nd(a)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            mx.nd.linalg.inverse(x)

    def child() -> bool:
        same = np.allclose(mx.nd.linalg.inverse(x).asnumpy() @ a, np.eye(200), atol=1e-9)
        return same and fact("backends") == "portable"

    mx.nd.linalg.inverse(x)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert [_in_child(child) for _ in range(5)] == [0] * 5
    finally:
        stop.set()
        thread.join()
    assert fact("backends").startswith(way)
    np.testing.assert_allclose(mx.nd.linalg.inverse(x).asnumpy() @ a, np.eye(200), atol=1e-9)
