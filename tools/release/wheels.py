#!/usr/bin/env python3
"""Builds the wheels of a release: one for each platform, by gcc or zig, the same bytes each time.

Usage: wheels.py OUT WORK BUILD [--only NAME ...] (called by ``make wheels`` in .venvs/release)

OUT: the folder for the wheels. WORK: a folder below the tree that keeps what was compiled. BUILD: where ``make native``
built the library of this machine: the type stubs in all wheels are what it says of its operators.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cffi_module  # noqa: E402
import pack  # noqa: E402
from platforms import PLATFORMS, Platform  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
ZIG = [sys.executable, "-m", "ziglang"]


def make_pure(work: Path, build: Path) -> dict[str, bytes]:
    """What all wheels hold: taken from one that setuptools builds of this tree with this machine's library."""
    out = work / "pure"
    shutil.rmtree(out, ignore_errors=True)
    for left in [ROOT / "build" / "lib", *(ROOT / "build").glob("lib.*"), *(ROOT / "build").glob("temp.*")]:
        shutil.rmtree(left, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-build-isolation"]
    env = dict(os.environ, MXLITE_BUILD=str(build))
    subprocess.run([*command, "--no-deps", "-w", str(out), str(ROOT)], env=env, check=True)
    (wheel,) = out.glob("*.whl")
    return pack.read_pure(wheel)


def run_make(*words: str) -> None:
    """Runs make in the tree, apart from the make that started this one."""
    env = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CI"}}
    subprocess.run(["make", "-C", str(ROOT), *words], env=env, check=True)


def compiler(command: str) -> str:
    """A setting of CC, behind the program that MXLITE_LAUNCHER names (ccache), if it does."""
    return "CC=" + f"{os.environ.get('MXLITE_LAUNCHER', '')} {command}".strip()


def build_by_zig(platform: Platform, folder: Path) -> None:
    """`make native` by zig. No symbols from the start (-s): strip knows only this machine's files."""
    settings = [f"BUILD={folder}", compiler(f"{sys.executable} -m ziglang cc -target {platform.target}"), "LTO="]
    settings += [f"AR={sys.executable} -m ziglang ar", "STRIP=true", "LDFLAGS_EXTRA=-s"]
    # zig writes debug information and keeps frame pointers if it is not told otherwise.
    run_make("native", *settings, f"CFLAGS_EXTRA=-g0 -fomit-frame-pointer -ffile-prefix-map={ROOT}=.")


def old_libraries(platform: Platform, folder: Path) -> list[str]:
    """What a linker takes for the C library of a platform: zig writes such files, with the names of an old glibc."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "empty.c").write_text("int mxl_empty;\n", encoding="ascii")
    command = [*ZIG, "cc", "-target", platform.target, "-v", "-shared", "-o", "empty.so", "empty.c"]
    asked = subprocess.run(
        [*command, "-lm", "-ldl", "-lpthread", "-lunwind"], cwd=folder, check=True, capture_output=True, text=True
    )
    wanted = r"/\S+/(?:libm\.so\.6|libc\.so\.6|libpthread\.so\.0|libdl\.so\.2|libc_nonshared\.a|libunwind\.a)(?!\S)"
    found = list(dict.fromkeys(re.findall(wanted, asked.stderr)))
    if len(found) != 6:
        raise SystemExit(f"wheels: of six libraries for {platform.target} zig names {found}:\n{asked.stderr}")
    return found


def build_by_gcc(platform: Platform, folder: Path) -> None:
    """`make native` by gcc, linked with the old glibc that zig has: what that has not got is an undefined symbol."""
    if not shutil.which(platform.gcc):
        raise SystemExit(f"wheels: {platform.name} needs {platform.gcc} (Debian: gcc, gcc-aarch64-linux-gnu)")
    settings = [f"BUILD={folder}", compiler(platform.gcc), "STRIP=true"]
    settings += ["LDFLAGS_EXTRA=-nodefaultlibs -s", f"LIBS={' '.join(old_libraries(platform, ROOT / folder))} -lgcc"]
    run_make("native", *settings, f"CFLAGS_EXTRA=-DMXL_OLD_GLIBC -ffile-prefix-map={ROOT}=.")


def build_libraries(platform: Platform, build: Path) -> Path:
    """Builds the C libraries of a platform; returns the folder that they are in."""
    (build_by_gcc if platform.gcc else build_by_zig)(platform, build.relative_to(ROOT))
    return build / "native"


def build_wheel(platform: Platform, pure: dict[str, bytes], source: Path, work: Path, out: Path) -> Path:
    """Builds one platform's wheel.

    With musl it has no libmxnet.so: its loader would take that for a second library.
    """
    native = build_libraries(platform, work / platform.name)
    files = {}
    for path in filter(Path.is_file, native.rglob("*")):
        place = path.relative_to(native)
        files[f"mxlite/{place}" if place.parts[0] == "share" else f"mxlite/_native/{place}"] = path
    if "-musl" in platform.target:
        del files["mxlite/_native/libmxnet.so"]
    files[f"mxlite/{platform.module}"] = cffi_module.build(platform, source, work / platform.name / "cffi", ZIG)
    return pack.write_wheel(out, pure, platform, files)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", nargs="*", choices=list(PLATFORMS), default=list(PLATFORMS))
    asked = parser.parse_args()
    work = asked.work.resolve()
    pure = make_pure(work, asked.build.resolve())
    source = cffi_module.make_source(work / "cffi")
    for name in asked.only or list(PLATFORMS):
        wheel = build_wheel(PLATFORMS[name], pure, source, work, asked.out.resolve())
        print(f"wheels: {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
