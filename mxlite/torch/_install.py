"""install(): the package as `torch`, so that scripts that import it run unedited."""

from __future__ import annotations

import importlib
import sys

_MODULES = (
    "autograd",
    "autograd.anomaly_mode",
    "autograd.function",
    "autograd.functional",
    "autograd.grad_mode",
    "autograd.gradcheck",
    "autograd.variable",
    "autograd.graph",
    "cuda",
    "linalg",
    "nn",
    "nn.functional",
    "utils",
    "utils.checkpoint",
)


def install() -> None:
    """Puts mxlite.torch into sys.modules as `torch`, and its parts as torch.autograd, torch.nn, ...

    Raises: RuntimeError: PyTorch itself is imported already.
    """
    present = sys.modules.get("torch")
    own = importlib.import_module("mxlite.torch")
    if present is not None and present is not own:
        raise RuntimeError("mxlite.torch.install: PyTorch itself is imported already")
    sys.modules["torch"] = own
    for name in _MODULES:
        sys.modules[f"torch.{name}"] = importlib.import_module(f"mxlite.torch.{name}")
