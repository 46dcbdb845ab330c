"""Which operators compute in 16 bits: the published lists, and those that a caller gives in their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mxlite._public.near import did_you_mean
from mxlite.base import dtype_name
from mxlite.contrib.amp.lists import symbol_bf16, symbol_fp16
from mxlite.error import WrongValueError
from mxlite.ndarray._operators import operator_names

Conditional = Sequence["tuple[str, str, Sequence[str]]"]


def target_of(function: str, target_dtype: Any) -> str:
    """The target's name. Raises: ValueError: it is neither float16 nor bfloat16."""
    try:
        name = target_dtype if isinstance(target_dtype, str) else dtype_name(target_dtype)
    except (TypeError, ValueError):
        name = ""
    if name not in ("float16", "bfloat16"):
        raise WrongValueError(f"{function}: target_dtype must be float16 or bfloat16, got {target_dtype!r}")
    return name


def published(target: str, what: str) -> Any:
    """A list of that target, by the name that `lists.symbol_bf16` has for it."""
    if target == "bfloat16":
        return getattr(symbol_bf16, what)
    return getattr(symbol_fp16, what.replace("BF16", "FP16"), None)


def names(function: str, what: str, given: Any) -> list[str]:
    """A list of strings; [] of None. Raises: ValueError: it is none."""
    if given is None:
        return []
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise WrongValueError(f"{function}: {what} must be a list of strings, got {given!r}")
    given = list(given)
    if not all(isinstance(each, str) for each in given):
        raise WrongValueError(f"{function}: {what} must be a list of strings, got {given!r}")
    return given


def _conditions(function: str, given: Any) -> list[tuple[str, str, list[str]]]:
    found = []
    for row in given:
        is_row = isinstance(row, tuple) and len(row) == 3 and all(isinstance(each, str) for each in row[:2])
        if not is_row or isinstance(row[2], str) or not all(isinstance(each, str) for each in row[2]):
            raise WrongValueError(
                f"{function}: conditional_fp32_ops has rows (operator, parameter, list of values), got {row!r}"
            )
        found.append((row[0], row[1], list(row[2])))
    return found


class Lists(NamedTuple):
    """Operators in 16 bits, in float32, in float32 where a parameter has a value, and in the widest dtype."""

    low: list[str]
    single: list[str]
    conditional: list[tuple[str, str, list[str]]]
    widest: list[str]

    def conditions(self) -> list[tuple[str, str, str]]:
        """The conditional ones, a row for each value."""
        return [(op, key, value) for op, key, values in self.conditional for value in values]


def choose(
    function: str, target: str, low: Any = None, single: Any = None, conditional: Conditional | None = None
) -> Lists:
    """The published lists, or in their places those that are given.

    Raises: ValueError: a list of something else, an operator in two lists, or one that 1.9.1 does not list.
    """
    mine = {
        what: published(target, of) if given is None else names(function, what, given)
        for what, of, given in (("target_dtype_ops", "BF16_FUNCS", low), ("fp32_ops", "FP32_FUNCS", single))
    }
    rows = _conditions(function, published(target, "CONDITIONAL_FP32_FUNCS") if conditional is None else conditional)
    mine["conditional_fp32_ops"] = [row[0] for row in rows]
    widest = list(published(target, "WIDEST_TYPE_CASTS"))
    listed = [name for what in ("BF16_FUNCS", "FP32_FUNCS", "BF16_FP32_FUNCS") for name in published(target, what)]
    known = {*listed, *widest, *(row[0] for row in published(target, "CONDITIONAL_FP32_FUNCS"))}
    seen: dict[str, str] = {}
    for what, operators in mine.items():
        for name in operators:
            if name not in known:
                raise WrongValueError(
                    f"{function}: {what} has {name!r}, which is in no list of amp.list_lp16_ops, list_fp32_ops, "
                    f"list_lp16_fp32_ops and list_conditional_fp32_ops{did_you_mean(name, known)}"
                )
            if seen.setdefault(name, what) != what:
                raise WrongValueError(f"{function}: {name} is in {seen[name]} and in {what}")
    given = {name for operators in mine.values() for name in operators}
    return Lists(
        list(mine["target_dtype_ops"]), list(mine["fp32_ops"]), rows, [name for name in widest if name not in given]
    )


def added(function: str, target: str, low: Any, single: Any, conditional: Conditional | None) -> Lists:
    """The published lists with the operators that are given, which other lists lose.

    Raises: ValueError: a list of something else, an operator in two lists, or one that there is not.
    """
    given = {
        "target_precision_ops": names(function, "target_precision_ops", low),
        "fp32_ops": names(function, "fp32_ops", single),
    }
    seen: dict[str, str] = {}
    for what, operators in given.items():
        for name in operators:
            if name not in operator_names():
                raise WrongValueError(f"{function}: {what} has {name!r}; there is no such operator")
            if seen.setdefault(name, what) != what:
                raise WrongValueError(f"{function}: {name} is in {seen[name]} and in {what}")
    rows = _conditions(function, published(target, "CONDITIONAL_FP32_FUNCS") if conditional is None else conditional)
    kept = [
        [name for name in published(target, what) if name not in seen]
        for what in ("BF16_FUNCS", "FP32_FUNCS", "WIDEST_TYPE_CASTS")
    ]
    return Lists(
        kept[0] + given["target_precision_ops"],
        kept[1] + given["fp32_ops"],
        [row for row in rows if row[0] not in seen],
        kept[2],
    )
