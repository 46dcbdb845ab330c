"""`mx.gluon.contrib.data`: a sampler, and data sets of text."""

from __future__ import annotations

from mxlite._public import show
from mxlite.gluon.contrib.data import sampler, text
from mxlite.gluon.contrib.data.sampler import IntervalSampler

__all__ = ["IntervalSampler", "sampler", "text"]

show(globals())
