"""Cases that run under mxlite and under the real MXNet 1.9.1, and what they answer; imports neither.

A case is a function of `mx`, the package, that returns plain values: numbers, texts, bytes, None, NumPy arrays, arrays
of the package, and lists, tuples and dictionaries of these. `tests/reference/make_gluon.py` records what 1.9.1 returns
or raises, test_cases.py compares. Write what a user would write; set parameters to numbers of `numpy.random`, since the
two packages draw different ones.

    @case(units=[1, 3], flatten=[True, False])   # one case for each combination
    def dense(mx, units, flatten): ...
"""

from __future__ import annotations

import base64
import contextlib
import importlib
import inspect
import itertools
import random
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable

import numpy as np

HERE = Path(__file__).resolve().parent
ANSWERS = HERE.parents[1] / "reference" / "gluon"
#: The files of cases, which may be in folders, by name.
_FILES = {path.stem: path for path in (HERE / "gluon_cases").rglob("[a-z]*.py")}


@dataclass(frozen=True)
class Case:
    """One call of a function of a module of `gluon_cases/`."""

    name: str
    function: Callable[..., Any]
    values: dict[str, Any]
    rtol: float
    atol: float
    differs: str | None
    whole: bool
    module: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "module", self.function.__module__.rpartition(".")[2])


#: Errors that 1.9.1 raises where it does not check: any error will do.
ACCIDENTS = ("AttributeError", "NameError", "UnboundLocalError")

_CASES: dict[str, list[Case]] = {}


def case(
    function: Callable[..., Any] | None = None,
    *,
    rtol: float = 1e-4,
    atol: float = 1e-5,
    differs: str | None = None,
    whole: Callable[..., bool] = lambda **_: False,
    **grid: list,
) -> Any:
    """Decorates a function: one case, or one for each combination of the values in `grid`.

    Args:
        rtol, atol: how far numbers with a fraction may be from those of 1.9.1.
        differs: why mxlite's answer is another one; docs/compatibility.md has a row with the function's name.
        whole: of the values: whether make test-all alone runs the case.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        module = function.__module__.rpartition(".")[2]
        for values in itertools.product(*grid.values()):
            given = dict(zip(grid, values))
            tag = ",".join(f"{name}={value}" for name, value in given.items())
            name = f"{module}.{function.__name__}" + (f"[{tag}]" if tag else "")
            _CASES.setdefault(module, []).append(Case(name, function, given, rtol, atol, differs, whole(**given)))
        return function

    return decorate if function is None else decorate(function)


def modules() -> list[str]:
    """The names of the modules of cases."""
    return sorted(_FILES)


def file_of_answers(module: str) -> Path:
    """Where the answers of a module are: in the folder that its cases have."""
    return ANSWERS / _FILES[module].parent.relative_to(HERE / "gluon_cases") / f"{module}.json.xz"


def cases(module: str) -> list[Case]:
    """The cases of a module, in their order."""
    parts = _FILES[module].relative_to(HERE).with_suffix("").parts
    importlib.import_module(".".join(parts))
    return _CASES.get(module, [])


def answer(one: Case, mx: Any) -> Any:
    """What a case returns or raises under a package, as JSON can hold it."""
    np.random.seed(0)
    random.seed(0)
    mx.random.seed(0)
    with contextlib.ExitStack() as stack, mx.name.NameManager(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        needs_folder = "folder" in inspect.signature(one.function).parameters
        more = {"folder": stack.enter_context(tempfile.TemporaryDirectory())} if needs_folder else {}
        try:
            return encoded(one.function(mx, **one.values, **more))
        except Exception as error:
            return {"error": type(error).__name__, "text": str(error)[:300], "kinds": _kinds(error)}


def _kinds(error: Exception) -> list[str]:
    return [kind.__name__ for kind in type(error).__mro__]


def encoded(value: Any) -> Any:
    """A value as JSON can hold it: kinds of sequences and dtypes are kept, floats by their bytes.

    Raises: TypeError: it is none of the plain values that a case may return.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, np.generic)):
        return {"number": repr(float(value))}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, (list, tuple)):
        return {"list" if isinstance(value, list) else "tuple": [encoded(each) for each in value]}
    if isinstance(value, dict):
        return {"dict": [[encoded(key), encoded(each)] for key, each in value.items()]}
    if hasattr(value, "asnumpy"):
        value = value.asnumpy()
    if isinstance(value, np.ndarray):
        held = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": str(value.dtype), "shape": list(value.shape), "data": held}
    raise TypeError(f"a case returned {type(value).__name__}; see _case.py for what it may return")


def summary(array: Any, count: int = 8) -> list:
    """A large array in short: its shape, dtype, a few elements, and the sums of its absolute values and squares."""
    array = array.asnumpy() if hasattr(array, "asnumpy") else np.asarray(array)
    flat = array.ravel().astype(np.float64)
    places = np.linspace(0, max(0, flat.size - 1), count).astype(int)[: flat.size]
    return [list(array.shape), str(array.dtype), flat[places], float(np.abs(flat).sum()), float((flat**2).sum())]


def differences(got: Any, expected: Any, one: Case, where: str = "result") -> Iterator[str]:
    """A line for each part of an encoded answer that is not as expected."""
    kinds = [set(each) if isinstance(each, dict) else type(each).__name__ for each in (got, expected)]
    if isinstance(expected, dict) and "error" in expected:
        kinds = got.get("kinds", ()) if isinstance(got, dict) else ()
        if not kinds or expected["error"] not in (*ACCIDENTS, *kinds):
            raised = got["error"] + ": " + got["text"] if isinstance(got, dict) and "error" in got else "nothing"
            yield f"{where}: raises {raised}; 1.9.1 raises {expected['error']}: {expected['text']}"
    elif isinstance(got, dict) and "error" in got:
        yield f"{where}: raises {got['error']}: {got['text']}"
    elif kinds[0] != kinds[1]:
        yield f"{where}: {_short(got)}; 1.9.1 gives {_short(expected)}"
    elif not isinstance(expected, dict):
        if got != expected:
            yield f"{where}: {_short(got)}; 1.9.1 gives {_short(expected)}"
    elif "number" in expected:
        yield from _apart(np.array(float(got["number"])), np.array(float(expected["number"])), one, where)
    elif "array" in expected:
        if (got["array"], got["shape"]) != (expected["array"], expected["shape"]):
            yield f"{where}: {got['array']} {got['shape']}; 1.9.1 gives {expected['array']} {expected['shape']}"
        else:
            yield from _apart(_decoded(got), _decoded(expected), one, where)
    elif "bytes" in expected:
        if got != expected:
            yield f"{where}: other bytes"
    else:
        (kind,) = expected
        if len(got[kind]) != len(expected[kind]):
            counts = len(got[kind]), len(expected[kind])
            yield f"{where}: {counts[0]} entries {_short(got)}; 1.9.1 gives {counts[1]} {_short(expected)}"
        for number, (mine, theirs) in enumerate(zip(got[kind], expected[kind])):
            if kind == "dict":
                yield from differences(mine[0], theirs[0], one, f"{where}: key {number}")
                mine, theirs, number = mine[1], theirs[1], theirs[0]
            yield from differences(mine, theirs, one, f"{where}[{number!r}]")


def _decoded(held: dict) -> np.ndarray:
    return np.frombuffer(base64.b64decode(held["data"]), held["array"]).reshape(held["shape"])


def _apart(got: np.ndarray, expected: np.ndarray, one: Case, where: str) -> Iterator[str]:
    exact = expected.dtype.kind in "biu"
    if exact and np.array_equal(got, expected):
        return
    if not exact and np.allclose(got, expected, rtol=one.rtol, atol=one.atol, equal_nan=True):
        return
    yield f"{where}: {_short(got.ravel()[:6].tolist())}; 1.9.1 gives {_short(expected.ravel()[:6].tolist())}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 160 else text[:157] + "..."
