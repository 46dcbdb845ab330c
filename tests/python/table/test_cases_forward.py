"""Every row of the case table forward: values, dtypes and shapes against NumPy, or an error where there must be one."""

from __future__ import annotations

import numpy as np
import pytest
from _table import WAYS, assert_close, given_out, invoke, rows, scope, to_nd
from cases import CASES, OWN, heads

import mxlite as mx
from mxlite import autograd
from mxlite.ndarray._operators import Operator


def _fits(case) -> bool:
    operator = Operator(case.op)
    return bool(operator.counted) or len(case.inputs) <= len(operator.inputs)


VALUES = [case for case in CASES + OWN if case.forward is not None and not case.error and not case.random]
#: An input more than the operator has can be said in the text interface only: in Python it is the first parameter.
ERRORS = [(case, way) for case in CASES if case.error for way in WAYS if way == "text" or _fits(case)]
ERRORS += [(case, "text") for case in OWN if case.error]
RANDOM = [case for case in CASES if case.random]


def _id(case) -> str:
    return case.id


def run(case, way: str) -> tuple[list, list]:
    """Outputs (mutated inputs after them) and inputs, as NumPy arrays."""
    arrays = case.arrays()
    inputs = [to_nd(array) for array in arrays]
    out = given_out(case)
    with scope(case):
        outputs = invoke(case, inputs, way, out)
    for position, (array, after) in enumerate(zip(arrays, inputs)):
        if position not in case.mutates:
            np.testing.assert_array_equal(after.asnumpy(), array, err_msg=f"input {position} was changed")
    return [array.asnumpy() for array in [*outputs, *(inputs[i] for i in case.mutates)]], arrays


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", rows(VALUES, lambda case: not case.agreed))
def test_values(case, way: str) -> None:
    """Where 1.9.1 answers too, test_cases_reference.py compares the same call with that."""
    with mx.np_shape(case.np_shape):
        got, _ = run(case, way)
    wanted = case.expected()
    assert len(got) == len(wanted)
    for position, (one, two) in enumerate(zip(got, wanted)):
        assert_close(one, np.asarray(two), case.close(one.dtype.name), f"{case.id}, output {position}")


@pytest.mark.parametrize(("case", "way"), [pytest.param(*each, id=f"{each[0].id}-{each[1]}") for each in ERRORS])
def test_errors(case, way: str) -> None:
    arrays = case.arrays()
    kinds = mx.MXNetError if way == "text" else (mx.MXNetError, TypeError, ValueError)
    with mx.np_shape(case.np_shape), scope(case):
        inputs = [to_nd(array) for array in arrays]
        out = given_out(case)
        with pytest.raises(kinds) as caught:
            invoke(case, inputs, way, out)
            mx.nd.waitall()  # random numbers: as in 1.9.1
    message = str(caught.value)
    assert message and "\n" not in message and len(message) < 1000
    for array, after in zip(arrays, inputs):
        np.testing.assert_array_equal(after.asnumpy(), array, err_msg="an input was changed")
    for array in out or []:
        assert not array.asnumpy().any(), "an output was written"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", RANDOM, ids=_id)
def test_random(case, way: str) -> None:
    answers = []
    for seed in (7, 7, 8):
        mx.random.seed(seed)
        with mx.np_shape(case.np_shape):
            got, arrays = run(case, way)
        assert case.check(got, arrays, case.params) == ""
        answers.append(got)
    for one, two in zip(answers[0], answers[1]):
        np.testing.assert_array_equal(one, two, err_msg="equal seeds must give equal numbers")
    if answers[0][0].size > 20:
        assert any((one != two).any() for one, two in zip(answers[0], answers[2]))
        with mx.np_shape(case.np_shape):
            again, _ = run(case, way)
        assert any((one != two).any() for one, two in zip(again, answers[2])), "the same numbers twice in a row"


@pytest.mark.parametrize("case", [case for case in RANDOM if case.diff], ids=_id)
def test_random_gradient_goes_where_the_values_went(case) -> None:
    """Dropout: the gradient is the head's, times what each element was multiplied by."""
    (array,) = case.arrays()
    x = to_nd(array)
    x.attach_grad()
    with autograd.record(train_mode=case.train):
        (y,) = invoke(case, [x])
    (head,) = heads(case, [y.shape], [np.dtype(y.dtype).name])
    y.backward(to_nd(head), train_mode=case.train)
    wanted = head * y.asnumpy() / array
    np.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-6)
