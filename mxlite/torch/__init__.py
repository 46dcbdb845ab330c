"""`import mxlite.torch as torch`: PyTorch's style of tensors and gradients over the library's arrays and engine.

    import mxlite.torch as torch

    x = torch.rand(5, 5, requires_grad=True)
    (x ** 2).sum().backward()
    print(x.grad)

Functions and methods have PyTorch's names, arguments and meaning, and say in an error what is not there.
`mxlite help from-pytorch` says what differs.
"""

# ruff: noqa: F401 - what is imported here is what the module offers

from __future__ import annotations

from importlib import import_module as _import_module
from math import e, inf, nan, pi
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from mxlite._public import show as _show

# `X as X` tells type checkers that the module offers X.
from mxlite.torch import _all  # it registers its functions
from mxlite.torch import _dtypes as _numbers
from mxlite.torch import autograd as autograd
from mxlite.torch import cuda as cuda
from mxlite.torch import fft as fft
from mxlite.torch import linalg as linalg
from mxlite.torch import nn as nn
from mxlite.torch import signal as signal
from mxlite.torch import special as special
from mxlite.torch import utils as utils
from mxlite.torch._calls import functions as _functions
from mxlite.torch._calls import methods as _methods
from mxlite.torch._dtypes import dtype as dtype
from mxlite.torch._dtypes import finfo as finfo
from mxlite.torch._dtypes import get_default_dtype as get_default_dtype
from mxlite.torch._dtypes import iinfo as iinfo
from mxlite.torch._dtypes import set_default_dtype as set_default_dtype
from mxlite.torch._kinds import Size as Size
from mxlite.torch._kinds import channels_last as channels_last
from mxlite.torch._kinds import channels_last_3d as channels_last_3d
from mxlite.torch._kinds import contiguous_format as contiguous_format
from mxlite.torch._kinds import device as device
from mxlite.torch._kinds import layout as layout
from mxlite.torch._kinds import memory_format as memory_format
from mxlite.torch._kinds import preserve_format as preserve_format
from mxlite.torch._kinds import strided as strided
from mxlite.torch._paths import install as install
from mxlite.torch._paths import make as _make_paths
from mxlite.torch._print import set_printoptions as set_printoptions
from mxlite.torch._tensor import Tensor as Tensor
from mxlite.torch._tensor import install_methods as _install_methods
from mxlite.torch.autograd import enable_grad as enable_grad
from mxlite.torch.autograd import inference_mode as inference_mode
from mxlite.torch.autograd import is_grad_enabled as is_grad_enabled
from mxlite.torch.autograd import no_grad as no_grad
from mxlite.torch.autograd import set_grad_enabled as set_grad_enabled
from mxlite.torch.autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from mxlite.torch.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from mxlite.torch.autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled
from mxlite.torch.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from mxlite.torch.nn import _twins  # it registers its functions

_methods.update(prelu=nn.functional.prelu, hardshrink=nn.functional.hardshrink)
_install_methods()
globals().update(_functions)
globals().update(_numbers.NAMES)

__version__ = "2.13.0+mxlite"

newaxis = None

#: Names that are made when they are first used, and the modules that have them.
_LATER = {"optim": "", "func": "", "testing": "", "profiler": "", "vmap": "func", "save": "_files", "load": "_files"}

__all__ = sorted({*(name for name in globals() if not name.startswith("_") and name != "annotations"), *_LATER})


def _later(name: str) -> _Any:
    module = _LATER.get(name)
    if module is None:
        return None
    found = _import_module(f"{__name__}.{module or name}")
    return getattr(found, name) if module else found


_show(globals(), _later)
_make_paths(__version__)

if _TYPE_CHECKING:  # what is imported later, and the functions that the sources do not show
    from mxlite.torch import func as func
    from mxlite.torch import optim as optim
    from mxlite.torch import profiler as profiler
    from mxlite.torch import testing as testing
    from mxlite.torch.func import vmap as vmap

    def __getattr__(name: str) -> _Any: ...
