"""The package `onnx` of PyPI, which reads and writes the files; mxlite works without it."""

from __future__ import annotations

import importlib
from types import ModuleType


def need_onnx() -> ModuleType:
    """The package `onnx`. Raises: ImportError: it is not installed, with how to install it."""
    try:
        found = importlib.import_module("onnx")
        for part in ("checker", "defs", "helper", "numpy_helper"):
            importlib.import_module(f"onnx.{part}")
    except ImportError as error:
        raise ImportError(f"mx.onnx needs the package onnx: pip install 'mxlite[onnx]' ({error})") from None
    return found
