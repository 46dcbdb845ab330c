"""As gluoncv and gluonts do: arrays take the dtype of other arrays, in whatever form a program has it."""

import mxnet as mx
import numpy as np
from mxnet import nd

x = nd.array([[1.5, -2.5], [300.0, 0.25]])
whole = nd.array([1, 2], dtype="int32")
half = nd.array([1, 2], dtype=np.float16)
forms = [whole.dtype, np.dtype("int8"), "uint8", np.float64, np.dtype(half.dtype), half.dtype, nd.array([1]).dtype]
found = {
    "cast": [x.abs().astype(form) for form in forms],
    "names": [np.dtype(x.astype(form).dtype).name for form in forms],
    "zeros": [nd.zeros((2,), dtype=form) for form in forms],
    "arange": nd.arange(3, dtype=whole.dtype),
    "full": nd.full((2,), 7, dtype=half.dtype),
    "like": nd.ones_like(half) + nd.cast(x[0], dtype=half.dtype),
    "numpy's": np.zeros(3, dtype=whole.dtype).dtype.name,
    "asnumpy": x.asnumpy().astype(half.dtype).dtype.name,
    "array of": nd.array(np.arange(3, dtype=half.dtype), dtype=x.dtype),
    "equal": [whole.dtype == np.int32, half.dtype == np.float16, x.dtype == np.float32, x.dtype == "float32"],
    "in": [whole.dtype in (np.int32, np.int64), x.dtype in (np.int32, np.int64)],
    "same object": [x.astype(x.dtype, copy=False) is x, x.astype(x.dtype) is x],
    "one hot": nd.one_hot(whole, 4, dtype=whole.dtype),
    "mean": (x > 0).astype(x.dtype).mean().asscalar(),
    "finfo": float(np.finfo(x.dtype).eps),
    "iinfo": int(np.iinfo(whole.dtype).max),
    "one": nd.array([2.5]).asnumpy().item() + float(nd.array([2.5]).asscalar()),
    "text": "%f %.2f" % (nd.array([2.5]).asscalar(), x.mean().asscalar()),
    "symbol": mx.sym.Cast(mx.sym.Variable("x"), dtype=half.dtype.__name__).eval(x=x)[0],
}
label = nd.array([0, 1], dtype="float32")
scores = nd.array([[0.1, 0.9], [0.2, 0.8]])
found["right"] = (scores.argmax(axis=1) == label.astype(scores.dtype)).sum().asscalar()
