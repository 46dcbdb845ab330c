"""As einops does: the package of a tensor is looked for in sys.modules; the same calls for arrays and for symbols."""

import sys

import mxnet
import numpy as np

# einops asks so, and never imports a framework itself.
assert "mxnet" in sys.modules


class MXNetBackend:
    def __init__(self):
        self.mx = sys.modules["mxnet"]

    def is_mine(self, tensor):
        return isinstance(tensor, self.mx.nd.NDArray)


class GluonSymbolBackend:
    def is_mine(self, tensor):
        return isinstance(tensor, sys.modules["mxnet.symbol"].Symbol)


def backend_of(tensor):
    for name, each in (("arrays", MXNetBackend()), ("symbols", GluonSymbolBackend())):
        if each.is_mine(tensor):
            return name
    raise RuntimeError(f"no backend for {type(tensor)}")


def windows(x, size):
    """b (h size) (w size) c -> b h w (size size c), with the codes that symbols need: shapes are not known yet."""
    assert backend_of(x) in ("arrays", "symbols")
    x = x.reshape((0, -4, -1, size, -2)).reshape((0, 0, 0, -4, -1, size, 0))
    return x.transpose((0, 1, 3, 2, 4, 5)).reshape((0, 0, 0, -3, 0)).reshape((0, 0, 0, -3))


def reduced(x, how):
    return getattr(x, how)(axis=(1, 2))


class Rearrange(mxnet.gluon.HybridBlock):
    def __init__(self, size, **kwargs):
        super().__init__(**kwargs)
        self.size = size

    def hybrid_forward(self, F, x):
        return windows(x, self.size)


x = mxnet.nd.array(np.arange(2 * 4 * 6 * 3).reshape(2, 4, 6, 3))
symbol = mxnet.symbol.Variable("x")
cut = windows(symbol, 2)
layer = Rearrange(2)
layer.hybridize()
stacked = mxnet.symbol.stack(symbol, symbol * 2, axis=0)
found = {
    "arrays": windows(x, 2),
    "symbols": cut.eval(x=x)[0],
    "a layer": layer(x)[1, 1, 1],
    "shape": list(cut.infer_shape(x=x.shape)[1][0]),
    "backends": [backend_of(x), backend_of(symbol)],
    "reduced": [reduced(windows(x, 2), how) for how in ("sum", "mean", "max", "min", "prod")],
    "of symbols": [reduced(cut, how).eval(x=x / 50)[0][0, 0] for how in ("sum", "mean", "max", "min", "prod")],
    "repeated": mxnet.nd.tile(x.expand_dims(1), (1, 2, 1, 1, 1)).shape[1],
    "stacked": stacked.eval(x=x)[0][1, 1, 0, 0],
    "swapped": x.swapaxes(1, 3)[0, :, 0, 1],
    "modules": [
        name for name in ("mxnet.symbol", "mxnet.ndarray", "mxnet.gluon", "mxnet.gluon.nn") if name in sys.modules
    ],
    "einsum": mxnet.nd.linalg.gemm2(x[0, 0], x[0, 1], transpose_b=True)[0],
    "dtype": np.dtype(x.dtype).name,
    "numpy": float(x.asnumpy().sum()),
}
