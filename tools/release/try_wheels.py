#!/usr/bin/env python3
"""Installs wheels into clean environments and uses them there, over both bindings.

Usage: try_wheels.py FOLDER [--pythons 3.9 3.14 ...] [--musl PYTHON] [--roots FOLDER ...]

``make try-wheels`` calls it.

FOLDER has the wheels; those of this machine are installed into an environment of their own for each of the Pythons that
are found (tools/find_python.sh), and in each root: the folder of another system with a Python and a venv module, such
as debootstrap makes. The wheels for musl and Windows are used by a C program, where musl's loader and wine are, and
that for musl by the Python that ``make test-musl-python`` builds.
Roots of this architecture need a superuser, one of aarch64 needs qemu-user.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHONS = ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"]

#: Run by an environment's Python in a folder of its own; argv: the binding that must be in use.
SMOKE = """
import os, sys
import numpy, mxlite as mx
assert mx._lib.BINDING == sys.argv[1], mx._lib.BINDING
assert os.path.dirname(mx.get_library()).startswith(os.path.dirname(mx.__file__)), mx.get_library()
x = mx.nd.array([1.0, 2.0, 3.0])
x.attach_grad()
with mx.autograd.record():
    y = (mx.nd.tanh(x) * x).sum()
y.backward()
expected = numpy.tanh([1, 2, 3]) + numpy.array([1, 2, 3]) / numpy.cosh([1, 2, 3]) ** 2
numpy.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-5)
a = numpy.random.RandomState(0).randn(65, 130).astype("float32")
numpy.testing.assert_allclose(mx.nd.dot(mx.nd.array(a), mx.nd.array(a.T)).asnumpy(), a @ a.T, rtol=1e-3, atol=1e-4)
import mxlite.torch as torch
t = torch.tensor([2.0], requires_grad=True)
(t**3).sum().backward()
assert t.grad.tolist() == [12.0]
try:
    mx.nd.dot(mx.nd.ones((2, 3)), mx.nd.ones((2, 3)))
except RuntimeError as error:
    assert "dot" in str(error)
else:
    raise SystemExit("a wrong call is no error")
print("Python %d.%d" % sys.version_info[:2], mx._lib.BINDING, mx.runtime and mx.__version__)
"""


def run(command: list[str], input: str = "", **options: object) -> str:
    """What a command prints; ends with its output where it fails.

    All streams are pipes: a Python of Windows refuses what wine makes of /dev/null.
    """
    done = subprocess.run(command, input=input, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        print(done.stdout)
        raise SystemExit(f"try_wheels: failed with {done.returncode}: {' '.join(command[:6])}")
    return done.stdout


def environment() -> dict[str, str]:
    """What programs get of this machine's environment: the way to PyPI, and no settings of mxlite or Python."""
    names = ("HOME", "LANG", "PIP_INDEX_URL", "PIP_CERT", "SSL_CERT_FILE")
    env = {name: os.environ[name] for name in names if name in os.environ}
    return dict(
        env, PIP_DISABLE_PIP_VERSION_CHECK="1", MPLBACKEND="agg", PATH="/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    )


def pip_install(*words: str) -> None:
    """Installs wheels alone by this Python's pip."""
    command = [sys.executable, "-m", "pip", "install", "-q", "--only-binary", ":all:", *words]
    run(command, env=environment())


def use(python: list[str], work: str, folder: Path, env: dict[str, str]) -> None:
    """Runs the programs by an interpreter that finds the wheel.

    Args:
        python: the command of the interpreter.
        work: a folder, as the interpreter names it; `folder`: the same, as this machine names it.
    """
    (folder / "smoke.py").write_text(SMOKE, encoding="utf-8")
    shutil.copytree(
        ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("out", "notebooks", "__pycache__")
    )
    for binding in ("cffi", "ctypes"):
        chosen = dict(env, MXLITE_BINDING=binding)
        told = run([*python, f"{work}/smoke.py", binding], env=chosen).strip()
        print("try_wheels:", told.splitlines()[-1], flush=True)
    told = run([*python, f"{work}/examples/digits.py", "--no-picture"], env=env).strip().splitlines()
    print("try_wheels: examples/digits.py:", [line for line in told if "accuracy" in line][-1], flush=True)


def use_here(prefix: list[str], python: str, wheel: str, work: str, folder: Path) -> None:
    """Makes an environment, installs a wheel and uses it; `prefix` enters another root, in which the others are."""
    env = environment()
    run([*prefix, python, "-m", "venv", f"{work}/venv"], env=env)
    inside = [*prefix, f"{work}/venv/bin/python"]
    run([*inside, "-m", "pip", "install", "-q", "--only-binary", ":all:", wheel], env=env)
    use(inside, work, folder, env)


def use_root(root: Path, wheels: Path) -> None:
    """Uses the wheel for a root, by its own Python: changed into, or by qemu-aarch64 if it is of that architecture."""
    arm = (root / "lib" / "ld-linux-aarch64.so.1").exists()
    (wheel,) = wheels.glob(f"*manylinux*_{'aarch64' if arm else 'x86_64'}.whl")
    if not arm:
        with tempfile.TemporaryDirectory(dir=root / "tmp") as work:
            shutil.copy2(wheel, work)
            for name in ("etc/resolv.conf", "etc/ssl/certs/ca-certificates.crt"):  # this machine's way to PyPI
                shutil.copy2(f"/{name}", root / name)
            inside = "/" + str(Path(work).relative_to(root))
            use_here(["chroot", str(root)], "python3", f"{inside}/{wheel.name}", inside, Path(work))
        return
    python = next(path for path in sorted((root / "usr" / "bin").glob("python3.*")) if path.suffix[1:].isdigit())
    with tempfile.TemporaryDirectory() as work:
        platforms = ["--platform", "manylinux2014_aarch64", "--platform", "manylinux_2_28_aarch64"]
        chosen = ["--python-version", python.name[len("python") :], "--implementation", "cp"]
        pip_install("--target", f"{work}/site", *platforms, *chosen, str(wheel))
        env = dict(environment(), PYTHONPATH=f"{work}/site", PYTHONHOME=str(root / "usr"))
        use(["qemu-aarch64", "-L", str(root), str(python)], work, Path(work), env)


def use_musl(python: Path, wheel: Path) -> None:
    """Uses the wheel for musl by a Python 3.11 of musl, which has NumPy."""
    with tempfile.TemporaryDirectory() as work:
        chosen = ["--platform", "musllinux_1_2_x86_64", "--python-version", "3.11", "--implementation", "cp"]
        pip_install("--target", f"{work}/site", *chosen, "--no-deps", str(wheel), "cffi", "pycparser")
        use([str(python)], work, Path(work), dict(environment(), PYTHONPATH=f"{work}/site"))


#: By a program in C: the wheel's name, zig's target, the program that runs others, what must be there for it.
FROM_C = (
    ("*musllinux*_x86_64.whl", ["x86_64-linux-musl", "-dynamic"], [], "/lib/ld-musl-x86_64.so.1"),
    ("*win_amd64.whl", ["x86_64-windows-gnu"], ["wine"], shutil.which("wine") or "/usr/bin/wine"),
)


def use_from_c(wheel: Path, target: list[str], runner: list[str]) -> None:
    """Compiles examples/digits.c with a wheel's headers and library, by zig, and runs it: it must learn."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(work)
        native = work / "mxlite" / "_native"
        command = [sys.executable, "-m", "ziglang", "cc", "-target", *target, "-std=c99", "-O2", "-lm"]
        places = [f"-I{work / 'mxlite' / 'include'}", f"-L{native}", "-lmxlite"]
        program = native / "digits.exe"  # beside the library, where Windows looks for it
        run([*command, "-o", str(program), str(ROOT / "examples" / "digits.c"), *places])
        env = dict(os.environ, LD_LIBRARY_PATH=str(native), WINEDEBUG="-all")
        told = run([*runner, str(program), "digits.u8"], env=env, cwd=ROOT / "examples" / "data").strip()
    accuracy = re.search(r"held-out accuracy (\S+)\s*$", told)
    if accuracy is None or float(accuracy[1]) < 0.95:
        raise SystemExit(f"try_wheels: {wheel.name} does not learn:\n{told}")
    print(f"try_wheels: {wheel.name}: examples/digits.c: {accuracy[0].strip()}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pythons", nargs="*", default=PYTHONS)
    parser.add_argument("--musl", type=Path)
    parser.add_argument("--roots", nargs="*", default=[], type=Path)
    asked = parser.parse_args()
    tried = 0
    own = sorted(asked.folder.resolve().glob(f"*manylinux*_{platform.machine()}.whl"))
    for version in asked.pythons if own else []:
        found = subprocess.run(["sh", "tools/find_python.sh", version], cwd=ROOT, capture_output=True, text=True)
        if found.returncode != 0:
            print(f"try_wheels: no Python {version} here")
            continue
        with tempfile.TemporaryDirectory() as work:
            use_here([], found.stdout.strip(), str(own[0]), work, Path(work))
        tried += 1
    for root in asked.roots:
        use_root(root.resolve(), asked.folder.resolve())
        tried += 1
    for wheel in asked.folder.resolve().glob("*musllinux*_x86_64.whl") if asked.musl else []:
        use_musl(asked.musl.resolve(), wheel)
        tried += 1
    for pattern, target, runner, needed in FROM_C:
        for wheel in asked.folder.resolve().glob(pattern):
            if os.path.exists(needed):
                use_from_c(wheel, target, runner)
                tried += 1
            else:
                print(f"try_wheels: {wheel.name} is not tried: there is no {needed}")
    print(f"try_wheels: {tried} environments")
    return 0 if tried else 1


if __name__ == "__main__":
    sys.exit(main())
