"""Densely connected networks (Huang 2017): each layer gets the outputs of all before it."""

from __future__ import annotations

from typing import Any

from mxlite._public import offer, show
from mxlite.gluon import nn
from mxlite.gluon.contrib.nn import HybridConcurrent, Identity
from mxlite.gluon.model_zoo.vision._common import CPU, FOLDER, Classifier, trained, variant

#: Features of the stem, features that a layer adds, and layers of each block, by the number of layers with parameters.
densenet_spec = {
    121: (64, 32, [6, 12, 24, 16]),
    161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]),
    201: (64, 32, [6, 12, 48, 32]),
}


def _layer(growth: int, bottleneck: int, dropout: float) -> HybridConcurrent:
    """The input beside `growth` features of it."""
    features = nn.HybridSequential(prefix="")
    for channels, kernel, padding in ((bottleneck * growth, 1, 0), (growth, 3, 1)):
        features.add(nn.BatchNorm(), nn.Activation("relu"))
        features.add(nn.Conv2D(channels, kernel, padding=padding, use_bias=False))
    if dropout:
        features.add(nn.Dropout(dropout))
    both = HybridConcurrent(axis=1, prefix="")
    both.add(Identity(), features)
    return both


def _transition(channels: int) -> nn.HybridSequential:
    """Fewer features, at half the width and height."""
    out = nn.HybridSequential(prefix="")
    out.add(nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(channels, 1, use_bias=False), nn.AvgPool2D(2, 2))
    return out


class DenseNet(Classifier):
    """A stem, blocks of layers that each add features, and transitions that halve their number between them.

    Args:
        num_init_features: features of the stem. growth_rate: features that a layer adds.
        block_config: layers of each block. bn_size: features within a layer, in multiples of `growth_rate`.
        dropout: the share of a layer's features that is dropped in training.
    """

    def __init__(
        self,
        num_init_features: int,
        growth_rate: int,
        block_config: list[int],
        bn_size: int = 4,
        dropout: float = 0,
        classes: int = 1000,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.Conv2D(num_init_features, 7, 2, 3, use_bias=False))
            self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(3, 2, 1))
            channels = num_init_features
            for number, count in enumerate(block_config, 1):
                block = nn.HybridSequential(prefix=f"stage{number}_")
                with block.name_scope():
                    block.add(*[_layer(growth_rate, bn_size, dropout) for _ in range(count)])
                self.features.add(block)
                channels += count * growth_rate
                if number < len(block_config):
                    channels //= 2
                    self.features.add(_transition(channels))
            self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.AvgPool2D(7), nn.Flatten())
            self.output = nn.Dense(classes)


def _get_densenet(
    num_layers: int, pretrained: bool = False, ctx: Any = CPU, root: str = FOLDER, **kwargs: Any
) -> DenseNet:
    return trained(DenseNet(*densenet_spec[num_layers], **kwargs), f"densenet{num_layers}", pretrained, ctx, root)


for _depth in densenet_spec:
    globals()[f"densenet{_depth}"] = variant(__name__, f"densenet{_depth}", _get_densenet, _depth)

offer(globals())
show(globals())
