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
from typing import Any, NoReturn

from mxlite import context
from mxlite._cli import _cleaner, _old
from mxlite._install import install_as_mxnet

_USAGE = (
    "mxlite run [-n COUNT] [--as mxnet|torch] [--cpu [--gpus N]] [--strict] (script.py | -m module) [arguments ...]"
)
_DESCRIPTION = """
Runs a script as python does, with mxlite in place of MXNet. Names that older NumPys and Pythons had (np.float,
collections.Iterable, time.clock ...) are put back in the script's process, and a line at its end says which it used.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("mxlite run", _USAGE, _DESCRIPTION)
    parser.add_argument(
        "--as", dest="name", choices=("mxnet", "torch"), default="mxnet", help="whose name mxlite takes"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="what follows is the name of a module")
    parser.add_argument(
        "-n", dest="workers", metavar="COUNT", type=int, help="run COUNT of it, for mx.kv.create('dist_sync') (MPI)"
    )
    parser.add_argument(
        "--cpu", action="store_true", help="GPUs that the script names are the CPU: mx.gpu(1) is mx.cpu(1)"
    )
    parser.add_argument("--gpus", metavar="N", type=int, help="with --cpu: how many GPUs the script is told of (0)")
    parser.add_argument("--strict", action="store_true", help="put nothing of older NumPys and Pythons back")
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
    if given.gpus is not None and (not given.cpu or given.gpus < 0):
        parser.error("--gpus: a number from 0 on, with --cpu")
    if given.workers is not None:
        if given.workers < 1:
            parser.error("-n: there must be a worker at least")
        return _start(given)
    quiet = False
    if "MXLITE_RUN_WORKERS" in os.environ:  # whoever ends from now on, the others hear of it
        from mxlite.kvstore._world import world

        quiet = world().rank != 0
    begin(given.name, given.strict, given.gpus or 0 if given.cpu else None, quiet)
    sys.argv[:] = given.words
    if given.module:
        _run(given.words[0], None, not given.strict)
        return 0
    try:
        with io.open_code(os.path.abspath(given.words[0])) as file:
            source = file.read()
    except OSError as error:
        print(f"mxlite run: can't open file {given.words[0]!r}: {error.strerror}", file=sys.stderr)
        return 2
    _run(given.words[0], source, not given.strict)
    return 0


def begin(name: str, strict: bool, gpus: int | None, quiet: bool) -> None:
    """Makes this process one of a script's: by `main`, and in processes that the script spawns.

    Args:
        name: whose name mxlite takes.
        strict: nothing is put back.
        gpus: how many GPUs there are said to be, all of them the CPU; None: GPUs are not available.
        quiet: another process says what is done for the script.
    """
    if gpus is not None:
        context.take_gpus_for_the_cpu(gpus, quiet)
    if name == "torch":
        from mxlite.torch import install

        install()
    else:
        install_as_mxnet()
    if not strict:
        _old.put_back()
        if not quiet:
            _old.say_at_end("mxlite run")
    _spawn_alike(f"from mxlite._cli.run import begin; begin({name!r}, {strict!r}, {gpus!r}, {quiet!r}); ")


def _spawn_alike(statement: str) -> None:
    """Has the processes that multiprocessing spawns run a statement before they import the script."""
    from multiprocessing import spawn

    real = spawn.get_command_line

    def get_command_line(**kwargs: Any) -> list[str]:
        words = real(**kwargs)
        at = words.index("-c") + 1 if "-c" in words else len(words)
        return [*words[:at], *(statement + program for program in words[at : at + 1]), *words[at + 1 :]]

    spawn.get_command_line = get_command_line


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
    options = ["--as", given.name, *["--strict"] * given.strict, *["--cpu"] * given.cpu]
    options += [] if given.gpus is None else ["--gpus", str(given.gpus)]
    script = [sys.executable, "-m", "mxlite", "run", *options, *["-m"] * given.module, *given.words]
    command = [mpiexec, "-n", str(given.workers), sys.executable, watcher, *script]
    if sys.platform == "linux":
        _cleaner.run(command)
    os.execv(mpiexec, command)


def _run(name: str, source: bytes | None, hints: bool) -> None:
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
        _raise_from_script(error, hints)


def _raise_from_script(error: BaseException, hints: bool) -> NoReturn:
    """Raises an error again, whose traceback, if nobody catches it, is shown from the script on.

    Args:
        hints: an error of a source of Python 2 is one line, and other errors of old programs have a line below.
    """
    shown = error.__traceback__.tb_next if error.__traceback__ else None
    while shown is not None and shown.tb_frame.f_globals.get("__name__") == "runpy":
        shown = shown.tb_next
    show = sys.excepthook

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if not hints:
            show(kind, value.with_traceback(shown), shown)
            return
        from mxlite._cli._old import _hints

        instead = _hints.of_source(value)
        if instead is not None:
            print(f"mxlite run: {instead}", file=sys.stderr)
            return
        below = _hints.after(value)
        trace = _hints.without_ours(shown)
        show(kind, value.with_traceback(trace), trace)
        if below is not None:
            print(f"mxlite run: {below}", file=sys.stderr)

    sys.excepthook = hook
    raise error
