"""Functions of `mx.npx`, made from introspection as those of `mx.nd`: operators whose names begin `_npx_`."""

from __future__ import annotations

from functools import cache
from typing import Any

from mxlite._public import defined, show
from mxlite.ndarray._generate import make_function
from mxlite.ndarray._operators import operator_names
from mxlite.numpy import _table as table
from mxlite.numpy import ndarray
from mxlite.numpy._functions import function

#: `_npx_` operators of modules within `mx.npx`.
_WITHIN = ("_npx__image_",)


@cache
def _operators(prefix: str) -> dict[str, str]:
    names = [name for name in operator_names() if name.startswith(prefix)]
    if prefix not in _WITHIN:
        names = [name for name in names if not name.startswith(_WITHIN)]
    return {name[len(prefix) :]: name for name in names}


def show_functions(module: dict[str, Any], prefix: str) -> None:
    """Gives a module, by its `globals()`, functions of all operators whose names begin so, made when asked for."""
    operators = _operators(prefix)
    module["__all__"] = sorted({*defined(module), *module.get("__all__", ()), *operators})
    own = module["__name__"]

    def make(name: str) -> Any:
        if prefix not in _WITHIN and name in table.names("npx"):
            return function(f"npx.{name}")
        return make_function(operators[name], ndarray, name, own) if name in operators else None

    show(module, make)
