"""Scripts that `mxlite run` starts as several workers over MPI."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
MPIEXEC = shutil.which("mpiexec", path=sysconfig.get_path("scripts")) or shutil.which("mpiexec")
needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None or MPIEXEC is None,
    reason="mpi4py and an MPI are not installed: pip install mxlite[mpi]",
)


def start(source: str, folder: Path, *arguments: str, workers: int = 4, **settings: str) -> subprocess.Popen[str]:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(source), encoding="utf-8")
    command = [sys.executable, "-m", "mxlite", "run", *(["-n", str(workers)] if workers else []), str(script)]
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": paths, "FOLDER": str(folder), **settings}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*command, *arguments], env=environment, start_new_session=True, **pipes)


def run(source: str, folder: Path, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The run of a script by that many workers (0: as one process alone)."""
    started = start(source, folder, *arguments, **options)
    try:
        out, err = started.communicate(timeout=120)
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
    return subprocess.CompletedProcess(started.args, started.returncode, out, err)


def answers(source: str, folder: Path, *arguments: str, workers: int = 4, **settings: str) -> list[Any]:
    """What each worker has told, in the order of their numbers."""
    before = "import json, os\nfrom pathlib import Path\nimport mxnet as mx\n"
    before += "def tell(rank, what):\n    Path(os.environ['FOLDER'], f'{rank}.json').write_text(json.dumps(what))\n"
    for old in folder.glob("*.json"):
        old.unlink()
    done = run(before + textwrap.dedent(source), folder, *arguments, workers=workers, **settings)
    assert done.returncode == 0, done.stderr
    return [json.loads((folder / f"{i}.json").read_text()) for i in range(workers or 1)]
