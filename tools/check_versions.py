#!/usr/bin/env python3
"""Checks that the version is one: mxlite/_version.py, the macros of mxlite/mxlite.h, the library itself, the bindings.

Usage: check_versions.py build/libmxlite.so (called by ``make checks``).
"""

import ctypes
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def python_version(root: Path = ROOT) -> str:
    """The text that setuptools reads, taken without importing the package."""
    text = (root / "mxlite" / "_version.py").read_text(encoding="utf-8")
    match = re.search(r'^__version__\s*=\s*"([^"]+)"', text, re.M)
    if not match:
        raise SystemExit('mxlite/_version.py: has no line __version__ = "..."')
    return match.group(1)


def header_macros() -> "dict[str, int]":
    """The integer macros MXL_VERSION* of the public header; MXL_VERSION itself may be built from the others."""
    text = (ROOT / "include" / "mxlite" / "mxlite.h").read_text(encoding="utf-8")
    found = re.findall(r"^#define\s+MXL_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)", text, re.M)
    if len(found) != 3:
        raise SystemExit("mxlite/mxlite.h: MXL_VERSION_MAJOR, _MINOR and _PATCH are not each defined once as a number")
    return {name: int(value) for name, value in found}


#: Files of bindings and packages that name the version, and how; some may not be there.
NAMED = {
    "bindings/rust/Cargo.toml": r'^version = "([^"]+)"',
    "bindings/node/package.json": r'"version": "([^"]+)"',
    "bindings/web/package.json": r'"version": "([^"]+)"',
    "tools/package/vcpkg/mxlite/vcpkg.json": r'"version-semver": "([^"]+)"',
    "bindings/perl/lib/Mxlite.pm": r"^our \$VERSION\s*= '([^']+)'",
}


def named_versions(root: Path) -> "dict[str, str]":
    """What the files of NAMED say; "none" where a file has no such line."""
    found = {}
    for name, pattern in NAMED.items():
        if (root / name).exists():
            match = re.search(pattern, (root / name).read_text(encoding="utf-8"), re.M)
            found[name] = match.group(1) if match else "none"
    return found


def main(library: Path) -> int:
    version = python_version()
    macros = header_macros()
    number = macros["MAJOR"] * 10000 + macros["MINOR"] * 100 + macros["PATCH"]
    out = ctypes.c_int(-1)
    status = ctypes.CDLL(str(library)).MXLGetVersion(ctypes.byref(out))
    seen = {
        "mxlite/_version.py": version,
        "mxlite/mxlite.h": f"{macros['MAJOR']}.{macros['MINOR']}.{macros['PATCH']}",
        "MXLGetVersion": f"{out.value // 10000}.{out.value // 100 % 100}.{out.value % 100}",
        **named_versions(ROOT),
    }
    if status != 0 or out.value != number or len(set(seen.values())) != 1:
        print("check_versions: they differ:", ", ".join(f"{where} says {what}" for where, what in seen.items()))
        return 1
    print(f"check_versions: {version} everywhere, in {len(seen)} places")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve()))
