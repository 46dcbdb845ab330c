"""Pooling: maxima, means, sums and norms of windows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from .._case import Case, In

CASES: list = []
#: Rows of the operators of its gradients.
INTERNAL: list = []

_LAYOUTS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
_LOWEST = {"float16": -65504.0, "float32": np.finfo("float32").min, "float64": np.finfo("float64").min}


def _extents(n: int, kernel: int, stride: int, pad: int, convention: str) -> int:
    room = n + 2 * pad - kernel
    if convention == "same":
        return -(-n // stride)
    return (-(-room // stride) if convention == "full" else room // stride) + 1


def _windows(shape: tuple, kernel=(), global_pool=False, pooling_convention="valid", stride=(), pad=(), **_) -> tuple:
    """The number of windows along each spatial axis; for each window: its place, its slices, two counts of positions
    (with padding, and without)."""
    spatial = shape[2:]
    if global_pool:
        kernel, stride, pad, pooling_convention = spatial, (), (), "valid"
    stride = stride or (1,) * len(spatial)
    pad = (0,) * len(spatial) if not pad or pooling_convention == "same" else pad
    out = tuple(map(_extents, spatial, kernel, stride, pad, [pooling_convention] * len(spatial)))

    def every() -> Iterator[tuple]:
        for place in itertools.product(*map(range, out)):
            begin = [o * s - p for o, s, p in zip(place, stride, pad)]
            end = [b + k for b, k in zip(begin, kernel)]
            inside = [slice(max(b, 0), max(min(e, n), 0)) for b, e, n in zip(begin, end, spatial)]
            padded = [max(min(e, n + p) - b, 0) for b, e, n, p in zip(begin, end, spatial, pad)]
            counts = [max(s.stop - s.start, 0) for s in inside]
            yield (..., *place), (..., *inside), int(np.prod(padded)), int(np.prod(counts))

    return out, every()


def _first_channels(array: np.ndarray, layout: str | None) -> np.ndarray:
    return np.moveaxis(array, -1, 1) if layout in _LAYOUTS.values() else array


def _last_channels(array: np.ndarray, layout: str | None) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(array, 1, -1)) if layout in _LAYOUTS.values() else array


def _pool(data, pool_type="max", p_value=None, count_include_pad=None, layout=None, **params) -> np.ndarray:
    x = _first_channels(data, layout).astype("float64")
    out, windows = _windows(x.shape, **params)
    y = np.zeros(x.shape[:2] + out)
    axes = tuple(range(2, x.ndim))
    for place, window, padded, inside in windows:
        part = x[window]
        if pool_type == "max":
            y[place] = np.fmax.reduce(part, axis=axes, initial=_LOWEST[data.dtype.name])
        elif pool_type == "lp":
            y[place] = (np.sqrt if p_value == 2 else np.cbrt if p_value == 3 else np.array)((part**p_value).sum(axes))
        else:
            count = padded if count_include_pad is not False else inside
            y[place] = part.sum(axes) / (max(count, 1) if pool_type == "avg" else 1)
    return _last_channels(y.astype(data.dtype), layout)


_op = "Pooling"


def _row(
    label: str, shape: tuple, dtype: str = "float32", order: int = 2, domain: str = "", oracle: str = "", **params
):
    kind = params.get("pool_type", "max")
    domain = domain or {"max": "distinct", "lp": "positive"}.get(kind, "real")
    tolerance = {"float32": (2e-5, 1e-5)} if kind != "max" else {}
    CASES.append(Case(_op, label, (In(shape, dtype, domain),), params, _pool, order=order, diff=(0,), oracle=oracle,
                      tolerance=tolerance, train=True))  # fmt: skip


# In training mode: without it, 1.9.1's gradient of a maximum of float32 arrays reads a workspace that nothing wrote.
#: 1.9.1 hands float32 arrays of recorded calls to oneDNN
_MORE_PADDING = "differs: 1.9.1 refuses padding as wide as the window, while recording and in float32 alone"
_PLACES = "differs: 1.9.1 reads three entries of pad, whatever the axes"

for _kind in ("max", "avg", "sum"):
    _row(f"{_kind}-2x2", (2, 3, 5, 6), kernel=(2, 2), pool_type=_kind)
    _row(f"{_kind}-steps", (1, 2, 7, 9), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type=_kind)
    _row(f"{_kind}-oblong", (2, 1, 6, 5), kernel=(3, 2), stride=(1, 3), pad=(0, 1), pool_type=_kind)
    _row(f"{_kind}-full", (1, 2, 6, 8), kernel=(3, 3), stride=(2, 2), pool_type=_kind, pooling_convention="full")
    _row(f"{_kind}-full-padded", (1, 1, 5, 7), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type=_kind,
         pooling_convention="full")  # fmt: skip
    _row(f"{_kind}-gaps", (1, 2, 9, 8), kernel=(1, 2), stride=(3, 3), pool_type=_kind)
    _row(f"{_kind}-line", (2, 3, 9), kernel=(3,), stride=(2,), pad=(1,), pool_type=_kind)
    _row(f"{_kind}-volume", (1, 2, 3, 4, 5), kernel=(2, 3, 2), stride=(1, 2, 2), pad=(1, 0, 1), pool_type=_kind)
    _row(f"{_kind}-global", (2, 3, 4, 5), global_pool=True, pool_type=_kind)
    _row(f"{_kind}-global-ignores", (1, 2, 4, 5), kernel=(2, 2), stride=(2, 2), pad=(1, 1), global_pool=True,
         pool_type=_kind)  # fmt: skip
    _row(f"{_kind}-global-line", (2, 2, 67), global_pool=True, pool_type=_kind, order=1)
    _row(f"{_kind}-global-volume", (1, 2, 2, 3, 2), global_pool=True, pool_type=_kind)
    _row(f"{_kind}-last", (2, 5, 6, 3), kernel=(3, 2), stride=(2, 1), pad=(1, 1), pool_type=_kind, layout="NHWC")
    _row(f"{_kind}-last-line", (1, 7, 4), kernel=(3,), stride=(2,), pool_type=_kind, layout="NWC")
    _row(f"{_kind}-last-volume", (1, 3, 4, 3, 2), kernel=(2, 2, 2), stride=(2, 2, 1), pool_type=_kind, layout="NDHWC")
    _row(f"{_kind}-last-global", (2, 3, 4, 3), global_pool=True, pool_type=_kind, layout="NHWC")
    _row(f"{_kind}-last-many", (1, 4, 3, 70), kernel=(2, 2), pool_type=_kind, layout="NHWC", order=1)
    _row(f"{_kind}-float64", (1, 2, 5, 5), "float64", kernel=(3, 3), stride=(2, 1), pad=(1, 1), pool_type=_kind)
    _row(f"{_kind}-float16", (1, 2, 5, 5), "float16", 0, kernel=(3, 3), stride=(2, 1), pad=(1, 1), pool_type=_kind)
    _row(f"{_kind}-wide", (1, 1, 2, 1100), kernel=(2, 3), stride=(1, 2), pool_type=_kind, order=0)
    _row(f"{_kind}-wide-1", (1, 1, 1100), kernel=(5,), pad=(2,), pool_type=_kind, order=0)
    _row(f"{_kind}-wide-window", (1, 2, 700), kernel=(600,), stride=(50,), pool_type=_kind, order=0)
    _row(f"{_kind}-side-by-side", (2, 2, 7, 9), kernel=(2, 2), stride=(2, 2), pool_type=_kind)
    _row(f"{_kind}-side-by-side-volume", (1, 2, 4, 5, 6), kernel=(2, 3, 2), stride=(1, 2, 2), pad=(1, 1, 0),
         pool_type=_kind)  # fmt: skip
    _row(f"{_kind}-side-by-side-3", (1, 2, 7, 9), "float64", kernel=(3, 3), stride=(2, 3), pad=(1, 0), pool_type=_kind)
    _row(f"{_kind}-side-by-side-strips", (3, 1, 70, 66), kernel=(2, 2), stride=(2, 2), pool_type=_kind, order=0)
    _row(f"{_kind}-side-by-side-wide", (2, 1, 4, 1100), kernel=(2, 2), stride=(2, 2), pool_type=_kind, order=0)
    _row(f"{_kind}-same", (1, 2, 7), "float64", kernel=(3,), stride=(2,), pad=(0, 0, 0), pool_type=_kind,
         pooling_convention="same")  # fmt: skip
    _row(f"{_kind}-same-no-pad", (1, 2, 7), kernel=(3,), stride=(2,), pool_type=_kind, pooling_convention="same",
         oracle=_PLACES)  # fmt: skip
    _row(f"{_kind}-more-padding", (1, 2, 3, 3), kernel=(2, 2), pad=(2, 2), pool_type=_kind, order=int(_kind != "max"),
         oracle="" if _kind == "sum" else _MORE_PADDING)  # fmt: skip
    _row(f"{_kind}-less", (1, 2, 5, 6), "float64", kernel=(2, 2), pad=(-1, -1), pool_type=_kind, order=1)
_row("no-stride-3", (1, 2, 5, 5), kernel=(5, 5), pad=(1, 1), stride=(3, 3))
_row("one", (1, 1, 1, 1), kernel=(1, 1))
_row("avg-inside", (1, 2, 5, 5), kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="avg", count_include_pad=False)
_row("avg-inside-full", (1, 2, 6, 5), kernel=(3, 2), stride=(2, 2), pad=(1, 1), pool_type="avg",
     pooling_convention="full", count_include_pad=False)  # fmt: skip
_row("avg-inside-last", (1, 5, 4, 2), kernel=(3, 3), pad=(1, 1), pool_type="avg", count_include_pad=False,
     layout="NHWC")  # fmt: skip
_row("avg-outside", (1, 2, 5), "float64", kernel=(3,), stride=(1,), pad=(2,), pool_type="avg", count_include_pad=True)
_row("avg-nothing", (1, 2, 3, 3), "float64", kernel=(2, 2), pad=(2, 2), pool_type="avg", count_include_pad=False,
     order=1)  # fmt: skip
_row("avg-nothing-volume", (1, 1, 3, 1, 3), "float64", kernel=(1, 2, 2), pad=(0, 2, 2), pool_type="avg",
     count_include_pad=False, oracle="differs: 1.9.1 divides 0 by 0 in windows of volumes without elements",
     order=1)  # fmt: skip
for _power in (1, 2, 3):
    _row(f"lp-{_power}", (1, 2, 5, 6), kernel=(3, 2), stride=(2, 1), pad=(1, 0), pool_type="lp", p_value=_power)
    _row(f"lp-{_power}-last", (1, 5, 3), kernel=(2,), pool_type="lp", p_value=_power, layout="NWC", domain="away")
    _row(f"lp-{_power}-global", (1, 2, 3, 2, 2), global_pool=True, pool_type="lp", p_value=_power)
    _row(f"lp-{_power}-float16", (1, 2, 4), "float16", 0, kernel=(2,), pool_type="lp", p_value=_power)
    _row(f"lp-{_power}-zero", (1, 1, 3, 3), "float64", 0, domain=("int", 0, 0), kernel=(2, 2), pool_type="lp",
         p_value=_power)  # fmt: skip
for _dtype in ("float32", "float64", "float16"):
    _ties = In(dtype=_dtype, values=np.array([[2, 2, 1, 2, 2], [2, 0, 3, 3, 1], [0, 3, 3, 3, 3]]).reshape(1, 1, 3, 5))
    CASES.append(
        Case(
            _op,
            f"ties-{_dtype}",
            (_ties,),
            {"kernel": (2, 3), "pad": (1, 1)},
            _pool,
            diff=(0,),
            defined=True,
            train=True,
        )
    )
    _ties = np.array([[2, 2, 1, 2, 2, 4], [2, 0, 2, 1, 2, 4], [3, 3, 0, 3, 1, 3], [3, 3, 3, 0, 3, 2]]).reshape(
        1, 1, 4, 6
    )
    CASES.append(Case(_op, f"side-by-side-ties-{_dtype}", (In(dtype=_dtype, values=_ties),),
                      {"kernel": (2, 2), "stride": (2, 2)}, _pool, diff=(0,), defined=True, train=True))  # fmt: skip
    _special = np.array([0, np.nan, -0.0, 1.5, np.inf, -2, np.nan, np.nan, np.nan, -2, 3, np.nan, 4, -np.inf, 5, 1])
    for _kind in ("max", "avg", "sum"):
        for _label, _stride in (("special", (1, 1)), ("side-by-side-special", (2, 2))):
            CASES.append(
                Case(_op, f"{_label}-{_dtype}-{_kind}", (In(dtype=_dtype, values=_special.reshape(1, 1, 4, 4)),),
                     {"kernel": (2, 2), "stride": _stride, "pool_type": _kind}, _pool, diff=(0,), defined=True,
                     train=True)
            )  # fmt: skip
CASES += [
    Case(_op, "lowest", (In(dtype="float64", values=[[[-np.inf, -np.inf, 1, np.nan, np.nan]]]),), {"kernel": (2,)},
         _pool, diff=(0,), defined=True, train=True),
    Case(_op, "unordered", (In((1, 2, 4, 4), domain="distinct"),),
         {"pool_type": "max", "stride": (2, 2), "kernel": (2, 2), "cudnn_off": True}, _pool, order=1,
         diff=(0,), train=True),
    Case(_op, "out", (In((1, 2, 4, 4)),), {"kernel": (2, 2)}, _pool, out=(((1, 2, 3, 3), "float32"),)),
    Case(_op, "no-batch", (In((0, 2, 4, 4)),), {"kernel": (2, 2)}, _pool, np_shape=True),
    Case(_op, "no-channels-avg", (In((2, 4, 4, 0)),), {"kernel": (2, 2), "pool_type": "avg", "layout": "NHWC"}, _pool,
         np_shape=True),
    Case(_op, "no-positions", (In((2, 1, 0, 4)),), {"global_pool": True}, _pool, np_shape=True),
]  # fmt: skip

_IMAGE = (In((1, 2, 4, 4)),)
for _label, _inputs, _params in (
    ("0-axes", (In(()),), {"kernel": (2, 2)}),
    ("two-axes", (In((3, 4)),), {"kernel": (2, 2)}),
    ("six-axes", (In((1, 1, 2, 2, 2, 2)),), {"kernel": (2, 2, 2, 2)}),
    ("no-kernel", _IMAGE, {}),
    ("kernel-of-line", _IMAGE, {"kernel": (2,)}),
    ("kernel-of-volume", _IMAGE, {"kernel": (2, 2, 2)}),
    ("global-kernel-of-line", _IMAGE, {"kernel": (2,), "global_pool": True}),
    ("kernel-0", _IMAGE, {"kernel": (0, 2)}),
    ("kernel-negative", _IMAGE, {"kernel": (2, -1)}),
    ("kernel-exceeds", _IMAGE, {"kernel": (5, 5)}),
    ("kernel-exceeds-full", _IMAGE, {"kernel": (7, 1), "pad": (1, 0), "pooling_convention": "full"}),
    ("stride-0", _IMAGE, {"kernel": (2, 2), "stride": (1, 0)}),
    ("stride-short", _IMAGE, {"kernel": (2, 2), "stride": (1,)}),
    ("pad-short", _IMAGE, {"kernel": (2, 2), "pad": (1,)}),
    ("same-image", _IMAGE, {"kernel": (2, 2), "pooling_convention": "same"}),
    ("same-padded", (In((1, 2, 4)),), {"kernel": (2,), "pad": (1, 1, 1), "pooling_convention": "same"}),
    ("layout-of-line", _IMAGE, {"kernel": (2, 2), "layout": "NCW"}),
    ("layout-of-volume", _IMAGE, {"kernel": (2, 2), "layout": "NDHWC"}),
    ("layout-unknown", _IMAGE, {"kernel": (2, 2), "layout": "CHWN"}),
    ("lp-no-p", _IMAGE, {"kernel": (2, 2), "pool_type": "lp"}),
    ("lp-0", _IMAGE, {"kernel": (2, 2), "pool_type": "lp", "p_value": 0}),
    ("lp-4", _IMAGE, {"kernel": (2, 2), "pool_type": "lp", "p_value": 4}),
    ("kind-unknown", _IMAGE, {"kernel": (2, 2), "pool_type": "min"}),
    ("int32", (In((1, 2, 4, 4), "int32", ("int", 0, 9)),), {"kernel": (2, 2)}),
    ("uint8", (In((1, 2, 4, 4), "uint8", ("int", 0, 9)),), {"kernel": (2, 2)}),
    ("int8", (In((1, 2, 4, 4), "int8", ("int", 0, 9)),), {"kernel": (2, 2)}),
    ("int64", (In((1, 2, 4, 4), "int64", ("int", 0, 9)),), {"kernel": (2, 2)}),
    ("bool", (In((1, 2, 4, 4), "bool", "bool"),), {"kernel": (2, 2)}),
    ("unknown-parameter", _IMAGE, {"kernel": (2, 2), "foo": 1}),
    ("no-input", (), {"kernel": (2, 2)}),
):  # fmt: skip
    CASES.append(Case(_op, _label, _inputs, _params, error=True, np_shape=_label == "0-axes"))

# ---- the operators of its gradients ----


def _spread(data, shape, pool_type="max", count_include_pad=None, layout=None, **params) -> np.ndarray:
    dy = _first_channels(data, layout)
    dx = np.zeros(shape)
    for place, window, padded, inside in _windows(_first_channels(dx, layout).shape, **params)[1]:
        count = padded if count_include_pad is not False else inside
        share = dy[place] / (max(count, 1) if pool_type == "avg" else 1)
        _first_channels(dx, layout)[window] += share.reshape(share.shape + (1,) * (dx.ndim - 2))
    return dx.astype(data.dtype)


def _largest(x: np.ndarray, layout: str | None, params: dict) -> Iterator[tuple]:
    """The place of each window, batch and channel, and the positions of the first of the largest elements."""
    rows = _first_channels(x, layout)
    for place, window, _, _ in _windows(rows.shape, **params)[1]:
        for lead in itertools.product(*map(range, rows.shape[:2])):
            part = rows[lead][window[1:]]
            if part.size > 0:
                at = np.unravel_index(np.argmax(part), part.shape)
                yield lead + place[1:], lead + tuple(s.start + int(i) for s, i in zip(window[1:], at))


def _max_back(data, moved, layout=None, **params) -> np.ndarray:
    dx = np.zeros_like(data)
    for place, at in _largest(data, layout, params):
        _first_channels(dx, layout)[at] += _first_channels(moved, layout)[place]
    return dx


def _max_pick(data, moved, layout=None, **params) -> np.ndarray:
    shape = _first_channels(data, layout).shape
    y = np.zeros(shape[:2] + _windows(shape, **params)[0], data.dtype)
    for place, at in _largest(data, layout, params):
        y[place] = _first_channels(moved, layout)[at]
    return _last_channels(y, layout)


for _label, _shape, _params in (
    ("image", (1, 2, 5, 6), {"kernel": (3, 2), "stride": (2, 2), "pad": (1, 1)}),
    ("full", (1, 1, 6, 6), {"kernel": (2, 3), "stride": (1, 2), "pooling_convention": "full"}),
    ("last", (2, 7, 3), {"kernel": (3,), "stride": (3,), "pad": (2,), "layout": "NWC"}),
    ("global", (1, 2, 3, 4), {"global_pool": True}),
    ("padding-alone", (1, 1, 3), {"kernel": (1,), "pad": (2,)}),
):
    _out = _pool(np.zeros(_shape), **_params).shape
    _data, _moved = In(_shape, domain="distinct"), In(_out)
    INTERNAL += [
        Case("_mxl_pool_max_back", _label, (_data, _moved), _params, _max_back, order=2, diff=(1,)),
        Case("_mxl_pool_max_pick", _label, (_data, In(_shape)), _params, _max_pick, order=2, diff=(1,)),
    ]
    for _kind in ("avg", "sum"):
        _all = {**_params, "pool_type": _kind, "shape": _shape, "count_include_pad": _label == "full"}
        INTERNAL.append(Case("_mxl_pool_spread", f"{_label}-{_kind}", (_moved,), _all, _spread, order=2, diff=(0,)))
_params = {"kernel": (2, 2)}
for _dtype in ("float64", "float16"):
    _data, _moved = In((1, 2, 3, 4), _dtype, "distinct"), In((1, 2, 2, 3), _dtype)
    INTERNAL += [
        Case("_mxl_pool_max_back", _dtype, (_data, _moved), _params, _max_back),
        Case("_mxl_pool_max_pick", _dtype, (_data, _data), _params, _max_pick),
        Case("_mxl_pool_spread", _dtype, (_moved,), {**_params, "pool_type": "sum", "shape": (1, 2, 3, 4)}, _spread),
    ]
_data = In((1, 2, 3, 4))
INTERNAL += [
    Case("_mxl_pool_max_back", "misfit", (_data, _data), _params, error=True),
    Case("_mxl_pool_max_back", "dtypes", (_data, In((1, 2, 2, 3), "float64")), _params, error=True),
    Case("_mxl_pool_max_pick", "misfit", (_data, In((1, 2, 2, 3))), _params, error=True),
    Case("_mxl_pool_spread", "misfit", (_data,), {**_params, "pool_type": "avg", "shape": (1, 2, 3, 4)}, error=True),
    Case("_mxl_pool_spread", "max", (In((1, 2, 2, 3)),), {**_params, "shape": (1, 2, 3, 4)}, error=True),
    Case("_mxl_pool_spread", "negative", (In((1, 2, 2, 3)),), {**_params, "pool_type": "avg", "shape": (1, 2, 3, -4)},
         error=True),
    Case("_mxl_pool_spread", "axes", (In((1, 2, 2, 3)),), {**_params, "pool_type": "avg", "shape": (6,)}, error=True),
]  # fmt: skip
