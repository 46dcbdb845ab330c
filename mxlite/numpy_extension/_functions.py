"""Functions of `mx.npx`, made from introspection as those of `mx.nd`: operators whose names begin `_npx_`."""

from __future__ import annotations

from functools import cache
from typing import Any, Callable

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


def _of_arrays(name: str, operator: str, module: str) -> Any:
    if operator == f"_npx_{name}" and name in table.names("npx"):
        return function(f"npx.{name}")
    return make_function(operator, ndarray, name, module)


def show_functions(module: dict[str, Any], prefix: str, make_one: Callable[[str, str, str], Any] = _of_arrays) -> None:
    """Gives a module, by its `globals()`, functions of all operators whose names begin so, made when asked for.

    Args:
        make_one: makes one, by its name and those of its operator and module.
    """
    operators = _operators(prefix)
    module["__all__"] = sorted({*defined(module), *module.get("__all__", ()), *operators})
    own = module["__name__"]

    show(module, lambda name: make_one(name, operators[name], own) if name in operators else None)
