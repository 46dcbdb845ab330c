#!/usr/bin/env python3
"""Arrays to and from JAX by DLPack: run with an interpreter that has JAX (make test-peers)."""

import gc
import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import mxlite as mx  # noqa: E402
from mxlite import autograd  # noqa: E402

jax.config.update("jax_enable_x64", True)

DTYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")


def address(array: mx.nd.NDArray) -> int:
    """Where the array's memory is."""
    return np.asarray(array).__array_interface__["data"][0]


def refused(error: type, function, *arguments: object) -> None:
    """The call raises that error."""
    try:
        function(*arguments)
    except error:
        return
    raise AssertionError(f"{function} accepted {arguments}")


def check_out(dtype: str) -> None:
    """An NDArray seen by JAX: its own memory, kept alive by JAX; part of it as a copy, where JAX wants it aligned."""
    x = mx.nd.array([[1, 0, 1], [0, 1, 1]], dtype=dtype)
    for seen in (jax.dlpack.from_dlpack(x), jnp.from_dlpack(x)):
        assert seen.dtype == np.dtype(dtype) and seen.shape == (2, 3)
        assert seen.unsafe_buffer_pointer() == address(x)
        assert seen.tolist() == x.asnumpy().tolist()
    kept = jax.dlpack.from_dlpack(mx.nd.array([1, 0, 1], dtype=dtype))
    part = jax.dlpack.from_dlpack(mx.nd.array([1, 0, 1], dtype=dtype)[1:])
    gc.collect()
    assert kept.tolist() == [1, 0, 1] and part.tolist() == [0, 1]
    assert jax.jit(lambda a: a.sum())(seen) == 4


def check_in(dtype: str) -> None:
    """A JAX array seen by mxlite: its memory, which nobody may write to; or a copy, which anyone may."""
    array = jnp.array([[1, 0], [0, 1]], dtype=dtype)
    x = mx.nd.from_dlpack(array)
    assert address(x) == array.unsafe_buffer_pointer() and np.dtype(x.dtype).name == dtype and x.shape == (2, 2)
    assert x.asnumpy().tolist() == array.tolist()
    assert not x.writable
    refused(ValueError, x.__setitem__, 0, 1)
    refused(ValueError, x.__iadd__, x)
    assert array.tolist() == [[1, 0], [0, 1]]
    copied = mx.nd.from_dlpack(array, copy=True)
    copied[0, 1] = 1
    assert copied.asnumpy().tolist() == [[1, 1], [0, 1]] and array.tolist() == [[1, 0], [0, 1]]
    part = mx.nd.from_dlpack(jnp.array([[1, 0], [1, 1]], dtype=dtype)[1])
    gc.collect()
    assert part.asnumpy().tolist() == [1, 1]


def check_capsules() -> None:
    """Capsules with and without a version; each is taken once."""
    x = mx.nd.array([1, 2, 3])
    for asked in (None, (0, 8), (1, 0), (1, 3)):
        capsule = x.__dlpack__(max_version=asked)
        assert ("versioned" in repr(capsule)) == (asked is not None and asked >= (1, 0))
        assert address(mx.nd.from_dlpack(capsule)) == address(x)
        refused(ValueError, mx.nd.from_dlpack, capsule)
    array = jnp.arange(3.0)
    for capsule in (array.__dlpack__(), array.__dlpack__(max_version=(1, 0))):
        assert mx.nd.from_dlpack(capsule).asnumpy().tolist() == [0, 1, 2]
        refused(ValueError, mx.nd.from_dlpack, capsule)


def check_refused() -> None:
    """What mxlite cannot look at."""
    refused(mx.MXNetError, mx.nd.from_dlpack, jnp.ones(2, dtype=jnp.bfloat16))
    refused(mx.MXNetError, mx.nd.from_dlpack, jnp.ones(2, dtype=jnp.complex64))


class Softplus(autograd.Function):
    """A function of JAX's within a recorded graph of ours."""

    def forward(self, x: mx.nd.NDArray) -> mx.nd.NDArray:
        result, self.pull = jax.vjp(jax.nn.softplus, jax.dlpack.from_dlpack(x))
        return mx.nd.from_dlpack(result, copy=True)

    def backward(self, dy: mx.nd.NDArray) -> mx.nd.NDArray:
        (dx,) = self.pull(jax.dlpack.from_dlpack(dy))
        return mx.nd.from_dlpack(dx, copy=True)


def check_gradient() -> None:
    """mxlite's recording around JAX's derivative."""
    x = mx.nd.array([-2, 0, 3])
    x.attach_grad()
    with autograd.record():
        y = (Softplus()(x) * 2).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 2 / (1 + np.exp(-x.asnumpy())), rtol=1e-6)


def main() -> None:
    """Runs every check."""
    for dtype in DTYPES:
        check_out(dtype)
        check_in(dtype)
    check_capsules()
    check_refused()
    check_gradient()
    print(f"check_jax: {2 * len(DTYPES) + 3} checks passed, JAX {jax.__version__}")


if __name__ == "__main__":
    main()
