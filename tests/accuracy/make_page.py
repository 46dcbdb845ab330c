"""Measures float64 and reductions, and writes docs/accuracy.md; `make accuracy` calls it.

`python make_page.py EXACT.so FOLDER [NAME...]`, with names for these functions alone; without arguments it writes the
page alone. What was measured is kept in
results.json, where exhaustive.py puts float32; the page is made of that and of page.md.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from functions import FUNCTIONS, Function
from measure import LEVELS, levels, save
from reductions import REDUCTIONS
from worker import DRAWS, PARTS

HERE = Path(__file__).resolve().parent
RESULTS, PAGE = HERE / "results.json", HERE.parents[1] / "docs" / "accuracy.md"
PEERS = {"numpy": "NumPy", "torch": "PyTorch"}
#: float64 arguments that are drawn for each function.
COUNT = 20_000
#: Floats in the sample of `make accuracy`, where not all have been gone through.
SAMPLE = 4 << 20


# ---- measuring ----


def _run(script: str, *arguments: str, level: str = "") -> Any:
    environment = {**os.environ, **({"MXLITE_VECTOR_LEVEL": level} if level else {})}
    command = [sys.executable, str(HERE / script), *arguments]
    return json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)


def _made() -> dict[str, str]:
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        rows = (line.split(":", 1) for line in file if ":" in line)
        facts = {key.strip(): value.strip() for key, value in rows}
    names = (("model name", ""), ("cpu family", "family "), ("model", "model "))
    processor = ", ".join(text + facts[key] for key, text in names if key in facts) or platform.machine()
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "torch", "mpmath")}
    return {"processor": processor, "libc": " ".join(platform.libc_ver()), **versions}


def measure(exact: str, folder: Path, names: list[str]) -> None:
    """Everything but all floats, or some functions alone, into results.json."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    table = folder / "arguments.npz"
    subprocess.run([sys.executable, str(HERE / "check_exact.py"), exact, "2000"], check=True)
    subprocess.run([sys.executable, str(HERE / "exact_mp.py"), str(table), str(COUNT), *names], check=True)
    asked = [(f"mxlite {level}", "mxlite", level) for level in levels()] + [(who, who, "") for who in PEERS]
    large = results.setdefault("float64", {})
    for column, who, level in asked:
        print(f"accuracy: {column}", file=sys.stderr)
        for name, found in _run("sample.py", str(table), exact, str(SAMPLE), who, level=level).items():
            large.setdefault(name, {})[column] = found["float64"]
            _widen(results.setdefault("float32", {}).setdefault(name, {}), column, found["float32"])
    if not names:
        results["reductions"] = {who: _run("reductions.py", who) for who in ("mxlite", *PEERS)}
        results["made"] = _made()
    save(results, RESULTS)


def _widen(row: dict[str, dict], column: str, found: dict) -> None:
    """Puts a sample's worst where all floats were not gone through, or results have changed since."""
    known = row.get(column)
    if known is None or not known["all"] or known["crc"] != found["crc"]:
        row[column] = {**found, "all": False}


# ---- the page ----


def _number(value: float) -> str:
    if value < 1000:
        return f"{value:.2f}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _cell(row: dict | None) -> str:
    if row is None:
        return ""
    wrong = f", {row['wrong']:,} wrong" if row["wrong"] else ""
    return _number(row["error"]) + wrong + ("" if row.get("all", True) else "\\*")


def _where(rows: Iterable[dict]) -> str:
    worst = max(rows, key=lambda row: row["error"])
    return ", ".join(f"{value:.9g}" for value in worst["at"]) if worst["at"] else ""


def _bar(function: Function, place: int) -> str:
    least = f" of {function.least:g}" if function.least else ""
    return f"{function.bar[place]:g}{least}"


def _table(results: dict, dtype: str, place: int) -> list[str]:
    known = [level for level in LEVELS if f"mxlite {level}" in results[dtype]["exp"]]
    lines = [
        "| function | bar | " + " | ".join(known) + " | worst at | NumPy | PyTorch |",
        "| --- | --- | " + "--- | " * len(known) + "--- | --- | --- |",
    ]
    for function in FUNCTIONS:
        row = results[dtype][function.name]
        own = [row[f"mxlite {level}"] for level in known]
        cells = [function.name.replace("*", "\\*"), _bar(function, place), *map(_cell, own), _where(own)]
        lines.append("| " + " | ".join([*cells, *(_cell(row.get(who)) for who in PEERS)]) + " |")
    return lines


def _reductions(results: dict) -> list[str]:
    rows = results["reductions"]
    lines = [
        "| what | float32 | at most | NumPy | PyTorch | float64 | at most | NumPy | PyTorch |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for reduction in REDUCTIONS:
        cells = [reduction.name]
        for dtype, most in zip(("float32", "float64"), reduction.most):
            own, *others = (rows[who]["errors"].get(reduction.name) for who in ("mxlite", *PEERS))
            cells += [_number(own[dtype]), f"{most:g}", *(_number(each[dtype]) if each else "" for each in others)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def render(results: dict) -> str:
    """The page."""
    made = results["made"]
    tables = [
        "## float32",
        "",
        *_table(results, "float32", 0),
        "",
        "## float64",
        "",
        *_table(results, "float64", 1),
    ]
    text = (HERE / "page.md").read_text(encoding="utf-8")
    parts = {
        "DRAWS": f"{PARTS * DRAWS:,}",
        "SAMPLE": f"{SAMPLE:,}",
        "COUNT": f"{COUNT:,}",
        "TABLES": "\n".join(tables),
        "REDUCTIONS": "\n".join(_reductions(results)),
        "ONES": f"{results['reductions']['mxlite']['ones']:,.0f}",
        **{name.upper(): value for name, value in made.items()},
    }
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def main() -> None:
    if len(sys.argv) > 1:
        measure(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
    PAGE.write_text(render(json.loads(RESULTS.read_text())), encoding="utf-8")


if __name__ == "__main__":
    main()
