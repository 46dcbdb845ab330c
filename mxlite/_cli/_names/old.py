"""What a program uses that NumPy or Python had once; today's names are asked of NumPy and Python themselves."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
import warnings
from types import ModuleType
from typing import Any, NamedTuple

from mxlite._cli._names.known import put_back_names

#: Modules whose names are looked up here.
_LOOKED_UP = (
    ("numpy", "collections", "fractions", "inspect", "itertools", "math", "os", "string", "sys", "time", "types")
    + ("urllib", "gettext", "asyncio", "imp", "distutils", "unittest", "platform", "base64", "array", "xml", "cgi")
    + ("thread", "pipes", "asynchat", "asyncore", "smtpd")
)
_MODULES_OF_2 = (
    ("BaseHTTPServer", "ConfigParser", "HTMLParser", "Queue", "SimpleHTTPServer", "SocketServer", "StringIO", "Tkinter")
    + ("__builtin__", "anydbm", "cPickle", "cStringIO", "commands", "cookielib", "copy_reg", "exceptions", "httplib")
    + ("itertools.imap", "itertools.izip", "md5", "sets", "thread", "urllib2", "urlparse", "xmlrpclib")
)
_BUILTINS_OF_2 = (
    "apply",
    "basestring",
    "cmp",
    "execfile",
    "intern",
    "long",
    "raw_input",
    "reduce",
    "reload",
    "unichr",
    "unicode",
) + ("xrange", "buffer", "coerce", "file")


def hint() -> str:
    """How a program for Python 2 becomes one for Python 3."""
    if importlib.util.find_spec("lib2to3") is not None:  # in Python up to 3.12
        return "`python -m lib2to3 -w FILE` rewrites it"
    return "`pip install fissix`, then `fissix -w FILE` rewrites it"


class Old(NamedTuple):
    """Something that is gone: what using it raises, and whether `mxlite run` puts it back."""

    error: Exception
    put_back: bool = False
    python_2: bool = False


def gone(name: str, importing: bool) -> Old | None:
    """What became of a name of NumPy or Python ("numpy.float"); None: it is there, or nobody knows."""
    root = name.partition(".")[0]
    if root in _MODULES_OF_2:
        return Old(ModuleNotFoundError(f"No module named {root!r}"), _is_put_back(name), True)
    if root not in _LOOKED_UP:
        return None
    found: Any = None
    path: list[str] = []
    for part in name.split("."):
        path.append(part)
        try:
            found = _next(found, part, path)
        except AttributeError:
            at = ".".join(path)
            owner = f"NumPy {sys.modules['numpy'].__version__}" if root == "numpy" else _python()
            text = f"{at} is not in {owner}"
            error = ImportError(text) if importing else AttributeError(text)
            return Old(error, _is_put_back(at), at in _MODULES_OF_2)
        if not isinstance(found, (ModuleType, type)):
            return None
    return None


def _python() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor}"


def _next(found: Any, part: str, path: list[str]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if found is not None and hasattr(found, part):
            return getattr(found, part)
        if found is None or hasattr(found, "__path__"):
            try:
                return importlib.import_module(".".join(path))
            except ImportError:
                pass
    raise AttributeError(part)


def _is_put_back(name: str) -> bool:
    return name in put_back_names()


def gone_builtin(name: str) -> Old | None:
    """What became of a name that a program binds nowhere; None: it is there, or none of Python 2's."""
    if name not in _BUILTINS_OF_2 or hasattr(builtins, name):
        return None
    return Old(NameError(f"name {name!r} is not defined"), _is_put_back(f"builtins.{name}"), True)
