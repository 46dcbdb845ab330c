"""Writes wheels: the files of one wheel with the libraries of another platform, the same bytes each time."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import subprocess
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from platforms import Platform

ROOT = Path(__file__).resolve().parents[2]
GENERATOR = "mxlite-release"


def source_date() -> int:
    """The time that archives give their files: SOURCE_DATE_EPOCH, else the last commit's, else 1980."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    asked = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(asked.stdout) if asked.returncode == 0 and asked.stdout.strip() else 315532800


def is_native(name: str) -> bool:
    """Whether a file of a wheel belongs to one platform: a library, what finds it, an extension module."""
    return re.match(r"mxlite/(_native/|share/|_mxlite_cffi\.)", name) is not None


def read_pure(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel that all platforms share: not the libraries, nor what names the platform."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            name: archive.read(name)
            for name in archive.namelist()
            if not name.endswith(("/", ".dist-info/RECORD", ".dist-info/WHEEL")) and not is_native(name)
        }


def tags(platform: Platform, abi3: bool) -> list[str]:
    """The full tags of a wheel, sorted."""
    python = "cp39-abi3" if abi3 else "py3-none"
    return sorted(f"{python}-{each}" for each in platform.tag.split("."))


def write_zip(path: Path, files: Mapping[str, bytes]) -> None:
    """Writes a zip archive whose bytes follow from its files alone: sorted, one time, one mode for each kind."""
    moment = time.gmtime(max(source_date(), 315532800))[:6]
    # What describes the package comes last, as tools expect of wheels.
    order = sorted(files, key=lambda name: (".dist-info/" in name, name.endswith("/RECORD"), name))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in order:
            entry = zipfile.ZipInfo(name, moment)
            entry.create_system = 3
            entry.external_attr = (0o100755 if is_native(name) and "/share/" not in name else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, files[name])


def record(files: Mapping[str, bytes], info: str) -> bytes:
    """The text of a wheel's RECORD."""
    lines = []
    for name in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(files[name])}")
    return ("\n".join([*lines, f"{info}/RECORD,,"]) + "\n").encode()


def write_wheel(folder: Path, pure: Mapping[str, bytes], platform: Platform, native: Mapping[str, Path]) -> Path:
    """Writes a platform's wheel into a folder.

    Args:
        pure: what all wheels hold (`read_pure`).
        native: the platform's own files, by their places in the wheel.
    """
    (info,) = {name.split("/")[0] for name in pure if ".dist-info/" in name}
    abi3 = f"mxlite/{platform.module}" in native
    files = dict(pure)
    files.update((name, path.read_bytes()) for name, path in native.items())
    every = tags(platform, abi3)
    lines = [
        "Wheel-Version: 1.0",
        f"Generator: {GENERATOR}",
        "Root-Is-Purelib: false",
        *(f"Tag: {tag}" for tag in every),
    ]
    files[f"{info}/WHEEL"] = "".join(f"{line}\n" for line in lines).encode()
    files[f"{info}/RECORD"] = record(files, info)
    folder.mkdir(parents=True, exist_ok=True)
    python = "cp39-abi3" if abi3 else "py3-none"
    path = folder / f"{info[: -len('.dist-info')]}-{python}-{platform.tag}.whl"
    write_zip(path, files)
    return path
