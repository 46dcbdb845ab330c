"""What became of the names of a package here: asked of mxlite itself, once for each name."""

from __future__ import annotations

import importlib
import inspect
import json
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from mxlite.error import MXNetError

_ROOTS = {"mxnet": "mxlite", "torch": "mxlite.torch"}
#: Functions that say what the machine has; a program's conditions ask them.
_ASKED = ("num_gpus", "list_gpus", "get_gpu_count", "is_available", "device_count")


#: What the docstring of a class says that is there to say no.
_REFUSED = "Raises: NotImplementedError: when one is made"


class State(NamedTuple):
    """What a name is here: the thing (None: there is none, and the error that using it raises)."""

    thing: Any
    error: Exception | None = None


class Difference(NamedTuple):
    """A row of the page of differences about a name; with an argument (`p`, `shuffle=True`) only if it is given."""

    text: str
    ordinary: bool  #: an ordinary program meets it; others are corner cases
    argument: str


def differences() -> dict[str, list[str]]:
    """What differs from MXNet 1.9.1, by name; tools/show_names.py makes the file from the page of differences."""
    held = _held()
    return {name: [held["texts"][at] for at in places] for name, places in held["names"].items()}


def _held() -> Any:
    path = Path(__file__).resolve().parents[1] / "differences.json"
    return json.loads(path.read_text(encoding="utf-8"))


class Known:
    """What became of the names of a package."""

    def __init__(self, package: str) -> None:
        self.package = package
        self._root = importlib.import_module(_ROOTS[package])
        self._states: dict[str, State] = {}
        self._rows = _held() if package == "mxnet" else {"texts": [], "things": {}, "ordinary": {}}

    def state(self, name: str) -> State:
        """Of a name within the package ("" is the package)."""
        if name not in self._states:
            self._states[name] = self._find(name)
        return self._states[name]

    def _find(self, name: str) -> State:
        found: Any = self._root
        for part in filter(None, name.split(".")):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = getattr(found, part)
            except (AttributeError, ImportError, MXNetError) as error:
                bare(error)
                if isinstance(found, type) or hasattr(found, "__path__") or hasattr(found, "__file__"):
                    return State(None, error)
                return State(found)  # an attribute of a value: no name of the package
        return State(found)

    def ask(self, name: str) -> Any:
        """What a function that conditions ask returns here. Raises: KeyError: it is none of these."""
        root, _, rest = name.partition(".")
        if root != self.package or rest.rpartition(".")[2] not in _ASKED:
            raise KeyError(name)
        state = self.state(rest)
        if state.error is not None or not callable(state.thing):
            raise KeyError(name)
        return state.thing()

    def fails(self, name: str) -> bool:
        """Whether calling a function fails here, as naming a GPU does in the end."""
        root, _, rest = name.partition(".")
        return root == self.package and self.canonical(rest) in ("context.gpu", "context.gpu_memory_info")

    def has(self, name: str, method: str) -> bool:
        """Whether a class has a method, which its objects' makers call; of other packages' classes, it may."""
        root, _, rest = name.partition(".")
        if root != self.package:
            return True
        return hasattr(self.state(rest).thing, method)

    def star(self, module: str) -> dict[str, str] | None:
        """What `from module import *` gives: full names by names; None: it is another package's."""
        root, _, rest = module.partition(".")
        if root != self.package:
            return None
        found = self.state(rest).thing
        names = getattr(found, "__all__", None) or [each for each in vars(found or object) if each[0] != "_"]
        given = {}
        for name in names:
            thing = self.state(f"{rest}.{name}".lstrip(".")).thing
            given[name] = f"{module}.{name}"
            if isinstance(thing, ModuleType):
                own = thing.__name__ + "."
                ours = _ROOTS[self.package] + "."
                given[name] = (self.package + own[len(ours) - 1 :] if own.startswith(ours) else own).rstrip(".")
        return given

    def canonical(self, name: str) -> str:
        """A thing's module and name in it, without "mxlite.", whatever the program calls it; "" for what has none."""
        thing = self.state(name).thing
        return canonical(thing)

    def differs(self, key: str) -> list[Difference]:
        """The rows about a thing, by its canonical name, or about a method of that name (".save_states")."""
        held = self._rows
        ordinary = [Difference(held["texts"][at], True, argument) for argument, at in held["ordinary"].get(key, [])]
        told = {each.text for each in ordinary}
        rows = [held["texts"][at] for at in held["things"].get(key, [])]
        return ordinary + [Difference(text, False, "") for text in rows if text not in told]


def canonical(thing: Any) -> str:
    """A thing's module and name in it, without "mxlite."; "" for what has none."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or not module.startswith("mxlite"):
        return ""
    return f"{module}.{name}"[len("mxlite.") :]


def always_raises(thing: Any) -> bool:
    """Whether a function, or making an object of a class, only says what is missing."""
    if isinstance(thing, type):
        return _REFUSED in (thing.__doc__ or "") and isinstance(raised(thing), NotImplementedError)
    return str(getattr(thing, "__annotations__", {}).get("return", "")).rpartition(".")[2] == "NoReturn"


def raised(thing: Any) -> Exception | None:
    """What a call raises whose arguments, as many as it needs, are None."""
    try:
        signature = inspect.signature(thing)
        needed = [
            each
            for each in signature.parameters.values()
            if each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        ]
        thing(*[None] * len(needed))
    except Exception as error:
        return bare(error)
    return None


def bare(error: Exception) -> Exception:
    """An error that keeps nothing alive."""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    if isinstance(error, AttributeError):
        error.obj = None
    return error


def unknown_argument(thing: Any, names: list[str]) -> TypeError | None:
    """What a call with these arguments by name raises, because the thing has no such parameter."""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return None
    parameters = signature.parameters.values()
    if any(each.kind is each.VAR_KEYWORD for each in parameters):
        return None
    taken = {each.name for each in parameters if each.kind is not each.POSITIONAL_ONLY}
    for name in names:
        if name not in taken:
            what = getattr(thing, "__qualname__", "it") + (".__init__" if isinstance(thing, type) else "")
            return TypeError(f"{what}() got an unexpected keyword argument {name!r}")
    return None
