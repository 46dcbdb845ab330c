"""Calls whose parameters are the same objects as in a call before: `sum(x, axis=1)` in a loop.

Such a call needs no conversion of its parameters: what `hot.direct` makes of a generated function (`_generate`) runs it
in C, like one without parameters.
"""

from __future__ import annotations

from functools import wraps
from typing import Any, Callable

import numpy as np

from mxlite._lib import hot
from mxlite.base import _Null, dtype_name
from mxlite.error import MXNetError
from mxlite.ndarray._operators import Operator, fixed_outputs, prepare_with

#: Calls that one operator keeps, and values that it remembers until it has seen them twice.
_ROOM = 64

#: The longest tuple that counts as a constant of the program; what was prepared for it is never freed.
_LONGEST = 32

_UNCHANGING = (int, bool, float, str, type(None), type)


def _is_unchanging(value: Any) -> bool:
    kind = value.__class__
    if kind is tuple:
        return len(value) <= _LONGEST and all(entry.__class__ in (int, type(None)) for entry in value)
    return kind in _UNCHANGING


class KnownCalls:
    """Finds the calls of one operator that are made again, by the identities of the values of all its parameters.

    Identities, since 1, 1.0 and True are equal, but not the same to every parameter. What a program writes as a
    constant is one object; what it computes is rarely met again, and is not kept: a call is prepared when its values
    come for the second time. The library never frees a prepared call, so there is room for a few only.

    Args:
        tell: Called with the values and the prepared call of each that is found.
    """

    def __init__(self, operator: Operator, tell: Callable[[tuple, int], None]) -> None:
        self._operator, self._tell = operator, tell
        #: identities -> the values of a call that came twice, kept so that no other object gets their identity.
        self._kept: dict[tuple[int, ...], tuple] = {}
        self._seen: dict[tuple[int, ...], tuple] = {}

    def learn(self, values: tuple, given: dict[str, Any]) -> None:
        """Of a call that was not known: `values` of all parameters, of which `given` are those that were given."""
        key = tuple(map(id, values))
        if len(self._kept) == _ROOM or key in self._kept or not all(map(_is_unchanging, given.values())):
            return
        if not self._operator.stypes.isdisjoint(given):  # only the general way asks which class the result is of
            return
        if key not in self._seen:
            if len(self._seen) == _ROOM:
                self._seen.clear()
            self._seen[key] = values
            return
        self._kept[key] = values
        try:
            call = prepare_with(self._operator.name, given)
        except MXNetError:  # the call itself says what is wrong about these values
            return
        if fixed_outputs(call) == 1:
            self._tell(values, call)


def direct_cast(
    function: Callable[..., Any], failed: Callable[..., Any], cls: type, operator: str
) -> Callable[..., Any]:
    """`astype` of a class of arrays: what is called with nothing but a dtype that came before runs in C."""

    @wraps(function)
    def astype(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
        if isinstance(dtype, (str, type, np.dtype)):
            known.learn((dtype,), {"dtype": dtype_name(dtype)})
        return made

    direct = hot.direct(astype, failed, cls, params=("dtype",), missing=_Null, num_inputs=1)
    if not hasattr(direct, "learn"):
        return function
    known = KnownCalls(Operator(operator), direct.learn)
    return direct
