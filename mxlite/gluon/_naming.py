"""Names of blocks: each has a prefix, and gives numbered prefixes to the blocks made within its `name_scope()`."""

from __future__ import annotations

from typing import Any

from mxlite._scope import Current
from mxlite.gluon._parameter_dict import ParameterDict
from mxlite.name import NameManager, Prefix


class BlockScope:
    """The scope of names in one block; `with` makes it the thread's current one."""

    def __init__(self, prefix: str, params: ParameterDict, is_open: bool) -> None:
        self.prefix = prefix
        self.params = params
        #: Whether blocks within it are named as if it were not there. It refers to no block: that would be a cycle.
        self.is_open = is_open
        self._counter: dict[str, int] = {}
        self._outer: list[Any] = []

    def _next(self, hint: str) -> str:
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}_"

    def __enter__(self) -> BlockScope:
        if not self.is_open:
            names = Prefix(self.prefix)
            self._outer.append((_current.swap(self), names))
            names.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if not self.is_open:
            outer, names = self._outer.pop()
            names.__exit__()
            _current.swap(outer)


_current = Current(lambda: None)


def prefix_and_params(prefix: str | None, params: ParameterDict | None, hint: str) -> tuple[str, ParameterDict]:
    """The prefix and the parameters of a new block.

    Args:
        prefix: The one that was given; None: the hint with the next number.
        params: The dictionary of another block whose parameters it shares.
    """
    scope = _current.get()
    if prefix is None:
        prefix = NameManager.current.get(None, hint) + "_" if scope is None else scope._next(hint)
    if params is not None:
        own = ParameterDict(params.prefix, params)
    elif scope is None:
        own = ParameterDict(prefix)
    else:
        own = ParameterDict(scope.params.prefix + prefix, scope.params._shared)
    return (prefix if scope is None else scope.prefix + prefix), own
