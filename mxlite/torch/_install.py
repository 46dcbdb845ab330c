"""install(): the package as `torch`, so that scripts that import it run unedited."""

from __future__ import annotations

import importlib

from mxlite._install import install_as

#: Modules that are imported on first use; under another name they would be imported a second time.
_PARTS = (
    "func", "nn.init", "nn.utils", "nn.utils.rnn", "nn.utils.parametrize", "nn.utils.parametrizations",
    "nn.utils.prune", "optim.lr_scheduler", "optim.swa_utils", "utils.data", "testing",
)  # fmt: skip


def install() -> None:
    """Puts mxlite.torch into sys.modules as `torch`, and its parts as torch.autograd, torch.nn, ...

    Raises: RuntimeError: PyTorch itself is imported already.
    """
    for name in _PARTS:
        importlib.import_module(f"mxlite.torch.{name}")
    install_as("torch", "mxlite.torch", "mxlite.torch.install")
