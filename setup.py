"""Builds mxlite: the C library by `make`, and the cffi module where Python's headers are.

A wheel holds `mxlite/_native/` (libmxlite.so, and libmxnet.so for programs that link that name; on Windows mxlite.dll,
libmxnet.dll and import libraries, on macOS libmxlite.dylib), `mxlite/include/`, `mxlite/share/` (for pkg-config and
CMake) and `mxlite/_pages/` (what `mxlite help` prints). An editable install holds none: the package then takes
`build/`, `include/` and `docs/` of this tree.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
CFFI_SOURCE = "mxlite/_lib/build_cffi.py"
#: The library's file name, as in mxlite/_lib.
LIBRARY_NAME = {"win32": "mxlite.dll", "darwin": "libmxlite.dylib"}.get(sys.platform, "libmxlite.so")


def has_python_headers() -> bool:
    """Whether a C extension of the stable ABI can be compiled for this interpreter; not for one without a lock."""
    return not sysconfig.get_config_var("Py_GIL_DISABLED") and any(
        (Path(sysconfig.get_path(key)) / "Python.h").exists() for key in ("include", "platinclude")
    )


class Progress:
    """Tells the terminal what the build does, since pip shows what a build prints only with -v."""

    def __init__(self) -> None:
        self.files = len(list((ROOT / "capi").rglob("*.c")))
        self.compiled = 0
        self.started = time.monotonic()
        try:
            self.terminal = None if sys.stdout.isatty() else open("/dev/tty", "w")  # closed with the process
        except OSError:
            self.terminal = None

    def say(self, text: str) -> None:
        if self.terminal:
            self.terminal.write(f"\n{text}")
            self.terminal.flush()

    def line(self, text: str) -> None:
        """A line that make printed: passed on; the terminal gets what is meant for it, and every fifth of the way."""
        print(text, flush=True)
        if text.startswith("mxlite:"):
            self.say(text)
        if text.startswith("CC "):
            self.compiled += 1
            if self.compiled % (self.files // 5) == 0:
                share = 100 * self.compiled // self.files
                self.say(f"mxlite: {share} % compiled after {time.monotonic() - self.started:.0f} s")


def run_make(target: str, build: Path) -> None:
    """Runs the project's Makefile apart from any make that started us (its job server is not ours)."""
    if not shutil.which("make"):
        raise SystemExit("mxlite: the build needs make and a C17 compiler; there is no make on the path")
    env = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}}
    command = ["make", "-C", str(ROOT), target, f"BUILD={build}", f"PYTHON={sys.executable}"]
    progress = Progress()
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True, errors="replace") as make:
        for text in make.stdout:
            progress.line(text.rstrip("\n"))
    if make.returncode != 0:
        raise SystemExit(f"mxlite: `{' '.join(command)}` failed; its messages are above")


def write_stubs(library: Path, package: Path) -> None:
    """Writes the type stubs of what this library's operators give into a package."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]  # where pip put what the build requires
    env = dict(os.environ, MXLITE_LIBRARY=str(library), MXLITE_BINDING="ctypes", PYTHONPATH=os.pathsep.join(paths))
    command = [sys.executable, str(ROOT / "tools" / "make_pyi.py"), str(package)]
    if subprocess.run(command, env=env).returncode != 0:
        raise SystemExit(f"mxlite: `{' '.join(command)}` failed; its messages are above")


class BuildWithLibrary(build_py):
    """build_py that puts the C library and its headers into the package."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            if os.environ.get("MXLITE_LIBRARY_IS_BUILT") != "1":
                run_make("lib", ROOT / "build")
                write_stubs(ROOT / "build" / LIBRARY_NAME, ROOT / "mxlite")
            return
        # A release has the library built (`make native`) before it makes wheels.
        work = Path(os.environ.get("MXLITE_BUILD") or self.get_finalized_command("build").build_temp).resolve()
        if not os.environ.get("MXLITE_BUILD"):
            work /= "mxlite"
            run_make("native", work)
        package = Path(self.build_lib).resolve() / "mxlite"
        write_stubs(work / "native" / LIBRARY_NAME, package)
        native = package / "_native"
        native.mkdir(parents=True, exist_ok=True)
        for path in filter(Path.is_file, (work / "native").iterdir()):
            shutil.copy2(path, native / path.name)
        shutil.copytree(ROOT / "include", package / "include", dirs_exist_ok=True)
        shutil.copytree(work / "native" / "share", package / "share", dirs_exist_ok=True)
        (package / "_pages").mkdir(exist_ok=True)
        for page in (ROOT / "docs").glob("*.md"):
            shutil.copy2(page, package / "_pages" / page.name)

    def get_outputs(self, include_bytecode: bool = True) -> list:
        outputs = super().get_outputs(include_bytecode)
        if self.editable_mode:
            return outputs
        package = Path(self.build_lib) / "mxlite"
        headers = [path.relative_to(ROOT / "include") for path in (ROOT / "include").rglob("*.h*")]
        outputs += [str(path) for path in (package / "_native").glob("*")]
        outputs += [str(package / "include" / path) for path in headers]
        outputs += [str(package / "_pages" / path.name) for path in (ROOT / "docs").glob("*.md")]
        templates = ROOT / "tools" / "package"
        outputs += [
            str(package / "share" / path.relative_to(templates).with_suffix("")) for path in templates.rglob("*.in")
        ]
        return sorted({*outputs, *(str(path) for path in package.rglob("*.pyi"))})


class PlatformWheel(bdist_wheel):
    """One wheel for all Pythons from 3.9 on: the cffi module is abi3, the C library knows no Python."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple:
        platform = super().get_tag()[2]
        return ("cp39", "abi3", platform) if BUILD_CFFI else ("py3", "none", platform)


class PlatformDistribution(Distribution):
    """A package with a C library belongs to its platform, with or without an extension module."""

    def has_ext_modules(self) -> bool:
        return True


BUILD_CFFI = has_python_headers() and (ROOT / CFFI_SOURCE).exists()
if not has_python_headers():
    print("mxlite: no Python.h, or no stable ABI, so the cffi module is not built and ctypes will be used")

setup(
    distclass=PlatformDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel},
    cffi_modules=[f"{CFFI_SOURCE}:ffibuilder"] if BUILD_CFFI else [],
)
