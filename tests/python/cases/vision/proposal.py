"""Proposal, MultiProposal: the regions that a region proposal network finds."""

from __future__ import annotations

import numpy as np

from .._case import Case, In
from .boxes import keep

CASES: list = []


def _anchors(scales: tuple, ratios: tuple, stride: int) -> np.ndarray:
    rows = []
    for ratio in ratios:
        width = np.floor(np.sqrt(np.floor(stride * stride / ratio)) + 0.5)
        height = np.floor(width * ratio + 0.5)
        rows += [(width * scale - 1, height * scale - 1) for scale in scales]
    half = np.array(rows) / 2
    return np.concatenate([(stride - 1) / 2 - half, (stride - 1) / 2 + half], 1)


def _moved(boxes: np.ndarray, by: np.ndarray, info: np.ndarray, iou_loss: bool) -> np.ndarray:
    size = boxes[:, 2:] - boxes[:, :2] + 1
    center = boxes[:, :2] + (size - 1) / 2 + by[:, :2] * size
    half = (np.exp(by[:, 2:]) * size - 1) / 2
    moved = boxes + by if iou_loss else np.concatenate([center - half, center + half], 1)
    return np.maximum(np.minimum(moved, np.tile(info[1::-1] - 1, 2)), 0)


def _one(score, offset, info, anchors, stride, pre, post, threshold, least, iou_loss):
    count, (height, width) = len(anchors), score.shape[1:]
    y, x, _ = (each.ravel() for each in np.mgrid[:height, :width, :count])
    boxes = np.tile(anchors, (height * width, 1)) + stride * np.stack([x, y, x, y], 1)
    boxes = _moved(boxes, offset.reshape(count, 4, height, width).transpose(2, 3, 0, 1).reshape(-1, 4), info, iou_loss)
    inside = (y < int(info[0] / stride)) & (x < int(info[1] / stride))
    own = np.where(inside, score[count:].transpose(1, 2, 0).ravel(), -1)
    small = (boxes[:, 2:] - boxes[:, :2] + 1 < least * info[2]).any(1)
    boxes[small] += np.array([-1, -1, 1, 1]) * least * info[2] / 2
    order = np.argsort(-np.where(small, -1, own), kind="stable")[:pre]
    wide = boxes[order] + [0, 0, 1, 1]
    kept = order[keep(wide, np.zeros(len(order)), np.float32(threshold))][:post]
    kept = kept[np.arange(post) % len(kept)]
    return boxes[kept], np.where(small, -1, own)[kept]


def _proposal(
    cls_prob,
    bbox_pred,
    im_info,
    rpn_pre_nms_top_n=6000,
    rpn_post_nms_top_n=300,
    threshold=0.7,
    rpn_min_size=16,
    scales=(4, 8, 16, 32),
    ratios=(0.5, 1, 2),
    feature_stride=16,
    output_score=False,
    iou_loss=False,
):
    anchors, rows, scores = _anchors(scales, ratios, feature_stride), [], []
    for i, each in enumerate(zip(*(array.astype("float64") for array in (cls_prob, bbox_pred, im_info)))):
        boxes, own = _one(
            *each, anchors, feature_stride, rpn_pre_nms_top_n, rpn_post_nms_top_n, threshold, rpn_min_size, iou_loss
        )
        rows.append(np.insert(boxes, 0, i, 1))
        scores.append(own[:, None])
    results = np.concatenate(rows).astype("float32"), np.concatenate(scores).astype("float32")
    return results if output_score else results[0]


_FEW = {"scales": (2.0, 4.0), "ratios": (0.5, 1.0), "rpn_post_nms_top_n": 8}
_CLOSE = {"float32": (1e-4, 1e-3)}


def _given(images: int, anchors: int, height: int, width: int, info=None) -> tuple:
    numbers = np.random.RandomState(40 + images)
    shape = (images, 2 * anchors, height, width)
    scores = (numbers.permutation(int(np.prod(shape))) + 1.0).reshape(shape) / 4096
    offsets = numbers.randn(images, 4 * anchors, height, width) / 5
    return In(values=scores), In(values=offsets), In(values=[info or [16 * height, 16 * width - 9, 1.0]] * images)


for _op, _images in (("_contrib_Proposal", 1), ("_contrib_MultiProposal", 2)):
    _inputs = _given(_images, 4, 5, 6)
    for _label, _params in {
        "few": {}, "scores": {"output_score": True}, "iou-loss": {"iou_loss": True}, "pre": {"rpn_pre_nms_top_n": 3},
        "threshold": {"threshold": 0.3, "output_score": True}, "threshold-one": {"threshold": 1.0},
        "size": {"rpn_min_size": 40, "output_score": True}, "size-all": {"rpn_min_size": 500, "output_score": True},
        "size-none": {"rpn_min_size": 0}, "post-many": {"rpn_post_nms_top_n": 50, "threshold": 0.1},
    }.items():  # fmt: skip
        CASES.append(Case(_op, _label, _inputs, {**_FEW, **_params}, _proposal, diff=(0, 1, 2), tolerance=_CLOSE))
    CASES += [
        Case(_op, "default", _given(_images, 12, 4, 5), {"output_score": True}, _proposal, tolerance=_CLOSE),
        Case(_op, "small", _given(_images, 1, 2, 2), {"scales": (2.0,), "ratios": (1.0,), "rpn_post_nms_top_n": 2},
             _proposal, tolerance=_CLOSE),
        Case(_op, "scaled", _given(_images, 4, 5, 6, [60.0, 70.0, 1.5]), _FEW, _proposal, tolerance=_CLOSE),
        Case(_op, "stride", _given(_images, 4, 5, 6, [20.0, 24.0, 1.0]),
             {**_FEW, "feature_stride": 4, "rpn_min_size": 2}, _proposal, tolerance=_CLOSE),
        Case(_op, "special-numbers", _given(_images, 4, 5, 6, [80.0, 80.0, 0.0]), _FEW, tolerance=_CLOSE),
        Case(_op, "beyond-map", _given(_images, 4, 5, 6, [97.0, 80.0, 1.0]), _FEW, error=True,
             oracle="skip: the process ends" if _images > 1 else ""),
        Case(_op, "beyond-map-width", _given(_images, 4, 5, 6, [80.0, 113.0, 1.0]), _FEW, error=True,
             oracle="skip: the process ends" if _images > 1 else ""),
        Case(_op, "other-anchors", _inputs, {**_FEW, "scales": (2.0,)}, error=True),
        Case(_op, "info-columns", (*_inputs[:2], In((_images, 4))), _FEW, error=True),
        Case(_op, "float64", tuple(each.like("float64") for each in _inputs), _FEW, error=True),
        Case(_op, "three-axes", (In((8, 5, 6)), *_inputs[1:]), _FEW, error=True),
        Case(_op, "two-inputs", _inputs[:2], _FEW, error=True),
        Case(_op, "no-scales", _inputs, {**_FEW, "scales": ()}, error=True, oracle="skip: 1.9.1 divides by zero"),
        Case(_op, "no-results", _inputs, {**_FEW, "rpn_post_nms_top_n": 0}, error=True,
             oracle="skip: 1.9.1 fails later"),
        Case(_op, "0-axes", (In(()), In(()), In(())), {}, error=True, np_shape=True),
    ]  # fmt: skip
CASES.append(Case("_contrib_Proposal", "two-images", _given(2, 4, 5, 6), _FEW, error=True))
