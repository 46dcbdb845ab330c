"""Where this Python has its files."""

from __future__ import annotations

import sysconfig
from sysconfig import get_config_var, get_config_vars

__all__ = ["get_config_var", "get_config_vars", "get_python_inc", "get_python_lib"]


def get_python_inc(plat_specific: int = 0, prefix: str | None = None) -> str:
    """The folder of Python's headers."""
    held = {} if prefix is None else {"base": prefix, "platbase": prefix, "installed_base": prefix}
    return sysconfig.get_path("platinclude" if plat_specific else "include", vars=held)


def get_python_lib(plat_specific: int = 0, standard_lib: int = 0, prefix: str | None = None) -> str:
    """The folder of packages, or (standard_lib) of Python's own modules."""
    names = ("platstdlib", "stdlib") if standard_lib else ("platlib", "purelib")
    held = {} if prefix is None else {"base": prefix, "platbase": prefix, "installed_base": prefix}
    return sysconfig.get_path(names[0 if plat_specific else 1], vars=held)
