"""What the modules of `mx.np` show: the functions of the table."""

from __future__ import annotations

from typing import Any

from mxlite._public import defined, show
from mxlite.numpy import _functions


def show_functions(module: dict[str, Any], part: str) -> None:
    """Gives a module, by its `globals()`, the functions of "" (`mx.np`), "linalg" or "random"."""
    prefix = part and f"{part}."
    known = set(_functions.names(part))
    module["__all__"] = sorted({*defined(module), *module.get("__all__", ()), *known})

    def make(name: str) -> Any:
        return _functions.function(prefix + name) if name in known else None

    show(module, make)
