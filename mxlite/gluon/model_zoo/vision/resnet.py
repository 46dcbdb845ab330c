"""Residual networks: version 1 (He 2015), and version 2 with normalization first (He 2016)."""

from __future__ import annotations

from typing import Any

from mxlite._public import offer, show
from mxlite.context import Context
from mxlite.error import WrongValueError
from mxlite.gluon import nn
from mxlite.gluon.block import HybridBlock
from mxlite.gluon.model_zoo.vision._common import CPU, FOLDER, Classifier, trained, variant


def _conv3x3(channels: int, stride: int, in_channels: int) -> nn.Conv2D:
    return nn.Conv2D(channels, 3, stride, 1, use_bias=False, in_channels=in_channels)


class _BlockV1(HybridBlock):
    """A body of convolutions, each followed by normalization, added to its input.

    Args:
        channels: of the output. stride: of the first convolution.
        downsample: whether a convolution of 1x1 brings the input to the output's shape.
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.body = nn.HybridSequential(prefix="")
        for number, layer in enumerate(self._convolutions(channels, stride, in_channels)):
            if number:
                self.body.add(nn.Activation("relu"))
            self.body.add(layer, nn.BatchNorm())
        self.downsample = None
        if downsample:
            self.downsample = nn.HybridSequential(prefix="")
            self.downsample.add(nn.Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels))
            self.downsample.add(nn.BatchNorm())

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """The rectified sum of the body's output and the input."""
        kept = x if self.downsample is None else self.downsample(x)
        return F.Activation(kept + self.body(x), act_type="relu")


class BasicBlockV1(_BlockV1):
    """Two convolutions of 3x3, of ResNets V1 with 18 and 34 layers."""

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> Any:
        yield _conv3x3(channels, stride, in_channels)
        yield _conv3x3(channels, 1, channels)


class BottleneckV1(_BlockV1):
    """Convolutions of 1x1, 3x3 and 1x1, of ResNets V1 with 50 and more layers."""

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> Any:
        yield nn.Conv2D(channels // 4, 1, stride)
        yield _conv3x3(channels // 4, 1, channels // 4)
        yield nn.Conv2D(channels, 1, 1)


class _BlockV2(HybridBlock):
    """Convolutions, each after normalization and rectification, added to the input; arguments as in version 1."""

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._steps = []
        for number, layer in enumerate(self._convolutions(channels, stride, in_channels), 1):
            setattr(self, f"bn{number}", nn.BatchNorm())
            setattr(self, f"conv{number}", layer)
            self._steps.append((f"bn{number}", f"conv{number}"))
        self.downsample = None
        if downsample:
            self.downsample = nn.Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        """The sum of the last convolution's output and the input."""
        kept = x
        for number, (norm, layer) in enumerate(self._steps):
            x = F.Activation(getattr(self, norm)(x), act_type="relu")
            if number == 0 and self.downsample is not None:
                kept = self.downsample(x)
            x = getattr(self, layer)(x)
        return x + kept


class BasicBlockV2(_BlockV2):
    """Two convolutions of 3x3, of ResNets V2 with 18 and 34 layers."""

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> Any:
        yield _conv3x3(channels, stride, in_channels)
        yield _conv3x3(channels, 1, channels)


class BottleneckV2(_BlockV2):
    """Convolutions of 1x1, 3x3 and 1x1, of ResNets V2 with 50 and more layers."""

    def _convolutions(self, channels: int, stride: int, in_channels: int) -> Any:
        yield nn.Conv2D(channels // 4, 1, 1, use_bias=False)
        yield _conv3x3(channels // 4, stride, channels // 4)
        yield nn.Conv2D(channels, 1, 1, use_bias=False)


class _ResNet(Classifier):
    """A stem, four stages of blocks, and an output.

    Args:
        block: the class of the blocks. layers: the number of blocks of each stage.
        channels: of the stem and of each stage. thumbnail: whether the stem is one convolution of 3x3, for 32x32.
    Raises: ValueError: `channels` is not one longer than `layers`.
    """

    _first = False

    def __init__(
        self,
        block: type[HybridBlock],
        layers: list[int],
        channels: list[int],
        classes: int = 1000,
        thumbnail: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if len(layers) != len(channels) - 1:
            raise WrongValueError(
                f"{len(layers)} stages need {len(layers) + 1} numbers of channels, not {len(channels)}"
            )
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            if self._first:
                self.features.add(nn.BatchNorm(scale=False, center=False))
            if thumbnail:
                self.features.add(_conv3x3(channels[0], 1, 0))
            else:
                self.features.add(nn.Conv2D(channels[0], 7, 2, 3, use_bias=False))
                self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(3, 2, 1))
            for number, count in enumerate(layers, 1):
                before, after = channels[number - 1 : number + 1]
                self.features.add(self._stage(block, count, after, number, before))
            if self._first:
                self.features.add(nn.BatchNorm(), nn.Activation("relu"))
            self.features.add(nn.GlobalAvgPool2D())
            if self._first:
                self.features.add(nn.Flatten())
            self.output = nn.Dense(classes, in_units=channels[-1])

    @staticmethod
    def _stage(block: Any, count: int, channels: int, number: int, before: int) -> nn.HybridSequential:
        stage = nn.HybridSequential(prefix=f"stage{number}_")
        with stage.name_scope():
            stage.add(block(channels, 1 if number == 1 else 2, channels != before, in_channels=before, prefix=""))
            for _ in range(count - 1):
                stage.add(block(channels, 1, False, in_channels=channels, prefix=""))
        return stage


class ResNetV1(_ResNet):
    """A residual network of version 1."""


class ResNetV2(_ResNet):
    """A residual network of version 2."""

    _first = True


_CHANNELS = {"basic_block": [64, 64, 128, 256, 512], "bottle_neck": [64, 256, 512, 1024, 2048]}
#: By the number of layers with parameters the kind of blocks, blocks of each stage, and features of the stem and each.
resnet_spec = {
    depth: (kind, blocks, _CHANNELS[kind])
    for depth, kind, blocks in (
        (18, "basic_block", [2, 2, 2, 2]),
        (34, "basic_block", [3, 4, 6, 3]),
        (50, "bottle_neck", [3, 4, 6, 3]),
        (101, "bottle_neck", [3, 4, 23, 3]),
        (152, "bottle_neck", [3, 8, 36, 3]),
    )
}
#: The networks, and their blocks by kind, of versions 1 and 2.
resnet_net_versions = [ResNetV1, ResNetV2]
resnet_block_versions = [
    {"basic_block": BasicBlockV1, "bottle_neck": BottleneckV1},
    {"basic_block": BasicBlockV2, "bottle_neck": BottleneckV2},
]


def get_resnet(
    version: int,
    num_layers: int,
    pretrained: bool = False,
    ctx: Context | list[Context] = CPU,
    root: str = FOLDER,
    **kwargs: Any,
) -> ResNetV1 | ResNetV2:
    """A residual network of version 1 or 2 with 18, 34, 50, 101 or 152 layers. Raises: ValueError: another one."""
    if num_layers not in resnet_spec:
        raise WrongValueError(f"there is no ResNet of {num_layers} layers; there are {list(resnet_spec)}")
    if version not in (1, 2):
        raise WrongValueError(f"Invalid resnet version: {version}. Options are 1 and 2.")
    kind, layers, channels = resnet_spec[num_layers]
    block = resnet_block_versions[version - 1][kind]
    net = resnet_net_versions[version - 1](block, layers, channels, **kwargs)
    return trained(net, f"resnet{num_layers}_v{version}", pretrained, ctx, root)


for _version in (1, 2):
    for _depth in resnet_spec:
        _name = f"resnet{_depth}_v{_version}"
        globals()[_name] = variant(__name__, _name, get_resnet, _version, _depth)

offer(globals())
show(globals())
