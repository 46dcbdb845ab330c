"""`mx.nd`: NDArray, functions that make arrays, and a function for every operator of the library.

The operators' functions are made when they are first asked for; `dir(mx.nd)` lists them all.
"""

from __future__ import annotations

# ruff: noqa: F401 - what is imported here is what the module offers
from importlib import import_module as _import_module

from mxlite._public import defined as _defined
from mxlite._public import show as _show
from mxlite.ndarray import _internal, contrib, image, linalg, op, random, sparse
from mxlite.ndarray._arithmetic import install_fluent_methods as _install_fluent_methods
from mxlite.ndarray._capsules import to_dlpack_for_read, to_dlpack_for_write
from mxlite.ndarray._keys import install as _install_keys
from mxlite.ndarray._numpy import install as _install_numpy
from mxlite.ndarray.creation import *  # noqa: F403
from mxlite.ndarray.exchange import from_dlpack, from_numpy
from mxlite.ndarray.files import load, load_frombuffer, save
from mxlite.ndarray.ndarray import NDArray
from mxlite.ndarray.pairs import *  # noqa: F403
from mxlite.ndarray.shapes import arange, eye, histogram, linspace, moveaxis, split_v2
from mxlite.ndarray.shapes import install as _install_shapes
from mxlite.ndarray.sparse import CSRNDArray

__all__ = [*_defined(globals()), "_internal", "contrib", "image", "linalg", "op", "random", "sparse"]

_install_fluent_methods()
_install_shapes()
_install_keys()
_install_numpy(lambda name: name in __all__)

__all__ += [_name for _name in (*op.__all__, "CachedOp") if _name not in __all__]


#: Modules that `F.np` and `F.npx` of blocks are, and 1.9.1's names of them.
_NUMPY = {
    "np": "mxlite.numpy",
    "npx": "mxlite.numpy_extension",
    "numpy": "mxlite.numpy",
    "numpy_extension": "mxlite.numpy_extension",
}


def _asked_for(name: str) -> object:
    if name == "CachedOp":
        return _import_module("mxlite.symbol._cached_op").CachedOp
    if name in _NUMPY:
        return _import_module(_NUMPY[name])
    return getattr(op, name) if name in op.__all__ else None


_show(globals(), _asked_for)
