"""The single-shot detector: its anchors, its detections, its training targets."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .boxes import grid, keep, overlaps

CASES: list = []

# ---- MultiBoxPrior ----


def _prior(data, sizes=(1,), ratios=(1,), clip=False, steps=(-1, -1), offsets=(0.5, 0.5)):
    height, width = data.shape[2:4]
    step = [each if each > 0 else 1 / count for each, count in zip(steps, (height, width))]
    pairs = [(size, ratios[0]) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
    with np.errstate(all="ignore"):
        half = np.array(
            [(size * height / width * np.sqrt(ratio) / 2, size / np.sqrt(ratio) / 2) for size, ratio in pairs]
        )
    y, x = ((np.arange(count) + offset) * each for count, offset, each in zip((height, width), offsets, step))
    center = np.stack(np.broadcast_arrays(x[None, :, None], y[:, None, None]), -1)
    boxes = np.concatenate([center - half, center + half], -1).reshape(1, -1, 4)
    return (boxes.clip(0, 1) if clip else boxes).astype("float32")


_op = "_contrib_MultiBoxPrior"
for _label, _params in {
    "default": {}, "sizes": {"sizes": (0.5, 0.25)}, "ratios": {"ratios": (1.0, 2.0, 0.5)},
    "both": {"sizes": (0.5, 0.25), "ratios": (1.0, 2.0, 0.5)}, "clip": {"sizes": (0.5, 2.0), "clip": True},
    "first-ratio": {"sizes": (0.5, 0.3), "ratios": (3.0,)}, "steps": {"steps": (0.1, 0.2)},
    "steps-zero": {"steps": (0.0, 0.0)}, "offsets": {"offsets": (0.1, 0.7)}, "offsets-edge": {"offsets": (0.0, 1.0)},
    "negative-size": {"sizes": (-1.0,)}, "zero-size": {"sizes": (0.0,)}, "special-ratios": {"ratios": (0.0, -1.0)},
}.items():  # fmt: skip
    CASES.append(Case(_op, _label, (In((1, 3, 2, 3)),), _params, _prior, diff=(0,)))
CASES += [
    Case(_op, "batch", (In((2, 1, 1, 1)),), {}, _prior),
    Case(_op, "five-axes", (In((1, 1, 2, 3, 4)),), {}, _prior),
    Case(_op, "tall", (In((1, 1, 37, 5)),), {"sizes": (0.1, 0.2)}, _prior),
    Case(_op, "empty-batch", (In((0, 3, 2, 2)),), {}, _prior, np_shape=True),
    Case(_op, "no-height", (In((1, 3, 0, 2)),), {}, error=True, np_shape=True),
    Case(_op, "no-width", (In((1, 3, 2, 0)),), {}, error=True, np_shape=True),
    Case(_op, "0-axes", (In(()),), {}, error=True, np_shape=True),
    Case(_op, "three-axes", (In((3, 2, 3)),), {}, error=True),
    Case(_op, "float64", (In((1, 1, 2, 2), "float64"),), {}, error=True),
    Case(_op, "float16", (In((1, 1, 2, 2), "float16"),), {}, error=True),
    Case(_op, "no-sizes", (In((1, 1, 2, 2)),), {"sizes": ()}, error=True),
    Case(_op, "no-ratios", (In((1, 1, 2, 2)),), {"ratios": ()}, error=True),
    Case(_op, "one-step", (In((1, 1, 2, 2)),), {"steps": (1.0,)}, error=True),
    Case(_op, "step-signs", (In((1, 1, 2, 2)),), {"steps": (0.1, -1.0)}, error=True),
    Case(_op, "three-offsets", (In((1, 1, 2, 2)),), {"offsets": (0.1, 0.2, 0.3)}, error=True),
    Case(_op, "offset-negative", (In((1, 1, 2, 2)),), {"offsets": (-0.1, 0.5)}, error=True),
    Case(_op, "offset-large", (In((1, 1, 2, 2)),), {"offsets": (0.1, 1.5)}, error=True),
    Case(_op, "malformed-sizes", (In((1, 1, 2, 2)),), {"sizes": "(a,)"}, error=True),
]  # fmt: skip

# ---- MultiBoxDetection ----


def _one_detection(score, offset, anchor, variances, clip, threshold, nms_threshold, force, topk):
    size, center = anchor[:, 2:] - anchor[:, :2], (anchor[:, 2:] + anchor[:, :2]) / 2
    center = center + offset[:, :2] * variances[:2] * size
    half = np.exp(offset[:, 2:] * variances[2:]) * size / 2
    box = np.concatenate([center - half, center + half], 1)
    rows = np.full((len(anchor), 6), -1.0)
    if len(score) == 1:
        return rows
    others = np.where(np.isnan(score[1:]), -np.inf, score[1:])
    best = others.max(0)
    valid = np.flatnonzero((best > -1) & ~(best < np.float32(threshold)))
    found = np.concatenate([others.argmax(0)[:, None], best[:, None], box.clip(0, 1) if clip else box], 1)[valid]
    if 0 < nms_threshold <= 1:
        order = np.argsort(-found[:, 1], kind="stable")[: topk if topk > 0 else None]
        found[: len(order)] = found[order]
        kinds = found[: len(order), 0] * (not force)
        kept = keep(found[: len(order), 2:], kinds, np.float32(nms_threshold), inclusive=True)
        found[[i for i in range(len(found)) if i not in kept], 0] = -1
    rows[: len(found)] = found
    return rows


def _detection(
    cls_prob,
    loc_pred,
    anchor,
    clip=True,
    threshold=0.01,
    background_id=0,
    nms_threshold=0.5,
    force_suppress=False,
    variances=(0.1, 0.1, 0.2, 0.2),
    nms_topk=-1,
):
    rows = [
        _one_detection(
            score.astype("float64"),
            offset.reshape(-1, 4),
            anchor[0].astype("float64"),
            np.array(variances),
            clip,
            threshold,
            nms_threshold,
            force_suppress,
            nms_topk,
        )
        for score, offset in zip(cls_prob, loc_pred)
    ]
    return np.array(rows, "float32").reshape(cls_prob.shape[0], anchor.shape[1], 6)  # fmt: skip


_op = "_contrib_MultiBoxDetection"
_numbers = np.random.RandomState(21)
_SCORES, _OFFSETS, _ANCHORS = _numbers.rand(2, 3, 20), _numbers.randn(2, 80) / 4, grid(22, 1, 20)
_GIVEN = tuple(In(values=each) for each in (_SCORES, _OFFSETS, _ANCHORS))
for _label, _params in {
    "default": {}, "no-clip": {"clip": False}, "threshold": {"threshold": 0.6},
    "threshold-negative": {"threshold": -5.0},
    "threshold-all": {"threshold": 2.0}, "background": {"background_id": 1}, "nms-small": {"nms_threshold": 0.1},
    "nms-one": {"nms_threshold": 1.0}, "nms-zero": {"nms_threshold": 0.0}, "nms-negative": {"nms_threshold": -1.0},
    "nms-large": {"nms_threshold": 2.0}, "force": {"force_suppress": True, "nms_threshold": 0.3},
    "variances": {"variances": (1.0, 0.5, 0.3, 0.2)}, "topk": {"nms_topk": 3}, "topk-one": {"nms_topk": 1},
    "topk-zero": {"nms_topk": 0}, "topk-large": {"nms_topk": 99},
}.items():  # fmt: skip
    CASES.append(Case(_op, _label, _GIVEN, _params, _detection, diff=(0, 1, 2)))
_HERE = In(values=np.zeros((2, 80)))
CASES += [
    Case(_op, "ties", (In(values=np.round(_SCORES * 4) / 4), _HERE, _GIVEN[2]), {}, _detection),
    Case(_op, "at-threshold", (In(values=np.round(_SCORES * 4) / 4), _HERE, _GIVEN[2]), {"threshold": 0.75},
         _detection),
    Case(_op, "two-classes", (In(values=_SCORES[:, :2]), *_GIVEN[1:]), {"nms_threshold": 0.2}, _detection),
    Case(_op, "background-only", (In(values=_SCORES[:, :1]), *_GIVEN[1:]), {}, _detection),
    Case(_op, "no-area", (In(values=[[[0.1, 0.2], [0.9, 0.8]]]), In(values=np.zeros((1, 8))),
         In(values=[[[0.5] * 4] * 2])),
         {}, _detection),
    Case(_op, "half-overlap", (In(values=[[[0.1, 0.2], [0.9, 0.8]]]), In(values=np.zeros((1, 8))),
                               In(values=[[[0, 0, 1, 1], [0, 0, 1, 0.5]]])), {}, _detection),
    Case(_op, "special-scores", (In(values=[[[0, 0, 0, 0], [np.nan, np.inf, -np.inf, -2], [0.5, np.nan, -np.inf, -3]]]),
                                 In(values=np.zeros((1, 16))), In(values=_ANCHORS[:, :4])), {"threshold": -9.0},
                                 _detection),
    Case(_op, "empty", (In((0, 3, 4)), In((0, 16)), In((1, 4, 4))), {}, _detection, np_shape=True),
    Case(_op, "0-axes", (In(()), In(()), In(())), {}, error=True, np_shape=True),
    Case(_op, "two-variances", _GIVEN, {"variances": (0.1, 0.1)}, error=True),
    Case(_op, "float64", tuple(each.like("float64") for each in _GIVEN), {}, error=True),
    Case(_op, "float16", tuple(each.like("float16") for each in _GIVEN), {}, error=True),
    Case(_op, "dtypes", (_GIVEN[0].like("float64"), *_GIVEN[1:]), {}, error=True),
    Case(_op, "anchors-flat", (*_GIVEN[:2], In(values=_ANCHORS[0])), {}, error=True),
    Case(_op, "anchors-batch", (*_GIVEN[:2], In((2, 20, 4))), {}, error=True),
    Case(_op, "anchors-few", (*_GIVEN[:2], In((1, 19, 4))), {}, error=True),
    Case(_op, "anchors-wide", (*_GIVEN[:2], In((1, 20, 5))), {}, error=True),
    Case(_op, "offsets-few", (_GIVEN[0], In((2, 60)), _GIVEN[2]), {}, error=True),
    Case(_op, "offsets-batch", (_GIVEN[0], In((1, 80)), _GIVEN[2]), {}, error=True,
         oracle="differs: 1.9.1 reads beyond the offsets"),
    Case(_op, "offsets-axes", (_GIVEN[0], In((2, 20, 4)), _GIVEN[2]), {}, error=True),
    Case(_op, "two-inputs", _GIVEN[:2], {}, error=True),
]  # fmt: skip

# ---- MultiBoxTarget ----


def _matches(every: np.ndarray, threshold: float) -> np.ndarray:
    """The label of each anchor, or -1."""
    match, left = np.full(len(every), -1), every.copy()
    for _ in range(every.shape[1]):
        i, j = np.unravel_index(left.argmax(), left.shape)
        if left[i, j] <= 1e-6:
            break
        match[i] = j
        left[i], left[:, j] = -1, -1
    if threshold > 0:
        rest = (match < 0) & (every.max(1) > np.float32(threshold))
        match[rest] = every.argmax(1)[rest]
    return match


def _one_target(anchor, label, score, threshold, ignore, ratio, hard, variances):
    ends = np.flatnonzero(label[:, 0] == -1)
    label = label[: ends[0] if len(ends) else None]
    count = len(anchor)
    offset, mask, kind = np.zeros((count, 4)), np.zeros((count, 4)), np.full(count, float(ignore))
    if len(label) == 0:
        return offset, mask, kind
    every = np.nan_to_num(overlaps(anchor, label[:, 1:5])).astype("float32")
    match = _matches(every, threshold)
    positive = match >= 0
    free = np.flatnonzero(~positive)
    if ratio > 0:
        chance = np.exp(score - score.max(0))
        free = free[every.max(1)[free] < np.float32(hard)]
        order = np.argsort((chance[0] / chance.sum(0))[free].astype("float32"), kind="stable")
        free = free[order][: int(positive.sum() * np.float32(ratio))]
    kind[free] = 0
    own, other = anchor[positive], label[match[positive]]
    size, its = own[:, 2:] - own[:, :2], other[:, 3:5] - other[:, 1:3]
    away = (other[:, 1:3] + other[:, 3:5] - own[:, :2] - own[:, 2:]) / 2 / size
    offset[positive] = np.concatenate([away, np.log(its / size)], 1) / variances
    mask[positive], kind[positive] = 1, other[:, 0] + 1
    return offset, mask, kind


def _target(
    anchor,
    label,
    cls_pred,
    overlap_threshold=0.5,
    ignore_label=-1,
    negative_mining_ratio=-1,
    negative_mining_thresh=0.5,
    minimum_negative_samples=0,
    variances=(0.1, 0.1, 0.2, 0.2),
):
    rows = [
        _one_target(
            anchor[0].astype("float64"),
            own.astype("float64"),
            score.astype("float64"),
            overlap_threshold,
            ignore_label,
            negative_mining_ratio,
            negative_mining_thresh,
            np.array(variances),
        )
        for own, score in zip(label, cls_pred)
    ]
    shapes = [(len(label), 4 * anchor.shape[1])] * 2 + [(len(label), anchor.shape[1])]
    return tuple(np.array([row[k] for row in rows], "float32").reshape(shape)
                 for k, shape in enumerate(shapes))  # fmt: skip


def _labels(counts: tuple, most: int, width: int = 5) -> np.ndarray:
    rows = np.full((len(counts), most, width), -1.0)
    for i, count in enumerate(counts):
        rows[i, :count, 1:5] = grid(30 + i, count) + _numbers.rand(count, 4) / 64
        rows[i, :count, 0] = _numbers.randint(0, 4, count)
    return rows


_op = "_contrib_MultiBoxTarget"
_PLACES = grid(23, 1, 40) + _numbers.rand(1, 40, 4) / 64
_ASKED = (In(values=_PLACES), In(values=_labels((3, 1, 5, 0), 5, 6)), In(values=_numbers.randn(4, 5, 40)))
for _label, _params in {
    "default": {}, "threshold": {"overlap_threshold": 0.2}, "threshold-large": {"overlap_threshold": 0.95},
    "threshold-zero": {"overlap_threshold": 0.0}, "threshold-negative": {"overlap_threshold": -1.0},
    "mining": {"negative_mining_ratio": 1.0}, "mining-fraction": {"negative_mining_ratio": 0.7, "ignore_label": -7.0},
    "mining-more": {"negative_mining_ratio": 3.0, "negative_mining_thresh": 0.8},
    "mining-none": {"negative_mining_ratio": 0.0}, "mining-least": {"negative_mining_ratio": 0.4,
    "minimum_negative_samples": 5},
    "mining-little": {"negative_mining_ratio": 0.1}, "ignore": {"ignore_label": -3.0},
    "variances": {"variances": (1.0, 0.5, 0.3, 0.2)},
}.items():  # fmt: skip
    CASES.append(Case(_op, _label, _ASKED, _params, _target, diff=(0, 1, 2)))
_FEW = (In(values=_PLACES[:, :5]), In(values=_labels((2,), 3)), In(values=_numbers.randn(1, 3, 5)))
_SCARCE = "differs: an error in 1.9.1"
CASES += [
    Case(_op, "mining-scarce", _FEW, {"negative_mining_ratio": 3.0, "negative_mining_thresh": 0.01}, _target,
         oracle=_SCARCE),
    Case(_op, "same-labels", (_FEW[0], In(values=[[[1, 0.1, 0.1, 0.6, 0.6], [0, 0.1, 0.1, 0.6, 0.6]]]), _FEW[2]), {},
         _target),
    Case(_op, "fractional-class", (_FEW[0], In(values=[[[1.5, 0.1, 0.1, 0.6, 0.6]]]), _FEW[2]), {}, _target),
    Case(_op, "far-label", (_FEW[0], In(values=[[[1, 5, 5, 6, 6]]]), _FEW[2]), {}, _target),
    Case(_op, "no-area", (_FEW[0], In(values=[[[1, 0.1, 0.1, 0.1, 0.1]]]), _FEW[2]), {}, _target),
    Case(_op, "no-labels", (_FEW[0], In(values=[[[-1.0] * 5]]), _FEW[2]), {"negative_mining_ratio": 1.0}, _target),
    Case(_op, "one-anchor", (In(values=_PLACES[:, :1]), _FEW[1], In((1, 3, 1))), {}, _target),
    Case(_op, "one-class", (*_FEW[:2], In((1, 1, 5))), {"negative_mining_ratio": 1.0}, _target),
    Case(_op, "special-scores", (*_FEW[:2], In(values=np.resize([0, 1e30, -1e30], (1, 3, 5)))),
         {"negative_mining_ratio": 1.0}),
    Case(_op, "empty", (In((1, 5, 4)), In((0, 3, 5)), In((0, 3, 5))), {}, _target, np_shape=True),
    Case(_op, "0-axes", (In(()), In(()), In(())), {}, error=True, np_shape=True),
    Case(_op, "no-label-rows", (_FEW[0], In((1, 0, 5)), _FEW[2]), {}, error=True, np_shape=True),
    Case(_op, "label-after-end", (_FEW[0], In(values=[[[-1, 0, 0, 1, 1], [0, 0.5, 0.5, 1, 1]]]), _FEW[2]), {},
         error=True),
    Case(_op, "narrow-labels", (_FEW[0], In((1, 3, 4)), _FEW[2]), {}, error=True),
    Case(_op, "flat-labels", (_FEW[0], In((3, 5)), _FEW[2]), {}, error=True),
    Case(_op, "flat-anchors", (In(values=_PLACES[0, :5]), *_FEW[1:]), {}, error=True),
    Case(_op, "anchors-batch", (In((2, 5, 4)), *_FEW[1:]), {}, error=True),
    Case(_op, "anchors-wide", (In((1, 5, 5)), *_FEW[1:]), {}, error=True),
    Case(_op, "scores-few", (*_FEW[:2], In((1, 3, 4))), {}, error=True),
    Case(_op, "scores-flat", (*_FEW[:2], In((3, 5))), {}, error=True),
    Case(_op, "scores-batch", (*_FEW[:2], In((2, 3, 5))), {}, error=True,
         oracle="differs: 1.9.1 reads some of the scores"),
    Case(_op, "one-variance", _FEW, {"variances": (0.1,)}, error=True),
    Case(_op, "float64", tuple(each.like("float64") for each in _FEW), {}, error=True),
    Case(_op, "float16", tuple(each.like("float16") for each in _FEW), {}, error=True),
    Case(_op, "two-inputs", _FEW[:2], {}, error=True),
]  # fmt: skip
