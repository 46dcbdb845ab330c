"""docs/numpy.md: the table of what each dtype supports is what running it answers."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, Callable

import numpy as np

import mxlite as mx
from mxlite import autograd

PAGE = Path(__file__).resolve().parents[3] / "docs/numpy.md"
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16")
DTYPES += ("float32", "float64")
VALUES = [1, 0, 1, 1]
YES, NO = "yes", "no"


def _array(dtype: str) -> Any:
    return mx.np.array(VALUES, dtype=dtype)


def _agrees(made: Any, wanted: Any) -> bool:
    return bool(np.allclose(np.asarray(made.asnumpy(), np.float64), np.asarray(wanted, np.float64), rtol=1e-2))


def _saved(dtype: str) -> bool:
    x = _array(dtype)
    again = pickle.loads(pickle.dumps(x))
    return again.dtype == x.dtype and _agrees(again, VALUES)


def _exchanged(dtype: str) -> bool:
    x = _array(dtype)
    again = mx.nd.from_dlpack(mx.nd.to_dlpack_for_read(x.as_nd_ndarray()))
    return again.dtype == x.dtype and _agrees(again, VALUES)


def _differentiated(dtype: str) -> bool:
    x = _array(dtype)
    x.attach_grad()
    with autograd.record():
        y = (x * x).sum()
    y.backward()
    return _agrees(x.grad, [bool(each) if dtype == "bool" else 2 * each for each in VALUES])


def _cast(dtype: str) -> bool:
    return all(_agrees(_array(dtype).astype(other).astype(dtype), VALUES) for other in DTYPES)


def _key(dtype: str) -> bool:
    x = _array(dtype)
    x[1:3] = 0
    return _agrees(x, [1, 0, 0, 1]) and _agrees(x[np.array([0, 3])], [1, 1])


def _added(dtype: str) -> bool:
    x = _array(dtype)
    return all(_agrees(call(x, x), call(np.array(VALUES), np.array(VALUES))) for call in (np.multiply, np.maximum))


#: The columns: what is done with an array of the dtype, and whether the numbers are right.
ABILITIES: dict[str, Callable[[str], bool]] = {
    "casts": _cast,
    "files": _saved,
    "DLPack": _exchanged,
    "keys": _key,
    "`* maximum`": _added,
    "`< ==`": lambda dtype: _agrees(_array(dtype) == _array(dtype), [1] * 4),
    "`exp`": lambda dtype: _agrees(mx.np.exp(_array(dtype)), _exp(dtype)),
    "`sum max`": lambda dtype: _agrees(_array(dtype).sum(), 3) and _agrees(_array(dtype).max(), 1),
    "`sort`": lambda dtype: _agrees(mx.np.sort(_array(dtype)), sorted(VALUES)),
    "`@`": lambda dtype: _agrees(_array(dtype).reshape(2, 2) @ _array(dtype).reshape(2, 2), [[1, 0], [2, 1]]),
    "gradients": _differentiated,
}


def _exp(dtype: str) -> Any:
    """1.9.1's exp() of integers has their dtype."""
    exact = np.exp(np.array(VALUES, np.float64))
    is_whole = dtype not in ("bool", "bfloat16") and np.dtype(dtype).kind in "iu"
    return np.floor(exact) if is_whole else exact


def _answer(ability: Callable[[str], bool], dtype: str) -> str:
    try:
        is_right = ability(dtype)
    except (mx.MXNetError, TypeError, ValueError, NotImplementedError):
        return NO
    assert is_right, f"{dtype}: wrong numbers"
    return YES


def table() -> list[str]:
    """The lines of the table."""
    lines = [f"| dtype | {' | '.join(ABILITIES)} |", "| --- |" + " --- |" * len(ABILITIES)]
    for dtype in DTYPES:
        lines.append(f"| {dtype} | {' | '.join(_answer(each, dtype) for each in ABILITIES.values())} |")
    return lines


def test_the_page_has_the_table() -> None:
    wanted = "\n".join(table())
    assert wanted in PAGE.read_text(encoding="utf-8"), f"{PAGE} lacks this table:\n{wanted}"
