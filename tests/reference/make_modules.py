"""Makes modules.json by running MXNet 1.9.1 (`make oracle` has the Python): the modules that `import mxnet` leaves in
sys.modules, and the names that `from module import *` gives of each.

`loaded`: their names, in the order of the alphabet. `star`: module -> name -> the module that defines it, or that it
is (after "module "); "" where nobody says. `closed`: those that say themselves, by `__all__`, what a star gives.
Modules of `mx.np`, and those whose name begins with an underscore, are left out of the last two.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import mxnet

#: Modules that programs import by themselves.
MORE = ("contrib.amp", "contrib.svrg_optimization", "notebook.callback")


def is_asked(name: str) -> bool:
    """Whether the names in a module are of interest."""
    parts = name.split(".")
    return not any(part.startswith(("_", "numpy", "gen_")) for part in parts)


def origin(value: object) -> str:
    """Where a thing is from."""
    if isinstance(value, ModuleType):
        return f"module {value.__name__}"
    return getattr(value, "__module__", None) or ""


def star(module: ModuleType) -> dict[str, str]:
    """What `from module import *` gives."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return {name: origin(getattr(module, name)) for name in sorted(set(names))}


def main() -> None:
    """Writes the file."""
    assert mxnet.__version__ == "1.9.1", mxnet.__version__
    loaded = sorted(name for name, module in sys.modules.items() if module and f"{name}.".startswith("mxnet."))
    for name in MORE:
        importlib.import_module(f"mxnet.{name}")
    asked = [name for name in sorted({*loaded, *(f"mxnet.{name}" for name in MORE)}) if is_asked(name)]
    modules = {name: sys.modules[name] for name in asked}
    found = {
        "loaded": loaded,
        "closed": [name for name, module in modules.items() if hasattr(module, "__all__")],
        "star": {name: star(module) for name, module in modules.items()},
    }
    path = Path(__file__).resolve().parent / "modules.json"
    path.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
