"""`mx.gluon.contrib.cnn`: deformable convolutions."""

from __future__ import annotations

from mxlite._public import show
from mxlite.gluon.contrib.cnn import conv_layers
from mxlite.gluon.contrib.cnn.conv_layers import *  # noqa: F403

__all__ = ["conv_layers", *conv_layers.__all__]  # noqa: PLE0604

show(globals())
