"""``mxlite run``: a script or a module, unedited, that imports MXNet or PyTorch and gets mxlite."""

from __future__ import annotations

import argparse
import io
import os
import runpy
import shutil
import sys
import sysconfig
from types import ModuleType, TracebackType
from typing import NoReturn

from mxlite._cli import _cleaner
from mxlite._install import install_as_mxnet

_USAGE = "mxlite run [-n COUNT] [--as mxnet|torch] (script.py | -m module) [arguments ...]"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "mxlite run", _USAGE, "Runs a script as python does, with mxlite in place of MXNet."
    )
    parser.add_argument(
        "--as", dest="name", choices=("mxnet", "torch"), default="mxnet", help="whose name mxlite takes"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="what follows is the name of a module")
    parser.add_argument(
        "-n", dest="workers", metavar="COUNT", type=int, help="run COUNT of it, for mx.kv.create('dist_sync') (MPI)"
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return parser


def main(arguments: list[str]) -> int:
    """Runs what the arguments name.

    Returns 0, or 2 after a line on stderr where there is no such script; else it ends as the script does, with python's
    exit codes: what it gives to `sys.exit`, or 1 after an exception, whose traceback begins in the script.
    """
    parser = _parser()
    given = parser.parse_args(arguments)
    if not given.words:
        parser.error("the script to run is missing")
    if given.workers is not None:
        if given.workers < 1:
            parser.error("-n: there must be a worker at least")
        return _start(given)
    if "MXLITE_RUN_WORKERS" in os.environ:  # whoever ends from now on, the others hear of it
        from mxlite.kvstore._world import world

        world()
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


def _start(given: argparse.Namespace) -> int:
    """Becomes the mpiexec of the installed MPI, or else of PATH, which starts the workers; 2: there is none.

    On Linux the workers leave nothing in /dev/shm.
    """
    folder = sysconfig.get_path("scripts")
    mpiexec = shutil.which("mpiexec", path=folder) or shutil.which("mpiexec")
    if mpiexec is None:
        print("mxlite run -n needs an MPI, with mpiexec: pip install mxlite[mpi]", file=sys.stderr)
        return 2
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, processors // given.workers)))
    os.environ.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")  # Open MPI; others ignore it
    os.environ["MXLITE_RUN_WORKERS"] = str(given.workers)
    watcher = os.path.join(os.path.dirname(__file__), "_watch.py")
    script = [sys.executable, "-m", "mxlite", "run", "--as", given.name, *["-m"] * given.module, *given.words]
    command = [mpiexec, "-n", str(given.workers), sys.executable, watcher, *script]
    if sys.platform == "linux":
        _cleaner.run(command)
    os.execv(mpiexec, command)


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
        workers = sys.modules.get("mxlite.kvstore._world")
        if workers is not None and isinstance(error, SystemExit):
            workers.left_with(error.code)
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
