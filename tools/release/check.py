#!/usr/bin/env python3
"""Checks what wheels hold and what their libraries ask of a system.

Usage: check.py WHEEL ... (called by ``make wheels`` in .venvs/release; exits with 1 after naming all faults)

Each library may link only what every system of its tag has, names no folder of the machine that built it, and has no
symbols for debuggers. The cffi module may use only what Python 3.9's stable ABI has. auditwheel is asked about wheels
for glibc, twine about METADATA.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import subprocess
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import cffi_module  # noqa: E402
import pack  # noqa: E402
from platforms import PLATFORMS, Platform  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
#: What a library may link.
ALLOWED = {
    "glibc": re.compile(r"lib(c|m|dl|pthread|rt)\.so\.[0-9]+|ld-linux-(x86-64|aarch64)\.so\.[12]|libmxlite\.so"),
    "musl": re.compile(r"libc\.so|libmxlite\.so"),
    "macos": re.compile(r"/usr/lib/libSystem\.B\.dylib|@rpath/[a-z_.0-9]+"),
    "windows": re.compile(
        r"(?i)kernel32\.dll|ntdll\.dll|advapi32\.dll|bcrypt\.dll|api-ms-win-crt-[a-z]+-l1-1-0\.dll|ucrtbase\.dll|"
        r"api-ms-win-core-synch-l1-2-0\.dll|python3\.dll|mxlite\.dll"
    ),
}
#: Bytes that a wheel may take.
LARGEST = 9_000_000


def elf_faults(data: bytes, platform: Platform) -> list[str]:
    """What is wrong with a library of Linux."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.gnuversions import GNUVerNeedSection

    elf, faults = ELFFile(io.BytesIO(data)), []
    dynamic = elf.get_section_by_name(".dynamic")
    allowed = ALLOWED["glibc" if platform.has_glibc else "musl"]
    for tag in dynamic.iter_tags():
        kind = tag.entry.d_tag
        if kind == "DT_NEEDED" and not allowed.fullmatch(tag.needed):
            faults.append(f"links {tag.needed}")
        elif kind in ("DT_RPATH", "DT_RUNPATH"):
            path = tag.rpath if kind == "DT_RPATH" else tag.runpath
            if path != "$ORIGIN":
                faults.append(f"looks for libraries in {path}")
        elif kind == "DT_TEXTREL":
            faults.append("writes to its code when it is loaded")
    for section in elf.iter_sections():
        if section.name == ".symtab" or section.name.startswith(".debug"):
            faults.append(f"has {section.name}: it is not stripped")
        if isinstance(section, GNUVerNeedSection):
            for _, versions in section.iter_versions():
                for version in versions:
                    found = re.fullmatch(r"GLIBC_2\.(\d+)(\.\d+)?", version.name)
                    if not found or int(found[1]) > 17:
                        faults.append(f"asks for {version.name}")
    for segment in elf.iter_segments("PT_GNU_STACK"):
        if segment["p_flags"] & 1:
            faults.append("wants a stack that can be executed")
    return faults


def macos_faults(data: bytes, platform: Platform) -> list[str]:
    """What is wrong with a library of macOS."""
    import lief

    binary = lief.parse(data)
    faults = [f"links {each.name}" for each in binary.libraries if not ALLOWED["macos"].fullmatch(each.name)]
    faults += [f"looks for libraries in {each.path}" for each in binary.rpaths]
    oldest = binary.build_version.minos[:2] if binary.has_build_version else binary.version_min.version[:2]
    if tuple(oldest) > (11, 0):
        faults.append(f"is for macOS {oldest}")
    if platform.name == "macos-arm64" and not binary.has_code_signature:
        faults.append("has no signature, without which an Apple processor does not load it")
    if any(each.raw_type & 0xE0 for each in binary.symbols):  # N_STAB
        faults.append("has symbols for debuggers")
    return faults


def windows_faults(data: bytes, platform: Platform) -> list[str]:
    """What is wrong with a library of Windows."""
    import lief

    binary = lief.parse(data)
    faults = [f"links {each.name}" for each in binary.imports if not ALLOWED["windows"].fullmatch(each.name)]
    wanted = lief.PE.OptionalHeader.DLL_CHARACTERISTICS
    for flag in (wanted.DYNAMIC_BASE, wanted.NX_COMPAT):
        if not binary.optional_header.has(flag):
            faults.append(f"lacks {flag}")
    faults += [f"has {each.name}" for each in binary.sections if each.name.startswith(".debug")]
    return faults


def python_names(data: bytes, platform: Platform) -> set[str]:
    """What a module takes of Python."""
    import lief
    from elftools.elf.elffile import ELFFile

    if platform.system == "linux":
        symbols = ELFFile(io.BytesIO(data)).get_section_by_name(".dynsym").iter_symbols()
        names = {symbol.name for symbol in symbols if symbol["st_shndx"] == "SHN_UNDEF"}
    elif platform.system == "macos":
        binary = lief.parse(data)
        names = {str(each.name)[1:] for each in binary.imported_symbols}
    else:
        binary = lief.parse(data)
        names = {entry.name for each in binary.imports if each.name == "python3.dll" for entry in each.entries}
    return {name for name in names if re.match(r"_?Py", name)}


def module_faults(data: bytes, platform: Platform) -> list[str]:
    """What a module takes of Python that the stable ABI of 3.9 has not got."""
    functions, objects = cffi_module.stable_names()
    names = python_names(data, platform)
    faults = [f"takes {name}, which is not in the stable ABI" for name in sorted(names - functions - objects)]
    return faults if names else ["takes nothing of Python"]


def library_faults(name: str, data: bytes, platform: Platform) -> list[str]:
    """What is wrong with one library of a wheel."""
    check = {"linux": elf_faults, "macos": macos_faults, "windows": windows_faults}[platform.system]
    faults = check(data, platform)
    if "_mxlite_cffi" in name:
        faults += module_faults(data, platform)
    for folder in (str(ROOT), str(Path.home() / ".cache"), "/usr/local", sys.prefix):
        if folder.encode() in data:
            faults.append(f"names the folder {folder}")
    return faults


def wheel_faults(path: Path) -> list[str]:
    """What is wrong with a wheel: its files against RECORD, its licences, its libraries, its size."""
    platform = next(each for each in PLATFORMS.values() if path.stem.endswith(f"-{each.tag}"))
    faults = []
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    (info,) = {name.split("/")[0] for name in files if ".dist-info/" in name}
    listed = {line[0]: line[1] for line in csv.reader(io.StringIO(files[f"{info}/RECORD"].decode()))}
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if listed.get(name) != ("" if name == f"{info}/RECORD" else f"sha256={digest}"):
            faults.append(f"RECORD is wrong about {name}")
        if re.search(r"\.(so|pyd|dll|dylib)$", name):
            faults += [f"{name} {fault}" for fault in library_faults(name, data, platform)]
    wanted = [f"{info}/licenses/LICENSE", f"{info}/licenses/NOTICE", f"mxlite/_native/{platform.library}"]
    faults += [f"there is no {name}" for name in [*wanted, f"mxlite/{platform.module}"] if name not in files]
    told = set(re.findall(r"^Tag: (\S+)$", files[f"{info}/WHEEL"].decode(), re.M))
    if told != set(pack.tags(platform, True)):
        faults.append(f"WHEEL has the tags {sorted(told)}")
    if path.stat().st_size > LARGEST:
        faults.append(f"takes {path.stat().st_size} bytes, more than {LARGEST}")
    return faults


def tool_faults(path: Path) -> list[str]:
    """What twine says of METADATA, and auditwheel of a wheel for Linux with glibc.

    (On a machine with glibc auditwheel takes its libc.so, a text for linkers, for musl's.)
    """
    twine = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", str(path)], capture_output=True, text=True
    )
    faults = [] if twine.returncode == 0 else [f"twine: {twine.stdout}{twine.stderr}"]
    if "manylinux" in path.name:
        audit = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(path)], capture_output=True, text=True)
        wanted = re.search(r"manylinux_\d+_\d+_(x86_64|aarch64)", path.name)[0]
        said = " ".join(audit.stdout.split())
        if f'following platform tag: "{wanted}"' not in said:
            faults.append(f"auditwheel: {said or audit.stderr}")
    return faults


def main(paths: list[Path]) -> int:
    wrong = 0
    for path in paths:
        faults = wheel_faults(path) + tool_faults(path)
        wrong += len(faults)
        for fault in faults:
            print(f"check: {path.name}: {fault}")
        if not faults:
            print(f"check: {path.name}: {path.stat().st_size / 1e6:.1f} MB, all is as it must be")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    sys.exit(main([Path(word).resolve() for word in sys.argv[1:]]))
