"""Parameters of the iterators over files, which may be given as values or as text."""

from __future__ import annotations

import ast
import warnings
from typing import Any

from mxlite.error import MXNetError

REQUIRED = object()
#: What a parameter is, as its errors call it.
_TEXTS = {int: "int", bool: "boolean", float: "float", str: "string", tuple: "Shape(tuple)"}
#: What all have: names of the arrays, and how 1.9.1 would fetch.
COMMON: dict[str, tuple[type, Any]] = {
    "batch_size": (int, REQUIRED),
    "data_name": (str, None),
    "label_name": (str, None),
    "dtype": (str, None),
    "prefetch_buffer": (int, 4),
    "ctx": (str, "gpu"),
}
#: Accepted with any value: there is nothing that they would change.
_FREE = {"prefetch_buffer", "ctx", "verbose", "silent", "preprocess_threads", "device_id"}


def read(name: str, table: dict[str, tuple[type, Any]], given: dict[str, Any]) -> dict[str, Any]:
    """The values of all parameters in `table`, which has their type and default; others are ignored with a warning.

    Raises: MXNetError: one that must be there is missing, or has a bad value.
    """
    table = {**COMMON, **table}
    unknown = sorted(set(given) - set(table))
    if unknown:
        warnings.warn(f"{name} has no parameter {', '.join(unknown)}; it is ignored", stacklevel=4)
    values = {}
    for key, (kind, default) in table.items():
        value = given.get(key, default)
        if value is REQUIRED:
            raise MXNetError(f"{name}: Required parameter {key} of {_TEXTS[kind]} is not presented")
        values[key] = value if value is None or key == "dtype" else _converted(name, key, kind, value)
    if values["batch_size"] < 1:
        raise MXNetError(f"{name}: batch_size must be above 0, got {values['batch_size']}")
    return values


def refuse(name: str, values: dict[str, Any], table: dict[str, tuple[type, Any]]) -> None:
    """Raises NotImplementedError for a parameter that mxlite knows by name only, and that is not its default."""
    for key, (_, default) in table.items():
        if key not in _FREE and values[key] != default:
            raise NotImplementedError(f"{name}: mxlite does not support {key}={values[key]!r}, only {default!r}")


def part_of(name: str, values: dict[str, Any]) -> tuple[int, int]:
    """The checked part_index and num_parts."""
    index, parts = values["part_index"], values["num_parts"]
    if not 0 <= index < parts:
        raise MXNetError(f"{name}: part_index must be from 0 to num_parts - 1 = {parts - 1}, got {index}")
    return index, parts


def _converted(name: str, key: str, kind: type, value: Any) -> Any:
    try:
        if isinstance(value, str) and kind is not str:
            value = ast.literal_eval({"true": "True", "false": "False"}.get(value, value))
        if kind is tuple:
            return tuple(int(each) for each in (value if isinstance(value, (tuple, list)) else (value,)))
        if kind is int and int(value) != value:
            raise ValueError
        return kind(value) if kind is not str else str(value)
    except (TypeError, ValueError, SyntaxError):
        raise MXNetError(
            f"{name}: Invalid Parameter format for {key} expect {_TEXTS[kind]} but value={value!r}"
        ) from None
