"""`mx.sym`: Symbol, functions that make symbols, and a function for every operator of the library.

The operators' functions are made when they are first asked for; `dir(mx.sym)` lists them all.
"""

from __future__ import annotations

# ruff: noqa: F401 - what is imported here is what the module offers
from importlib import import_module as _import_module

from mxlite._public import defined as _defined
from mxlite._public import show as _show
from mxlite.symbol import _internal, contrib, image, linalg, op, random, sparse
from mxlite.symbol._arithmetic import *  # noqa: F403
from mxlite.symbol.creation import *  # noqa: F403
from mxlite.symbol.symbol import Group, Symbol, Variable, fromjson, load, load_json, var

__all__ = [*_defined(globals()), "_internal", "contrib", "image", "linalg", "op", "random", "sparse"]
__all__ += [_name for _name in op.__all__ if _name not in __all__]


#: Modules that `F.np` and `F.npx` of blocks are, and 1.9.1's names of them.
_NUMPY = {"np": "numpy", "npx": "numpy_extension", "numpy": "numpy", "numpy_extension": "numpy_extension"}


def _asked_for(name: str) -> object:
    if name in _NUMPY:
        return _import_module(f"mxlite.symbol.{_NUMPY[name]}")
    return getattr(op, name) if name in op.__all__ else None


_show(globals(), _asked_for)
