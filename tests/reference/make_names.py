"""Makes names.json: the public names of MXNet 1.9.1's NDArray and mx.nd, by running it (see make_reference.py).

`NDArray`: name -> "property", or the names of the method's parameters behind self (null: it takes anything). `nd`: the
functions of mx.nd, in the order of the alphabet. `modules`: all public names of mx.nd and of its modules of dense
arrays. `operators`: all names of operators, but for those of its backward (`_backward_*`). `numpy`:
the operators of NumPy arrays (`_np*`) -> the operator that each is a name of.
"""

from __future__ import annotations

import ctypes
import inspect
import json
from pathlib import Path

from mxnet import nd
from mxnet.base import _LIB, c_str, check_call

SPECIAL = set(dir(object)) | {"__module__", "__doc__", "__slots__", "__del__", "__dict__", "__weakref__"}
MODULES = ("contrib", "linalg", "random", "image")


def describe(name: str) -> str | list[str] | None:
    """What `NDArray.name` is."""
    if not callable(getattr(nd.NDArray, name)):
        return "property"
    parameters = list(inspect.signature(getattr(nd.NDArray, name)).parameters.values())[1:]
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]


def public(module) -> list[str]:
    """What a module offers, but for the modules of Python that it imports, and `annotations`."""
    found = ((name, getattr(module, name)) for name in dir(module) if not name.startswith("_"))
    return sorted(
        name
        for name, value in found
        if name != "annotations" and (not inspect.ismodule(value) or value.__name__.startswith("mxnet."))
        if getattr(value, "__module__", None) != "__future__"
    )


def operator_of(name: str) -> str:
    """The operator that `name` is one of the names of."""
    handle, real, text = ctypes.c_void_p(), ctypes.c_char_p(), ctypes.c_char_p()
    count, lists = ctypes.c_uint32(), [ctypes.POINTER(ctypes.c_char_p)() for _ in range(3)]
    check_call(_LIB.NNGetOpHandle(c_str(name), ctypes.byref(handle)))
    others = [ctypes.byref(each) for each in (text, count, *lists, text, text)]
    check_call(_LIB.MXSymbolGetAtomicSymbolInfo(handle, ctypes.byref(real), *others))
    return real.value.decode()


def operator_names() -> list[str]:
    """The names of operators."""
    count, names = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXListAllOpNames(ctypes.byref(count), ctypes.byref(names)))
    return sorted(names[i].decode() for i in range(count.value))


def main() -> None:
    """Writes the file."""
    methods = [
        name for name in dir(nd.NDArray) if name not in SPECIAL and (not name.startswith("_") or name.startswith("__"))
    ]
    functions = [name for name in dir(nd) if not name.startswith("_") and inspect.isroutine(getattr(nd, name))]
    names = {
        "NDArray": {name: describe(name) for name in methods},
        "nd": sorted(functions),
        "modules": {"nd": public(nd), **{name: public(getattr(nd, name)) for name in MODULES}},
        "operators": [name for name in operator_names() if not name.startswith("_backward_")],
        "numpy": {name: operator_of(name) for name in operator_names() if name.startswith("_np")},
    }
    path = Path(__file__).resolve().parent / "names.json"
    path.write_text(json.dumps(names, indent=1) + "\n")


if __name__ == "__main__":
    main()
