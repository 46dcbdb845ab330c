"""Handwritten digits without their labels: principal components, then k-means, then neighbours."""

from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet import nd

DATA = Path(__file__).resolve().parents[3] / "examples/data/digits.u8"
COMPONENTS, CLUSTERS = 8, 10


def read():
    records = np.fromfile(str(DATA), dtype=np.uint8).reshape(-1, 65)[:600]
    return nd.array(records[:, :64], dtype="uint8").astype("float32") / 16, nd.array(records[:, 64])


def components(x):
    """The directions of the largest variance, largest first, and the variances."""
    centred = x - x.mean(axis=0, keepdims=True)
    covariance = nd.linalg.syrk(centred, transpose=True, alpha=1 / len(x))
    vectors, values = nd.linalg.syevd(covariance)
    largest = vectors[::-1][:COMPONENTS]
    # An eigenvector may point either way: the entry of the largest size is made positive.
    signs = nd.pick(largest, largest.abs().argmax(axis=1)).sign()
    return centred, largest * signs.expand_dims(1), values[::-1]


def distances(points, centres):
    return nd.square(points.expand_dims(1) - centres.expand_dims(0)).sum(axis=2)


def cluster(points, centres):
    moved = []
    for _ in range(12):
        nearest = distances(points, centres).argmin(axis=1)
        members = nd.one_hot(nearest, CLUSTERS)
        sizes = nd.maximum(members.sum(axis=0), 1)
        new = nd.dot(members, points, transpose_a=True) / sizes.reshape((-1, 1))
        moved.append((new - centres).norm().asscalar())
        centres = new
    return centres, nearest, moved


def run():
    x, digits = read()
    centred, directions, variances = components(x)
    points = nd.dot(centred, directions, transpose_b=True)
    centres, nearest, moved = cluster(points, points[np.arange(0, 600, 60)])
    majority = []
    for number in range(CLUSTERS):
        inside = nd.contrib.boolean_mask(digits, nearest == number)
        counts = nd.one_hot(inside, 10).sum(axis=0)
        majority.append([len(inside), int(counts.argmax(axis=0).asscalar()), counts.max().asscalar()])
    # Five nearest neighbours among the first 500, by vote.
    closest = nd.topk(distances(points[500:], points[:500]), k=5, axis=1, is_ascend=True, dtype="int32")
    votes = nd.one_hot(digits[:500].take(closest), 10).sum(axis=1)
    right = votes.argmax(axis=1) == digits[500:]
    return {
        "variances": variances[:20],
        "directions": directions,
        "moved": moved,
        "centres": centres,
        "nearest": nearest,
        "majority": majority,
        "votes": votes,
        "accuracy": right.mean(),
        "wrong": mx.nd.array(np.flatnonzero(right.asnumpy() == 0)),
    }
