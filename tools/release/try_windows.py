#!/usr/bin/env python3
"""Uses the wheel for Windows by a Python of Windows and wine, over both bindings.

Usage: try_windows.py WHEEL FOLDER (called by ``make try-wheels`` where FOLDER, .venvs/windows, is; ``make
test-windows-python`` makes it: a Python 3.11 with NumPy, of parts that PyPI has)

That Python has no python3.dll, through which modules of the stable ABI reach Python: here it is made, as each
installation of Python for Windows has it, of references to python311.dll.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cffi_module  # noqa: E402
from try_wheels import pip_install, use  # noqa: E402


def make_python3(folder: Path, zig: list[str]) -> None:
    """Writes python3.dll into a folder."""
    functions, objects = cffi_module.stable_names()
    lines = ["LIBRARY python3.dll", "EXPORTS", *(f"{name} = python311.{name}" for name in sorted(functions | objects))]
    (folder / "python3.def").write_text("\n".join(lines) + "\n", encoding="ascii")
    (folder / "empty.c").write_text("extern int mxl_empty;\nint mxl_empty;\n", encoding="ascii")
    command = [*zig, "cc", "-target", "x86_64-windows-gnu", "-shared", "-s", "-o", "python3.dll"]
    subprocess.run([*command, "empty.c", "python3.def"], cwd=folder, check=True)


def there(path: Path) -> str:
    """A path as wine's programs name it."""
    return "Z:" + str(path).replace("/", "\\")


def main(wheel: Path, folder: Path) -> int:
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(work / "site")
        # Newer ones need newer functions of Windows than wine 8 has.
        wanted = ["--platform", "win_amd64", "--python-version", "3.11", "--implementation", "cp", "--no-deps"]
        pip_install("--target", str(work / "site"), *wanted, "cffi==1.17.1", "pycparser")
        make_python3(work, [sys.executable, "-m", "ziglang"])
        shutil.move(work / "python3.dll", work / "site" / "mxlite")  # beside the module, where Windows looks
        env = dict(os.environ, WINEDEBUG="-all", PYTHONUTF8="1", PYTHONPATH=there(work / "site"))
        use(["wine", str(folder / "python.exe")], there(work), work, env)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()))
