"""``mxlite run``: a script or a module, unedited, that imports MXNet or PyTorch and gets mxlite."""

from __future__ import annotations

import argparse
import io
import os
import runpy
import sys
from types import ModuleType, TracebackType
from typing import NoReturn

from mxlite._install import install_as_mxnet

_USAGE = "mxlite run [--as mxnet|torch] (script.py | -m module) [arguments ...]"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mxlite run", _USAGE, "Runs a script as python does, with mxlite in place of MXNet."
    )
    parser.add_argument(
        "--as", dest="name", choices=("mxnet", "torch"), default="mxnet", help="whose name mxlite takes"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="what follows is the name of a module")
    parser.add_argument("-n", dest="processes", metavar="COUNT", help=argparse.SUPPRESS)
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def main(arguments: list[str]) -> int:
    """Runs what the arguments name.

    Returns 0, or 2 after a line on stderr where there is no such script; else it ends as the script does, with python's
    exit codes: what it gives to `sys.exit`, or 1 after an exception, whose traceback begins in the script.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    if given.processes is not None:
        parser.error("-n: running several processes is not supported yet")
    if not given.words:
        parser.error("the script to run is missing")
    if given.name == "torch":
        from mxlite.torch import install

        install()
    else:
        install_as_mxnet()
    sys.argv[:] = given.words
    if given.module:
        _run(given.words[0], None)
        return 0
    try:
        with io.open_code(os.path.abspath(given.words[0])) as file:
            source = file.read()
    except OSError as error:
        print(f"mxlite run: can't open file {given.words[0]!r}: {error.strerror}", file=sys.stderr)
        return 2
    _run(given.words[0], source)
    return 0


def _run(name: str, source: bytes | None) -> None:
    """Runs a script with that source, or (None) a module of that name, as `__main__`."""
    try:
        if source is None:
            sys.path[0] = os.getcwd()
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = os.path.dirname(os.path.realpath(name))
            script = ModuleType("__main__")
            vars(script).update(__file__=name, __builtins__=__builtins__)
            sys.modules["__main__"] = script
            exec(compile(source, name, "exec", dont_inherit=True), vars(script))
    except BaseException as error:
        _raise_from_script(error)


def _raise_from_script(error: BaseException) -> NoReturn:
    """Raises an error again, whose traceback, if nobody catches it, is shown from the script on."""
    shown = error.__traceback__.tb_next if error.__traceback__ else None
    while shown is not None and shown.tb_frame.f_globals.get("__name__") == "runpy":
        shown = shown.tb_next
    show = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        show(kind, value.with_traceback(shown), shown)

    sys.excepthook = hook
    raise error
