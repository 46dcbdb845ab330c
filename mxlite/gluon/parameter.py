"""`mx.gluon.parameter`: parameters and dictionaries of them."""

from __future__ import annotations

from mxlite._public import show
from mxlite.gluon._parameter import Constant, DeferredInitializationError, Parameter, tensor_types
from mxlite.gluon._parameter_dict import ParameterDict

__all__ = ["DeferredInitializationError", "Parameter", "Constant", "ParameterDict", "tensor_types"]

show(globals())
