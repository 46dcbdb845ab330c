"""The committed answers of the real MXNet 1.9.1: outputs, error or not, first gradients, introspection."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from _table import assert_close, given_out, invoke, rows, scope, to_nd
from cases import CASES, FAMILIES, heads
from reference import Answers, introspection

import mxlite as mx
from mxlite import autograd
from mxlite.ndarray._operators import Operator, operator_names

pytestmark = pytest.mark.one_binding

ANSWERS = Answers()
#: 1.9.1 was asked, and is known to agree.
AGREED = [case for case in CASES if case.agreed]
GRADIENTS = [case for case in AGREED if ANSWERS[case.id].gradients is not None]
INTROSPECTION = introspection()
#: 1.9.1 prints the parameters of _arange, of Concat and of reverse for them, and parses others.
COUNTED_OTHERWISE = {"_contrib_quantized_concat"}  # num_args counts a third of its inputs
PRINTED_WRONGLY = {
    "_linspace",
    "_npi_flip",
    "_npi_concatenate",
    "_npi_norm",
    "_linalg_potrf",
    "_linalg_potri",
    "smooth_l1",
}
#: Have more dtypes, or other defaults, than the operator of another name that they are here.
PRINTED_OTHERWISE = {"_npi_cholesky"}


def _id(case) -> str:
    return case.id


def test_every_row_was_asked() -> None:
    differ = {case.id for case in CASES if case.oracle.startswith("differs") and not case.random}
    assert {case.id for case in AGREED} | differ == set(ANSWERS)


@pytest.mark.parametrize("case", rows(AGREED, lambda case: not case.error))
def test_outputs(case) -> None:
    """That calls fail, and leave everything as it was, test_cases_forward.py checks too."""
    answer = ANSWERS[case.id]
    arrays = case.arrays()
    assert answer.same_inputs(arrays)
    assert bool(answer.error) == case.error
    with mx.np_shape(case.np_shape), scope(case):
        inputs = [to_nd(array) for array in arrays]
        out = given_out(case)
        if answer.error:
            with pytest.raises(mx.MXNetError):
                invoke(case, inputs, "text", out)
                mx.nd.waitall()
            return
        outputs = [*invoke(case, inputs, "text", out), *(inputs[i] for i in case.mutates)]
    assert len(outputs) == len(answer.outputs)
    for position, (got, wanted) in enumerate(zip(outputs, answer.outputs)):
        tolerance = case.close(wanted.dtype.name)
        assert_close(got.asnumpy(), wanted, tolerance, f"{case.id}, output {position}")


@pytest.mark.parametrize("case", GRADIENTS, ids=_id)
def test_gradients(case) -> None:
    with mx.np_shape(case.np_shape):
        inputs = [to_nd(array) for array in case.arrays()]
        for position in case.diff:
            inputs[position].attach_grad()
        with autograd.record(train_mode=case.train):
            outputs = invoke(case, inputs, "text")
        shapes = [output.shape for output in outputs]
        dtypes = [np.dtype(output.dtype).name for output in outputs]
        grads = [to_nd(head) for head in heads(case, shapes, dtypes)]
        autograd.backward(outputs, grads, train_mode=case.train)
        got = [inputs[position].grad.asnumpy() for position in case.diff]
    for position, (one, wanted) in enumerate(zip(got, ANSWERS[case.id].gradients)):
        tolerance = case.close(wanted.dtype.name)
        assert_close(one, wanted, tolerance, f"{case.id}, gradient {position}")


@pytest.mark.parametrize("name", sorted(INTROSPECTION))
def test_introspection(name: str) -> None:
    wanted = INTROSPECTION[name]
    operator = Operator(name)
    got = [[argument, type_text] for argument, type_text, _ in operator.arguments]
    if operator.first_name == name:
        assert got == wanted["arguments"] or name in PRINTED_WRONGLY
    else:  # an operator by itself in 1.9.1, whose inputs have other names
        assert [kind for _, kind in got] == [kind for _, kind in wanted["arguments"]] or name in PRINTED_OTHERWISE
    assert operator.counted == wanted["key_var_num_args"] or name in COUNTED_OTHERWISE
    assert operator.doc
    assert all(description for _, _, description in operator.arguments)
    names = set(operator_names())
    assert names.issuperset(wanted["aliases"])
    handle, other = ctypes.c_void_p(), ctypes.c_void_p()
    for alias in wanted["aliases"]:
        mx.base.check_call(mx.base._LIB.NNGetOpHandle(name.encode(), ctypes.byref(handle)))
        mx.base.check_call(mx.base._LIB.NNGetOpHandle(alias.encode(), ctypes.byref(other)))
        assert handle.value == other.value, alias


#: Of 0 and -0 the first or the last is the largest; results of mod have the sign of Python's; elu and gelu of float32
#: are oneDNN's: docs/compatibility.md.
OTHER_ZEROS = {"max", "min", "sort", "topk", "broadcast_mod", "_mod", "_mod_scalar", "LeakyReLU"}
SPECIAL = {case.id for case in FAMILIES["special_values"] if case.op not in OTHER_ZEROS}


@pytest.mark.parametrize("case", [case for case in AGREED if case.id in SPECIAL], ids=_id)
def test_signs_of_zeros(case) -> None:
    with scope(case):
        outputs = invoke(case, [to_nd(array) for array in case.arrays()], "text")
    for got, wanted in zip(outputs, ANSWERS[case.id].outputs):
        zero = wanted == 0
        np.testing.assert_array_equal(
            np.signbit(got.asnumpy()[zero].astype(float)), np.signbit(wanted[zero].astype(float))
        )
