#!/usr/bin/env python3
"""Builds the wheels of a release: one for each platform, by zig, the same bytes each time.

Usage: wheels.py OUT WORK NATIVE [--only NAME ...] (called by ``make wheels`` in .venvs/release)

OUT: the folder for the wheels. WORK: a folder below the tree that keeps what was compiled. NATIVE: the folder in which
``make native`` built the library of this machine: the type stubs in all wheels are what it says of its operators.
"""

from __future__ import annotations

import argparse
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cffi_module  # noqa: E402
import pack  # noqa: E402
from platforms import PLATFORMS, Platform  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "tools" / "package"
ZIG = [sys.executable, "-m", "ziglang"]
DT_NEEDED, DT_AUXILIARY = 1, 0x7FFFFFFD


def make_pure(work: Path, native: Path) -> dict[str, bytes]:
    """What all wheels hold: taken from one that setuptools builds of this tree with this machine's library."""
    out = work / "pure"
    shutil.rmtree(out, ignore_errors=True)
    for left in [ROOT / "build" / "lib", *(ROOT / "build").glob("lib.*"), *(ROOT / "build").glob("temp.*")]:
        shutil.rmtree(left, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-build-isolation"]
    env = dict(os.environ, MXLITE_NATIVE=str(native))
    subprocess.run([*command, "--no-deps", "-w", str(out), str(ROOT)], env=env, check=True)
    (wheel,) = out.glob("*.whl")
    return pack.read_pure(wheel)


def make_auxiliary(library: Path) -> None:
    """Turns what a library needs of libmxlite.so into DT_AUXILIARY: its functions are that library's where it is found.

    zig has no option for this (gcc's linker: --auxiliary).
    """
    from elftools.elf.elffile import ELFFile

    with library.open("r+b") as file:
        dynamic = ELFFile(file).get_section_by_name(".dynamic")
        places = [
            dynamic["sh_offset"] + number * dynamic["sh_entsize"]
            for number, tag in enumerate(dynamic.iter_tags())
            if tag.entry.d_tag == "DT_NEEDED" and tag.needed == "libmxlite.so"
        ]
        if len(places) != 1:
            raise SystemExit(f"wheels: {library} needs libmxlite.so {len(places)} times, not once")
        file.seek(places[0])
        file.write(struct.pack("<Q", DT_AUXILIARY))


def run_make(*words: str) -> None:
    """Runs make in the tree, apart from the make that started this one."""
    env = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CI"}}
    subprocess.run(["make", "-C", str(ROOT), *words], env=env, check=True)


def compiler(command: str) -> str:
    """A setting of CC, behind the program that MXLITE_LAUNCHER names (ccache), if it does."""
    return f"CC={os.environ.get('MXLITE_LAUNCHER', '')} {command}".replace("= ", "=")


def build_by_zig(platform: Platform, folder: Path) -> None:
    """`make native` by zig. No symbols from the start (-s): strip knows only this machine's files."""
    settings = [f"BUILD={folder}", compiler(f"{sys.executable} -m ziglang cc -target {platform.target}"), "LTO="]
    settings += [f"AR={sys.executable} -m ziglang ar", "STRIP=true", "LDFLAGS_EXTRA=-s"]
    # zig writes debug information and keeps frame pointers if it is not told otherwise.
    run_make("native", *settings, f"CFLAGS_EXTRA=-g0 -fomit-frame-pointer -ffile-prefix-map={ROOT}=.")


def build_by_gcc(platform: Platform, folder: Path) -> None:
    """Compiles by gcc, with its optimisation of the whole, into one object, which zig links with an old glibc.

    What that glibc has not got is an undefined symbol. libmxnet.so is linked with libmxlite.so for `make_auxiliary`.
    """
    settings = [f"BUILD={folder}", compiler(platform.gcc), "LTO=-flto=auto"]
    settings += [f"CFLAGS_EXTRA=-DMXL_OLD_GLIBC -ffile-prefix-map={ROOT}=."]
    share = [path.relative_to(TEMPLATES).with_suffix("") for path in TEMPLATES.rglob("*.in")]
    run_make("objects", *(f"{folder}/native/share/{path}" for path in share), *settings)
    whole, native = folder / "whole.o", folder / "native"
    joined = [
        platform.gcc,
        "-r",
        "-O2",
        "-flto=auto",
        "-flinker-output=nolto-rel",
        "-o",
        str(whole),
        f"@{folder}/objects.txt",
    ]
    subprocess.run(joined, cwd=ROOT, check=True)
    link = [*ZIG, "cc", "-target", platform.target, "-shared", "-s", "-Wl,-z,nodelete", "-Wl,-z,defs", str(whole)]
    end = ["-lm", "-ldl", "-lpthread", "-lunwind"]
    for name, more in (
        ("libmxlite.so", []),
        ("libmxnet.so", [f"-L{native}", "-Wl,--no-as-needed", "-lmxlite", "-Wl,-rpath,$ORIGIN"]),
    ):
        subprocess.run([*link, f"-Wl,-soname,{name}", "-o", str(native / name), *more, *end], cwd=ROOT, check=True)
    make_auxiliary(ROOT / native / "libmxnet.so")


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
    parser.add_argument("native", type=Path)
    parser.add_argument("--only", nargs="*", choices=list(PLATFORMS), default=list(PLATFORMS))
    asked = parser.parse_args()
    work = asked.work.resolve()
    pure = make_pure(work, asked.native.resolve())
    source = cffi_module.make_source(work / "cffi")
    for name in asked.only or list(PLATFORMS):
        wheel = build_wheel(PLATFORMS[name], pure, source, work, asked.out.resolve())
        print(f"wheels: {wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
