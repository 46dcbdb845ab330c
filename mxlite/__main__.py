"""``python -m mxlite [--json]``: what this installation is made of; the first thing to put into a report."""

import argparse
import ctypes
import json
import os
import platform
import sys
from typing import Any, Optional

import numpy

import mxlite
from mxlite._lib import BINDING, LIB, check_call

#: The facts that the library tells about itself, by their names in MXLGetInfo.
_FACTS = ("compiler", "threads", "vector_level", "backends", "dtypes")

#: Every environment variable that mxlite reads begins so, or stands here.
_PREFIX = "MXLITE_"
_OTHER_VARIABLES = ("OMP_NUM_THREADS",)


class _Feature(ctypes.Structure):
    """One entry of MXLibInfoFeatures."""

    _fields_ = [("name", ctypes.c_char_p), ("enabled", ctypes.c_bool)]


def _fact(name: str) -> str:
    """One answer of MXLGetInfo."""
    text = ctypes.c_char_p()
    check_call(LIB.MXLGetInfo(name.encode(), ctypes.byref(text)))
    return (text.value or b"").decode()


def _features() -> "dict[str, bool]":
    """The build's features: name -> whether it is on."""
    entries, count = ctypes.POINTER(_Feature)(), ctypes.c_size_t()
    check_call(LIB.MXLibInfoFeatures(ctypes.byref(entries), ctypes.byref(count)))
    return {entries[i].name.decode(): bool(entries[i].enabled) for i in range(count.value)}


def information() -> "dict[str, Any]":
    """Everything that ``python -m mxlite`` prints, as a dictionary that JSON can hold."""
    facts = {name: _fact(name) for name in _FACTS}
    return {
        "version": mxlite.__version__,
        "binding": BINDING,
        "threads": int(facts.pop("threads")),
        **facts,
        "features": _features(),
        "library": mxlite.get_library(),
        "include": mxlite.get_include(),
        "package": os.path.dirname(os.path.abspath(mxlite.__file__)),
        "environment": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(_PREFIX) or name in _OTHER_VARIABLES
        },
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "platform": platform.platform(),
    }


def _as_text(value: Any) -> str:
    """One value of the table, on one line."""
    if isinstance(value, dict):
        shown = [name if flag is True else f"{name}={flag}" for name, flag in value.items() if flag is not False]
        return " ".join(shown) or "(none)"
    return str(value) or "(none)"


def main(arguments: "Optional[list[str]]" = None) -> int:
    """Prints the table, or the same as JSON."""
    parser = argparse.ArgumentParser(prog="python -m mxlite", description=__doc__.split(";")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    if parser.parse_args(arguments).json:
        print(json.dumps(information(), indent=2))
    else:
        for name, value in information().items():
            print(f"{name + ':':14}{_as_text(value)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
