"""Runs rows of the case table: an operator by the library's text interface or by the generated Python function."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Sequence
from typing import Callable

import numpy as np
import pytest
from cases import Case, In

import mxlite as mx
from mxlite import autograd
from mxlite._lib import LIB, check_call
from mxlite.ndarray._generate import make_function, place_of
from mxlite.ndarray.ndarray import NDArray, _from_numpy

#: Set by `make test`, and where the table runs once more (another vector level): one way to call, fewer layouts, one
#: direction of derivatives. The Makefile says where.
BRIEF = os.environ.get("MXLITE_TEST_BRIEF") == "1"
WAYS = ("text",) if BRIEF else ("text", "function")


Kind = Callable[[Case], tuple]


def _shape(row: In) -> tuple[int, ...]:
    return tuple(row.shape) if row.values is None else np.shape(row.values)


def params_of(case: Case) -> tuple:
    """A kind of rows: those of an operator with the same parameters."""
    return case.op, case.train, tuple(sorted(case.strings().items()))


def ranks_of(case: Case) -> tuple:
    """A kind of rows: those of an operator that give the same parameters, and inputs of the same ranks."""
    return case.op, case.train, tuple(sorted(case.params)), tuple(len(_shape(row)) for row in case.inputs)


def dtypes_of(case: Case) -> tuple:
    """A kind of rows: those of an operator with inputs of the same dtypes."""
    return case.op, tuple(row.dtype for row in case.inputs)


def firsts(cases: Iterable[Case], *kinds: Kind) -> set[str]:
    """The names of the rows that are the first of one of their kinds: what `make test` takes of a table."""
    seen: set[tuple] = set()
    found = set()
    for case in cases:
        mine = {(number, *kind(case)) for number, kind in enumerate(kinds)}
        if not mine <= seen:
            found.add(case.id)
        seen |= mine
    return found


def rows(cases: Iterable[Case], brief: Callable[[Case], bool]) -> list:
    """Rows as parameters of a test; those that are not `brief` are whole."""
    return [pytest.param(case, id=case.id, marks=[] if brief(case) else pytest.mark.whole) for case in cases]


def to_nd(array: np.ndarray) -> NDArray:
    """An NDArray with this content and dtype."""
    return _from_numpy(np.asarray(array))


def function_of(op: str):
    """The generated function of an operator; mx.nd has none of those of NumPy arrays, but for `_np_cumsum`."""
    if op == "_np_cumsum":
        return mx.nd.op.cumsum
    if op.startswith("_np"):
        return make_function(op)
    if op.startswith("_random_") and op.endswith("_like"):
        return getattr(mx.nd.random, op[len("_random_") :])
    modules = {"_contrib_": "contrib", "_image_": "image", "_linalg_": "linalg", "_sparse_": "sparse"}
    for prefix, module in ((prefix, getattr(mx.nd, name)) for prefix, name in modules.items()):
        if op.startswith(prefix):
            return getattr(module, op[len(prefix) :])
    return getattr(mx.nd._internal if op.startswith("_") else mx.nd.op, op)


def invoke_text(op: str, inputs: Sequence[NDArray], strings: dict, out: list | None = None) -> list:
    """One MXImperativeInvokeEx call."""
    handle = ctypes.c_void_p()
    check_call(LIB.NNGetOpHandle(op.encode(), ctypes.byref(handle)))
    given = (ctypes.c_void_p * max(1, len(inputs)))(*(array._h for array in inputs))
    count = ctypes.c_int(len(out) if out else 0)
    slots = ctypes.POINTER(ctypes.c_void_p)()
    if out:
        kept = (ctypes.c_void_p * len(out))(*(array._h for array in out))
        slots = ctypes.cast(kept, ctypes.POINTER(ctypes.c_void_p))
    names = (ctypes.c_char_p * max(1, len(strings)))(*(name.encode() for name in strings))
    values = (ctypes.c_char_p * max(1, len(strings)))(*(value.encode() for value in strings.values()))
    stypes = ctypes.POINTER(ctypes.c_int)()
    check_call(
        LIB.MXImperativeInvokeEx(
            handle,
            len(inputs),
            given,
            ctypes.byref(count),
            ctypes.byref(slots),
            len(strings),
            names,
            values,
            ctypes.byref(stypes),
        )
    )
    if out:
        return out
    return [NDArray._adopt(slots[i]) for i in range(count.value)]


_UNLISTED = {"BatchNorm_v1", "IdentityAttachKLSparseReg"}


def invoke(case: Case, inputs: Sequence[NDArray], way: str = "function", out: list | None = None) -> list:
    """The outputs of a case's operator on arrays, as a list. Operators that are not listed have no function.

    Nor has one whose inputs are not all listed (`_UNLISTED`) a function that could be called, as in 1.9.1.
    """
    listed = place_of(case.op) is not None or case.op.startswith("_np_")
    if way == "text" or not listed or case.op in _UNLISTED:
        return invoke_text(case.op, inputs, case.strings(), out)
    keywords = dict(case.params)
    if out is not None:
        keywords["out"] = out
    result = function_of(case.op)(*inputs, **keywords)
    return list(result) if isinstance(result, (list, tuple)) else [result]


def given_out(case: Case) -> list | None:
    """The arrays of zeros that a case gives to be written to; None where it gives none."""
    return None if case.out is None else [to_nd(np.zeros(shape, dtype)) for shape, dtype in case.out]


def scope(case: Case):
    """Training mode as the case says it, without recording."""
    return autograd.train_mode() if case.train else autograd.predict_mode()


def assert_close(got: np.ndarray, wanted: np.ndarray, tolerance: tuple[float, float], what: str) -> None:
    """dtype, shape and values agree; (0, 0) means exactly."""
    assert got.dtype == wanted.dtype, f"{what}: dtype {got.dtype}, expected {wanted.dtype}"
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, expected {wanted.shape}"
    rtol, atol = tolerance
    np.testing.assert_allclose(
        got.astype(np.float64) if got.dtype.kind in "bf" else got,
        wanted.astype(np.float64) if wanted.dtype.kind in "bf" else wanted,
        rtol=rtol,
        atol=atol,
        err_msg=what,
    )
