"""Calls whose parameters are the same objects as in a call before: `sum(x, axis=1)` in a loop.

Such a call needs no conversion of its parameters, and goes to the library like one without parameters. For the
generated functions (`_generate`).
"""

from __future__ import annotations

from typing import Any, Callable

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
    """The prepared calls of one operator, by the identities of the values of all its parameters.

    Identities, since 1, 1.0 and True are equal, but not the same to every parameter. What a program writes as a
    constant is one object; what it computes is rarely met again, and is not kept: a call is prepared when its values
    come for the second time. The library never frees a prepared call, so there is room for a few only.
    """

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        #: The values of the calls, so that no other object gets their identity.
        self._kept: list[tuple] = []
        self._seen: dict[tuple[int, ...], tuple] = {}
        #: identities -> call; 0: there is none for these values.
        self.calls: dict[tuple[int, ...], int] = {}
        #: Called with each call that is found, if set: what `hot.direct` makes keeps them in C too.
        self.tell: Callable[[tuple, int], None] | None = None

    def learn(self, values: tuple, given: dict[str, Any]) -> None:
        """Of a call that is not known: `values` of all parameters, of which `given` are those that were given."""
        key = tuple(map(id, values))
        if len(self._kept) == _ROOM or key in self.calls or not all(map(_is_unchanging, given.values())):
            return
        if key not in self._seen:
            if len(self._seen) == _ROOM:
                self._seen.clear()
            self._seen[key] = values
            return
        try:
            call = prepare_with(self._operator.name, given)
            if fixed_outputs(call) != 1:
                call = 0
        except MXNetError:  # the call itself says what is wrong about these values
            call = 0
        self._kept.append(values)
        self.calls[key] = call
        if self.tell is not None and call:
            self.tell(values, call)
