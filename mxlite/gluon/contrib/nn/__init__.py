"""`mx.gluon.contrib.nn`: layers that MXNet calls experimental."""

from __future__ import annotations

from mxlite._public import show
from mxlite.gluon.contrib.nn import basic_layers
from mxlite.gluon.contrib.nn.basic_layers import *  # noqa: F403

__all__ = ["basic_layers", *basic_layers.__all__]  # noqa: PLE0604

show(globals())
