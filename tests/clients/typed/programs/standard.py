"""The array API standard over arrays of mx.np, with types."""

import mxlite as mx
from mxlite import array_api as xp


def normalised(rows: mx.np.ndarray) -> mx.np.ndarray:
    """Rows less their means, by their deviations."""
    spread = xp.std(rows, axis=0, correction=1)
    return xp.divide(xp.subtract(rows, xp.mean(rows, axis=0)), xp.where(xp.equal(spread, 0.0), 1.0, spread))


rows = xp.reshape(xp.arange(6, dtype=xp.float32), (3, 2))
made = normalised(rows)
values, counts = xp.unique_counts(made)
factors = xp.linalg.qr(made)
product: mx.np.ndarray = xp.matmul(factors.Q, factors.R)
limits = xp.finfo(product)
print(product.mT.device, limits.eps, values.shape, xp.sum(counts), product // 2.0, xp.isdtype(product.dtype, "numeric"))
