"""`mx.sym.symbol`: the type Symbol alone, so that programs can ask for it. Graphs of symbols are not in mxlite yet."""

from __future__ import annotations

from typing import Any, NoReturn

from mxlite._public import show
from mxlite.error import MXNotImplementedError

__all__ = ["Symbol"]


class Symbol:
    """A node of a symbolic graph, of which mxlite has none yet. Raises: NotImplementedError: when one is made."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise MXNotImplementedError("Symbol: symbolic graphs are not in mxlite yet")


show(globals())
