"""What the modules of `mx.np` show: the functions of the table, and an error for those that are missing."""

from __future__ import annotations

from typing import Any

from mxlite._public import defined, show
from mxlite.error import MXAttributeError
from mxlite.numpy import _functions, _table


def show_functions(module: dict[str, Any], part: str) -> None:
    """Gives a module, by its `globals()`, the functions of "" (`mx.np`), "linalg" or "random"."""
    prefix = part and f"{part}."
    known = set(_functions.names(part))
    module["__all__"] = sorted({*defined(module), *module.get("__all__", ()), *known})

    def make(name: str) -> Any:
        if name in known:
            return _functions.function(prefix + name)
        if prefix + name in _table.MISSING:
            raise MXAttributeError(f"mx.np.{prefix}{name} is not supported yet: numpy.{prefix}{name} of x.asnumpy() is")
        return None

    show(module, make)
