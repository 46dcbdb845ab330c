"""The documents: programs in them run and print what they say, links lead somewhere, named tests exist."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest
from cases import CASES, operators

import mxlite as mx

pytestmark = pytest.mark.one_binding

ROOT = Path(__file__).resolve().parents[3]
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "capi/README.md",
    "docs/accuracy.md",
    "capi/adding-an-operator.md",
    "docs/architecture.md",
    "docs/autograd.md",
    "docs/compatibility.md",
    "docs/first-hour.md",
    "docs/from-c.md",
    "docs/from-mxnet.md",
    "docs/from-pytorch.md",
    "docs/glossary.md",
    "docs/names.md",
    "docs/settings.md",
    "docs/sparse.md",
    "docs/status.md",
)
README = (ROOT / "README.md").read_text(encoding="utf-8")
FROM_C = (ROOT / "docs/from-c.md").read_text(encoding="utf-8")
STATUS = (ROOT / "docs/status.md").read_text(encoding="utf-8")
COMPATIBILITY = (ROOT / "docs/compatibility.md").read_text(encoding="utf-8")
ROWS = {case.id for case in CASES}
#: Those that say how they differ from 1.9.1, or were not asked.
ANNOUNCED = {case.id for case in CASES if case.oracle}
TIMEOUT = 120


def _blocks(page: str, kind: str) -> list[str]:
    """The fenced blocks of a page of one kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", page, re.S | re.M)


def _run(command: list[str], folder: Path, **environment: str) -> str:
    """What a command prints; it must succeed and write nothing to stderr."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, timeout=TIMEOUT
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


# ---- README ----


@pytest.mark.parametrize("number", range(2))
def test_the_pages_of_python(tmp_path: Path, number: int) -> None:
    assert len(_blocks(README, "python")) == 2
    (tmp_path / "page.py").write_text(_blocks(README, "python")[number], encoding="utf-8")
    assert _run([sys.executable, "page.py"], tmp_path, PYTHONPATH=_python_path()) == _blocks(README, "text")[number]


def _python_path() -> str:
    return os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)


@pytest.mark.parametrize("page", ["autograd", "from-mxnet", "from-pytorch", "sparse"])
def test_the_programs_of_a_page(tmp_path: Path, page: str) -> None:
    """Its examples, run in order, print the text below each."""
    text = (ROOT / f"docs/{page}.md").read_text(encoding="utf-8")
    pairs = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", text, re.S | re.M)
    assert len(pairs) == text.count("```python") == text.count("```text") >= 3
    program = "".join(code + 'print("=====")\n' for code, _ in pairs)
    (tmp_path / "page.py").write_text(program, encoding="utf-8")
    printed = _run([sys.executable, "page.py"], tmp_path, PYTHONPATH=_python_path())
    assert printed.split("=====\n")[:-1] == [output for _, output in pairs]


def _programs(folder: Path) -> Path:
    """A folder with `python` and `mxlite` as an installed package has them."""
    folder.mkdir()
    for name, command in (("python", ""), ("mxlite", "-m mxlite ")):
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {command}"$@"\n', encoding="utf-8")
        path.chmod(0o755)
    return folder


def _steady(text: str) -> str:
    """A text without what depends on the machine: NumPy's version."""
    return re.sub(r"NumPy \d[\d.]*\d", "NumPy", text)


def test_the_first_hour(tmp_path: Path) -> None:
    """docs/first-hour.md: its files are written, its commands typed, and they print what the page says, in its order.

    The blocks of kind sh before them build and install; `make check-wheel` and `make demo` do the same.
    """
    text = (ROOT / "docs/first-hour.md").read_text(encoding="utf-8")
    steps = re.findall(r"^(?:`([\w.]+)`:\n\n)?```(python|c|console)\n(.*?)^```$", text, re.S | re.M)
    environment = {
        **os.environ,
        "PATH": f"{_programs(tmp_path / 'bin')}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": _python_path(),
        "PYTHONUNBUFFERED": "1",
    }
    environment.pop("COLUMNS", None)
    work = tmp_path / "work"
    work.mkdir()
    typed = 0
    for file, kind, block in steps:
        if kind != "console":
            (work / file).write_text(block, encoding="utf-8")
            continue
        for command, expected in re.findall(r"^\$ ([^\n]+)\n(.*?)(?=^\$ |\Z)", block, re.S | re.M):
            done = subprocess.run(
                ["sh", "-c", command],
                cwd=work,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=TIMEOUT,
            )
            assert _steady(done.stdout) == _steady(expected), command
            typed += 1
    assert typed == text.count("\n$ ") >= 10
    assert len(steps) == text.count("```python") + text.count("```c")


def test_the_pictures_are_those_that_the_script_draws(tmp_path: Path) -> None:
    _run([sys.executable, str(ROOT / "tools/draw_docs.py"), str(tmp_path)], ROOT, PYTHONPATH=_python_path())
    drawn = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert drawn == {path.name: path.read_bytes() for path in (ROOT / "docs/images").glob("*.svg")}
    text = (ROOT / "docs/autograd.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"images/(autograd-[a-z]+\.svg)", text)) == sorted(drawn)


@pytest.mark.parametrize("way", ["source tree", "installed"])
def test_the_page_of_c(tmp_path: Path, way: str) -> None:
    """The program, compiled and run by the lines that the page gives, in a folder that looks like the tree."""
    assert shutil.which("cc"), "the page's lines call cc, and there is none"
    (program,) = _blocks(FROM_C, "c")
    tree, installed = (block for block in _blocks(FROM_C, "sh") if "gradient.c" in block)
    (tmp_path / "gradient.c").write_text(program, encoding="utf-8")
    if way == "source tree":
        (tmp_path / "include").symlink_to(ROOT / "include")
        (tmp_path / "build").symlink_to(Path(mx.get_library()).parent)
    printed = _run(
        ["sh", "-e", "-c", tree if way == "source tree" else installed],
        tmp_path,
        PATH=f"{_programs(tmp_path / 'bin')}{os.pathsep}{os.environ['PATH']}",
        PYTHONPATH=os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    )
    assert [printed] == _blocks(FROM_C, "text")


def test_the_page_of_c_has_no_warnings(tmp_path: Path) -> None:
    (program,) = _blocks(FROM_C, "c")
    (tmp_path / "gradient.c").write_text(program, encoding="utf-8")
    warnings = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    _run(["cc", *warnings, f"-I{mx.get_include()}", "-fsyntax-only", "gradient.c"], tmp_path)


def test_counts_of_names() -> None:
    rows = [line.split() for line in (ROOT / "capi/api/exports.txt").read_text().splitlines()]
    names = [row[0] for row in rows if row and not row[0].startswith("#")]
    words = " ".join(STATUS.split())
    assert f"All {len(names)} `MX*` and `NN*` names" in words
    assert f"- {len(operators())} operators, under 1.9.1's names" in words


# ---- all documents ----


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target):
            assert (path.parent / target).exists(), f"{document} links to {target}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_make_targets_exist(document: str) -> None:
    makefile = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "Makefile", *(ROOT / "mk").glob("*.mk")))
    targets = set(re.findall(r"^([a-z][a-z-]*)[ a-z-]*:(?!=)", makefile, re.M))
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.M):
        assert target in targets, f"{document} speaks of `make {target}`"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_files_exist(document: str) -> None:
    """Paths in backticks, written from the root of the tree or from the folder of the C library."""
    text = re.sub(r"^```.*?^```$", "", (ROOT / document).read_text(encoding="utf-8"), flags=re.S | re.M)
    for name in re.findall(r"`([\w./-]+\.(?:c|h|py|md|txt|sh))`", text):
        if "/" in name:
            assert any((ROOT / folder / name).exists() for folder in (".", "capi", "capi/api", "include")), name


def test_the_walk_through_quotes_the_sources() -> None:
    """capi/adding-an-operator.md: each block is found, word for word, in a file that the text before it names."""
    text = (ROOT / "capi/adding-an-operator.md").read_text(encoding="utf-8")
    quoted = 0
    for block in re.finditer(r"^```(?:c|python)\n(.*?)^```$", text, re.S | re.M):
        named = re.findall(r"`((?:capi/ops|tests/python/cases)(?:/\w+)+\.(?:c|py))`", text[: block.start()])
        sources = [(ROOT / name).read_text(encoding="utf-8") for name in named]
        assert any(block[1] in source for source in sources), f"none of {set(named)} holds\n{block[1]}"
        quoted += 1
    assert quoted >= 5


def test_the_shown_operators_are_those_of_the_sources() -> None:
    """capi/adding-an-operator.md: quotes and numbers of lines are those that tools/show_operators.py writes."""
    _run([sys.executable, "tools/show_operators.py", "--check"], ROOT)


def test_the_page_of_names_is_that_of_the_library() -> None:
    """docs/names.md: every name of 1.9.1 and what became of it, as tools/show_names.py writes it."""
    _run([sys.executable, "tools/show_names.py", "--check"], ROOT)


# ---- docs/compatibility.md ----


def _rows() -> list[list[str]]:
    """Cells of the tables of differences: those with five columns, without their heads."""
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in COMPATIBILITY.splitlines()
        if line.startswith("|") and "---" not in line
    ]
    return [row for row in rows if len(row) == 5 and row[0] != "subject"]


def _references(text: str) -> list[str]:
    return re.findall(r"`((?:case \S+)|(?:gluon \w+\.\w+)|(?:\w+\.(?:c|py)::[\w*]+))`", text)


def _named(pattern: str, rows: set[str]) -> bool:
    """Whether a pattern names one of these rows."""
    return pattern in rows or any(fnmatchcase(row, pattern) for row in rows)


@cache
def _tests_of(file: str) -> set[str]:
    """Names of the tests in a file: TEST(name), listed by ENTRY(name) or NOT_WASM(name) in C; functions in Python."""
    (path,) = (ROOT / ("tests/c" if file.endswith(".c") else "tests/python")).rglob(file)
    text = path.read_text(encoding="utf-8")
    if file.endswith(".c"):
        return set(re.findall(r"^TEST\((\w+)\)", text, re.M)) & set(re.findall(r"(?:ENTRY|NOT_WASM)\((\w+)\)", text))
    return {
        node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def test_every_difference_names_a_test() -> None:
    rows = _rows()
    assert len(rows) > 50
    for row in rows:
        assert all(row), f"an empty cell: {row}"
        assert _references(row[4]), f"no test is named: {row[0]}"
        assert not re.sub(r"`[^`]*`", "", row[4]).strip(), f"more than tests in the last cell: {row[4]}"
        assert len(_references(row[4])) == row[4].count("`") // 2, f"not understood: {row[4]}"


@pytest.mark.parametrize("reference", sorted(set(_references(COMPATIBILITY))))
def test_named_tests_exist(reference: str) -> None:
    if reference.startswith("case "):
        pattern = reference[len("case ") :]
        assert _named(pattern, ROWS), f"no case is {pattern}"
        return
    if reference.startswith("gluon "):
        module, _, name = reference[len("gluon ") :].partition(".")
        (path,) = (ROOT / "tests/python/gluon/gluon_cases").rglob(f"{module}.py")
        text = path.read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, re.M), f"{path.name} has no {name}"
        return
    file, _, name = reference.partition("::")
    assert any(fnmatchcase(test, name) for test in _tests_of(file)), f"{file} has no test {name}"


def test_every_announced_difference_is_listed() -> None:
    """A case that says it differs from 1.9.1, or was not asked, is named in the document."""
    patterns = [each[len("case ") :] for each in _references(COMPATIBILITY) if each.startswith("case ")]
    assert len(ANNOUNCED) > 30
    assert [each for each in sorted(ANNOUNCED) if not any(fnmatchcase(each, pattern) for pattern in patterns)] == []


def test_every_listed_case_announces_a_difference() -> None:
    """Where a pattern matches, some case says that 1.9.1 answers otherwise: no row outlives its reason."""
    for reference in _references(COMPATIBILITY):
        if reference.startswith("case "):
            pattern = reference[len("case ") :]
            assert _named(pattern, ANNOUNCED), f"{pattern} agrees with 1.9.1"


def test_every_compatibility_test_is_named() -> None:
    named = set(_references(COMPATIBILITY))
    for file in ("test_compatibility.py", "test_compatibility_calls.py"):
        for name in _tests_of(file):
            assert f"{file}::{name}" in named, name


def test_the_table_of_c_names_is_that_of_the_library() -> None:
    """The table of the C API's names, as tools/show_c_names.py writes it."""
    _run([sys.executable, "tools/show_c_names.py", "--check"], ROOT)
