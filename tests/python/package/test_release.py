"""The tools of releases: wheels with the same bytes each time, what refuses a release, what checks find."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.one_binding

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "tools" / "release"


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of tools/release that need nothing but Python."""
    monkeypatch.syspath_prepend(str(TOOLS))
    for name in ("platforms", "pack", "sbom", "release"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    import pack
    import platforms
    import release
    import sbom

    yield type("Tools", (), {"pack": pack, "platforms": platforms, "release": release, "sbom": sbom})
    for name in ("platforms", "pack", "sbom", "release"):
        sys.modules.pop(name, None)


def _files(folder: Path, library: bytes = b"L") -> tuple[dict[str, bytes], dict[str, Path]]:
    (folder / "library").write_bytes(library)
    info = "mxlite-1.2.3.dist-info"
    pure = {"mxlite/__init__.py": b"x = 1\n", f"{info}/METADATA": b"Name: mxlite\n"}
    native = {"mxlite/_native/libmxlite.so": folder / "library", "mxlite/_mxlite_cffi.abi3.so": folder / "library"}
    return pure, native


def test_a_wheel_has_the_same_bytes_each_time(tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    pure, native = _files(tmp_path)
    platform = tools.platforms.PLATFORMS["linux-x86_64"]
    first = tools.pack.write_wheel(tmp_path / "a", pure, platform, native)
    backwards = dict(reversed(pure.items())), dict(reversed(native.items()))
    (tmp_path / "library").touch()
    second = tools.pack.write_wheel(tmp_path / "b", backwards[0], platform, backwards[1])
    assert first.name == "mxlite-1.2.3-cp39-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        entries = {entry.filename: entry for entry in archive.infolist()}
        assert {entry.date_time for entry in entries.values()} == {(2023, 11, 14, 22, 13, 20)}
        assert entries["mxlite/_native/libmxlite.so"].external_attr >> 16 == 0o100755
        assert entries["mxlite/__init__.py"].external_attr >> 16 == 0o100644
        assert archive.namelist()[-1] == "mxlite-1.2.3.dist-info/RECORD"
        wheel = archive.read("mxlite-1.2.3.dist-info/WHEEL").decode()
    assert wheel.count("Tag: cp39-abi3-") == 2 and "Root-Is-Purelib: false" in wheel


def test_pip_takes_what_a_record_says(tools: Any, tmp_path: Path) -> None:
    """RECORD against pip's own reading: an installation by pip, in which every file is as recorded."""
    pure, native = _files(tmp_path)
    pure["mxlite-1.2.3.dist-info/METADATA"] = b"Metadata-Version: 2.1\nName: mxlite\nVersion: 1.2.3\n"
    platform = tools.platforms.PLATFORMS["linux-x86_64"]
    wheel = tools.pack.write_wheel(tmp_path, pure, platform, native)
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*command, "--platform", "manylinux2014_x86_64", "--only-binary", ":all:",
                    "--target", str(tmp_path / "site"), str(wheel)], check=True)  # fmt: skip
    assert (tmp_path / "site" / "mxlite" / "_native" / "libmxlite.so").read_bytes() == b"L"


def test_what_belongs_to_a_platform_is_left_out_of_the_rest(tools: Any, tmp_path: Path) -> None:
    pure, native = _files(tmp_path)
    native["mxlite/share/pkgconfig/mxlite.pc"] = tmp_path / "library"
    wheel = tools.pack.write_wheel(tmp_path, pure, tools.platforms.PLATFORMS["linux-x86_64"], native)
    assert tools.pack.read_pure(wheel) == pure


def test_without_the_module_a_wheel_is_for_ctypes(tools: Any, tmp_path: Path) -> None:
    pure, native = _files(tmp_path)
    del native["mxlite/_mxlite_cffi.abi3.so"]
    wheel = tools.pack.write_wheel(tmp_path, pure, tools.platforms.PLATFORMS["macos-arm64"], native)
    assert wheel.name == "mxlite-1.2.3-py3-none-macosx_11_0_arm64.whl"


@pytest.mark.parametrize("system", ["linux", "macos", "windows"])
def test_each_system_has_a_platform(tools: Any, system: str) -> None:
    found = [each for each in tools.platforms.PLATFORMS.values() if each.system == system]
    assert found and all(each.library.split(".")[-1] in ("so", "dylib", "dll") for each in found)


def test_an_archive_of_sources_has_the_same_bytes_each_time(
    tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    files = {"p/b.sh": (b"b", 0o700), "p/a.c": (b"a", 0o664)}
    digests = set()
    for name, order in (("x", files), ("y", dict(reversed(files.items())))):
        tools.release.write_tar(tmp_path / name, order)
        digests.add(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert len(digests) == 1
    with tarfile.open(tmp_path / "x") as archive:
        told = [(entry.name, entry.mode, entry.mtime, entry.uid) for entry in archive.getmembers()]
    assert told == [("p/a.c", 0o644, 1700000000, 0), ("p/b.sh", 0o755, 1700000000, 0)]


CHANGELOG = "# Changelog\n\n## [Unreleased]\n{}\n## [0.2.0] - 2026-01-01\n\n### New\n\n- a\n\n## [0.1.0]\n\n- b\n"


def test_a_section_of_the_changelog(tools: Any) -> None:
    text = CHANGELOG.format("")
    assert tools.release.section(text, "0.2.0") == "### New\n\n- a"
    assert tools.release.section(text, "0.1.0") == "- b"
    assert tools.release.section(text, "0.3.0") is None
    assert tools.release.section(text, "0.2") is None
    assert tools.release.section(text, "Unreleased") == ""


def _tree(folder: Path, version: str, unreleased: str = "") -> None:
    (folder / "mxlite").mkdir()
    (folder / "mxlite" / "_version.py").write_text(f'__version__ = "{version}"\n')
    (folder / "CHANGELOG.md").write_text(CHANGELOG.format(unreleased))
    me = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], [*me, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def test_a_complete_tree_may_be_released(tools: Any, tmp_path: Path) -> None:
    _tree(tmp_path, "0.2.0")
    assert tools.release.refusals(tmp_path, True) == []


def test_what_refuses_a_release(tools: Any, tmp_path: Path) -> None:
    _tree(tmp_path, "0.3.0", "\n- not yet\n")
    (tmp_path / "new").write_text("")
    told = tools.release.refusals(tmp_path, True)
    assert [word for word in ("committed", "[0.3.0] with a text", "[Unreleased]") if word not in " ".join(told)] == []
    assert len(told) == 3
    assert len(tools.release.refusals(tmp_path, False)) == 2  # without a tag, changes may wait for a version


def test_a_tag_that_is_there_refuses_another(tools: Any, tmp_path: Path) -> None:
    _tree(tmp_path, "0.2.0")
    subprocess.run(["git", "tag", "v0.2.0"], cwd=tmp_path, check=True)
    assert tools.release.refusals(tmp_path, True) == ["there is a tag v0.2.0"]
    assert tools.release.refusals(tmp_path, False) == []


def test_the_bill_names_each_file_and_need(tools: Any, tmp_path: Path) -> None:
    (tmp_path / "a.whl").write_bytes(b"abc")
    bill = tools.sbom.bill("1.2.3", "0.17.1", [tmp_path / "a.whl"])
    by_name = {entry["name"]: entry for entry in bill["components"]}
    assert by_name["a.whl"]["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(b"abc").hexdigest()}]
    assert {"numpy", "cffi"} <= set(by_name) and by_name["numpy"]["purl"] == "pkg:pypi/numpy"
    assert bill == tools.sbom.bill("1.2.3", "0.17.1", [tmp_path / "a.whl"])
    assert set(bill["dependencies"][0]["dependsOn"]) <= set(by_name)


@pytest.mark.parametrize(
    ("file", "text"), [("bindings/node/package.json", '"version": "9.9.9"'), ("bindings/rust/Cargo.toml", "[package]")]
)
def test_versions_of_bindings_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import check_versions

    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert check_versions.named_versions(tmp_path) == {file: "9.9.9" if "9.9.9" in text else "none"}
    assert set(check_versions.named_versions(ROOT).values()) == {check_versions.python_version()}
