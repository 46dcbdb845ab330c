"""`mxlite help` and `mxlite --help`; texts name pages by a command, never by a file that a user lacks."""

from __future__ import annotations

import ast
import io
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import mxlite
import mxlite.torch as torch
from mxlite._cli import COMMANDS, _markdown, main
from mxlite._public.pages import pages, see

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "mxlite"


def _printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == code
    return capsys.readouterr()


# ---- what texts name ----


def _literals() -> Iterator[tuple[str, str]]:
    """Every text of the package and of the library that could be printed, with its file; C's headers whole."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield str(path), node.value
    for path in sorted((ROOT / "capi").rglob("*.[ch]")):
        text = re.sub(r"(?s)/\*.*?\*/|//[^\n]*|^ *#\s*include[^\n]*", "", path.read_text(encoding="utf-8"), flags=re.M)
        for found in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
            yield str(path), found
    for path in sorted((ROOT / "include").rglob("*.h")):
        yield str(path), path.read_text(encoding="utf-8")


def test_no_text_names_a_file_of_the_documentation() -> None:
    found = list(_literals())
    assert len(found) > 10000
    wrong = [(path, text) for path, text in found if "docs/" in text or re.search(r"\b[\w-]+\.md\b", text)]
    allowed = {str(PACKAGE / "_cli/help.py"), str(PACKAGE / "_public/pages.py"), str(PACKAGE / "_cli/_markdown.py")}
    assert [each for each in wrong if each[0] not in allowed] == []


def _commands() -> Iterator[tuple[str, str]]:
    for path, text in _literals():
        for page in re.findall(r"`mxlite help ([a-z][\w -]*)", text.replace('" "', "")):
            yield path, page.strip()


def test_the_pages_that_texts_name_are_there() -> None:
    named = dict.fromkeys(page for _, page in _commands())
    assert {"glossary", "distributed", "gluon"} <= set(named)
    for each in [*named, "compatibility not supported yet", "from-pytorch what differs"]:
        name, _, section = each.partition(" ")
        assert name in pages(), each
        parts = _markdown.blocks(pages()[name].read_text(encoding="utf-8"))
        assert not section or _markdown.sections(parts, section), each
    assert see("a") == "`mxlite help a`" and see("a", "b c") == "`mxlite help a b c`"


def test_errors_name_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    for ask in (lambda: mxlite.rtc, lambda: torch.jit):
        with pytest.raises((AttributeError, NotImplementedError)) as caught:
            ask()
        (words,) = re.findall(r"`mxlite help ([^`]+)`", str(caught.value))
        printed, _ = _printed(capsys, "help", *words.split())
        assert len(printed.splitlines()) > 10


# ---- the command ----


def test_the_list_of_pages(capsys: pytest.CaptureFixture[str]) -> None:
    printed, _ = _printed(capsys, "help")
    listed = re.findall(r"^  ([\w-]+)  +\S", printed, re.M)
    assert listed == sorted(path.stem for path in (ROOT / "docs").glob("*.md"))
    assert all(len(line) <= 100 for line in printed.splitlines())


@pytest.mark.parametrize("name", sorted(pages()))
def test_every_page_is_printed_whole(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed, _ = _printed(capsys, "help", name)
    source = pages()[name].read_text(encoding="utf-8")
    for block in _markdown.blocks(source):
        if block.kind == "heading":
            assert _markdown.plain(block.lines[0]) in printed
    words = set(re.findall(r"[a-z]{6,}", re.sub(r"\]\([^)]*\)|(?s:<!--.*?-->)", "", source)))
    assert len(words - set(re.findall(r"[a-z]{6,}", printed))) <= len(words) // (2 if name == "compatibility" else 20)
    assert "](" not in re.sub(r"(?m)^    .*$|`[^`]*`", "", printed)


def test_a_section_a_word_and_none(capsys: pytest.CaptureFixture[str]) -> None:
    printed, _ = _printed(capsys, "help", "compatibility", "Not", "supported")
    assert printed.startswith("Not supported yet\n-----------------\n") and "Recording" not in printed
    printed, _ = _printed(capsys, "help", "compat", "ftml_update")
    assert "ftml_update" in printed and "mxlite: once, at the end" in printed and len(printed.splitlines()) < 30
    assert printed.startswith("Differences from MXNet 1.9.1\n") and "\nOperators\n" in printed
    _, problem = _printed(capsys, "help", "gluon", "Savng", code=1)
    assert problem == "mxlite help: the page gluon says nothing of 'Savng'; did you mean 'Saving and loading'?\n"
    _, problem = _printed(capsys, "help", "glosary", code=1)
    assert problem == "mxlite help: there is no page 'glosary'; did you mean 'glossary'?\n"
    _, problem = _printed(capsys, "help", "zzz", code=1)
    assert problem == "mxlite help: there is no page 'zzz'; `mxlite help` lists all\n"


def test_files_and_commands_are_names_of_pages_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert _printed(capsys, "help", "docs/gluon.md") == _printed(capsys, "help", "Gluon")
    with pytest.raises(SystemExit):
        main(["help", "predict"])
    assert capsys.readouterr().out.startswith("usage: mxlite predict")


def test_text_of_marks() -> None:
    page = """# Title

See [the page](gluon.md#x), [gluon.md](gluon.md) and [this](https://a.b); **bold**, *thin*, `a*b*c`.

- one
  more
- two

| a | b |
| --- | --- |
| 1 | `x\\|y` |

```python
x = [1](2)
```
"""
    assert _markdown.as_text(_markdown.blocks(page), 60).splitlines() == [
        "Title",
        "=====",
        "",
        "See the page (`mxlite help gluon`), `mxlite help gluon` and",
        "this (https://a.b); bold, thin, `a*b*c`.",
        "",
        "- one more",
        "- two",
        "",
        "a  b",
        "-  -----",
        "1  `x|y`",
        "",
        "    x = [1](2)",
    ]


def test_a_wide_table_is_a_list() -> None:
    table = ["| subject | 1.9.1 | test |", "| --- | --- | --- |", f"| first {'word ' * 20} | error | `t.py::x` |"]
    text = _markdown.as_text([_markdown.Block("table", table)], 60)
    assert text.startswith("* first word") and text.endswith("\n    1.9.1: error") and "t.py" not in text


def test_a_pager_only_on_a_terminal_that_is_too_low(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    paged: list[str] = []
    monkeypatch.setattr("pydoc.pager", paged.append)
    monkeypatch.setenv("LINES", "60")
    monkeypatch.setenv("COLUMNS", "80")
    for out, arguments, expected in (
        (Terminal(), ["help", "compatibility"], 1),
        (Terminal(), ["help"], 0),
        (io.StringIO(), ["help", "compatibility"], 0),
    ):
        paged.clear()
        monkeypatch.setattr(sys, "stdout", out)
        assert main(arguments) == 0
        assert (len(paged), out.getvalue() == "") == (expected, expected == 1)


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", [[], ["--help"], ["help", "names"], ["op", "topk"], ["names", __file__]])
def test_a_reader_that_goes_away_hears_nothing(command: list[str], unbuffered: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        [sys.executable, "-m", "mxlite", *command], stdout=writer, stderr=subprocess.PIPE, text=True, env=environment
    )
    os.close(writer)
    assert done.stderr == ""


def test_a_script_sees_that_its_reader_went_away(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import mxnet\nprint(1, flush=True)\n", encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "mxlite", "run", str(tmp_path / "script.py")]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert done.returncode != 0 and "BrokenPipeError" in done.stderr


def test_all_commands_are_listed_by_what_they_are_for(capsys: pytest.CaptureFixture[str]) -> None:
    modules = {path.stem for path in (PACKAGE / "_cli").glob("*.py") if path.stem[0] != "_"}
    assert set(COMMANDS) == modules - {"information"}
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    printed = capsys.readouterr().out
    assert end.value.code == 0 and printed.count(":\n  ") >= 3
    for name, text in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(text)}$", printed, re.M), name


def test_a_command_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    _, problem = _printed(capsys, "nmes", "a.py", code=2)
    assert problem == "mxlite: there is no command 'nmes'; did you mean 'names'?\n"
    _, problem = _printed(capsys, "foo", code=2)
    assert problem == "mxlite: there is no command 'foo'; `mxlite --help` lists all\n"


# ---- where the pages are ----


def test_pages_of_a_package_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mxlite/_public").mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/other.md").write_text("# Other\n")
    monkeypatch.setattr("mxlite._public.pages.__file__", str(tmp_path / "mxlite/_public/pages.py"))
    assert list(pages()) == ["other"]
    (tmp_path / "mxlite/_pages").mkdir()
    (tmp_path / "mxlite/_pages/own.md").write_text("# Own\n")
    assert list(pages()) == ["own"]


def test_a_wheel_and_a_source_archive_hold_the_pages() -> None:
    """What setup.py copies; `make test-pythons` and `make wheel` run it."""
    source = (ROOT / "setup.py").read_text(encoding="utf-8")
    assert '"_pages"' in source and "include docs/*.md" in (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
    for wheel in (ROOT / "dist").glob("*.whl"):
        if wheel.stat().st_mtime > (ROOT / "setup.py").stat().st_mtime:
            names = zipfile.ZipFile(wheel).namelist()
            assert {f"mxlite/_pages/{name}.md" for name in pages()} <= set(names)
    assert re.search(r"\[project\.urls\]\nDocumentation = \"https://", (ROOT / "pyproject.toml").read_text("utf-8"))
