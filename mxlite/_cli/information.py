"""``mxlite``: what this installation is made of, as a table or (--json) as JSON.

The first thing to put into a report. With --cflags, --libs, --cmakedir, --pkgconfigdir or --version: what a build that
uses the C library asks for.
"""

import argparse
import ctypes
import json
import os
import platform
import shlex
import sys
from typing import Any, Optional

import numpy

import mxlite
from mxlite._cli import COMMANDS, GROUPS
from mxlite._lib import BINDING, LIB, LIBRARY_NAME, ask
from mxlite.runtime import feature_list

#: The facts that the library tells about itself, by their names in MXLGetInfo.
_FACTS = ("compiler", "threads", "vector_level", "backends", "openblas", "dtypes")

#: Every environment variable that mxlite reads begins so, or is one of _OTHER_VARIABLES.
_PREFIX = "MXLITE_"
_OTHER_VARIABLES = ("OMP_NUM_THREADS",)


def information() -> "dict[str, Any]":
    """Everything that ``mxlite`` prints, as a dictionary that JSON can hold."""
    facts = {name: (ask(ctypes.c_char_p, LIB.MXLGetInfo, name.encode()) or b"").decode() for name in _FACTS}
    return {
        "version": mxlite.__version__,
        "binding": BINDING,
        "threads": int(facts.pop("threads")),
        **facts,
        "features": {feature.name: feature.enabled for feature in feature_list()},
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


def cflags() -> str:
    """What a C compiler needs to find the headers."""
    return shlex.quote(f"-I{mxlite.get_include()}")


def libs() -> str:
    """What a linker needs to find the library, now and when the program runs."""
    folder, name = os.path.split(mxlite.get_library())
    found = [f"-L{folder}", "-lmxlite"] if name == LIBRARY_NAME else [mxlite.get_library()]
    path = [] if sys.platform == "win32" else [f"-Wl,-rpath,{folder}"]
    return " ".join(map(shlex.quote, [*found, *path]))


#: What is printed for each option, in this order; flags are joined on one line.
_FLAGS = {"cflags": (cflags, "flags for the compiler"), "libs": (libs, "flags for the linker")}
_FOLDERS = {
    "cmakedir": (mxlite.get_cmake_dir, "the folder with mxliteConfig.cmake, for -Dmxlite_DIR="),
    "pkgconfigdir": (mxlite.get_pkgconfig_dir, "the folder with mxlite.pc, for PKG_CONFIG_PATH"),
    "version": (lambda: mxlite.__version__, "mxlite's version"),
}


def _commands() -> str:
    """What `mxlite --help` begins with: all commands, by what they are for."""
    left = max(map(len, COMMANDS)) + 2
    lines = ["Without a command: prints what this installation is made of, as the options say.", ""]
    for title, group in GROUPS.items():
        lines += [f"{title}:", *(f"  {name:{left}}{text}" for name, text in group.items()), ""]
    return "\n".join([*lines, "`mxlite COMMAND --help` tells a command's arguments."])


def main(arguments: "Optional[list[str]]" = None) -> int:
    """Prints the table, the same as JSON, or what was asked for.

    Returns 0, or 1 after a line on stderr where this installation lacks what was asked for; ends with 2 after wrong
    options.
    """
    parser = argparse.ArgumentParser(
        prog="mxlite",
        usage="mxlite [COMMAND [ARGUMENT ...]] [OPTION ...]",
        description=_commands(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    for name, (_, text) in {**_FLAGS, **_FOLDERS}.items():
        parser.add_argument(f"--{name}", action="store_true", help=f"print {text}")
    given = vars(parser.parse_args(arguments))
    wanted = [name for name in (*_FLAGS, *_FOLDERS) if given[name]]
    if given["json"] and wanted:
        parser.error(f"--json prints everything; it does not go with --{wanted[0]}")
    try:
        flags = " ".join(_FLAGS[name][0]() for name in wanted if name in _FLAGS)
        lines = [flags] * bool(flags) + [_FOLDERS[name][0]() for name in wanted if name in _FOLDERS]
    except RuntimeError as problem:
        print(problem, file=sys.stderr)
        return 1
    if given["json"]:
        print(json.dumps(information(), indent=2))
    elif wanted:
        print("\n".join(lines))
    else:
        for name, value in information().items():
            print(f"{name + ':':14}{_as_text(value)}")
    return 0
