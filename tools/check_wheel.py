#!/usr/bin/env python3
"""Builds a wheel, installs it apart from the source tree and uses it from there, from Python and from C.

Usage: check_wheel.py FOLDER (called by ``make check-wheel``; FOLDER is emptied first). Exits with 1 at the first
thing that is wrong.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from make_stubs import read_names  # noqa: E402

#: Run by the Python of .venv, outside the tree; argv: the folder installed into, "cffi" or "ctypes".
USE_FROM_PYTHON = """
import ctypes, os, sys
import mxlite as mx

site, binding = sys.argv[1:3]
names = sys.stdin.read().split()
for path in (mx.__file__, mx.get_library(), mx.get_include()):
    assert os.path.realpath(path).startswith(site + os.sep), f"{path} is not below {site}"
assert os.path.exists(os.path.join(mx.get_include(), "mxlite", "c_api.h"))
x = mx.nd.array([0.5])
x.attach_grad()
with mx.autograd.record():
    y = mx.nd.tanh(x)
y.backward()
assert abs(float(x.grad.asnumpy()[0]) - 0.7864477) < 1e-6, x.grad

# Both names are one library: every name is there, and a handle made by one is known to the other.
lite = ctypes.CDLL(mx.get_library())
stub = ctypes.CDLL(os.path.join(os.path.dirname(mx.get_library()), "libmxnet.so"))
for name in names:
    assert getattr(lite, name) and (name.startswith("MXL") or getattr(stub, name)), name
shape = (ctypes.c_uint32 * 2)(3, 4)
handle = ctypes.c_void_p()
assert stub.MXNDArrayCreateEx(shape, 2, 1, 0, 0, 0, ctypes.byref(handle)) == 0
dims, data = ctypes.c_int(), ctypes.POINTER(ctypes.c_int)()
assert lite.MXNDArrayGetShapeEx(handle, ctypes.byref(dims), ctypes.byref(data)) == 0
assert list(data[: dims.value]) == [3, 4]
assert lite.MXNDArrayFree(handle) == 0 and stub.MXNDArrayFree(handle) == -1
"""

#: Linked against libmxnet.so by its name, as a program written for MXNet is.
USE_FROM_C = """
#include <stdio.h>
#include <mxnet/c_api.h>

int main(void)
{
    int version = 0;
    uint32_t shape[1] = {7};
    NDArrayHandle array = NULL;

    if (MXGetVersion(&version) != 0 || version != 10901) {
        return 1;
    }
    if (MXNDArrayCreate(shape, 1, 1, 0, 0, &array) != 0 || MXNDArrayFree(array) != 0) {
        return 2;
    }
    return MXNDArrayFree(array) == -1 && MXGetLastError()[0] != 0 ? 0 : 3;
}
"""


def run(*command: object, **options: object) -> "subprocess.CompletedProcess[str]":
    """Runs a command; on failure shows what it printed and ends with 1."""
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        print(done.stdout)
        raise SystemExit(f"check_wheel: failed with {done.returncode}: {' '.join(words[:6])}")
    return done


def build_wheel(folder: Path) -> Path:
    """Builds the one wheel from a copy of the tree, so that nothing comes from an older build in it."""
    source = folder / "source"
    source.mkdir()
    for name in ("capi", "include", "mxlite", "tools"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.so", "*.o"))
    for name in ("Makefile", "setup.py", "pyproject.toml", "MANIFEST.in", "LICENSE", "NOTICE", "README.md"):
        shutil.copy2(ROOT / name, source / name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    run(*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", folder / "dist", source)
    (wheel,) = (folder / "dist").glob("*.whl")
    run(*pip, "install", "-q", "--no-deps", "--no-compile", "--target", folder / "site", wheel)
    return wheel


def main(folder: Path) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    wheel = build_wheel(folder)
    site = folder / "site"
    native = site / "mxlite" / "_native"
    binding = "cffi" if "abi3" in wheel.name else "ctypes"
    names = "\n".join(read_names(ROOT / "capi" / "api" / "exports.txt"))
    clean = {key: value for key, value in os.environ.items() if not key.startswith("MXLITE_")}
    with tempfile.TemporaryDirectory() as elsewhere:
        env = dict(clean, PYTHONPATH=str(site), MXLITE_BINDING=binding)
        run(sys.executable, "-c", USE_FROM_PYTHON, site, binding, input=names, cwd=elsewhere, env=env)
        program = Path(elsewhere) / "program.c"
        program.write_text(USE_FROM_C, encoding="utf-8")
        compiler = os.environ.get("CC", "cc").split()
        flags = [f"-I{site / 'mxlite' / 'include'}", f"-L{native}", "-lmxnet", f"-Wl,-rpath,{native}"]
        run(*compiler, "-std=c99", "-o", program.with_suffix(""), program, *flags, cwd=elsewhere)
        run(program.with_suffix(""), cwd=elsewhere, env=clean)
    size = wheel.stat().st_size / 1e6
    print(f"check_wheel: {wheel.name} ({size:.1f} MB) works outside the tree, over {binding} and from C")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve()))
