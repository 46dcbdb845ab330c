"""What a build says of itself: how long it takes, and, past pip, how far it is."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.one_binding

ROOT = Path(__file__).resolve().parents[3]


def _progress(terminal: io.StringIO | None) -> Any:
    """setup.py's Progress (importing setup.py would build)."""
    tree = ast.parse((ROOT / "setup.py").read_text(encoding="utf-8"))
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "Progress")
    names: dict[str, Any] = {"ROOT": ROOT, "time": time, "sys": sys}
    exec(compile(ast.Module([found], []), "setup.py", "exec"), names)
    made = names["Progress"]()
    made.terminal = terminal
    return made


def test_the_terminal_hears_how_far_a_build_is(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = io.StringIO()
    progress = _progress(terminal)
    lines = ["mxlite: compiles", *(f"CC   {i}.c" for i in range(progress.files)), "LINK x"]
    for line in lines:
        progress.line(line)
    told = terminal.getvalue().split("\n")[1:]
    assert told[0] == lines[0]
    assert [re.sub(r"after \d+ s", "after", line) for line in told[1:]] == [
        f"mxlite: {progress.files // 5 * fifth * 100 // progress.files} % compiled after" for fifth in range(1, 6)
    ]
    assert capsys.readouterr().out.splitlines() == lines


def test_without_a_terminal_a_build_prints_alone(capsys: pytest.CaptureFixture[str]) -> None:
    _progress(None).line("mxlite: compiles")
    assert capsys.readouterr().out == "mxlite: compiles\n"


def test_the_first_build_says_how_long_it_takes(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    command = ["make", "-C", str(ROOT), f"{tmp_path}/flags", f"BUILD={tmp_path}", "JOBS=2"]
    said = [subprocess.run(command, capture_output=True, text=True, env=environment).stdout for _ in range(2)]
    found = re.search(r"^mxlite: compiles the C library, (\d+) files, 2 at a time: about (\d+) seconds$", said[0], re.M)
    assert found and int(found[1]) > 100 and 30 < int(found[2]) < 300
    assert "mxlite:" not in said[1]


@pytest.mark.parametrize("name", ["PLAIN_LOOPS", "RARE", "APART"])
def test_a_changed_list_of_objects_rebuilds_them(tmp_path: Path, name: str) -> None:
    """Objects depend on build/flags, which changes with what it holds."""
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    told = []
    for words in ([], [f"{name}=op/text.o"]):
        command = ["make", "-C", str(ROOT), f"{tmp_path}/flags", f"BUILD={tmp_path}", *words]
        subprocess.run(command, capture_output=True, check=True, env=environment)
        told.append((tmp_path / "flags").read_text())
    assert told[0] != told[1]


@pytest.mark.parametrize(
    ("system", "target", "names"),
    [
        ("linux", "x86_64-linux-gnu", ["libmxlite.so", "libmxnet.so"]),
        ("darwin", "aarch64-apple-darwin", ["libmxlite.dylib", "libmxnet.dylib"]),
        ("win32", "x86_64-w64-mingw32", ["mxlite.dll", "libmxnet.dll"]),
    ],
)
def test_all_know_the_library_by_the_same_name(system: str, target: str, names: list[str]) -> None:
    command = ["make", "-s", "--no-print-directory", f"TARGET={target}", "--eval"]
    command += ["names:;@echo $(SHARED_NAME) $(MXNET_NAME)", "names"]
    env = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MFLAGS", "MAKELEVEL"}}
    told = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=True).stdout
    assert told.split() == names
    for file in ("setup.py", "mxlite/_lib/__init__.py"):
        (rule,) = re.findall(r"^LIBRARY_NAME = (.*)$", (ROOT / file).read_text(encoding="utf-8"), re.M)
        assert eval(rule, {"sys": type("", (), {"platform": system})}) == names[0], file
    assert f"'{names[0]}'" in (ROOT / "bindings/node/library.js").read_text(encoding="utf-8")
    assert f'"{names[0]}"' in (ROOT / "tools/release/platforms.py").read_text(encoding="utf-8")
