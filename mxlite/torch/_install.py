"""install(): the package as `torch`, so that scripts that import it run unedited."""

from __future__ import annotations

from mxlite._install import install_as


def install() -> None:
    """Puts mxlite.torch into sys.modules as `torch`, and its parts as torch.autograd, torch.nn, ...

    Raises: RuntimeError: PyTorch itself is imported already.
    """
    install_as("torch", "mxlite.torch", "mxlite.torch.install")
