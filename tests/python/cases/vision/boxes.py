"""Boxes: overlaps, offsets from anchors, non-maximum suppression, bipartite matching."""

from __future__ import annotations

import numpy as np

from .._case import Case, In

CASES: list = []

_HALF = {"float16": (1e-2, 1e-2)}


def grid(seed: int, *shape: int) -> np.ndarray:
    """Corners of boxes on multiples of 1/16, of which many overlap: (*shape, 4)."""
    numbers = np.random.RandomState(seed)
    corner = numbers.randint(0, 13, (*shape, 2)) / 16
    return np.concatenate([corner, corner + numbers.randint(1, 9, (*shape, 2)) / 16], -1)


def corners(boxes: np.ndarray, form: str) -> np.ndarray:
    """Left, top, right and bottom."""
    if form == "corner":
        return boxes
    half = boxes[..., 2:] / 2
    return np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], -1)


def overlaps(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The overlap of each of (n, 4) and each of (m, 4) corners; NaN if neither has an area."""
    shared = np.minimum(lhs[:, None, 2:], rhs[None, :, 2:]) - np.maximum(lhs[:, None, :2], rhs[None, :, :2])
    shared = np.maximum(shared, 0).prod(-1)
    areas = [np.maximum(each[:, 2:] - each[:, :2], 0).prod(-1) for each in (lhs, rhs)]
    return shared / (areas[0][:, None] + areas[1] - shared)


# ---- box_iou ----


def _iou(lhs: np.ndarray, rhs: np.ndarray, format: str = "corner") -> np.ndarray:
    a, b = (corners(each.reshape(-1, 4).astype("float64"), format) for each in (lhs, rhs))
    every = overlaps(a, b)
    areas = [np.maximum(each[:, 2:] - each[:, :2], 0).prod(-1) for each in (a, b)]
    every = np.where((areas[0][:, None] + areas[1]) == 0, 0, every)
    return every.reshape(lhs.shape[:-1] + rhs.shape[:-1]).astype(lhs.dtype)


_op = "_contrib_box_iou"
_A, _B = grid(1, 5), grid(2, 3)
for _dtype in ("float32", "float64", "float16"):
    CASES.append(Case(_op, _dtype, (In(dtype=_dtype, values=_A), In(dtype=_dtype, values=_B)), {}, _iou, diff=(0, 1),
                      tolerance=_HALF))  # fmt: skip
CASES += [
    Case(_op, "center", (In(values=_A), In(values=_B)), {"format": "center"}, _iou),
    Case(_op, "many-axes", (In(values=grid(3, 2, 1, 3)), In(values=grid(4, 1, 5))), {}, _iou),
    Case(_op, "long", (In(values=grid(5, 37)), In(values=grid(6, 129))), {}, _iou),
    Case(_op, "no-area", (In(values=[[1, 1, 1, 1], [3, 3, 1, 1], [0, 0, 1, 1]]), In(values=[[1, 1, 1, 1], [0, 0, 2,
         2]])),
         {}, _iou),
    Case(_op, "negative-size", (In(values=[[0.5, 0.5, -1, 1]]), In(values=[[0.5, 0.25, 1, 0.5]])), {"format": "center"},
         _iou),
    Case(_op, "special-numbers", (In(values=[[np.nan, 0, 1, 1], [0, 0, np.inf, 1]]), In(values=[[0, 0, 1, 1]])), {}),
    Case(_op, "empty", (In((0, 4)), In((3, 4))), {}, _iou, np_shape=True),
    Case(_op, "empty-rhs", (In((2, 4)), In((0, 4))), {}, _iou, np_shape=True),
    Case(_op, "0-axes", (In(()), In(())), {}, error=True, np_shape=True),
    Case(_op, "one-axis", (In((4,)), In((3, 4))), {}, error=True),
    Case(_op, "three-numbers", (In((2, 3)), In((3, 4))), {}, error=True),
    Case(_op, "dtypes", (In((2, 4)), In((3, 4), "float64")), {}, error=True),
    Case(_op, "int32", (In((2, 4), "int32", ("int", 0, 9)), In((3, 4), "int32", ("int", 0, 9))), {}, error=True),
    Case(_op, "one-input", (In((2, 4)),), {}, error=True),
    Case(_op, "format", (In((2, 4)), In((3, 4))), {"format": "edge"}, error=True),
]  # fmt: skip

# ---- box_encode ----


def _encode(samples, matches, anchors, refs, means, stds):
    wide = [each.astype("float64") for each in (anchors, refs, means, stds)]
    mask = np.repeat((samples > 0.5)[..., None], 4, -1)
    ref = np.take_along_axis(wide[1], np.where(mask, matches[..., None].astype(int), 0), 1)
    own, other = wide[0][..., 2:] - wide[0][..., :2], ref[..., 2:] - ref[..., :2]
    away = (ref[..., :2] + ref[..., 2:] - wide[0][..., :2] - wide[0][..., 2:]) / 2 / own
    target = (np.concatenate([away, np.log(other / own)], -1) - wide[2]) / wide[3]
    return np.where(mask, target, 0).astype(samples.dtype), mask.astype(samples.dtype)


_op = "_contrib_box_encode"
_SAMPLES, _MATCHES = [[1, 0, 0.5, 0.6], [-1, 1, 1, 1]], [[1, 7, 0, 1.9], [0, 0, 1, 0]]
_REST = (grid(7, 2, 4), grid(8, 2, 2), [0.1, 0.2, 0, -0.1], [0.1, 0.1, 0.2, 0.5])


def _coded(dtype: str, **changes) -> tuple:
    names = ("samples", "matches", "anchors", "refs", "means", "stds")
    values = {**dict(zip(names, (_SAMPLES, _MATCHES, *_REST))), **changes}
    return tuple(In(dtype=dtype, values=values[name]) for name in names)


for _dtype in ("float32", "float64", "float16"):
    CASES.append(Case(_op, _dtype, _coded(_dtype), {}, _encode, diff=(0, 2, 3, 4, 5),
                      tolerance={"float16": (2e-2, 2e-2)}))  # fmt: skip
CASES += [
    Case(_op, "special-numbers", _coded("float32", anchors=[[[0, 0, np.inf, 1], [0, 0, 0, 1], [0] * 4, [np.nan, 0, 1,
         1]]] * 2)),
    Case(_op, "empty", tuple(In(shape) for shape in ((2, 0), (2, 0), (2, 0, 4), (2, 1, 4), (4,), (4,))), {}, _encode,
         np_shape=True),
    Case(_op, "match-beyond", _coded("float32", matches=[[2, 0, 0, 0]] * 2), error=True,
         oracle="skip: 1.9.1 reads beyond the references"),
    Case(_op, "match-negative", _coded("float32", matches=[[-1, 0, 0, 0]] * 2), error=True,
         oracle="skip: 1.9.1 reads before the references"),
    Case(_op, "match-nan", _coded("float32", matches=[[np.nan, 0, 0, 0]] * 2), error=True,
         oracle="skip: 1.9.1 reads beyond the references"),
    Case(_op, "shared-anchors", _coded("float32", anchors=grid(7, 1, 4)), error=True),
    Case(_op, "more-anchors", tuple(In(shape) for shape in ((1, 4), (1, 4), (2, 4, 4), (1, 2, 4), (4,), (4,))),
         error=True),
    Case(_op, "few-references", _coded("float32", refs=grid(7, 1, 4)), error=True),
    Case(_op, "flat-references", _coded("float32", refs=grid(7, 4)), error=True),
    Case(_op, "short-means", _coded("float32", means=[0, 0, 0]), error=True),
    Case(_op, "short-stds", _coded("float32", stds=[1, 1, 1]), error=True),
    Case(_op, "matches-shape", _coded("float32", matches=[[0, 0, 0, 0]]), error=True),
    Case(_op, "0-axes", tuple(In(()) for _ in range(6)), {}, error=True, np_shape=True),
    Case(_op, "int32", _coded("int32"), error=True),
    Case(_op, "dtypes", (*_coded("float32")[:5], In((4,), "float64")), error=True),
]  # fmt: skip

# ---- box_decode ----


def _decode(data, anchors, std0=1.0, std1=1.0, std2=1.0, std3=1.0, clip=-1.0, format="center"):
    std = np.float32([std0, std1, std2, std3]).astype("float64")
    x, a = data.astype("float64") * std, anchors.astype("float64")
    size = a[..., 2:] if format == "center" else a[..., 2:] - a[..., :2]
    center = x[..., :2] * size + (a[..., :2] if format == "center" else a[..., :2] + size / 2)
    grown = x[..., 2:] if clip <= 0 else np.minimum(x[..., 2:], np.float64(np.float32(clip)))
    half = np.exp(grown) * size / 2
    return np.concatenate([center - half, center + half], -1).astype(data.dtype)


_op = "_contrib_box_decode"
_STDS = {"std0": 0.1, "std1": 0.2, "std2": 0.3, "std3": 0.4}
for _dtype in ("float32", "float64", "float16"):
    CASES.append(Case(_op, _dtype, (In((2, 3, 4), _dtype), In(dtype=_dtype, values=grid(9, 1, 3))), _STDS, _decode,
                      diff=(0, 1), tolerance=_HALF))  # fmt: skip
CASES += [
    Case(_op, "plain", (In((1, 3, 4)), In(values=grid(9, 1, 3))), {}, _decode),
    Case(_op, "corner", (In((2, 3, 4)), In(values=grid(9, 1, 3))), {"format": "corner"}, _decode),
    Case(_op, "clip", (In((2, 3, 4)), In(values=grid(9, 1, 3))), {"clip": 0.5}, _decode),
    Case(_op, "clip-zero", (In((2, 3, 4)), In(values=grid(9, 1, 3))), {"clip": 0.0}, _decode),
    Case(_op, "special-numbers", (In(values=[[[np.nan, 1, np.inf, -np.inf], [np.inf, 0, 0, np.nan]]]), In((1, 2,
         4))), {}),
    Case(_op, "empty", (In((2, 0, 4)), In((1, 0, 4))), {}, _decode, np_shape=True),
    Case(_op, "empty-batch", (In((0, 2, 4)), In((1, 2, 4))), {}, _decode, np_shape=True),
    Case(_op, "long", (In((3, 1037, 4)), In(values=grid(10, 1, 1037))), {}, _decode),
    Case(_op, "0-axes", (In(()), In(())), {}, error=True, np_shape=True),
    Case(_op, "two-axes", (In((2, 4)), In((1, 2, 4))), {}, error=True),
    Case(_op, "anchors-two-axes", (In((1, 2, 4)), In((2, 4))), {}, error=True),
    Case(_op, "anchors-batch", (In((2, 2, 4)), In((2, 2, 4))), {}, error=True),
    Case(_op, "anchors-few", (In((2, 2, 4)), In((1, 3, 4))), {}, error=True),
    Case(_op, "three-numbers", (In((1, 2, 3)), In((1, 2, 3))), {}, error=True),
    Case(_op, "dtypes", (In((1, 2, 4)), In((1, 2, 4), "float64")), {}, error=True),
    Case(_op, "int32", (In((1, 2, 4), "int32", ("int", 0, 9)),) * 2, {}, error=True),
]  # fmt: skip

# ---- box_nms ----


def keep(boxes: np.ndarray, kinds: np.ndarray, threshold: float, inclusive: bool = False) -> list:
    """Positions of the corners, sorted by score, that no kept one of the same kind before them overlaps too much."""
    kept: list = []
    with np.errstate(all="ignore"):
        every = overlaps(boxes, boxes)
    for i in range(len(boxes)):
        beaten = every[i, kept] >= threshold if inclusive else every[i, kept] > threshold
        if not (beaten & (kinds[kept] == kinds[i])).any():
            kept.append(i)
    return kept


def _one_nms(rows, overlap_thresh, valid_thresh, topk, at, score, kind, background, force, forms):
    valid = rows[:, score] > np.float32(valid_thresh)
    if kind >= 0:
        valid &= rows[:, kind] != background
    order = np.flatnonzero(valid)
    order = order[np.argsort(-rows[order, score], kind="stable")][: topk if topk > 0 else None]
    best = rows[order].astype("float64")
    kinds = np.nan_to_num(np.trunc(best[:, kind]), nan=-9e9) if kind >= 0 and not force else np.zeros(len(best))
    kept = best[keep(corners(best[:, at : at + 4], forms[0]), kinds, np.float32(overlap_thresh))]
    box = kept[:, at : at + 4]
    if forms == ("center", "corner"):
        kept[:, at : at + 4] = corners(box, "center")
    elif forms == ("corner", "center"):
        kept[:, at : at + 4] = np.concatenate([(box[:, :2] + box[:, 2:]) / 2, box[:, 2:] - box[:, :2]], 1)
    return np.concatenate([kept, np.full((len(rows) - len(kept), rows.shape[1]), -1.0)]).astype(rows.dtype)


def _nms(
    data,
    overlap_thresh=0.5,
    valid_thresh=0,
    topk=-1,
    coord_start=2,
    score_index=1,
    id_index=-1,
    background_id=-1,
    force_suppress=False,
    in_format="corner",
    out_format="corner",
):
    if topk == 0 or data.size == 0:
        return data
    flat = data.reshape(-1, *data.shape[-2:])
    rows = [
        _one_nms(
            each,
            overlap_thresh,
            valid_thresh,
            topk,
            coord_start,
            score_index,
            id_index,
            background_id,
            force_suppress,
            (in_format, out_format),
        )
        for each in flat
    ]
    return np.array(rows, data.dtype).reshape(data.shape)  # fmt: skip


def scored(seed: int, *shape: int, ties: bool = False) -> np.ndarray:
    """Rows of class, score and corners; with ties some scores are equal, and overlaps round numbers."""
    numbers = np.random.RandomState(seed)
    count = int(np.prod(shape))
    score = numbers.randint(-1, 6, count) / 5 if ties else (numbers.permutation(count) - 0.5) / count
    boxes = grid(seed, *shape) + (0 if ties else numbers.rand(*shape, 4) / 64)
    return np.concatenate([numbers.randint(-1, 3, (*shape, 1)), score.reshape(*shape, 1), boxes], -1)


_op = "_contrib_box_nms"
_ROWS = scored(11, 2, 20)
_DEFINED = {"defined": True, "diff": (0,)}
for _label, _params in {
    "default": {}, "threshold": {"overlap_thresh": 0.1}, "threshold-one": {"overlap_thresh": 1.0},
    "threshold-zero": {"overlap_thresh": 0.0}, "threshold-negative": {"overlap_thresh": -1.0},
    "valid": {"valid_thresh": 0.4}, "valid-negative": {"valid_thresh": -1.0}, "topk": {"topk": 5},
    "topk-negative": {"topk": -3}, "topk-large": {"topk": 1000}, "topk-zero": {"topk": 0},
    "class": {"id_index": 0}, "class-force": {"id_index": 0, "force_suppress": True},
    "background": {"id_index": 0, "background_id": 0}, "background-topk": {"id_index": 0, "background_id": 1,
    "topk": 4},
    "no-class-background": {"background_id": 0}, "negative-class-column": {"id_index": -5},
    "center": {"in_format": "center", "out_format": "center"}, "other-columns": {"coord_start": 1, "score_index": 0},
    "columns-first": {"coord_start": 0, "score_index": 5, "id_index": 4, "overlap_thresh": 0.3},
}.items():  # fmt: skip
    _values = _ROWS
    if _label == "other-columns":
        _values = _ROWS[:, :, 1:]
    elif _label == "columns-first":
        _values = np.ascontiguousarray(_ROWS[:, :, [2, 3, 4, 5, 0, 1]])
    # a class is compared with the background's and rounded: no differences
    _order = {"defined": True} if _params.get("id_index", -1) >= 0 else {"order": 2}
    CASES.append(Case(_op, _label, (In(values=_values),), _params, _nms, diff=(0,), **_order))
for _dtype in ("float64", "float16"):
    CASES.append(Case(_op, _dtype, (In(dtype=_dtype, values=_ROWS),), {}, _nms, order=2, diff=(0,)))
for _label, _forms in {"to-center": ("corner", "center"), "to-corner": ("center", "corner")}.items():
    CASES.append(Case(_op, _label, (In(values=_ROWS),), {"in_format": _forms[0], "out_format": _forms[1]}, _nms,
                      **_DEFINED))  # fmt: skip
CASES += [
    Case(_op, "ties", (In(values=scored(12, 3, 30, ties=True)),), {"overlap_thresh": 0.3}, _nms, **_DEFINED),
    Case(_op, "repeated", (In(values=np.repeat(scored(13, 6), 4, 0)),), {}, _nms, **_DEFINED),
    Case(_op, "fractional-classes", (In(values=scored(14, 12) + [0.4, 0, 0, 0, 0, 0]),), {"id_index": 0}, _nms,
         **_DEFINED),
    Case(_op, "nan-scores", (In(values=[[0, np.nan, 0, 0, 1, 1], [0, 0.5, 0, 0, 1, 1], [0, 0.7, 2, 2, 3, 3]]),), {},
         _nms,
         **_DEFINED),
    Case(_op, "nan-class", (In(values=[[np.nan, 0.9, 0, 0, 1, 1], [np.nan, 0.5, 0, 0, 1, 1], [1, 0.7, 0, 0, 1, 1]]),),
         {"id_index": 0}, _nms, **_DEFINED),
    Case(_op, "no-area", (In(values=[[0, 0.9, 1, 1, 1, 1], [0, 0.8, 1, 1, 1, 1], [0, 0.7, 3, 3, 1, 1]]),), {}, _nms,
         **_DEFINED),
    Case(_op, "special-numbers", (In(values=[[0, np.inf, 0, 0, 1, 1], [0, 0.5, np.nan, 0, 1, 1], [0, 0.4, 0, 0,
         np.inf, 1],
                                             [0, -np.inf, 0, 0, 1, 1]]),), {}),
    Case(_op, "nothing-valid", (In(values=_ROWS),), {"valid_thresh": 2.0}, _nms, order=2, diff=(0,)),
    Case(_op, "one", (In(values=scored(15, 1) + [0, 1, 0, 0, 0, 0]),), {}, _nms, order=2, diff=(0,)),
    Case(_op, "long", (In(values=scored(16, 1037)),), {"overlap_thresh": 0.7, "id_index": 0}, _nms),
    Case(_op, "many-axes", (In(values=scored(17, 2, 3, 9)),), {}, _nms, order=2, diff=(0,)),
    Case(_op, "out", (In(values=_ROWS),), {}, _nms, out=(((2, 20, 6), "float32"),)),
    Case(_op, "empty", (In((0, 6)),), {}, _nms, diff=(0,), np_shape=True, oracle="forward: 1.9.1's gradient fails"),
    Case(_op, "empty-batch", (In((0, 3, 6)),), {}, _nms, np_shape=True),
    Case(_op, "0-axes", (In(()),), {}, error=True, np_shape=True),
    Case(_op, "one-axis", (In((6,)),), {}, error=True),
    Case(_op, "few-columns", (In((3, 5)),), {}, error=True),
    Case(_op, "coordinates-beyond", (In((3, 6)),), {"coord_start": 3}, error=True),
    Case(_op, "coordinates-negative", (In((3, 6)),), {"coord_start": -1, "score_index": 4}, error=True),
    Case(_op, "score-in-coordinates", (In((3, 6)),), {"coord_start": 1}, error=True),
    Case(_op, "score-beyond", (In((3, 6)),), {"score_index": 6}, error=True),
    Case(_op, "score-negative", (In((3, 6)),), {"score_index": -1}, error=True),
    Case(_op, "class-in-coordinates", (In((3, 6)),), {"id_index": 2}, error=True),
    Case(_op, "class-beyond", (In((3, 6)),), {"id_index": 6}, error=True),
    Case(_op, "class-is-score", (In((3, 6)),), {"id_index": 1}, error=True),
    Case(_op, "int32", (In((3, 6), "int32", ("int", 0, 9)),), {}, error=True),
    Case(_op, "no-input", (), {}, error=True),
    Case(_op, "format", (In((3, 6)),), {"in_format": "edge"}, error=True),
]  # fmt: skip

# ---- bipartite_matching ----


def _match(data: np.ndarray, threshold: float, is_ascend: bool = False, topk: int = -1):
    rows, columns = data.shape[-2:]
    results = (
        np.full((data.size // max(rows * columns, 1), rows), -1.0),
        np.full((data.size // max(rows * columns, 1), columns), -1.0),
    )
    for score, row, column in zip(data.reshape(-1, rows, columns), *results):
        for at in np.argsort(score.ravel() if is_ascend else -score.ravel(), kind="stable"):
            i, j = divmod(at, columns)
            fits = score[i, j] < np.float32(threshold) if is_ascend else score[i, j] > np.float32(threshold)
            if fits and row[i] == column[j] == -1:
                row[i], column[j] = j, i
                if 0 < topk < (row >= 0).sum():
                    break
    shapes = data.shape[:-1], data.shape[:-2] + data.shape[-1:]
    return tuple(each.astype(data.dtype).reshape(shape) for each, shape in zip(results, shapes))


_op = "_contrib_bipartite_matching"
_SCORES = np.random.RandomState(18).permutation(2 * 5 * 7).reshape(2, 5, 7) / 70
for _dtype in ("float32", "float64", "float16"):
    CASES.append(Case(_op, _dtype, (In(dtype=_dtype, values=_SCORES),), {"threshold": 0.5}, _match, diff=(0,)))
for _label, _params in {
    "low": {"threshold": 1e-12}, "none": {"threshold": 2.0}, "ascending": {"threshold": 0.3, "is_ascend": True},
    "topk": {"threshold": 0.1, "topk": 2}, "topk-one": {"threshold": 0.1, "topk": 1}, "topk-zero": {"threshold": 0.1,
    "topk": 0},
    "topk-large": {"threshold": 0.1, "topk": 99}, "topk-ascending": {"threshold": 0.9, "topk": 2, "is_ascend": True},
}.items():  # fmt: skip
    CASES.append(Case(_op, _label, (In(values=_SCORES),), _params, _match))
_NAN_SCORES = [[0.5, np.nan], [np.nan, np.nan], [0.7, 0.6]]
CASES += [
    Case(_op, "ties", (In(values=np.round(_SCORES * 4) / 4),), {"threshold": 0.4}, _match),
    Case(_op, "matrix", (In(values=_SCORES[0]),), {"threshold": 0.4}, _match),
    Case(_op, "many-axes", (In(values=_SCORES.reshape(2, 1, 7, 5)),), {"threshold": 0.4}, _match),
    Case(_op, "at-threshold", (In(values=[[0.5, 0.25]]),), {"threshold": 0.5}, _match),
    Case(_op, "special-numbers", (In(values=[[np.inf, -np.inf], [0.5, 0.5]]),), {"threshold": -10.0}),
    Case(_op, "nan", (In(values=_NAN_SCORES),), {"threshold": 0.1}, _match,
         oracle="differs: 1.9.1's sort takes NaN for any number"),
    Case(_op, "empty", (In((0, 2, 3)),), {"threshold": 0.1}, _match, np_shape=True,
         oracle="skip: 1.9.1 fails"),
    Case(_op, "0-axes", (In(()),), {"threshold": 0.1}, error=True, np_shape=True),
    Case(_op, "one-axis", (In((3,)),), {"threshold": 0.1}, error=True),
    Case(_op, "no-threshold", (In((2, 3)),), {}, error=True),
    Case(_op, "int32", (In((2, 3), "int32", ("int", 0, 9)),), {"threshold": 1.0}, error=True),
]  # fmt: skip
