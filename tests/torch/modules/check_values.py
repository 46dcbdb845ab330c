"""The expressions of tests/python/pytorch/values/_value_cases.py on PyTorch and on mxlite.torch.

check_values.py [TEXT]: all, or those with a text; --record: writes PyTorch's answers into values.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch as real

import mxlite.torch as ours

FOLDER = Path(__file__).resolve().parents[2] / "python" / "pytorch" / "values"
sys.path.insert(0, str(FOLDER))
from _value_cases import ROWS, differs, evaluate  # noqa: E402


def main() -> int:
    """Prints what differs; 1 where something does."""
    text, bad = (sys.argv[1:] or [""])[0], 0
    if text == "--record":
        rows = ",\n".join(f"{json.dumps(row)}: {json.dumps(evaluate(real, row))}" for row in ROWS)
        (FOLDER / "values.json").write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
        return 0
    rows = [row for row in ROWS if text in row]
    for row in rows:
        found = differs(evaluate(real, row), evaluate(ours, row))
        bad += bool(found)
        print(*[f"{row}: {found}"] * bool(found), sep="\n", end="\n" * bool(found))
    print(f"values: {len(rows)}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
