"""What the modules of checks share. A check is a function that asks the package something and returns the answers:
arrays, numbers, texts, in tuples, lists and dicts. An exception is an answer too."""

from __future__ import annotations

import ast
import contextlib
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import mxnet as mx
import numpy as np


@dataclass
class Check:
    """One question."""

    name: str
    ask: Callable[[], Any]
    rtol: float = 1e-4
    atol: float = 1e-5


CHECKS: list[Check] = []
AREA = ""


def area(name: str) -> None:
    """The checks that follow belong to this area."""
    global AREA
    AREA = name


def check(ask: Callable[[], Any] | None = None, **settings: Any) -> Any:
    """Decorates a check; it is named after the function."""
    if ask is None:
        return lambda function: check(function, **settings)
    CHECKS.append(Check(f"{AREA}: {ask.__name__}", ask, **settings))
    return ask


def each(title: str, rows: Iterable[Any], ask: Callable[..., Any], **settings: Any) -> None:
    """One check for every row: `ask(*row)`. A row's first item, or the row itself if it is a text, names the check."""
    for row in rows:
        row = row if isinstance(row, tuple) else (row,)
        name = f"{AREA}: {title} {row[0]}" if title else f"{AREA}: {row[0]}"
        CHECKS.append(Check(name, lambda row=row: ask(*row), **settings))


def split(rows: Iterable[str]) -> list[str]:
    """The expressions of the rows, each of which may be several with commas between; without repetitions."""
    found = []
    for row in rows:
        body = ast.parse(row, mode="eval").body
        parts = body.elts if isinstance(body, ast.Tuple) else [body]
        found += [ast.get_source_segment(row, part) or row for part in parts]
    return list(dict.fromkeys(found))


def expressions(title: str, names: dict[str, Any], rows: Iterable[str], **settings: Any) -> None:
    """One check for every row, a Python expression over the names, of which the callables make fresh values."""

    def ask(text: str) -> Any:
        made = {name: value() if name[0] != "_" and callable(value) else value for name, value in names.items()}
        return eval(text, {"mx": mx, "np": np, **made})

    each(title, split(rows), ask, **settings)


def numbers(*shape: int, seed: int = 0, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    """The same float32 numbers in both processes."""
    return np.random.RandomState(seed + sum(shape)).uniform(low, high, shape).astype("float32")


def array(*shape: int, **settings: Any) -> Any:
    return mx.nd.array(numbers(*shape, **settings))


def fill(parameters: Any, scale: float = 0.3) -> None:
    """Sets the parameters of a block to numbers that both processes have, in the order of their creation."""
    for i, parameter in enumerate(parameters.values()):
        if parameter.grad_req != "null":
            values = np.random.RandomState(i).uniform(-scale, scale, parameter.shape)
            parameter.set_data(mx.nd.array(values.astype("float32")))


def plain(answer: Any) -> Any:
    """The answer without objects of the package, so that it can be sent."""
    if hasattr(answer, "asnumpy"):
        return answer.asnumpy()
    if isinstance(answer, dict):
        return {str(key): plain(value) for key, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [plain(item) for item in answer]
    if isinstance(answer, type) or not isinstance(answer, (np.ndarray, np.generic, str, bytes, int, float, type(None))):
        return re.sub(" at 0x[0-9a-f]+", "", str(getattr(answer, "__name__", answer)))
    return answer


def fails(ask: Callable[[], Any]) -> str:
    """The class of the error that a call raises."""
    try:
        plain(ask())
    except Exception as error:
        forget()
        return type(error).__name__
    return "no error"


def forget() -> None:
    """Takes errors that wait for a later call in 1.9.1."""
    with contextlib.suppress(Exception):
        mx.nd.waitall()


def answer_of(one: Check) -> tuple[str, Any]:
    """("value", answer) or ("error", class, first line)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            mx.random.seed(1)
            np.random.seed(1)
            with mx.name.NameManager():
                return "value", plain(one.ask())
        except Exception as error:
            lines = (str(error).strip() or " ").splitlines()
            return "error", f"{type(error).__name__}", lines[-1 if lines[0].startswith("Traceback") else 0][:300]
        finally:
            forget()
