"""`mx.libinfo`: where the library and its headers are."""

from __future__ import annotations

from mxlite._lib import get_include, get_library
from mxlite._public import show as _show
from mxlite._version import __version__

__all__ = ["__version__", "find_conf_path", "find_include_path", "find_lib_path"]


def find_lib_path(prefix: str = "libmxnet") -> list[str]:
    """The path of the library, as the only entry of a list.

    Raises: RuntimeError: another library is asked for, or it is not there.
    """
    if prefix not in ("libmxnet", "libmxlite"):
        raise RuntimeError(f"Cannot find the library {prefix}: mxlite has libmxlite alone")
    return [get_library()]


def find_include_path() -> str:
    """The path of the folder with the C headers. Raises: RuntimeError: it is not there."""
    return get_include()


def find_conf_path(prefix: str = "tvmop") -> list[str]:
    """Raises: RuntimeError: always; mxlite has no operators of TVM, so no configuration of them."""
    raise RuntimeError(f"Cannot find the configuration of {prefix}: mxlite has no operators of TVM")


_show(globals())
