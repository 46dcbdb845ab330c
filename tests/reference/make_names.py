"""Makes names.json: the public names of MXNet 1.9.1's NDArray and mx.nd, by running it (see make_reference.py).

`NDArray`: name -> "property", or the names of the method's parameters behind self (null: it takes anything). `nd`: the
functions of mx.nd, in the order of the alphabet.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

from mxnet import nd

SPECIAL = set(dir(object)) | {"__module__", "__doc__", "__slots__", "__del__", "__dict__", "__weakref__"}


def describe(name: str) -> str | list[str] | None:
    """What `NDArray.name` is."""
    if not callable(getattr(nd.NDArray, name)):
        return "property"
    parameters = list(inspect.signature(getattr(nd.NDArray, name)).parameters.values())[1:]
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return [parameter.name for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]


def main() -> None:
    """Writes the file."""
    methods = [
        name for name in dir(nd.NDArray) if name not in SPECIAL and (not name.startswith("_") or name.startswith("__"))
    ]
    functions = [name for name in dir(nd) if not name.startswith("_") and inspect.isroutine(getattr(nd, name))]
    names = {"NDArray": {name: describe(name) for name in methods}, "nd": sorted(functions)}
    path = Path(__file__).resolve().parent / "names.json"
    path.write_text(json.dumps(names, indent=1) + "\n")


if __name__ == "__main__":
    main()
