"""Composed functions whose usual calls are one operator's, which C calls without Python code."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite._lib import hot
from mxlite.context import HOME
from mxlite.ndarray._operators import prepare

#: Functions that make an array of a shape, and their operators.
_MAKERS = {"empty": "_npi_zeros", "ones": "_npi_ones", "zeros": "_npi_zeros"}

#: Functions of a list of arrays, with an axis, 0 unless it is given, and without.
_JOINS = {"concatenate": "_npi_concatenate", "stack": "_npi_stack"}
_STACKS = {"vstack": "_npi_vstack", "hstack": "_npi_hstack", "dstack": "_npi_dstack", "row_stack": "_npi_vstack"}


def direct(function: Callable[..., Any], name: str, failed: Callable[..., Any], cls: type) -> Callable[..., Any]:
    """A composed function of that name for arrays of a class, by C where there is a short way; see `hot.direct`."""
    calls: dict[str, Any] = {}
    if name in _MAKERS:
        calls = {"home": HOME, "makes": _calls_by_dtype(_MAKERS[name])}
    elif name == "array":
        calls = {"home": HOME}
    elif name in _JOINS:
        calls = {"join": True, "axis": prepare(_JOINS[name], {}, ("axis",))}
    elif name in _STACKS:
        calls = {"join": True, "many": prepare(_STACKS[name], {})}
    elif name == "clip":
        calls = clip_calls("a_min", "a_max")
    elif name == "where":
        calls = {"many": prepare("_npi_where", {}), "num_inputs": 3}
    return hot.direct(function, failed, cls, **calls) if calls else function


def clip_calls(low: str, high: str) -> dict[str, Any]:
    """What `hot.direct` is told of a `clip` whose bounds have these names."""
    call = prepare("_npi_clip", {}, ("a_min", "a_max"))
    return {"one": call, "num_inputs": 1, "values": ((low, ord("f"), None), (high, ord("f"), None))}


def _calls_by_dtype(operator: str) -> dict[Any, int]:
    """Calls of an operator with a shape, by usual dtypes as programs spell them."""
    calls: dict[Any, int] = {}
    for each in (np.float32, np.float64, np.int32, np.int64, np.bool_):
        dtype = np.dtype(each)
        calls[each] = calls[dtype] = calls[dtype.name] = prepare(operator, {"dtype": dtype.name}, ("shape",))
    return {**calls, None: calls["float32"], float: calls["float64"], bool: calls["bool"]}
