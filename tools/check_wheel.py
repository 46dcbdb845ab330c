#!/usr/bin/env python3
"""Builds a wheel, installs it into a virtual environment of its own and uses it from there, from Python and from C.

The C example is built in every way that the documents promise: flags of ``python -m mxlite``, pkg-config, CMake; with
nothing of the source tree but the example itself.

Usage: check_wheel.py FOLDER (called by ``make check-wheel``; FOLDER is emptied first). Exits with 1 at the first
thing that is wrong.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from check_exports import listed  # noqa: E402

EXAMPLE = ROOT / "examples" / "digits.c"
DATA = ROOT / "examples" / "data" / "digits.u8"

#: Run by the Python of the new environment; argv: the folder installed into, "cffi" or "ctypes".
USE_FROM_PYTHON = """
import ctypes, os, sys
import mxlite as mx

site, binding = sys.argv[1:3]
names = sys.stdin.read().split()
folders = [mx.get_include(), mx.get_library(), mx.get_cmake_dir(), mx.get_pkgconfig_dir()]
for path in [mx.__file__, *folders, os.path.join(os.path.dirname(mx.__file__), "py.typed")]:
    assert os.path.realpath(path).startswith(site + os.sep), f"{path} is not below {site}"
    assert os.path.exists(path), f"there is no {path}"
assert os.path.exists(os.path.join(mx.get_include(), "mxlite", "c_api.h"))
assert mx._lib.BINDING == binding
x = mx.nd.array([0.5])
x.attach_grad()
with mx.autograd.record():
    y = mx.nd.tanh(x)
y.backward()
assert abs(float(x.grad.asnumpy()[0]) - 0.7864477) < 1e-6, x.grad

# Both names are one library: every name is there, and a handle made by one is known to the other.
lite = ctypes.CDLL(mx.get_library())
other = ctypes.CDLL(os.path.join(os.path.dirname(mx.get_library()), "libmxnet.so"))
for name in names:
    assert getattr(lite, name) and getattr(other, name), name
shape = (ctypes.c_uint32 * 2)(3, 4)
handle = ctypes.c_void_p()
assert other.MXNDArrayCreateEx(shape, 2, 1, 0, 0, 0, ctypes.byref(handle)) == 0
dims, data = ctypes.c_int(), ctypes.POINTER(ctypes.c_int)()
assert lite.MXNDArrayGetShapeEx(handle, ctypes.byref(dims), ctypes.byref(data)) == 0
assert list(data[: dims.value]) == [3, 4]
assert mx.nd.NDArray(handle).shape == (3, 4)  # which frees it
assert lite.MXNDArrayFree(handle) == -1 and other.MXNDArrayFree(handle) == -1
"""

#: Run by a Python that has not opened the library yet; argv: the path of libmxnet.so.
OPEN_OTHER_FIRST = """
import ctypes, sys
other = ctypes.CDLL(sys.argv[1])
version, handle = ctypes.c_int(), ctypes.c_void_p()
assert other.MXGetVersion(ctypes.byref(version)) == 0 and version.value == 10901
assert other.MXNDArrayCreateNone(ctypes.byref(handle)) == 0
import mxlite
assert mxlite._lib.LIB.MXNDArrayFree(handle) == 0
"""

#: Written for MXNet: linked with libmxnet.so alone, or with both names, in either order.
USE_FROM_C = """
#include <stdio.h>
#include <mxnet/c_api.h>
#ifdef BOTH
#include <mxlite/mxlite.h>
#endif

int main(void)
{
    int version = 0;
    uint32_t shape[1] = {7};
    NDArrayHandle array = NULL;

    if (MXGetVersion(&version) != 0 || version != 10901) {
        return 1;
    }
    if (MXNDArrayCreate(shape, 1, 1, 0, 0, &array) != 0) {
        return 2;
    }
#ifdef BOTH
    int64_t extent = 0;
    if (MXLNDArrayGetInfo(array, 1, &extent, NULL) != 1 || extent != 7) {
        return 3;
    }
#endif
    if (MXNDArrayFree(array) != 0) {
        return 4;
    }
    return MXNDArrayFree(array) == -1 && MXGetLastError()[0] != 0 ? 0 : 5;
}
"""

CMAKE_PROJECT = """
cmake_minimum_required(VERSION 3.15...4.0)
project(digits C)
find_package(mxlite {version} CONFIG REQUIRED)
add_executable(digits "{example}")
target_link_libraries(digits PRIVATE mxlite::mxlite m)
"""


def run(*command: object, **options: object) -> str:
    """What a command prints; on failure shows it and ends with 1."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        print(done.stdout)
        raise SystemExit(f"check_wheel: failed with {done.returncode}: {' '.join(words[:8])}")
    return done.stdout


def tool(name: str) -> Path:
    """A program of .venv, where the 'dev' extra puts it."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise SystemExit(f"check_wheel: there is no {path}; `make venv` installs it")
    return path


def build_wheel(folder: Path) -> Path:
    """Builds the one wheel from a copy of the tree, so that nothing comes from an older build in it."""
    source = folder / "source"
    source.mkdir()
    for name in ("capi", "docs", "include", "mk", "mxlite", "tools"):
        ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.o", "*.pyi")
        shutil.copytree(ROOT / name, source / name, ignore=ignore)
    for name in ("Makefile", "setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "NOTICE", "README.md"):
        shutil.copy2(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", folder / "dist", source)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


class Installed:
    """The wheel in an environment of its own, and a folder to work in."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.work = folder / "work"
        self.work.mkdir()
        self.python = folder / "venv" / "bin" / "python"
        run(sys.executable, "-m", "venv", folder / "venv")
        run(self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel)
        self.binding = "cffi" if "abi3" in wheel.name else "ctypes"
        self.clean = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("MXLITE_", "PYTHON", "PKG_CONFIG", "CMAKE_", "LD_LIBRARY"))
        }
        self.package = Path(self.say("-c", "import mxlite, os; print(os.path.dirname(mxlite.__file__))").strip())
        self.compiler = os.environ.get("CC", "cc").split()

    def say(self, *arguments: object, **options: object) -> str:
        """What the environment's Python prints, away from the source tree."""
        env = dict(self.clean, MXLITE_BINDING=self.binding)
        return run(self.python, *arguments, cwd=self.work, env=env, **options)

    def learn(self, program: Path) -> None:
        """Runs a built example: it learns."""
        printed = run(program, DATA, cwd=self.work, env=self.clean)
        accuracy = re.search(r"held-out accuracy (\S+)\s*$", printed)
        if accuracy is None or float(accuracy.group(1)) < 0.95:
            raise SystemExit(f"check_wheel: {program} does not learn:\n{printed}")

    def build(self, name: str, flags: str) -> None:
        """Builds the example with flags as a shell reads them, and runs it."""
        program = self.work / name
        line = f"{' '.join(self.compiler)} -std=c99 -o {name} '{EXAMPLE}' {flags} -lm"
        run("sh", "-c", line, cwd=self.work, env=self.clean)
        self.learn(program)


def check_python(it: Installed) -> None:
    """The package, and libmxnet.so opened by name, before and after libmxlite.so."""
    names = "\n".join(listed([]))
    site = Path(os.path.realpath(it.package)).parent
    it.say("-c", USE_FROM_PYTHON, site, it.binding, input=names)
    it.say("-c", OPEN_OTHER_FIRST, it.package / "_native" / "libmxnet.so")
    for page in (ROOT / "docs").glob("*.md"):
        if not it.say("-m", "mxlite", "help", page.stem).strip():
            raise SystemExit(f"check_wheel: mxlite help {page.stem} prints nothing")


def check_names(it: Installed, folder: Path) -> None:
    """libmxnet.so linked against by its name, as a program written for MXNet is; and both names in one program.

    The first one also runs where a copy of libmxnet.so is all that there is.
    """
    source = it.work / "program.c"
    source.write_text(USE_FROM_C, encoding="utf-8")
    native = it.package / "_native"
    flags = [f"-I{it.package / 'include'}", f"-L{native}"]
    for number, names in enumerate((["-lmxnet"], ["-DBOTH", "-lmxnet", "-lmxlite"], ["-DBOTH", "-lmxlite", "-lmxnet"])):
        program = it.work / f"program{number}"
        run(*it.compiler, "-std=c99", "-o", program, source, *flags, "-Wl,--no-as-needed", *names, cwd=it.work)
        run(program, cwd=it.work, env=dict(it.clean, LD_LIBRARY_PATH=str(native)))
    alone = folder / "alone"
    alone.mkdir()
    shutil.copy2(native / "libmxnet.so", alone)
    run(it.work / "program0", cwd=it.work, env=dict(it.clean, LD_LIBRARY_PATH=str(alone)))


def check_flags(it: Installed) -> None:
    """`python -m mxlite --cflags --libs`."""
    it.build("by-flags", it.say("-m", "mxlite", "--cflags", "--libs").strip())


def check_pkgconfig(it: Installed, moved: Path) -> None:
    """mxlite.pc, where it was installed and in a copy of the package elsewhere."""
    version = it.say("-m", "mxlite", "--version").strip()
    for name, folder in (
        ("by-pkgconfig", Path(it.say("-m", "mxlite", "--pkgconfigdir").strip())),
        ("by-pkgconfig-moved", moved / "share" / "pkgconfig"),
    ):
        env = dict(it.clean, PKG_CONFIG_PATH=str(folder))
        printed = run(tool("pkgconf"), "--modversion", "mxlite", env=env).strip()
        if printed != version:
            raise SystemExit(f"check_wheel: mxlite.pc is of version {printed}, the package of {version}")
        it.build(name, run(tool("pkgconf"), "--cflags", "--libs", "mxlite", env=env).strip())


def check_cmake(it: Installed, moved: Path) -> None:
    """find_package(mxlite), by mxlite_DIR and by CMAKE_PREFIX_PATH; a version that is not there is refused."""
    version = it.say("-m", "mxlite", "--version").strip()
    project = it.work / "project"
    project.mkdir()
    text = CMAKE_PROJECT.format(version=version, example=EXAMPLE)
    (project / "CMakeLists.txt").write_text(text, encoding="utf-8")
    env = dict(it.clean, CC=" ".join(it.compiler))
    make = [tool("cmake"), "-G", "Unix Makefiles", "-S", project]
    for name, where in (
        ("by-cmake", f"-Dmxlite_DIR={it.say('-m', 'mxlite', '--cmakedir').strip()}"),
        ("by-cmake-moved", f"-DCMAKE_PREFIX_PATH={moved}"),
    ):
        run(*make, "-B", it.work / name, where, cwd=it.work, env=env)
        run(tool("cmake"), "--build", it.work / name, cwd=it.work, env=env)
        it.learn(it.work / name / "digits")
    text = CMAKE_PROJECT.format(version="99.0", example=EXAMPLE)
    (project / "CMakeLists.txt").write_text(text, encoding="utf-8")
    command = [*make, "-B", it.work / "too-new", f"-DCMAKE_PREFIX_PATH={moved}"]
    refused = subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True)
    if refused.returncode == 0 or f"version: {version}" not in refused.stderr:
        raise SystemExit(f"check_wheel: CMake takes mxlite {version} for 99.0:\n{refused.stderr}")


def main(folder: Path) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheel = build_wheel(folder)
    it = Installed(folder, wheel)
    moved = folder / "another place" / "mxlite"
    shutil.copytree(it.package, moved)
    check_python(it)
    print(run(sys.executable, ROOT / "tools" / "check_types.py", it.python).strip())
    check_names(it, folder)
    check_flags(it)
    check_pkgconfig(it, moved)
    check_cmake(it, moved)
    size = wheel.stat().st_size / 1e6
    ways = "by flags, pkg-config and CMake"
    print(f"check_wheel: {wheel.name} ({size:.1f} MB) works outside the tree, over {it.binding}, and from C {ways}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve()))
