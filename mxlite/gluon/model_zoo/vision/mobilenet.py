"""MobileNets: depthwise convolutions (Howard 2017), and inverted residuals (Sandler 2018)."""

from __future__ import annotations

from typing import Any

from mxlite._public import offer, show
from mxlite.gluon import nn
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.model_zoo.vision._common import CPU, FOLDER, Classifier, trained, variant

#: Channels and stride of each pair of a depthwise convolution and one of 1x1.
_PAIRS = (
    (64, 1),
    (128, 2),
    (128, 1),
    (256, 2),
    (256, 1),
    (512, 2),
    *[(512, 1)] * 5,
    (1024, 2),
    (1024, 1),
)
#: Expansion, channels, number and first stride of the bottlenecks of each stage of version 2.
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)
_MULTIPLIERS = (1.0, 0.75, 0.5, 0.25)


class RELU6(HybridBlock):
    """min(max(x, 0), 6)."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """The clipped input."""
        return F.clip(x, 0, 6)


def _convolution(
    out: nn.HybridSequential,
    channels: int,
    kernel: int = 1,
    stride: int = 1,
    depthwise: bool = False,
    activation: Any = RELU6,
) -> None:
    """Adds a convolution of the input's size, its normalization and an activation (None: none)."""
    groups = channels if depthwise else 1
    out.add(nn.Conv2D(channels, kernel, stride, kernel // 2, groups=groups, use_bias=False), nn.BatchNorm())
    if activation is not None:
        out.add(activation())


def _relu() -> nn.Activation:
    return nn.Activation("relu")


class LinearBottleneck(HybridBlock):
    """An expansion to `t` times the channels, a depthwise convolution, and a projection without activation.

    Args:
        in_channels, channels: of the input, of the output. The input is added where both are alike and `stride` is 1.
    """

    def __init__(self, in_channels: int, channels: int, t: int, stride: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        with self.name_scope():
            self.out = nn.HybridSequential()
            _convolution(self.out, in_channels * t)
            _convolution(self.out, in_channels * t, 3, stride, depthwise=True)
            _convolution(self.out, channels, activation=None)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """The projection, plus the input where the shapes are alike."""
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out


class MobileNet(Classifier):
    """Pairs of depthwise convolutions and convolutions of 1x1. `multiplier` scales the channels."""

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            with self.features.name_scope():
                channels = int(32 * multiplier)
                _convolution(self.features, channels, 3, 2, activation=_relu)
                for after, stride in _PAIRS:
                    _convolution(self.features, channels, 3, stride, depthwise=True, activation=_relu)
                    channels = int(after * multiplier)
                    _convolution(self.features, channels, activation=_relu)
                self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes)


class MobileNetV2(Classifier):
    """Stages of linear bottlenecks. `multiplier` scales the channels."""

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="features_")
            with self.features.name_scope():
                before = int(32 * multiplier)
                _convolution(self.features, before, 3, 2)
                for expansion, channels, count, first in _STAGES:
                    after = int(channels * multiplier)
                    for number in range(count):
                        stride = first if number == 0 else 1
                        self.features.add(LinearBottleneck(before, after, expansion, stride))
                        before = after
                _convolution(self.features, int(1280 * multiplier) if multiplier > 1 else 1280)
                self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix="output_")
            with self.output.name_scope():
                self.output.add(nn.Conv2D(classes, 1, use_bias=False, prefix="pred_"), nn.Flatten())


def _text(multiplier: float) -> str:
    """A multiplier as files and names have it: 1.0, 0.75, 0.5."""
    text = f"{multiplier:.2f}"
    return text[:-1] if text in ("1.00", "0.50") else text


def get_mobilenet(
    multiplier: float, pretrained: bool = False, ctx: Any = CPU, root: str = FOLDER, **kwargs: Any
) -> MobileNet:
    """MobileNet with `multiplier` times the channels, with trained parameters from a file in `root` if wanted."""
    return trained(MobileNet(multiplier, **kwargs), f"mobilenet{_text(multiplier)}", pretrained, ctx, root)


def get_mobilenet_v2(
    multiplier: float, pretrained: bool = False, ctx: Any = CPU, root: str = FOLDER, **kwargs: Any
) -> MobileNetV2:
    """Version 2, with `multiplier` times the channels and trained parameters from a file in `root` if wanted."""
    return trained(MobileNetV2(multiplier, **kwargs), f"mobilenetv2_{_text(multiplier)}", pretrained, ctx, root)


for _multiplier in _MULTIPLIERS:
    _suffix = _text(_multiplier).replace(".", "_")
    for _family, _build in (("mobilenet", get_mobilenet), ("mobilenet_v2_", get_mobilenet_v2)):
        globals()[_family + _suffix] = variant(__name__, _family + _suffix, _build, _multiplier)

offer(globals())
show(globals())
