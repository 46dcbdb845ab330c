"""The older pooling: padding counts as zeros, and all of several equal maxima have the gradient."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []


def _pool(data, kernel=(), pool_type="max", global_pool=False, pooling_convention="valid", stride=(), pad=()):
    spatial = data.shape[2:]
    pad = (0,) * len(spatial) if global_pool or not pad else pad
    stride = (1,) * len(spatial) if global_pool or not stride else stride
    kernel = spatial if global_pool else kernel
    cut = tuple(slice(-p, n + p) if p < 0 else slice(None) for p, n in zip(pad, spatial))
    x = np.pad(data.astype("float64")[(..., *cut)], ((0, 0), (0, 0), *((max(p, 0),) * 2 for p in pad)))
    room = [n - k for n, k in zip(x.shape[2:], kernel)]
    count = [r // s + 1 + (pooling_convention == "full" and r % s > 0) for r, s in zip(room, stride)]
    out = np.zeros((*data.shape[:2], *count))
    for place in np.ndindex(*count):
        window = x[(..., *(slice(o * s, o * s + k) for o, s, k in zip(place, stride, kernel)))]
        axes = tuple(range(2, data.ndim))
        if pool_type == "max":
            value = window.max(axes, initial=-np.inf)
        else:
            value = window.sum(axes) * (float(np.float32(1 / np.prod(kernel))) if pool_type == "avg" else 1)
        out[(..., *place)] = value
    return out.astype(data.dtype)


_op = "Pooling_v1"
_VOLUME = "differs: 1.9.1 says that volumes are not implemented"


def _row(label, shape, dtype="float32", order=2, oracle="", **params) -> None:
    domain = "distinct" if params.get("pool_type", "max") == "max" else "real"
    CASES.append(Case(_op, label, (In(shape, dtype, domain),), params, _pool, order=order, diff=(0,), oracle=oracle,
                      tolerance={"float32": (2e-5, 1e-5), "float16": (1e-2, 1e-2)}))  # fmt: skip


for _kind in ("max", "avg", "sum"):
    _row(f"{_kind}-2x2", (2, 3, 5, 6), kernel=(2, 2), pool_type=_kind)
    _row(f"{_kind}-steps", (1, 2, 7, 9), kernel=(3, 3), stride=(2, 2), pool_type=_kind)
    _row(f"{_kind}-oblong", (2, 1, 6, 5), kernel=(3, 2), stride=(1, 3), pool_type=_kind)
    _row(f"{_kind}-full", (1, 2, 6, 8), kernel=(3, 3), stride=(2, 2), pool_type=_kind, pooling_convention="full")
    _row(f"{_kind}-gaps", (1, 2, 8, 8), kernel=(1, 2), stride=(3, 3), pool_type=_kind)
    _row(f"{_kind}-over", (1, 1, 1, 5), kernel=(1, 1), stride=(1, 3), pool_type=_kind, pooling_convention="full",
         order=0)  # fmt: skip
    _row(f"{_kind}-global", (2, 3, 4, 5), global_pool=True, pool_type=_kind)
    _row(f"{_kind}-global-ignores", (1, 2, 4, 5), kernel=(2, 2), stride=(2, 2), pad=(1, 1), global_pool=True,
         pool_type=_kind)  # fmt: skip
    _row(f"{_kind}-float64", (1, 2, 5, 5), "float64", kernel=(3, 3), stride=(2, 1), pool_type=_kind)
    _row(f"{_kind}-float16", (1, 2, 5, 5), "float16", 0, kernel=(3, 3), stride=(2, 1), pool_type=_kind)
    _row(f"{_kind}-less", (1, 2, 5, 6), kernel=(2, 2), pad=(-1, -1), pool_type=_kind,
         oracle="forward: 1.9.1 cannot make the gradient of less than all positions")  # fmt: skip
    _row(f"{_kind}-volume", (1, 2, 3, 4, 5), kernel=(2, 3, 2), stride=(1, 2, 2), pool_type=_kind, oracle=_VOLUME)
for _kind in ("avg", "sum"):
    _row(f"{_kind}-padded", (1, 2, 7, 5), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type=_kind)
    _row(f"{_kind}-full-padded", (1, 1, 5, 7), kernel=(3, 2), stride=(2, 2), pad=(1, 0), pool_type=_kind,
         pooling_convention="full")  # fmt: skip
_row("one", (1, 1, 1, 1), kernel=(1, 1))
# Where a pixel is 0 or equals another, the derivative of a maximum has a kink.
_ties = In(values=np.array([[2, 2, 1, 2, 2], [2, 0, 3, 3, 1], [0, -3, 3, 3, 3]]).reshape(1, 1, 3, 5))
_deep = In(values=-1.0 - np.arange(15.0).reshape(1, 1, 3, 5))
for _label, _params in {
    "plain": {"kernel": (2, 3)}, "padded": {"kernel": (2, 3), "pad": (1, 2)}, "global": {"global_pool": True},
    "full": {"kernel": (2, 2), "stride": (2, 2), "pad": (1, 1), "pooling_convention": "full"},
}.items():  # fmt: skip
    CASES.append(Case(_op, f"ties-{_label}", (_ties,), _params, _pool, diff=(0,), defined=True))
    CASES.append(Case(_op, f"below-0-{_label}", (_deep,), _params, _pool, diff=(0,), defined=True))
_special = np.array([0, np.nan, -0.0, 1.5, np.inf, -2, np.nan, 1, 3, -2, 3, 4, 4, -np.inf, 5, 1])
for _dtype in ("float32", "float64", "float16"):
    for _kind in ("max", "avg", "sum"):
        CASES.append(Case(_op, f"special-{_kind}-{_dtype}", (In(dtype=_dtype, values=_special.reshape(1, 1, 4, 4)),),
                          {"kernel": (2, 2), "pool_type": _kind}))  # fmt: skip
CASES.append(Case(_op, "no-batch", (In((0, 2, 3, 3)),), {"kernel": (2, 2)}, _pool, np_shape=True))

_x, _good = In((1, 2, 4, 5)), {"kernel": (2, 2)}


def _error(label, *inputs, oracle="", **params) -> None:
    CASES.append(Case(_op, label, inputs or (_x,), {**_good, **params}, error=True, oracle=oracle,
                      np_shape=label == "no-axes"))  # fmt: skip


_error("no-kernel", kernel=())
_error("kernel-large", kernel=(5, 2))
_error("kernel-one", kernel=(2,))
_error("kernel-three", kernel=(2, 2, 2))
_error("kernel-0", kernel=(0, 2))
_error("stride-0", stride=(0, 1))
_error("stride-one", stride=(2,))
_error("pad-one", pad=(2,))
_error("lp", pool_type="lp")
_error("same", pooling_convention="same")
_error("signal", In((1, 2, 4)), kernel=(2,))
_error("int32", In((1, 2, 4, 5), "int32", ("int", 0, 9)))
_error("two-inputs", _x, _x)
_error("no-axes", In(()))
_error("unknown-parameter", foo=1)
