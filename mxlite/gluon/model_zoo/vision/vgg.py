"""VGG networks (Simonyan 2014), with and without batch normalization."""

from __future__ import annotations

from typing import Any

from mxlite import initializer
from mxlite._public import offer, show
from mxlite.context import Context
from mxlite.error import WrongValueError
from mxlite.gluon import nn
from mxlite.gluon.model_zoo.vision._common import CPU, FOLDER, Classifier, trained, variant

_FILTERS = [64, 128, 256, 512, 512]
#: Convolutions of each stage and their features, by the number of layers with parameters.
vgg_spec = {
    11: ([1, 1, 2, 2, 2], _FILTERS),
    13: ([2, 2, 2, 2, 2], _FILTERS),
    16: ([2, 2, 3, 3, 3], _FILTERS),
    19: ([2, 2, 4, 4, 4], _FILTERS),
}


class VGG(Classifier):
    """Stages of convolutions of 3x3, each ended by pooling, then dense layers.

    Args:
        layers: the convolutions of each stage. filters: their channels.
    Raises: ValueError: the two have different lengths.
    """

    def __init__(
        self, layers: list[int], filters: list[int], classes: int = 1000, batch_norm: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise WrongValueError(f"{len(layers)} stages need as many numbers of filters, not {len(filters)}")
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            for count, channels in zip(layers, filters):
                for _ in range(count):
                    scale = initializer.Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
                    self.features.add(nn.Conv2D(channels, 3, padding=1, weight_initializer=scale))
                    if batch_norm:
                        self.features.add(nn.BatchNorm())
                    self.features.add(nn.Activation("relu"))
                self.features.add(nn.MaxPool2D(strides=2))
            for _ in range(2):
                self.features.add(nn.Dense(4096, activation="relu", weight_initializer="normal"), nn.Dropout(0.5))
            self.output = nn.Dense(classes, weight_initializer="normal")


def get_vgg(
    num_layers: int, pretrained: bool = False, ctx: Context | list[Context] = CPU, root: str = FOLDER, **kwargs: Any
) -> VGG:
    """A VGG network of 11, 13, 16 or 19 layers. Raises: KeyError: another number."""
    net = VGG(*vgg_spec[num_layers], **kwargs)
    return trained(net, f"vgg{num_layers}{'_bn' * bool(kwargs.get('batch_norm'))}", pretrained, ctx, root)


for _depth in vgg_spec:
    globals()[f"vgg{_depth}"] = variant(__name__, f"vgg{_depth}", get_vgg, _depth)
    globals()[f"vgg{_depth}_bn"] = variant(__name__, f"vgg{_depth}_bn", get_vgg, _depth, batch_norm=True)

offer(globals())
show(globals())
