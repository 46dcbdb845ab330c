"""NumPy's own functions on the values of arrays of `mx.np`, where `mx.np` has none: outside record() alone."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite.base import FLAG_OF_DTYPE, warn_user
from mxlite.error import MXTypeError, MXValueError
from mxlite.ndarray._gradient import FRONT_END
from mxlite.ndarray._numpy import leaves, replaced
from mxlite.ndarray.ndarray import NDArray

#: The functions that the program has been told of.
_told: set[str] = set()


def on_values(make: Callable, name: str, call: Callable, args: Any, kwargs: dict[str, Any]) -> Any:
    """The answer of `call`, which is NumPy's and has this name, on the values of arrays; arrays in it are of `mx.np`,
    unless their dtype is none of its.

    Args:
        make: makes an array of `mx.np` of values, a dtype and a context.
    Raises: ValueError (and MXNetError): recording is on; TypeError: `out` is an array of `mx.np`.
    """
    if FRONT_END.is_recording():
        raise MXValueError(
            f"{name} is computed by NumPy, which records nothing; call it outside autograd.record(), or in"
            " autograd.pause()"
        )
    if any(isinstance(each, NDArray) for each in leaves(kwargs.get("out"))):
        raise MXTypeError(f"{name}: out is an array of mx.np, NumPy writes to its own; write x[:] = the result")
    if name not in _told:
        _told.add(name)
        warn_user(f"{name} is computed by NumPy on the arrays' values, and refused while recording (this is said once)")
    args, kwargs = replaced((args, kwargs), np.asarray)
    return _as_ours(make, call(*args, **kwargs))


def _as_ours(make: Callable, value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype in FLAG_OF_DTYPE:
        return make(value, None, None)
    if isinstance(value, (list, tuple)):
        made = [_as_ours(make, each) for each in value]
        return tuple(made) if isinstance(value, tuple) else made
    return value
