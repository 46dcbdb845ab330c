"""Special numbers in the operators that special_values.py leaves out: those that move elements, read by index, multiply
or factorise matrices, are densities, or update weights.

A row is the first of its operator in another family, with other numbers. It says what 1.9.1 says; what mxlite answers
otherwise (`_OTHERWISE`) is what the first row's NumPy function makes of these numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._case import Case, In
from ._others import first

_FLOATS = ("float32", "float64", "float16")
_TOLERANCE = {"float32": (1e-4, 1e-43), "float64": (1e-6, 1e-322), "float16": (1e-2, 3e-7)}

CASES: list = []


def _numbers(dtype: str, extremes: bool) -> np.ndarray:
    if dtype not in _FLOATS:
        info = np.iinfo(dtype)
        return np.array([info.max, 0, info.min, 3, info.max - 1, info.min + 1, 1], dtype)
    info = np.finfo(dtype)
    extreme = [info.max, -info.max, info.smallest_subnormal, -info.tiny] if extremes else []
    return np.array([0.0, np.inf, -0.0, 1.5, np.nan, -2.0, -np.inf, *extreme], dtype)


def _places(case: Case) -> tuple:
    """The inputs that get special numbers: indices are none of them where something else can be."""
    floats = tuple(i for i, array in enumerate(case.arrays()) if array.dtype.kind == "f")
    return tuple(i for i in case.diff if i in floats) or floats


def _fits(case: Case) -> bool:
    agrees = case.forward is not None and not case.np_shape and not case.oracle.startswith("differs")
    return agrees and any(case.arrays()[position].size > 1 for position in _places(case))


def _add(op: str, dtypes: tuple, extremes: bool = True) -> None:
    """A row for each dtype; with `extremes` the largest and smallest numbers are among them."""
    base = first(op, _fits)
    for dtype in dtypes:
        inputs = []
        for position, array in enumerate(base.arrays()):
            if position in _places(base):
                array = np.resize(np.roll(_numbers(dtype, extremes), -2 * position), array.shape)
            elif array.dtype.kind == "f" and dtype in _FLOATS:
                array = array.astype(dtype)
            inputs.append(In(dtype=array.dtype.name, values=array))
        why = _OTHERWISE.get((op, dtype))
        case = replace(base, label=f"special-{dtype}", inputs=tuple(inputs), order=0, defined=True,
                       diff=base.diff if dtype in _FLOATS else (), tolerance=_TOLERANCE)  # fmt: skip
        if why:
            CASES.append(replace(case, label=f"{case.label}-otherwise", diff=(), oracle=f"differs: {why}"))
        else:
            CASES.append(replace(case, forward=None))


_MASKED = "1.9.1 leaves some of the triangle's zeros out, others times infinity are NaN"
_NARROW = "1.9.1 computes indices in 32 bits"
_STEPS = "1.9.1 rounds the state to float16 at each step"
_OTHERWISE = {
    ("_rmod_scalar", "int64"): "1.9.1 goes through float64, where the largest integers are rounded",
    ("_linalg_trmm", "float32"): _MASKED,
    ("_linalg_trmm", "float64"): _MASKED,
    ("one_hot", "int64"): _NARROW,
    ("_ravel_multi_index", "int64"): _NARROW,
    ("_unravel_index", "float32"): _NARROW,
    ("_unravel_index", "float64"): _NARROW,
    ("adam_update", "float16"): _STEPS,
}

# ---- rows of other families ----

_MOVES = """
    _copy BlockGrad cast_storage _grad_add _contrib_gradientmultiplier _power_scalar _rmod_scalar _rpower_scalar
    Reshape transpose SliceChannel Concat Flatten expand_dims squeeze SwapAxis broadcast_to broadcast_like
    broadcast_axis reshape_like slice_axis slice_like _split_v2 stack tile repeat reverse depth_to_space space_to_depth
    diag slice _slice_assign _slice_assign_scalar take pick one_hot gather_nd scatter_nd batch_take Embedding
    _contrib_index_copy _ravel_multi_index _contrib_index_array _contrib_arange_like _contrib_boolean_mask
    _contrib_allclose SequenceMask SequenceLast SequenceReverse shape_array size_array _histogram make_loss
""".split()
_FLOATING = "_identity_with_attr_like_rhs Pad Dropout MakeLoss sgd_mom_update adam_update _unravel_index".split()
_SINGLE = "_onehot_encode fill_element_0index softmax_cross_entropy".split()  # 1.9.1 has no others
_TRIANGLES = "extractdiag makediag extracttrian maketrian sumlogdiag".split()
_PRODUCTS = "FullyConnected batch_dot khatri_rao".split()  # whose sums overflow in another order
_PRODUCTS += [f"_linalg_{name}" for name in "gemm gemm2 syrk trmm trsm".split()]
_SUMS = "BatchNorm LayerNorm GroupNorm L2Normalization".split()  # the same
_SINGLE_SUMS = (
    "BatchNorm_v1 _contrib_SyncBatchNorm _contrib_BatchNormWithReLU InstanceNorm LRN SoftmaxActivation".split()
)
for _op in _MOVES:
    _add(_op, (*_FLOATS, "int64"))
for _op in _FLOATING:
    _add(_op, _FLOATS)
for _op in _SINGLE:
    _add(_op, ("float32",))
for _op in _TRIANGLES:
    _add(f"_linalg_{_op}", ("float32", "float64"))
for _op in _PRODUCTS + _SUMS:
    _add(_op, ("float32", "float64"), extremes=False)
for _op in _SINGLE_SUMS:
    _add(_op, ("float32",), extremes=False)

# ---- densities ----

_SAMPLE = (0.0, 1.0, 2.5, -1.0, np.inf, np.nan)
_PARAMETER = (0.0, 0.5, 2.0, -1.0, np.inf, np.nan)
#: distribution -> how many parameters it has, and whether a sample is a count, which has no gradient
_DENSITIES = {
    "exponential": (1, False), "poisson": (1, True), "uniform": (2, False), "normal": (2, False), "gamma": (2, False),
    "negative_binomial": (2, True), "generalized_negative_binomial": (2, True),
}  # fmt: skip
for _name, (_count, _whole) in _DENSITIES.items():
    _grid = [one.ravel() for one in np.meshgrid(*[_PARAMETER] * _count)]
    _arrays = (np.tile(_SAMPLE, (len(_grid[0]), 1)), *_grid)
    for _dtype in _FLOATS:
        for _log in (False, True):
            CASES.append(
                Case(f"_random_pdf_{_name}", f"special-{_dtype}-{'log' if _log else 'plain'}",
                     tuple(In(dtype=_dtype, values=array) for array in _arrays), {"is_log": _log},
                     diff=tuple(range(int(_whole), _count + 1)), defined=True,
                     tolerance={**_TOLERANCE, "float16": (1e-2, 2e-3)})
            )  # fmt: skip
_add("_random_pdf_dirichlet", _FLOATS)

# ---- indices beyond 32 bits ----

_INDICES = In(dtype="int64", values=[0, 2, 2**31, 2**63 - 1, -(2**63)])
CASES.append(
    Case("pick", "special-indices", (In((5, 3)), _INDICES), {}, oracle=f"differs: {_NARROW}",
         forward=lambda x, index: x[np.arange(len(x)), index.clip(0, 2)])
)  # fmt: skip

# ---- factorisations ----

_NAN = np.full((2, 2), np.nan)
#: operator, corner of the matrix -> what mxlite answers where 1.9.1 goes through infinities, or past NaN
_ANSWERS = {
    ("inverse", "smallest"): lambda corner: [[[np.inf, 0.0], [0.0, 1.0]]],
    ("det", "smallest"): lambda corner: [[corner]],
    ("slogdet", "smallest"): lambda corner: [[1.0], [np.log(corner)]],
    ("potri", "nan"): lambda corner: [_NAN],
    ("syevd", "infinity"): lambda corner: [_NAN, _NAN[0]],
}
#: Of these the outputs agree, and gradients of 1.9.1 overflow on the way, or are rounded to 0.
_GRADIENTS = {("gelqf", "smallest"), ("syevd", "largest"), ("det", "largest")}


def _corner(name: str, dtype: str) -> float:
    info = np.finfo(dtype)
    numbers = {"smallest": info.smallest_subnormal, "largest": info.max, "infinity": np.inf, "nan": np.nan}
    return float(numbers[name])


def _add_factors(op: str, name: str, dtype: str) -> None:
    corner, answers = _corner(name, dtype), _ANSWERS.get((op, name))
    common = {"diff": (0,), "oracle": "forward: 1.9.1 overflows on the way" if (op, name) in _GRADIENTS else ""}
    if answers:
        common = {
            "forward": lambda x: [np.array(one, x.dtype) for one in answers(corner)],
            "oracle": "differs: 1.9.1 goes through infinities, or past NaN",
        }
    matrix = In(dtype=dtype, values=[[corner, 0.0], [0.0, 1.0]])
    label = f"special-{dtype}-{name}"
    CASES.append(Case(f"_linalg_{op}", label, (matrix,), defined=True, tolerance=_TOLERANCE, **common))


for _op in "potrf potri inverse det slogdet gelqf syevd".split():
    for _dtype in ("float32", "float64"):
        for _name in ("infinity", "smallest", "largest"):
            if (_op, _name, _dtype) != ("det", "largest", "float32"):  # 1.9.1's is infinite
                _add_factors(_op, _name, _dtype)
for _dtype in ("float32", "float64"):
    _add_factors("potri", "nan", _dtype)
