"""Nothing escapes the case table: every operator has rows, derivatives, and every mix of gradient requests."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest
from _table import given_out, invoke, to_nd
from cases import CASES, OTHER_NAMES, OWN, heads, of, operators

import mxlite as mx
from mxlite import autograd
from mxlite._lib import LIB, check_call
from mxlite.ndarray._operators import Operator, is_refused

pytestmark = pytest.mark.one_binding

#: Operators without a derivative. What they make of recorded arrays is a constant.
NOT_DIFFERENTIABLE = {
    "_arange",
    "_npi_arange",
    "_linspace",
    "_eye",
    "_histogram",
    "argmax_channel",
    "_contrib_allclose",
    "_zeros",
    "_ones",
    "_full",
    "_zeros_without_dtype",
    "_set_value",
    "_random_randint",
    "_sample_unique_zipfian",
    "sgd_mom_update",
}
_STEPS = """
    sgd_update nag_mom_update mp_sgd_update mp_sgd_mom_update mp_nag_mom_update signsgd_update signum_update
    multi_sgd_update multi_sgd_mom_update multi_mp_sgd_update multi_mp_sgd_mom_update
    preloaded_multi_sgd_update preloaded_multi_sgd_mom_update preloaded_multi_mp_sgd_update
    preloaded_multi_mp_sgd_mom_update
    adam_update ftml_update ftrl_update rmsprop_update rmspropalex_update
    _sparse_adagrad_update _contrib_group_adagrad_update
    _adamw_update _mp_adamw_update _multi_adamw_update _multi_mp_adamw_update
    lamb_update_phase1 lamb_update_phase2 mp_lamb_update_phase1 mp_lamb_update_phase2
    _multi_lamb_update _multi_mp_lamb_update
""".split()
NOT_DIFFERENTIABLE |= {*_STEPS, "all_finite", "multi_all_finite", "multi_sum_sq", "multi_lars"}
#: Has no result of which a gradient could be taken.
NO_RESULT = {"reset_arrays"}
_DRAWN = ("uniform", "normal", "gamma", "exponential", "poisson", "negative_binomial", "generalized_negative_binomial")
NOT_DIFFERENTIABLE |= {f"_random_{name}" for name in _DRAWN}
NOT_DIFFERENTIABLE |= {"_cvimdecode", "_cvimread", "_cvimresize", "_cvcopyMakeBorder"}
_QUANTIZED = "act batch_norm concat conv elemwise_add elemwise_mul embedding flatten fully_connected pooling".split()
NOT_DIFFERENTIABLE |= {f"_contrib_quantized_{name}" for name in _QUANTIZED}
_BYTES = "quantize quantize_v2 dequantize requantize calibrate_entropy".split()
NOT_DIFFERENTIABLE |= {f"_contrib_{name}" for name in _BYTES}
#: Operators whose gradient is zero, as in 1.9.1.
ZERO = {"argmax", "argmin", "one_hot", "_onehot_encode", "shape_array", "size_array"}
ZERO |= {"argsort"}
ZERO |= {"_contrib_Proposal", "_contrib_MultiProposal"}
ZERO |= {f"_contrib_MultiBox{name}" for name in "Prior Detection Target".split()}
ZERO |= {f"_contrib_{name}" for name in "box_iou box_encode box_decode bipartite_matching".split()}
ZERO |= {"_ravel_multi_index", "_unravel_index", "_contrib_index_array", "_contrib_arange_like"}
ZERO |= {"sign", "ceil", "floor", "rint", "round", "trunc", "fix", "logical_not"}
for _name in ("equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal"):
    ZERO |= {f"broadcast_{_name}", f"_{_name}", f"_{_name}_scalar"}
for _name in ("logical_and", "logical_or", "logical_xor"):
    ZERO |= {f"broadcast_{_name}", f"_{_name}", f"_{_name}_scalar"}
ZERO |= {f"_random_{_name}_like" for _name in _DRAWN} | {f"_sample_{_name}" for _name in _DRAWN}
for _name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"):
    ZERO |= {f"_npi_{_name}", f"_npi_{_name}_scalar"}
ZERO |= {
    f"_npi_{_name}" for _name in "logical_not isnan isinf isfinite isposinf isneginf argmax argmin full_like".split()
}
ZERO |= {"_np_all", "_np_any", "_npi_where_scalar2", "_npi_around"}
#: Operators whose derivative is defined, not derived: compared with 1.9.1 only.
DEFINED = {"BlockGrad", "zeros_like", "ones_like"}
DEFINED |= {"make_loss", "MakeLoss", "SoftmaxOutput", "SVMOutput", "IdentityAttachKLSparseReg"}
DEFINED |= {"LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"}
#: Of integers, or of positions; or made from nothing.
_NO_DERIVATIVE = """
    lcm lcm_scalar bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_and_scalar bitwise_or_scalar
    bitwise_xor_scalar diag_indices_from eye identity indices logspace blackman hamming hanning unique
    share_memory
""".split()
NUMPY_CONSTANTS = {f"_npi_{name}" for name in _NO_DERIVATIVE} | {"_npx_nonzero", "_npx_constraint_check"}
DEFINED |= {"_contrib_round_ste", "_contrib_sign_ste", "_contrib_gradientmultiplier"}
#: Their derivatives are in test_vision.py: a result of another dtype than the input, random ones.
DEFINED |= {"_image_to_tensor", "_image_random_flip_left_right", "_image_random_flip_top_bottom"}
_COLOURS = "brightness contrast saturation hue color_jitter lighting".split()
DEFINED |= {f"_image_random_{name}" for name in _COLOURS} | {"_image_adjust_lighting"}
#: Their derivatives are in test_np_random.py: those of random numbers by the parameters of their distributions.
_NUMPY = "normal normal_n uniform uniform_n gamma gumbel logistic exponential rayleigh pareto weibull powerd".split()
_NUMPY += ["bernoulli"]
DEFINED |= {f"_npi_{name}" for name in _NUMPY}
NOT_DIFFERENTIABLE |= {"_npi_choice", "_npi_multinomial"}
#: Needs an array to write to, which the rows' gradient test does not give; test_autograd.py differentiates it.
WRITES = {"_copyto"}


#: Runs operators of the program; test_custom.py has its tests.
CALLERS = {"Custom"}
#: Of sparse arrays, which rows do not have; tests/c/sparse has their tests.
SPARSE = {f"_contrib_{name}" for name in "SparseEmbedding edge_id getnnz dgl_adjacency dgl_subgraph".split()}
SPARSE |= {f"_contrib_dgl_{name}" for name in "graph_compact csr_neighbor_uniform_sample".split()}
SPARSE |= {"_contrib_dgl_csr_neighbor_non_uniform_sample", "_sparse_retain", "_square_sum"}
SPARSE |= {f"_scatter_{name}" for name in "elemwise_div minus_scalar plus_scalar".split()}


def registered() -> set[str]:
    """The first names of all operators that there are, but CALLERS and SPARSE."""
    count, creators = ctypes.c_uint32(), ctypes.POINTER(ctypes.c_void_p)()
    check_call(LIB.MXSymbolListAtomicSymbolCreators(ctypes.byref(count), ctypes.byref(creators)))
    names, name = set(), ctypes.c_char_p()
    for i in range(count.value):
        check_call(LIB.MXSymbolGetAtomicSymbolName(creators[i], ctypes.byref(name)))
        names.add(name.value.decode())
    return {name for name in names - CALLERS - SPARSE if not is_refused(name)}


def test_every_operator_has_cases() -> None:
    assert registered() == operators()
    assert not any(Operator(name).first_name == name for name in OTHER_NAMES)


def test_every_operator_has_a_value_and_an_error() -> None:
    for name in registered():
        assert any(not case.error for case in of(name)), name
        assert any(case.error for case in of(name)), name


#: Own operators of which no gradient is asked here: their results are integers or bool, or have indices beside them
#: (tests/python/pytorch/values/test_torch_order.py), or front ends have rules for them.
OWN_WITHOUT_DERIVATIVE = """argmax argmin isclose nonzero found left_shift right_shift gcd searchsorted isin mode
    running_place pivot_order lu scatter_reduce logcumsumexp frexp signbit linspace""".split()


def test_own_operators_have_values_errors_and_derivatives() -> None:
    """That every one has rows, here or among the internal ones, test_cases_internal.py checks."""
    rows = {case.op[len("_mxl_") :] for case in OWN}
    for name in rows:
        mine = [case for case in OWN if case.op == f"_mxl_{name}"]
        assert any(case.error for case in mine) and any(not case.error for case in mine), name
        arrays = [array for case in mine for array in case.arrays()]
        assert not arrays or any(array.ndim == 0 or array.size == 0 for array in arrays), name
        assert (max(case.order for case in mine) == 2) == (name not in OWN_WITHOUT_DERIVATIVE), name


#: What these move, Cast and scatter_nd move too; 1.9.1 wants an output of the caller's.
INTO_GIVEN = {"_copyto", "_scatter_set_nd"}
#: Operators without inputs, whose parameters are NaN and infinities in rows of their families.
MAKE = {"_arange", "_npi_arange", "_linspace", "_eye", "_zeros", "_ones", "_full", "_zeros_without_dtype", "_set_value"}
MAKE |= {f"_npi_{name}" for name in "eye identity indices logspace blackman hamming hanning".split()}
#: They read files.
MAKE |= {"_cvimdecode", "_cvimread"}


def test_every_operator_meets_special_numbers_or_draws() -> None:
    special = {case.op for case in CASES if case.label.startswith("special-")}
    assert {name for name in registered() - special if not any(case.random for case in of(name))} == INTO_GIVEN | MAKE


def test_every_operator_of_arrays_meets_those_of_no_axes() -> None:
    given = {case.op for case in CASES if case.np_shape and any(array.ndim == 0 for array in case.arrays())}
    assert {name for name in registered() - given if Operator(name).inputs} == {"_copyto"}


def test_every_operator_is_differentiated_twice_or_listed() -> None:
    order = {name: max(case.order for case in of(name)) for name in registered()}
    assert {
        name for name, highest in order.items() if highest < 2
    } == NOT_DIFFERENTIABLE | NO_RESULT | ZERO | DEFINED | WRITES | NUMPY_CONSTANTS


@pytest.mark.parametrize("name", sorted(NOT_DIFFERENTIABLE))
def test_what_is_not_differentiable_is_a_constant(name: str) -> None:
    case = next(case for case in of(name) if not case.error and not case.np_shape)
    inputs = [to_nd(array) for array in case.arrays()]
    for array in inputs[:1]:
        array.attach_grad()
    with autograd.record():
        outputs = invoke(case, inputs, out=given_out(case))
    with pytest.raises(mx.MXNetError):
        autograd.backward(outputs)


@pytest.mark.parametrize("name", sorted(ZERO))
def test_zero_gradients(name: str) -> None:
    case = next(case for case in of(name) if not case.error and not case.np_shape)
    inputs = [to_nd(array) for array in case.arrays()]
    autograd.mark_variables(inputs, [x.ones_like() for x in inputs])
    with autograd.record():
        outputs = invoke(case, inputs)
    autograd.backward(outputs)
    assert not any(x.grad.asnumpy().any() for x in inputs)


def _candidates(name: str) -> list:
    return [case for case in of(name) if case.diff and not case.error and not case.np_shape and case.out is None]


def widest(name: str):
    """A case of the operator with as many differentiable inputs as it has."""
    cases = [case for case in _candidates(name) if case.order] or _candidates(name)
    return max(cases, key=lambda case: (len(case.diff), -len(case.inputs)))


REQUESTS = [
    pytest.param(name, requests, id=f"{name}-{'-'.join(requests)}")
    for name in sorted({case.op for case in CASES if case.diff})
    for requests in itertools.product(("null", "write", "add"), repeat=min(len(widest(name).diff), 4))
]


def _backward(case, arrays: list, requests: tuple) -> list:
    """The gradient buffers, which held 3 everywhere, after a backward with these requests."""
    inputs = [to_nd(array) for array in arrays]
    chosen = case.diff[: len(requests)]
    buffers = [to_nd(np.full(arrays[position].shape, 3, arrays[position].dtype)) for position in chosen]
    autograd.mark_variables([inputs[position] for position in chosen], buffers, list(requests))
    mx.random.seed(3)
    with autograd.record(train_mode=case.train):
        outputs = invoke(case, inputs)
    dtypes = [np.dtype(output.dtype).name for output in outputs]
    grads = [to_nd(head) for head in heads(case, [output.shape for output in outputs], dtypes)]
    if any(request != "null" for request in requests):
        autograd.backward(outputs, grads, train_mode=case.train)
        fresh = [inputs[position]._fresh_grad for position in chosen]
        assert fresh == [int(request != "null") for request in requests]
    else:
        with pytest.raises(mx.MXNetError):
            autograd.backward(outputs, grads, train_mode=case.train)
    return [buffer.asnumpy() for buffer in buffers]


@pytest.mark.parametrize(("name", "requests"), REQUESTS)
def test_requests(name: str, requests: tuple) -> None:
    """A request never disturbs another input's gradient (apache/mxnet#20293)."""
    case = widest(name)
    arrays = case.arrays()
    alone = _backward(case, arrays, ("write",) * len(requests))
    got = _backward(case, arrays, requests)
    for request, one, wanted in zip(requests, got, alone):
        if request == "null":
            wanted = np.full_like(one, 3)
        elif request == "add":
            wanted = wanted + np.asarray(3, wanted.dtype)
        rtol = 0 if one.dtype.kind != "f" else 4 * float(np.finfo(one.dtype).eps)
        np.testing.assert_allclose(one.astype("float64"), wanted.astype("float64"), rtol=rtol, atol=rtol)
