"""`mx.mod`: symbols that are trained, by `fit`, or step by step."""

from __future__ import annotations

from mxlite._public import show
from mxlite.module.base_module import BaseModule
from mxlite.module.bucketing_module import BucketingModule
from mxlite.module.module import Module
from mxlite.module.python_module import PythonLossModule, PythonModule
from mxlite.module.sequential_module import SequentialModule

__all__ = ["BaseModule", "BucketingModule", "Module", "PythonLossModule", "PythonModule", "SequentialModule"]

show(globals())
