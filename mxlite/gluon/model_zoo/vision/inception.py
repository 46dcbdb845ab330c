"""Inception, version 3 (Szegedy 2015)."""

from __future__ import annotations

from typing import Any

from mxlite._public import offer, show
from mxlite.gluon import nn
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.contrib.nn import HybridConcurrent
from mxlite.gluon.model_zoo.vision._common import CPU, FOLDER, Classifier, trained

# A branch is a tuple of layers: (channels, kernel, stride, padding) of a convolution, where what follows the channels
# may be left out; a name of pooling; or a list of branches, which are joined.
_WIDE, _TALL = ((1, 7), 1, (0, 3)), ((7, 1), 1, (3, 0))
_SPLIT = [((384, (1, 3), 1, (0, 1)),), ((384, (3, 1), 1, (1, 0)),)]


def _mixed_35(pooled: int) -> list[tuple[Any, ...]]:
    """The branches at 35 x 35."""
    return [
        ((64,),),
        ((48,), (64, 5, 1, 2)),
        ((64,), (96, 3, 1, 1), (96, 3, 1, 1)),
        ("avg", (pooled,)),
    ]


def _mixed_17(inner: int) -> list[tuple[Any, ...]]:
    """The branches at 17 x 17; convolutions of 7 x 7 as a row and a column."""
    row, column = (inner, *_WIDE), (inner, *_TALL)
    return [
        ((192,),),
        ((inner,), row, (192, *_TALL)),
        ((inner,), column, row, column, (192, *_WIDE)),
        ("avg", (192,)),
    ]


_TO_17 = [((384, 3, 2),), ((64,), (96, 3, 1, 1), (96, 3, 2)), ("max",)]
_TO_8 = [((192,), (320, 3, 2)), ((192,), (192, *_WIDE), (192, *_TALL), (192, 3, 2)), ("max",)]
_MIXED_8 = [((320,),), (((384,),), _SPLIT), (((448,), (384, 3, 1, 1)), _SPLIT), ("avg", (192,))]

_STEM = ((32, 3, 2), (32, 3), (64, 3, 1, 1), "max", (80,), (192, 3), "max")
_BLOCKS = (
    ("A1_", _mixed_35(32)),
    ("A2_", _mixed_35(64)),
    ("A3_", _mixed_35(64)),
    ("B_", _TO_17),
    ("C1_", _mixed_17(128)),
    ("C2_", _mixed_17(160)),
    ("C3_", _mixed_17(160)),
    ("C4_", _mixed_17(192)),
    ("D_", _TO_8),
    ("E1_", _MIXED_8),
    ("E2_", _MIXED_8),
)


def _layer(what: Any) -> HybridBlock:
    if what == "max":
        return nn.MaxPool2D(3, 2)
    if what == "avg":
        return nn.AvgPool2D(3, 1, 1)
    if isinstance(what, list):
        return _join(what, "")
    if isinstance(what[0], tuple):
        return _sequence(what)
    channels, kernel, stride, padding = (*what, *(1, 1, 0)[len(what) - 1 :])
    out = nn.HybridSequential(prefix="")
    out.add(nn.Conv2D(channels, kernel, stride, padding, use_bias=False), nn.BatchNorm(epsilon=0.001))
    out.add(nn.Activation("relu"))
    return out


def _sequence(layers: Any) -> nn.HybridSequential:
    out = nn.HybridSequential(prefix="")
    for layer in layers:
        out.add(_layer(layer))
    return out


def _join(branches: list[tuple[Any, ...]], prefix: str) -> HybridConcurrent:
    out = HybridConcurrent(axis=1, prefix=prefix)
    with out.name_scope():
        for branch in branches:
            out.add(_sequence(branch))
    return out


class Inception3(Classifier):
    """Inception, version 3, for images of (N, 3, 299, 299)."""

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            for layer in _STEM:
                self.features.add(_layer(layer))
            for prefix, branches in _BLOCKS:
                self.features.add(_join(branches, prefix))
            self.features.add(nn.AvgPool2D(8), nn.Dropout(0.5))
            self.output = nn.Dense(classes)


def inception_v3(pretrained: bool = False, ctx: Any = CPU, root: str = FOLDER, **kwargs: Any) -> Inception3:
    """Inception, version 3, with trained parameters from a file in `root` if wanted."""
    return trained(Inception3(**kwargs), "inceptionv3", pretrained, ctx, root)


offer(globals())
show(globals())
