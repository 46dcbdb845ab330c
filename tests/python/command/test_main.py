"""`python -m mxlite`: what other builds ask of an installation. Building with the answers: tools/check_wheel.py."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mxlite as mx
from mxlite._cli import information as main

pytestmark = pytest.mark.one_binding


def run(*arguments: str, library: str | None = None) -> subprocess.CompletedProcess:
    """The command in a process of its own; `library` instead of the one in use."""
    env = dict(os.environ, MXLITE_LIBRARY=library or mx.get_library())
    return subprocess.run([sys.executable, "-m", "mxlite", *arguments], capture_output=True, text=True, env=env)


def test_flags_are_one_line(capsys: pytest.CaptureFixture) -> None:
    assert main.main(["--libs", "--cflags"]) == 0
    folder = str(Path(mx.get_library()).parent)
    words = shlex.split(capsys.readouterr().out)
    assert words == [f"-I{mx.get_include()}", f"-L{folder}", "-lmxlite", f"-Wl,-rpath,{folder}"]


def test_folders_and_version(capsys: pytest.CaptureFixture) -> None:
    assert main.main(["--cmakedir", "--pkgconfigdir", "--version"]) == 0
    cmake, pkgconfig, version = capsys.readouterr().out.splitlines()
    assert (Path(cmake) / "mxliteConfig.cmake").is_file() and cmake == mx.get_cmake_dir()
    assert (Path(pkgconfig) / "mxlite.pc").is_file() and pkgconfig == mx.get_pkgconfig_dir()
    assert version == mx.__version__
    assert f"\nVersion: {version}\n" in (Path(pkgconfig) / "mxlite.pc").read_text(encoding="utf-8")


def test_paths_with_spaces_are_quoted(tmp_path: Path) -> None:
    folder = tmp_path / "a place"
    folder.mkdir()
    library = shutil.copy2(mx.get_library(), folder / "libmxlite.so")
    printed = run("--libs", library=str(library))
    assert shlex.split(printed.stdout) == [f"-L{folder}", "-lmxlite", f"-Wl,-rpath,{folder}"]


def test_a_library_of_another_name_is_named(tmp_path: Path) -> None:
    library = shutil.copy2(mx.get_library(), tmp_path / "mine.so")
    assert run("--libs", library=str(library)).stdout.split()[0] == str(library)


@pytest.mark.parametrize("option", ["--cmakedir", "--pkgconfigdir"])
def test_what_is_missing_is_one_line(tmp_path: Path, option: str) -> None:
    library = shutil.copy2(mx.get_library(), tmp_path / "libmxlite.so")
    done = run(option, library=str(library))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"mxlite: there is no {tmp_path}") and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "options, said",
    [
        (("--json", "--libs"), "error: --json prints everything; it does not go with --libs"),
        (("--nope",), "error: unrecognized arguments: --nope"),
        (("cflags",), "there is no command 'cflags'"),
    ],
)
def test_wrong_options(options: tuple[str, ...], said: str) -> None:
    done = run(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_the_table() -> None:
    printed = run().stdout
    assert f"version:      {mx.__version__}\n" in printed
    assert f"include:      {mx.get_include()}\n" in printed
