"""tools/release/check.py finds what is wrong with libraries and wheels; `make test-wheels` runs this in .venvs/release.

The libraries are small ones that zig compiles here, each with one fault.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "release"))
import check  # noqa: E402
import pack  # noqa: E402
from platforms import PLATFORMS  # noqa: E402

PLAIN = "int mxl_one(void) { return 1; }\n"


def _library(folder: Path, platform: str, source: str, *flags: str, target: str = "") -> bytes:
    (folder / "a.c").write_text(source)
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target or PLATFORMS[platform].target, "-shared", "-O2"]
    if PLATFORMS[platform].system == "macos":
        flags = ("-undefined", "dynamic_lookup", "-Wl,-install_name,@rpath/a.dylib", *flags)
    subprocess.run([*command, "-fPIC", "-o", "a.out", "a.c", *flags], cwd=folder, check=True, capture_output=True)
    return (folder / "a.out").read_bytes()


def _faults(folder: Path, platform: str, source: str, *flags: str, name: str = "libmxlite", target: str = "") -> str:
    data = _library(folder, platform, source, *flags, target=target)
    return "; ".join(check.library_faults(name, data, PLATFORMS[platform]))


@pytest.mark.parametrize("platform", list(PLATFORMS))
def test_a_plain_library_has_no_fault(tmp_path: Path, platform: str) -> None:
    assert _faults(tmp_path, platform, PLAIN, "-s") == ""


@pytest.mark.parametrize("platform", list(PLATFORMS))
def test_a_folder_of_this_machine_is_found(tmp_path: Path, platform: str) -> None:
    assert "names the folder" in _faults(tmp_path, platform, f'const char *mxl_where = "{ROOT}/capi/a.c";\n', "-s")


@pytest.mark.parametrize("platform", ["linux-x86_64", "linux-aarch64", "musl-x86_64"])
def test_symbols_and_paths_are_found_on_linux(tmp_path: Path, platform: str) -> None:
    told = _faults(tmp_path, platform, PLAIN, "-Wl,-rpath,/opt/lib", "-g")
    assert "looks for libraries in /opt/lib" in told and "it is not stripped" in told


def test_a_new_glibc_is_found(tmp_path: Path) -> None:
    source = (
        "int mxl_open(void);\nint getentropy(void *, unsigned long);\nint mxl_one(void) { return getentropy(0, 0); }\n"
    )
    told = _faults(tmp_path, "linux-x86_64", source.split("\n", 1)[1], "-s", target="x86_64-linux-gnu.2.34")
    assert "asks for GLIBC_2.25" in told


def test_a_library_for_newer_macs_and_its_paths_are_found(tmp_path: Path) -> None:
    told = _faults(tmp_path, "macos-arm64", PLAIN, "-g", "-Wl,-rpath,/opt/lib", target="aarch64-macos.14.0")
    assert "looks for libraries in /opt/lib" in told and "is for macOS" in told and "for debuggers" in told


def test_another_library_of_windows_is_found(tmp_path: Path) -> None:
    source = "int MessageBeep(unsigned);\n__declspec(dllexport) int mxl_one(void) { return MessageBeep(0); }\n"
    assert "links USER32.dll" in _faults(tmp_path, "windows-x86_64", source, "-s", "-luser32")


@pytest.mark.parametrize("platform", ["linux-x86_64", "macos-arm64"])
def test_names_beyond_the_stable_abi_are_found(tmp_path: Path, platform: str) -> None:
    declared = "void *PyList_New(long);\nvoid *PyFrame_New(void);\n"
    source = declared + "void *f(void) { return PyList_New(0) ? PyFrame_New() : 0; }\n"
    told = _faults(tmp_path, platform, source, "-s", name="_mxlite_cffi")
    assert "takes PyFrame_New, which is not in the stable ABI" in told and "PyList_New" not in told


def test_what_a_wheel_lacks_and_damage_are_found(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.write_bytes(_library(tmp_path, "linux-x86_64", PLAIN, "-s"))
    info = "mxlite-1.2.3.dist-info"
    pure = {"mxlite/__init__.py": b"", f"{info}/METADATA": b"Name: mxlite\n", f"{info}/licenses/LICENSE": b"L"}
    native = {"mxlite/_native/libmxlite.so": library}
    wheel = pack.write_wheel(tmp_path, pure, PLATFORMS["linux-x86_64"], native)
    told = "; ".join(check.wheel_faults(wheel))
    assert f"no {info}/licenses/NOTICE" in told and "no mxlite/_mxlite_cffi.abi3.so" in told and "RECORD" not in told
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr("mxlite/more.py", "x")
    assert "RECORD is wrong about mxlite/more.py" in "; ".join(check.wheel_faults(wheel))
