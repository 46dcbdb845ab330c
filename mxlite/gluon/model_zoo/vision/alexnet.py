"""AlexNet (Krizhevsky 2014, one column)."""

from __future__ import annotations

from typing import Any

from mxlite._public import show
from mxlite.context import Context
from mxlite.gluon import nn
from mxlite.gluon.model_zoo.vision._common import CPU, FOLDER, Classifier, trained

__all__ = ["AlexNet", "alexnet"]

#: Channels, kernel, stride, padding of each convolution, and whether pooling follows.
_CONVOLUTIONS = (
    (64, 11, 4, 2, True),
    (192, 5, 1, 2, True),
    (384, 3, 1, 1, False),
    (256, 3, 1, 1, False),
    (256, 3, 1, 1, True),
)


class AlexNet(Classifier):
    """AlexNet for images of (N, 3, 224, 224)."""

    def __init__(self, classes: int = 1000, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            with self.features.name_scope():
                for channels, kernel, stride, padding, pooled in _CONVOLUTIONS:
                    self.features.add(nn.Conv2D(channels, kernel, stride, padding, activation="relu"))
                    if pooled:
                        self.features.add(nn.MaxPool2D(3, 2))
                self.features.add(nn.Flatten())
                for _ in range(2):
                    self.features.add(nn.Dense(4096, activation="relu"), nn.Dropout(0.5))
            self.output = nn.Dense(classes)


def alexnet(pretrained: bool = False, ctx: Context | list[Context] = CPU, root: str = FOLDER, **kwargs: Any) -> AlexNet:
    """AlexNet, with trained parameters from a file in `root` if wanted."""
    return trained(AlexNet(**kwargs), "alexnet", pretrained, ctx, root)


show(globals())
