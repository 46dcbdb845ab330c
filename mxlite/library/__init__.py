"""`mx.library`: loads shared libraries of operators that were built for MXNet 1.9.1's `lib_api.h`."""

from __future__ import annotations

import importlib
import os
import sys

from mxlite._lib import LIB, c_text, check_call
from mxlite._lib.libraries import KINDS, names
from mxlite._public import add as _add
from mxlite._public import show as _show
from mxlite.error import MXNetError
from mxlite.ndarray import _generate as arrays
from mxlite.ndarray._operators import operator_names
from mxlite.symbol import _generate as symbols

__all__ = ["load"]


def _check(path: str) -> None:
    if not os.path.exists(path):
        raise MXNetError(f"library.load: there is no file {path}")
    if not os.path.isabs(path):
        raise MXNetError(f"library.load: the path must begin with /, got {path}")
    if os.path.splitext(path)[1] not in (".so", ".dll"):
        raise MXNetError(f"library.load: the file must be a shared library, named *.so, got {path}")


def _show_operator(name: str) -> None:
    place, member = arrays.place_of(name) or ("op", name)
    for package, generate in (("mxlite.ndarray", arrays), ("mxlite.symbol", symbols)):
        function = generate.make_function(name)
        importlib.import_module(f"{package}.{place}")
        _add(f"{package}.{place}", member, function)
        if place == "op":
            _add(package, member, function)


def load(path: str, verbose: bool = True) -> None:
    """Loads a library: its operators become functions of `mx.nd` and `mx.sym`, for the life of the process.

    A library that is loaded already is not loaded again. Its partitioners and graph passes cannot be used.

    Args:
        path: an absolute one, which ends with .so.
        verbose: writes to stderr what the library has.
    Raises: MXNetError: the file is no such library, it refuses to work with MXNet 1.9.1, or an operator of it has a
        name that there is already. Then nothing is loaded.
    """
    path = os.fspath(path)
    _check(path)
    before = {kind: len(names(kind)) for kind in KINDS}
    check_call(LIB.MXLoadLib(c_text(path), bool(verbose)))
    operator_names.cache_clear()
    for kind in KINDS:
        new = names(kind)[before[kind] :]
        if kind == "operators":
            for name in new:
                _show_operator(name)
        if verbose and new:
            print(f"mxlite: {path} has {len(new)} {kind}: {', '.join(new)}", file=sys.stderr)


_show(globals())
