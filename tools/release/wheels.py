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


def build_libraries(platform: Platform, build: Path) -> Path:
    """Builds the C libraries of a platform; returns the folder that they are in.

    They have no symbols from the start (-s), since strip knows only this machine's files. libmxnet.so, where it is one
    with DT_AUXILIARY, is linked with libmxlite.so first.
    """
    folder = build.relative_to(ROOT)
    cc = f"{os.environ.get('MXLITE_LAUNCHER', '')} {sys.executable} -m ziglang cc -target {platform.target}".strip()
    settings = [f"BUILD={folder}", f"CC={cc}", f"AR={sys.executable} -m ziglang ar", "LTO=", "STRIP=true"]
    settings += ["LDFLAGS_EXTRA=-s", f"CFLAGS_EXTRA=-ffile-prefix-map={ROOT}=."]
    if platform.has_glibc:
        settings += [f"TWICE=-L{folder} -Wl,--no-as-needed -lmxlite -Wl,-rpath,'$$ORIGIN'"]
    env = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CI"}}
    for target in (folder / platform.library, "native"):
        subprocess.run(["make", "-C", str(ROOT), str(target), *settings], env=env, check=True)
    if platform.has_glibc:
        make_auxiliary(build / "native" / "libmxnet.so")
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
