"""`install_as_mxnet`: programs that import mxnet get mxlite."""

from __future__ import annotations

import importlib
import sys


def install_as_mxnet() -> None:
    """Makes `import mxnet`, and imports of its parts that there are here, give mxlite, in this process.

    To be called before anything imports mxnet; calling it again does nothing.

    Raises:
        RuntimeError: another mxnet is imported already.
    """
    package = sys.modules["mxlite"]
    present = sys.modules.get("mxnet")
    if present is not None and present is not package:
        raise RuntimeError(f"install_as_mxnet: mxnet is imported already, from {getattr(present, '__file__', '?')}")
    for name in ("engine", "runtime", "test_utils"):
        importlib.import_module(f"mxlite.{name}")
    for name, module in list(sys.modules.items()):
        if name == "mxlite" or (name.startswith("mxlite.") and not name.startswith("mxlite._")):
            sys.modules["mxnet" + name[len("mxlite") :]] = module
    sys.modules["mxnet.nd"] = package.ndarray
    for name in [name for name in sys.modules if name.startswith("mxnet.ndarray.")]:
        sys.modules["mxnet.nd" + name[len("mxnet.ndarray") :]] = sys.modules[name]
