#!/usr/bin/env python3
"""Checks with `mypy --strict`, and with pyright, what a type checker sees of an installed mxlite.

Usage: check_types.py PYTHON [--examples]: the interpreter that has mxlite installed (`make checks`: that of .venv;
check_wheel.py: one with a wheel). The example project must have no error, nor kinds.py and the programs beside it, nor,
with --examples, the examples, which need matplotlib; mistakes.py must have exactly those that it announces. pyright
runs with --examples, where it can: it needs Node.js, and from the npm registry what its package of PyPI starts.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TYPED = ROOT / "examples" / "typed"
CLIENTS = ROOT / "tests" / "clients" / "typed"
PROGRAMS = CLIENTS / "programs"
MISTAKES = CLIENTS / "mistakes.py"

#: (file, line, code) of an error.
Error = "tuple[str, int, str]"


def copied_examples(folder: Path) -> "list[Path]":
    """The examples in another folder; those written for `mxnet` or `torch` as mypy sees them where that is ours."""
    folder.mkdir()
    made = []
    for path in sorted((ROOT / "examples").glob("*.py")):
        text = re.sub(r"^(import|from) mxnet\b", r"\1 mxlite", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        text = re.sub(r"^import torch$", "import mxlite.torch as torch", text, flags=re.MULTILINE)
        text = re.sub(r"^(import|from) torch\b", r"\1 mxlite.torch", text, flags=re.MULTILINE)
        made.append(folder / path.name)
        made[-1].write_text(text, encoding="utf-8")
    return made


def by_mypy(python: str, cache: str, files: "list[Path]") -> "list[Error]":
    """mypy's errors in files of one folder."""
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", python, f"--cache-dir={cache}"]
    done = subprocess.run(
        [*command, *(path.name for path in files)], cwd=files[0].parent, capture_output=True, text=True
    )
    if done.returncode not in (0, 1) or done.stderr:
        raise SystemExit(f"check_types: mypy ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    rows = re.findall(r"^(.+?):(\d+): error: .*\[([\w-]+)\]$", done.stdout, flags=re.MULTILINE)
    if done.returncode == 1 and not rows:
        raise SystemExit(f"check_types: mypy:\n{done.stdout}")
    # Functions of mxlite.torch are Any.
    plain = [row for row in rows if not (row[0].startswith("torch_") and row[2] == "no-any-return")]
    return [(name, int(line), code) for name, line, code in plain]


def by_pyright(python: str, folder: Path) -> "list[Error] | None":
    """pyright's errors in the projects that are folders of this one; None: it cannot be started here."""
    start = [sys.executable, "-m", "pyright"]
    env = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    try:
        asked = subprocess.run([*start, "--version"], env=env, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None
    if asked.returncode != 0:
        return None
    projects = [{"root": path.name} for path in sorted(folder.iterdir()) if path.is_dir()]
    # Of loops that run at least once it cannot know.
    config = {"executionEnvironments": projects, "reportPossiblyUnboundVariable": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    command = [*start, "--outputjson", "--pythonpath", python, "-p", str(folder)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(f"check_types: pyright ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    rows = [each for each in json.loads(done.stdout)["generalDiagnostics"] if each["severity"] == "error"]
    return [(Path(row["file"]).name, row["range"]["start"]["line"] + 1, row.get("rule", "syntax")) for row in rows]


def expect(checker: str, found: "list[Error]", wanted: "set[tuple[int, str]]", by_line: bool = False) -> None:
    """Errors are those of mistakes.py alone; `by_line`: whatever the checker calls them."""
    others = [row for row in found if row[0] != MISTAKES.name]
    if others:
        raise SystemExit("\n".join(f"check_types: {checker}: {name}:{line}: {code}" for name, line, code in others))
    in_mistakes = {(line, "" if by_line else code) for _, line, code in found}
    expected = {(line, "" if by_line else code) for line, code in wanted}
    if not expected or in_mistakes != expected:
        missed, more = sorted(expected - in_mistakes), sorted(in_mistakes - expected)
        raise SystemExit(f"check_types: {checker}: mistakes.py: not found {missed}, found {more}")


def main(python: str, with_examples: bool) -> int:
    """Runs the checkers; returns the exit status."""
    wanted, for_all = set(), set()
    for number, line in enumerate(MISTAKES.read_text(encoding="utf-8").splitlines(), start=1):
        for code, alone in re.findall(r"  # E: ([\w-]+)(, of mypy alone)?$", line):
            wanted |= {(number, code)}
            for_all |= set() if alone else {(number, code)}
    with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as folder:
        groups = [sorted(TYPED.glob("*.py")), [CLIENTS / "kinds.py", MISTAKES], sorted(PROGRAMS.glob("*.py"))]
        if with_examples:
            projects = Path(folder)
            shutil.copytree(TYPED, projects / "typed")
            shutil.copytree(CLIENTS, projects / "clients")
            groups.append(copied_examples(projects / "examples"))
        # The cache is one for all: the package and the library's types are read once.
        expect("mypy", [row for files in groups for row in by_mypy(python, cache, files)], wanted)
        said = f"{sum(map(len, groups)) - 1} programs are clean under mypy --strict"
        if with_examples:
            found = by_pyright(python, projects)
            if found is None:
                said += " (pyright cannot be started here, and did not run)"
            else:
                expect("pyright", found, for_all, by_line=True)
                said += " and pyright"
    print(f"check_types: {said}, {len(wanted)} mistakes are found")
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--examples"]):
        raise SystemExit(__doc__)
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:] == ["--examples"]))
