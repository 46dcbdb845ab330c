"""What make_pyi.py and make_docs.py say of operators: parameters taken apart, inputs that may be left out, outputs.

Everything comes from the library: from its introspection, and from what it answers to calls that try a parameter's
values.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from functools import cache

from mxlite._lib import LIB
from mxlite.error import MXNetError
from mxlite.ndarray._operators import Operator, fixed_outputs, operator_names, prepare


@dataclass(frozen=True)
class Parameter:
    """A parameter: its kind ("int", "Shape or None", "enum", ...), an enumeration's values, its default as text."""

    name: str
    kind: str
    values: tuple[str, ...]
    default: str | None  # None: required
    doc: str

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is None


def parameter(name: str, type_text: str, doc: str) -> Parameter:
    """A row of introspection taken apart: "int, optional, default='1'", "{'a', 'b'}, required", ..."""
    found = re.fullmatch(r"(?P<kind>\{.*\}|[^,]*)(, ?required|, ?optional, default=(?P<default>.*))?", type_text)
    if found is None:
        raise RuntimeError(f"describe: parameter {name} has the type {type_text!r}, which is not understood")
    kind, default = found["kind"].strip(), found["default"]
    values: tuple[str, ...] = ()
    if kind.startswith("{"):
        values = tuple(value.strip().strip("'") for value in kind.strip("{}").split(","))
        kind = "enum"
    if default is not None and len(default) > 1 and default[0] == default[-1] == "'":
        default = default[1:-1]
    return Parameter(name, kind, values, default, doc)


@dataclass(frozen=True)
class Choice:
    """A parameter that decides how many outputs there are: the values that give one, and those that give more."""

    name: str
    one: tuple[str, ...]
    several: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """An operator by one of its names."""

    operator: Operator
    parameters: tuple[Parameter, ...]
    needed: int  # inputs that cannot be left out
    outputs: int  # visible ones with the defaults; 0: it depends on values
    choice: Choice | None

    @property
    def first_name(self) -> str:
        """The name that the others are aliases of."""
        return self.operator.first_name


#: What is tried for a parameter that a call must give.
_EXAMPLES = {
    "int": "1",
    "long": "1",
    "float": "1",
    "double": "1",
    "real_t": "1",
    "boolean": "1",
    "Shape": "(1,)",
    "tuple of <Shape": "((1, 1),)",
    "string": "a",
}


def _example(parameter: Parameter) -> str:
    if parameter.values:
        return parameter.values[-1]  # not the first dtype, bfloat16, which is known but not there
    return next((text for kind, text in _EXAMPLES.items() if parameter.kind.startswith(kind)), "1")


def _variants(parameter: Parameter) -> list[str]:
    """Values of a parameter that may change how many inputs or outputs there are."""
    if parameter.values:
        return list(parameter.values)
    if parameter.kind.startswith("boolean"):
        return ["0", "1"]
    if parameter.kind == "int":
        return ["1", "2"]
    return []


def _inputs_needed(operator: Operator, given: dict[str, str]) -> int | None:
    """How many inputs a call with these parameters takes: what the library says to a call without any."""
    keys = (ctypes.c_char_p * len(given))(*(key.encode() for key in given))
    values = (ctypes.c_char_p * len(given))(*(value.encode() for value in given.values()))
    count, slots = ctypes.c_int(0), ctypes.POINTER(ctypes.c_void_p)()
    stypes = ctypes.POINTER(ctypes.c_int)()
    status = LIB.MXImperativeInvokeEx(
        operator._handle,
        0,
        None,
        ctypes.byref(count),
        ctypes.byref(slots),
        len(given),
        keys,
        values,
        ctypes.byref(stypes),
    )
    if status == 0:
        for i in range(count.value):
            LIB.MXNDArrayFree(slots[i])
        return 0
    found = re.search(r"takes (\d+) inputs?, got 0", LIB.MXGetLastError().decode())
    return int(found[1]) if found else None


def _outputs(operator: Operator, given: dict[str, str]) -> int | None:
    """How many outputs a call with these parameters has; None where they are refused."""
    try:
        return fixed_outputs(prepare(operator.name, given))
    except MXNetError:
        return None


@cache
def describe(name: str) -> Description:
    """All that is known of an operator."""
    operator = Operator(name)
    parameters = tuple(parameter(*row) for row in operator.params if row[0] != operator.counted)
    base = {each.name: _example(each) for each in parameters if each.required}
    tries = [base] + [{**base, each.name: value} for each in parameters for value in _variants(each)]
    # Some operators refuse the default of a list.
    tries += [{**base, each.name: "(1, 1)"} for each in parameters if each.kind.startswith("Shape")]
    needed = [count for count in (_inputs_needed(operator, given) for given in tries) if count is not None]
    outputs = _outputs(operator, base)
    choice = None
    for each in parameters:
        counts = {value: _outputs(operator, {**base, each.name: value}) for value in _variants(each)}
        if 1 in counts.values() and any(count is not None and count > 1 for count in counts.values()):
            one = tuple(value for value, count in counts.items() if count == 1)
            choice = Choice(each.name, one, tuple(value for value, count in counts.items() if count not in (1, None)))
    if not operator.counted and not needed and len(operator.inputs) > 0:
        raise RuntimeError(f"describe: {name} does not say how many inputs it takes: {LIB.MXGetLastError().decode()}")
    least = min(needed, default=0)
    return Description(operator, parameters, least, outputs or 0, choice)


#: Runs operators of the program, so there is no call of it to show.
CALLERS = {"Custom"}


@cache
def _names() -> dict[str, list[str]]:
    """The first name of every operator -> its other names."""
    found: dict[str, list[str]] = {}
    for name in operator_names():
        first = Operator(name).first_name
        found.setdefault(first, []).extend([name] if name != first else [])
    return found


def first_names() -> list[str]:
    """The names of all operators that have calls of their own, without aliases."""
    return sorted(set(_names()) - CALLERS)


def aliases(name: str) -> list[str]:
    """The other names of an operator."""
    return sorted(_names().get(name, []))
