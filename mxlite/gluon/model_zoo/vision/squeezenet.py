"""SqueezeNet (Iandola 2016): few parameters, by convolutions of 1x1 before those of 3x3."""

from __future__ import annotations

from typing import Any

from mxlite._public import offer, show
from mxlite.error import WrongValueError
from mxlite.gluon import nn
from mxlite.gluon.contrib.nn import HybridConcurrent
from mxlite.gluon.model_zoo.vision._common import CPU, FOLDER, Classifier, trained, variant

#: Channels and kernel of the stem; then the channels that each fire module squeezes to, or None for pooling.
_VERSIONS = {
    "1.0": (96, 7, (None, 16, 16, 32, None, 32, 48, 48, 64, None, 64)),
    "1.1": (64, 3, (None, 16, 16, None, 32, 32, None, 48, 48, 64, 64)),
}


def _convolution(channels: int, kernel: int, padding: int = 0) -> nn.HybridSequential:
    out = nn.HybridSequential(prefix="")
    out.add(nn.Conv2D(channels, kernel, padding=padding), nn.Activation("relu"))
    return out


def _fire(squeezed: int) -> nn.HybridSequential:
    """`squeezed` channels, from which four times as many come by kernels of 1x1, and as many by kernels of 3x3."""
    out = nn.HybridSequential(prefix="")
    out.add(_convolution(squeezed, 1))
    expanded = HybridConcurrent(axis=1, prefix="")
    expanded.add(_convolution(4 * squeezed, 1), _convolution(4 * squeezed, 3, 1))
    out.add(expanded)
    return out


class SqueezeNet(Classifier):
    """SqueezeNet, version "1.0" or "1.1". Raises: ValueError: another version."""

    def __init__(self, version: str, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if version not in _VERSIONS:
            raise WrongValueError(f"Unsupported SqueezeNet version {version}: 1.0 or 1.1 expected")
        channels, kernel, modules = _VERSIONS[version]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.Conv2D(channels, kernel, 2), nn.Activation("relu"))
            for squeezed in modules:
                self.features.add(nn.MaxPool2D(3, 2, ceil_mode=True) if squeezed is None else _fire(squeezed))
            self.features.add(nn.Dropout(0.5))
            self.output = nn.HybridSequential(prefix="")
            self.output.add(nn.Conv2D(classes, 1), nn.Activation("relu"), nn.AvgPool2D(13), nn.Flatten())


def get_squeezenet(
    version: str, pretrained: bool = False, ctx: Any = CPU, root: str = FOLDER, **kwargs: Any
) -> SqueezeNet:
    """SqueezeNet of a version, with trained parameters from a file in `root` if wanted."""
    return trained(SqueezeNet(version, **kwargs), f"squeezenet{version}", pretrained, ctx, root)


squeezenet1_0 = variant(__name__, "squeezenet1_0", get_squeezenet, "1.0")
squeezenet1_1 = variant(__name__, "squeezenet1_1", get_squeezenet, "1.1")

offer(globals())
show(globals())
