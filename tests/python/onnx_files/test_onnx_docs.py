"""What mx.onnx says where the package onnx is not installed, and what its page says."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import mxlite as mx

ROOT = Path(__file__).resolve().parents[3]


def test_without_onnx_there_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    (tmp_path / "a.onnx").write_bytes(b"")
    for call in (
        lambda: mx.onnx.import_model(tmp_path / "a.onnx"),
        lambda: mx.contrib.onnx.import_to_gluon(tmp_path / "a.onnx", mx.cpu()),
        lambda: mx.onnx.get_model_metadata(tmp_path / "a.onnx"),
        lambda: mx.onnx.export_model(mx.sym.exp(mx.sym.var("x")), {}, [(1,)]),
    ):
        with pytest.raises(ImportError, match=r"^mx\.onnx needs the package onnx: pip install 'mxlite\[onnx\]'"):
            call()


def test_both_names_are_the_same_functions() -> None:
    for name in ("export_model", "get_model_metadata", "import_model", "import_to_gluon"):
        assert getattr(mx.onnx, name) is getattr(mx.contrib.onnx, name)
    assert importlib.import_module("mxlite.onnx.mx2onnx").export_model is mx.onnx.export_model


def test_the_page_has_the_tables_of_the_program() -> None:
    command = [sys.executable, str(ROOT / "tests/onnx/show_operators.py"), "--check", str(ROOT / "docs/onnx.md")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr


def test_what_is_written_exists() -> None:
    page = (ROOT / "docs/onnx.md").read_text(encoding="utf-8")
    table = page[page.index("<!-- written -->") : page.index("<!-- written: end -->")]
    for name in re.findall("`([^`]+)`", table):
        assert mx.operator.get_operator_arguments(name) is not None
