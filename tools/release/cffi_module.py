"""Builds the cffi module `mxlite._mxlite_cffi` for another system, by zig and the stable ABI of Python's headers.

Its C source is the same for all systems (mxlite/_lib/build_cffi.py). Python's headers are those of the Python that
runs this, with a pyconfig.h that fits all systems. On Windows the module takes its names from python3.dll.
"""

from __future__ import annotations

import runpy
import shutil
import subprocess
import sysconfig
from pathlib import Path

from platforms import Platform

ROOT = Path(__file__).resolve().parents[2]
#: The oldest Python of the wheels, whose stable ABI they use.
OLDEST = (3, 9)
FLAGS = "-O2 -fPIC -fwrapv -fno-strict-aliasing -fvisibility=hidden -DNDEBUG -DPy_LIMITED_API=0x03090000".split()


def make_source(folder: Path) -> Path:
    """Writes the module's C source and Python's headers into a folder; returns the source."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "_mxlite_cffi.c"
    builder = runpy.run_path(str(ROOT / "mxlite" / "_lib" / "build_cffi.py"))["ffibuilder"]
    builder.emit_c_code(str(source))
    headers = folder / "python"
    shutil.rmtree(headers, ignore_errors=True)
    shutil.copytree(sysconfig.get_path("include"), headers)
    shutil.copy2(Path(__file__).parent / "pyconfig.h", headers / "pyconfig.h")
    return source


def stable_names() -> tuple[set[str], set[str]]:
    """The functions and the objects of the stable ABI that Python 3.9 has, on every system."""
    import abi3info

    found = []
    for table in (abi3info.FUNCTIONS, abi3info.DATAS):
        found.append(
            {
                symbol.name
                for symbol, entry in table.items()
                if (entry.added.major, entry.added.minor) <= OLDEST and entry.ifdef is None
            }
        )
    return found[0], found[1]


def _python3_dll(folder: Path, zig: list[str]) -> Path:
    """The import library of python3.dll."""
    functions, objects = stable_names()
    lines = ["LIBRARY python3.dll", "EXPORTS", *sorted(functions), *(f"{name} DATA" for name in sorted(objects))]
    definitions, library = folder / "python3.def", folder / "libpython3.a"
    definitions.write_text("\n".join(lines) + "\n", encoding="ascii")
    subprocess.run([*zig, "dlltool", "-m", "i386:x86-64", "-d", str(definitions), "-l", str(library)], check=True)
    return library


def build(platform: Platform, source: Path, out: Path, zig: list[str]) -> Path:
    """Compiles the module for a platform into the folder `out`.

    Raises:
        subprocess.CalledProcessError: the compiler refuses.
    """
    out.mkdir(parents=True, exist_ok=True)
    module = out / platform.module
    flags = list(FLAGS)
    if platform.system == "macos":
        flags += ["-undefined", "dynamic_lookup", f"-Wl,-install_name,@rpath/{platform.module}"]
    libraries = [str(_python3_dll(out, zig))] if platform.system == "windows" else []
    # Relative names, and a prefix that is mapped: nothing in the module tells where it was built.
    command = [*zig, "cc", "-target", platform.target, "-shared", "-s", *flags, f"-ffile-prefix-map={source.parent}=."]
    command += [f"-I{source.parent / 'python'}", f"-I{ROOT / 'include'}", "-o", str(module), str(source), *libraries]
    subprocess.run(command, check=True)
    return module
