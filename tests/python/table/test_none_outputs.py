"""Arrays without a shape as outputs (MXNDArrayCreateNone; `NDArray out` in C++) get what the call would return."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from _table import invoke_text, to_nd
from cases import CASES, INTERNAL, OWN

import mxlite as mx
from mxlite import autograd
from mxlite._lib import LIB, ask
from mxlite.ndarray.ndarray import NDArray

#: the rows of each operator that returns what it makes
ROWS: dict[str, list] = {}
for _case in CASES + OWN + INTERNAL:
    if not _case.error and _case.out is None:
        ROWS.setdefault(_case.op, []).append(_case)


def none() -> NDArray:
    return NDArray._adopt(ask(ctypes.c_void_p, LIB.MXNDArrayCreateNone))


def call(case, given: bool, recorded: bool = False) -> tuple[list, list]:
    """The outputs of a call, and the inputs' gradients of their sums, all as NumPy arrays."""
    mx.random.seed(7)
    inputs = [to_nd(array).as_in_context(mx.cpu(1)) for array in case.arrays()]
    variables = [each for each in inputs if recorded and np.dtype(each.dtype).kind == "f"]
    for each in variables:
        each.attach_grad()
    with mx.np_shape(case.np_shape), autograd.record(case.train) if recorded else autograd.pause(case.train):
        made = invoke_text(
            case.op, inputs, case.strings(), [none() for _ in range(counts.get(case.id, 1))] if given else None
        )
    counts[case.id] = len(made)
    heads = [each for each in made if recorded and np.dtype(each.dtype).kind == "f" and each.size]
    if heads and variables:
        autograd.backward(heads)
    return [(each.context, each.asnumpy()) for each in made], [
        (each.context, each.grad.asnumpy()) for each in variables
    ]


#: how many outputs a row has, by its name: what its call without arrays to write to returned
counts: dict[str, int] = {}


def assert_same(case, given: list, made: list, what: str) -> None:
    assert len(given) == len(made)
    for position, ((of_given, got), (of_made, wanted)) in enumerate(zip(given, made)):
        assert of_given == of_made, f"{case.id}, {what} {position}"
        assert got.dtype == wanted.dtype, f"{case.id}, {what} {position}"
        np.testing.assert_array_equal(got, wanted, err_msg=f"{case.id}, {what} {position}")


@pytest.mark.parametrize("op", sorted(ROWS))
def test_outputs(op: str) -> None:
    rows = ROWS[op]
    for case in rows[:: max(1, (len(rows) + 1) // 2)]:
        made, _ = call(case, given=False)
        given, _ = call(case, given=True)
        assert_same(case, given, made, "output")


@pytest.mark.parametrize("op", sorted(op for op, rows in ROWS.items() if not rows[0].mutates))
def test_recorded_outputs(op: str) -> None:
    case = ROWS[op][0]
    try:
        made, gradients = call(case, given=False, recorded=True)
    except mx.MXNetError as error:  # without a gradient, or with inputs that may not be variables
        with pytest.raises(mx.MXNetError) as caught:
            call(case, given=True, recorded=True)
        assert str(caught.value) == str(error)
        return
    given, of_given = call(case, given=True, recorded=True)
    assert_same(case, given, made, "output")
    assert_same(case, of_given, gradients, "gradient of variable")
