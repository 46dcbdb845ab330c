"""Names of blocks: each has a prefix, and gives numbered prefixes to the blocks made within its `name_scope()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mxlite._scope import Current
from mxlite.gluon._parameter_dict import ParameterDict
from mxlite.name import NameManager, Prefix

if TYPE_CHECKING:
    from mxlite.gluon._block import Block


class BlockScope:
    """The scope of names in one block; `with` makes it the thread's current one."""

    def __init__(self, block: Block) -> None:
        self._block = block
        self._counter: dict[str, int] = {}
        self._outer: list[Any] = []

    def _next(self, hint: str) -> str:
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}_"

    def __enter__(self) -> BlockScope:
        if not self._block._empty_prefix:
            names = Prefix(self._block.prefix)
            self._outer.append((_current.swap(self), names))
            names.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if not self._block._empty_prefix:
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
        outer = scope._block.params
        own = ParameterDict(outer.prefix + prefix, outer._shared)
    return (prefix if scope is None else scope._block.prefix + prefix), own
