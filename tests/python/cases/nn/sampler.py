"""Images sampled at the points of a grid."""

from __future__ import annotations

import itertools

import numpy as np

from .._case import Case, In

CASES: list = []
#: Rows of `_mxl_sampler` and `_mxl_sampler_back`, with which the operators are written.
INTERNAL: list = []

_LOOSE = {"float32": (1e-4, 2e-5)}


def _weights(coordinates: np.ndarray, n: int, derivative: bool) -> np.ndarray:
    """The weight of each of n positions for each coordinate."""
    half = (n - 1) / 2
    place = (coordinates.astype("float64") + 1) * half
    low = np.floor(place)
    out = np.zeros((*place.shape, n + 3))
    far = ~np.isfinite(place)
    at = np.where(far | (low < -1) | (low >= n), n, low).astype(int) + 1
    first, second = (
        (np.full(place.shape, -half), np.full(place.shape, half)) if derivative else (low + 1 - place, place - low)
    )
    np.put_along_axis(out, at[..., None], first[..., None], -1)
    np.put_along_axis(out, at[..., None] + 1, second[..., None], -1)
    out = out[..., 1 : n + 1]
    out[far, 0] = np.nan
    return out


def _maps(grid: np.ndarray, size, by_column=False, by_row=False) -> np.ndarray:
    """(batch, rows of the grid, columns of the grid, rows, columns): the weight of each pixel."""
    columns, rows = _weights(grid[:, 0], size[1], by_column), _weights(grid[:, 1], size[0], by_row)
    return rows[..., :, None] * columns[..., None, :]


def _sampler(data, grid, by_column=False, by_row=False, cudnn_off=None) -> np.ndarray:
    weights = _maps(grid, data.shape[2:], by_column, by_row)
    return np.einsum("nopij,ncij->ncop", weights, data.astype("float64")).astype(data.dtype)


def _back(data, grid, size, by_column=False, by_row=False) -> np.ndarray:
    weights = _maps(grid, size, by_column, by_row)
    return np.einsum("nopij,ncop->ncij", weights, data.astype("float64")).astype(data.dtype)


def _row(op, label, forward, *inputs, order=2, diff=(0, 1), oracle="", tolerance=_LOOSE, **params) -> None:
    CASES.append(Case(op, label, inputs, params, forward, order=order, diff=diff, oracle=oracle, tolerance=tolerance))


def _errors(op: str, good: dict, *inputs: In, **rows) -> None:
    for label, row in rows.items():
        given = row.pop("inputs", inputs)
        CASES.append(Case(op, label.replace("_", "-"), given, {**good, **row}, error=True, np_shape=label == "no_axes"))


# ---- BilinearSampler ----

_op = "BilinearSampler"
_data, _grid = In((2, 3, 4, 5)), In((2, 2, 2, 3), domain="unit")
_row(_op, "plain", _sampler, _data, _grid)
_row(_op, "cudnn-off", _sampler, _data, _grid, cudnn_off=True, order=1)
_row(_op, "larger", _sampler, In((1, 2, 3, 3)), In((1, 2, 5, 4), domain="unit"))
_row(_op, "outside", _sampler, In((1, 1, 3, 4)), In((1, 2, 3, 5), domain="real"))
_row(_op, "one-pixel", _sampler, In((1, 2, 1, 1)), In((1, 2, 2, 3), domain="unit"))
_row(_op, "float64", _sampler, In((2, 2, 3, 4), "float64"), In((2, 2, 2, 2), "float64", "unit"))
_row(_op, "float16", _sampler, In((1, 2, 3, 4), "float16"), In((1, 2, 2, 2), "float16", "unit"), order=0,
     tolerance={"float16": (2e-2, 2e-2)})  # fmt: skip
_row(_op, "far", _sampler, In((1, 2, 3, 4)), In(values=[[[[1e30, -1e30, 3.0]], [[0.0, 0.0, -3.0]]]]), order=0)
for _dtype in ("float32", "float64", "float16"):
    _edges = In(dtype=_dtype, values=[[[[-1, 0, 1, 1, -1.5, 0.25]], [[-1, 1, -1, 1, 0, -1.25]]]])
    _row(_op, f"edges-{_dtype}", _sampler, In((1, 2, 3, 4), _dtype), _edges, order=0,
         tolerance={"float16": (2e-2, 2e-2)})  # fmt: skip
    _numbers = np.array([0, 1.5, np.nan, -0.0, np.inf, 2, 3, -np.inf, 1]).reshape(1, 1, 3, 3)
    _points = In(
        dtype=_dtype, values=[[[[-0.5, 0.5, 0.5, np.nan, 0.5, np.inf]], [[-0.5, -0.5, 0.5, 0.5, np.nan, 0.25]]]]
    )
    CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=_numbers), _points), {}))
_good = (In((1, 2, 4, 4)), In((1, 2, 2, 3)))
_errors(_op, {}, *_good,
        batches={"inputs": (In((1, 2, 4, 4)), In((2, 2, 2, 3)))},
        channels={"inputs": (In((1, 2, 4, 4)), In((1, 3, 2, 3)))},
        three_axes={"inputs": (In((1, 2, 4)), In((1, 2, 2, 3)))},
        dtypes={"inputs": (In((1, 2, 4, 4)), In((1, 2, 2, 3), "float64"))},
        int32={"inputs": (In((1, 2, 4, 4), "int32", ("int", 0, 9)), In((1, 2, 2, 3), "int32", ("int", 0, 1)))},
        one={"inputs": (In((1, 2, 4, 4)),)}, unknown_parameter={"foo": 1},
        no_axes={"inputs": (In(()), In(()))})  # fmt: skip
CASES.append(Case(_op, "no-points", (In((1, 2, 4, 4)), In((1, 2, 0, 3))), {}, _sampler, np_shape=True,
                  oracle="skip: 1.9.1 ends the process"))  # fmt: skip

for _column, _line in itertools.product((False, True), repeat=2):
    _params = {"by_column": _column, "by_row": _line}
    _label = "-".join(["by", *["column"] * _column, *["row"] * _line]) if _column or _line else "plain"
    INTERNAL += [
        Case("_mxl_sampler", _label, (In((1, 2, 3, 4)), In((1, 2, 2, 3), domain="unit")), _params, _sampler, order=2,
             diff=(0, 1), tolerance=_LOOSE),
        Case("_mxl_sampler_back", _label, (In((1, 2, 2, 3)), In((1, 2, 2, 3), domain="unit")),
             {**_params, "size": (3, 4)}, _back, order=2, diff=(0, 1), tolerance=_LOOSE),
    ]  # fmt: skip
for _dtype in ("float64", "float16"):
    _grid = In((1, 2, 2, 3), _dtype, "unit")
    INTERNAL += [
        Case("_mxl_sampler", _dtype, (In((1, 2, 3, 4), _dtype), _grid), {"by_row": True}, _sampler),
        Case("_mxl_sampler_back", _dtype, (In((1, 2, 2, 3), _dtype), _grid), {"size": (3, 2)}, _back),
    ]
INTERNAL += [
    Case("_mxl_sampler", "dtypes", (In((1, 2, 4, 4)), In((1, 2, 2, 3), "float64")), {}, error=True),
    Case("_mxl_sampler_back", "misfit", (In((1, 2, 3, 3)), In((1, 2, 2, 3))), {"size": (3, 4)}, error=True),
    Case("_mxl_sampler_back", "size", (In((1, 2, 2, 3)), In((1, 2, 2, 3))), {"size": (3,)}, error=True),
]

# ---- GridGenerator ----


def _generate(data, transform_type, target_shape=(0, 0)) -> np.ndarray:
    x = data.astype("float64")
    if transform_type == "warp":
        rows, columns = data.shape[2:]
        flat = np.stack(np.meshgrid(np.arange(columns), np.arange(rows))).astype("float64")
        half = np.array([(columns - 1) / 2, (rows - 1) / 2]).reshape(2, 1, 1)
        return ((x + flat) / half - 1).astype(data.dtype)
    rows, columns = (-1 + np.arange(n) * np.float64(2) / np.float64(n - 1) for n in target_shape)
    points = np.stack([*np.meshgrid(columns, rows), np.ones(target_shape)])
    return np.einsum("nij,jop->niop", x.reshape(-1, 2, 3), points).astype(data.dtype)


_op = "GridGenerator"
_FLOAT32 = "differs: 1.9.1 takes float32 alone"
_row(_op, "affine", _generate, In((2, 6)), diff=(0,), transform_type="affine", target_shape=(3, 4))
_row(_op, "affine-line", _generate, In((1, 6)), diff=(0,), transform_type="affine", target_shape=(2, 5))
_row(_op, "affine-one", _generate, In((1, 6)), diff=(), order=0, transform_type="affine", target_shape=(1, 3))
_row(_op, "warp", _generate, In((2, 2, 3, 4)), diff=(0,), transform_type="warp")
_row(_op, "warp-ignores", _generate, In((1, 2, 2, 3)), diff=(0,), transform_type="warp", target_shape=(5, 5))
_row(_op, "warp-one", _generate, In((1, 2, 1, 4), domain="positive"), diff=(), order=0, transform_type="warp")
for _dtype in ("float64", "float16"):
    _order = 2 if _dtype == "float64" else 0
    _row(_op, f"affine-{_dtype}", _generate, In((2, 6), _dtype), diff=(0,), order=_order, oracle=_FLOAT32,
         transform_type="affine", target_shape=(3, 4))  # fmt: skip
    _row(_op, f"warp-{_dtype}", _generate, In((1, 2, 3, 4), _dtype), diff=(0,), order=_order, oracle=_FLOAT32,
         transform_type="warp", tolerance={"float16": (1e-2, 1e-2)})  # fmt: skip
CASES += [
    Case(_op, "special-float32", (In(values=[[[[0, np.nan], [-0.0, np.inf]], [[1, -np.inf], [3, 4]]]]),),
         {"transform_type": "warp"}),
    Case(_op, "no-batch", (In((0, 2, 3, 4)),), {"transform_type": "warp"}, _generate, np_shape=True,
         oracle="skip: 1.9.1 ends the process"),
]  # fmt: skip
_errors(_op, {"transform_type": "affine", "target_shape": (2, 3)}, In((1, 6)),
        no_target={"target_shape": (0, 0)}, target_short={"target_shape": (2,)}, five={"inputs": (In((1, 5)),)},
        three_axes={"inputs": (In((1, 2, 3)),)}, no_axes={"inputs": (In(()),)}, type_unknown={"transform_type": "bend"},
        channels={"inputs": (In((1, 3, 2, 2)),), "transform_type": "warp"},
        int32={"inputs": (In((1, 6), "int32", ("int", 0, 1)),)}, unknown_parameter={"foo": 1})  # fmt: skip

# ---- SpatialTransformer ----


def _transform(data, loc, target_shape, transform_type="affine", sampler_type="bilinear", cudnn_off=None) -> np.ndarray:
    return _sampler(data, _generate(loc.astype("float64"), "affine", target_shape))


_op = "SpatialTransformer"
_types = {"transform_type": "affine", "sampler_type": "bilinear"}
_near = [[0.875, 0.125, 0.0625, -0.125, 0.75, 0.1875], [1.25, -0.25, 0.1875, 0.375, 0.625, -0.3125]]
_row(_op, "plain", _transform, In((2, 3, 4, 5)), In(values=_near), target_shape=(3, 2), **_types)
_row(_op, "any", _transform, In((1, 2, 3, 3)), In((1, 6)), target_shape=(2, 4), **_types)
_row(_op, "cudnn-off", _transform, In((1, 1, 3, 3)), In((1, 6)), target_shape=(2, 2), cudnn_off=True, **_types)
_row(_op, "float64", _transform, In((2, 1, 4, 5), "float64"), In(dtype="float64", values=_near), target_shape=(2, 3),
     **_types)  # fmt: skip
_row(_op, "float16", _transform, In((2, 1, 4, 5), "float16"), In(dtype="float16", values=_near), target_shape=(2, 3),
     order=0, oracle="differs: 1.9.1 has no float16 products",
     tolerance={"float16": (2e-2, 2e-2)}, **_types)  # fmt: skip
_row(_op, "one", _transform, In((1, 2, 3, 3)), In((1, 6)), order=0, diff=(), target_shape=(1, 1), **_types)
for _dtype in ("float32", "float64"):
    CASES.append(Case(_op, f"special-{_dtype}", (In(dtype=_dtype, values=_numbers), In(dtype=_dtype, values=_near[:1])),
                      {"target_shape": (2, 2), **_types}))  # fmt: skip
_errors(_op, {"target_shape": (2, 2), **_types}, In((1, 2, 4, 4)), In((1, 6)),
        no_target={"target_shape": (0, 0)}, target_short={"target_shape": (2,)},
        five={"inputs": (In((1, 2, 4, 4)), In((1, 5)))}, three_axes={"inputs": (In((1, 2, 4)), In((1, 6)))},
        matrix={"inputs": (In((1, 2, 4, 4)), In((1, 2, 3)))}, batches={"inputs": (In((1, 2, 4, 4)), In((2, 6)))},
        type_unknown={"transform_type": "warp"}, no_axes={"inputs": (In(()), In(()))},
        unknown_parameter={"foo": 1})  # fmt: skip
CASES.append(Case(_op, "no-batch", (In((0, 2, 4, 4)), In((0, 6))), {"target_shape": (2, 2), **_types}, _transform,
                  np_shape=True, oracle="skip: 1.9.1 ends the process"))  # fmt: skip
