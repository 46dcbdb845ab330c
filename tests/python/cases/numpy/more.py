"""Functions of two NumPy arrays, diagonals, windows, turns, parts, edits and values of 1.9's NumPy operators."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any, Callable

import numpy as np

from .._case import Case, In
from ..own import CASES as _OWN

#: Bits, and arctan2, which mxlite.torch calls too.
CASES: list = [case for case in _OWN if case.op.startswith("_npi_")]
for _name in ("and", "or", "xor", "not"):
    _wide = In(dtype="int64", values=[0, -1, 2**63 - 1, -(2**63)])
    CASES.append(Case(f"_npi_bitwise_{_name}", "special-numbers", (_wide,) if _name == "not" else (_wide, _wide)))

_SPECIAL = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
_OTHER = "differs: computed here, or refused there"


def _value(text: Any) -> Any:
    """A parameter that is given as text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _of(function: Callable) -> Callable:
    """The function, of parameters as text, with answers in the first array's dtype."""

    def forward(*arrays: np.ndarray, **params: Any) -> Any:
        with np.errstate(all="ignore"):
            found = function(*arrays, **{key: _value(text) for key, text in params.items()})
        if isinstance(found, tuple):
            return tuple(np.asarray(each) for each in found)
        found = np.asarray(found)
        floats = arrays and found.dtype.kind == "f" == arrays[0].dtype.kind
        return found.astype(arrays[0].dtype) if floats else found

    return forward


#: Labels of rows without elements or axes: they are called in NumPy-shape mode.
_NP_SHAPE = {"0-axes", "empty", "far", "many", "none", "of-0", "special-none", "special-empty"}


def row(op: str, label: str, inputs: tuple, params: dict | None = None, function: Any = None, **more: Any) -> Case:
    """A row: what the function of parameters as values gives, or, without one, what 1.9.1 answers."""
    forward = None if function is None else _of(function)
    return Case(op, label, inputs, params or {}, forward, np_shape=label in _NP_SHAPE, **more)


def error(op: str, label: str, inputs: tuple = (), params: dict | None = None, **more: Any) -> Case:
    """A row of a call that is refused."""
    return Case(op, label, inputs, params or {}, error=True, np_shape=label in _NP_SHAPE, **more)


def _row(*given: Any, **more: Any) -> None:
    CASES.append(row(*given, **more))


def _error(*given: Any, **more: Any) -> None:
    CASES.append(error(*given, **more))


def _usual(
    op: str,
    function: Callable,
    params: dict | None = None,
    scalar: bool = True,
    shape: tuple = (2, 3),
    order: int = 2,
    oracle: str = "",
) -> None:
    """Rows of a function of one array: differentiated, of integers, of special numbers, of no axes, without inputs."""
    diff = (0,) if order else ()
    _row(op, "usual", (In(shape, domain="away"),), params, function, order=order, diff=diff, oracle=oracle)
    _row(op, "float64", (In(shape, "float64", "away"),), params, function, order=order, diff=diff, oracle=oracle)
    _row(op, "special-numbers", (In(values=[_SPECIAL, _SPECIAL[::-1]]),), params, function, oracle=oracle)
    if scalar:
        _row(op, "0-axes", (In((), domain="away"),), params, function, oracle=oracle)
    else:
        _error(op, "0-axes", (In(()),), params, oracle=oracle)
    _error(op, "none", (), params)


# ---- functions of two ----


def _sign(x: np.ndarray) -> np.ndarray:
    return np.where(np.signbit(x), -1, 1)


_PAIRS: dict = {
    "copysign": np.copysign,
    "ldexp": lambda x, y: x * np.power(np.asarray(2, np.result_type(x, "float32")), y),
}
for _name, _function in _PAIRS.items():
    _op = f"_npi_{_name}"
    _both = (0, 1) if _name == "ldexp" else (0,)
    _row(_op, "usual", (In((2, 3), domain="away"), In((3,), domain="away")), {}, _function, order=2, diff=_both)
    _row(_op, "float64", (In((4,), "float64"), In((4,), "float64", "away")), {}, _function, order=2, diff=_both)
    _row(_op, "special-numbers", (In(values=_SPECIAL), In(values=_SPECIAL[::-1])), {}, _function)
    _row(_op, "0-axes", (In(()), In((), domain="away")), {}, _function)
    _error(_op, "shapes", (In((2,)), In((3,))))
    _error(_op, "bool", (In((2,), "bool", "bool"), In((2,), "bool", "bool")))
    _error(_op, "dtypes", (In((2,)), In((2,), "float64")))
_row("_npi_copysign", "int32", (In(dtype="int32", values=[1, -2, 3]), In(dtype="int32", values=[-1, 2, 0])))

_SCALARS: dict = {
    "arctan2": np.arctan2,
    "rarctan2": lambda x, s: np.arctan2(np.asarray(s, x.dtype), x),
    "copysign": np.copysign,
    "rcopysign": lambda x, s: np.copysign(np.asarray(s, x.dtype), x),
    "ldexp": lambda x, s: x * 2.0**s,
    "rldexp": lambda x, s: s * np.power(np.asarray(2, x.dtype), x),
}
for _name, _function in _SCALARS.items():
    _op = f"_npi_{_name}_scalar"
    _scalar = (lambda function: lambda x, scalar, is_int=0: function(x, scalar))(_function)
    _usual(_op, _scalar, {"scalar": 1.5, "is_int": 0})
    _row(_op, "int32", (In(dtype="int32", values=[1, -2, 3]),), {"scalar": 2, "is_int": 1})

for _name, _function in {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "lcm": np.lcm,
}.items():
    _op = f"_npi_{_name}_scalar"
    _scalar = (lambda function: lambda x, scalar, is_int=1: function(x, np.asarray(scalar, x.dtype)))(_function)
    for _dtype in ("int32", "int64", "int8", "uint8"):
        _row(_op, _dtype, (In((7,), _dtype, ("int", 0, 60)),), {"scalar": 6, "is_int": 1}, _scalar)
    _row(_op, "special-none", (In(dtype="int32", values=[0, -1, 2**31 - 1]),), {"scalar": 1, "is_int": 1}, _scalar)
    _row(_op, "0-axes", (In((), "int32", ("int", 1, 9)),), {"scalar": 6, "is_int": 1}, _scalar)
    _row(_op, "gradient", (In((4,), "int32", ("int", 1, 9)),), {"scalar": 6, "is_int": 1}, _scalar, diff=(0,))
    _error(_op, "float", (In((2,)),), {"scalar": 2})

for _dtype in ("int32", "int64", "int8", "uint8"):
    _row("_npi_lcm", _dtype, (In((2, 3), _dtype, ("int", 1, 9)), In((3,), _dtype, ("int", 1, 9))), {}, np.lcm)
_row(
    "_npi_lcm", "special-zeros", (In(dtype="int32", values=[0, 0, 6]), In(dtype="int32", values=[0, 4, -4])), {}, np.lcm
)
_row("_npi_lcm", "0-axes", (In((), "int32", ("int", 1, 9)), In((), "int32", ("int", 1, 9))), {}, np.lcm)
_error("_npi_lcm", "float", (In((2,)), In((2,))))

# ---- diagonals ----

_usual("_np_diag", lambda x, k=0: np.diag(x, k), {"k": 1}, scalar=False)
_row("_np_diag", "vector", (In((3,)),), {"k": -1}, lambda x, k: np.diag(x, k), order=2, diff=(0,))
_row("_np_diag", "far", (In((2, 3)),), {"k": 7}, lambda x, k: np.diag(x, k))
_error("_np_diag", "3-axes", (In((2, 2, 2)),))
_usual("_np_diagflat", lambda x, k=0: np.diagflat(x, k), {"k": -2})
_usual("_np_diagonal", lambda x, offset=0: np.diagonal(x, offset), {"offset": 1}, scalar=False)
_row("_np_diagonal", "axes", (In((2, 3, 4)),), {"offset": -1, "axis1": 2, "axis2": 0}, np.diagonal, order=2, diff=(0,))
_row("_np_diagonal", "far", (In((2, 3)),), {"offset": 9}, np.diagonal)
_error("_np_diagonal", "one-axis-twice", (In((2, 3)),), {"axis1": 1, "axis2": 1})
_usual("_np_trace", lambda x, offset=0: np.trace(x, offset), {"offset": 1}, scalar=False)
_row("_np_trace", "axes", (In((2, 3, 4)),), {"offset": 1, "axis1": 1, "axis2": 2}, np.trace, order=2, diff=(0,))
_row("_np_trace", "int32", (In((3, 3), "int32", ("int", -9, 9)),), {}, lambda x: np.trace(x).astype("int32"))
_usual("_npi_tril", lambda x, k=0: np.tril(x, k), {"k": 1}, scalar=False)
_row("_npi_tril", "vector", (In((3,)),), {}, np.tril, order=2, diff=(0,))
_row("_npi_tril", "stack", (In((2, 3, 3), "int32", ("int", 0, 9)),), {"k": -1}, np.tril)
_row("_npi_diag_indices_from", "usual", (In((3, 3)),), {}, lambda x: np.stack(np.diag_indices_from(x)))
_row(
    "_npi_diag_indices_from",
    "special-numbers",
    (In(values=[[np.nan, np.inf]] * 2),),
    {},
    lambda x: np.stack(np.diag_indices_from(x)),
)
_error("_npi_diag_indices_from", "0-axes", (In(()),))
_error("_npi_diag_indices_from", "no-square", (In((2, 3)),))

# ---- made from nothing ----

_eye = lambda N, M=None, k=0, dtype="float32": np.eye(N, M, k, dtype=dtype)  # noqa: E731
for _label, _params in (("square", {"N": 3}), ("wide", {"N": 2, "M": 4, "k": 1}), ("low", {"N": 3, "M": 2, "k": -1})):
    _row("_npi_eye", _label, (), _params, _eye)
_row("_npi_eye", "int32", (), {"N": 2, "dtype": "int32"}, _eye)
_row("_npi_eye", "empty", (), {"N": 0}, _eye)
_error("_npi_eye", "negative", (), {"N": -1})
for _dtype in ("float32", "bool", "int64"):
    _row("_npi_identity", _dtype, (), {"shape": "(3, 3)", "dtype": _dtype}, lambda shape, dtype: np.eye(3, dtype=dtype))
_error("_npi_identity", "no-square", (), {"shape": "(2, 3)"}, oracle=_OTHER)
for _label, _params in (
    ("two", {"dimensions": "(2, 3)"}),
    ("float", {"dimensions": "(2,)", "dtype": "float32"}),
    ("empty", {"dimensions": "(2, 0)"}),
):
    _row("_npi_indices", _label, (), _params, lambda dimensions, dtype="int32": np.indices(dimensions, dtype=dtype))
_error("_npi_indices", "negative", (), {"dimensions": "(2, -3)"})
for _label, _params in (
    ("usual", {"start": 0, "stop": 2, "num": 5}),
    ("open", {"start": 0, "stop": 2, "num": 4, "endpoint": 0, "base": 2}),
    ("one", {"start": 1, "stop": 2, "num": 1}),
    ("none", {"start": 1, "stop": 2, "num": 0}),
):
    _row(
        "_npi_logspace",
        _label,
        (),
        _params,
        lambda start, stop, num, endpoint=1, base=10: np.logspace(start, stop, num, bool(endpoint), base, "float32"),
    )
_error("_npi_logspace", "negative", (), {"start": 0, "stop": 1, "num": -1})
for _name in ("blackman", "hamming", "hanning"):
    _op = f"_npi_{_name}"
    _window = (lambda function: lambda M, dtype="float32": function(M).astype(dtype))(getattr(np, _name))
    for _size in (0, 1, 6):
        _row(_op, f"of-{_size}", (), {"M": _size}, _window, tolerance={"float32": (2e-5, 2e-6)})
    _row(_op, "float64", (), {"M": 7, "dtype": "float64"}, _window, tolerance={"float64": (2e-7, 2e-7)})
    _error(_op, "unknown", (), {"M": 3, "size": 2})

# ---- turns ----

_roll = lambda x, shift, axis=None: np.roll(x, shift, axis)  # noqa: E731
_usual("_np_roll", _roll, {"shift": "(4,)"})
_row("_np_roll", "axes", (In((2, 3)),), {"shift": "(1, -2)", "axis": "(0, 1)"}, _roll, order=2, diff=(0,))
_row("_np_roll", "one-shift", (In((2, 3)),), {"shift": "(2,)", "axis": "(0, 1)"}, _roll)
_error("_np_roll", "shifts", (In((2, 3)),), {"shift": "(1, 2)", "axis": "(1,)"})
_rot = lambda x, k=1, axes=(0, 1): np.rot90(x, k, axes)  # noqa: E731
_usual("_npi_rot90", _rot, {"k": 1, "axes": "(0, 1)"}, scalar=False)
for _k in (-2, 0, 3):
    _row("_npi_rot90", f"turns-{_k}", (In((2, 3, 4)),), {"k": _k, "axes": "(2, 0)"}, _rot, order=2, diff=(0,))
_error("_npi_rot90", "one-axis-twice", (In((2, 3)),), {"axes": "(1, 1)"})
for _n in (1, 2, 3):
    _op, _function = f"_np_atleast_{_n}d", getattr(np, f"atleast_{_n}d")
    _atleast = (lambda function: lambda *arrays, num_args: tuple(map(function, arrays)))(_function)
    _row(_op, "usual", (In((3,)), In((2, 3)), In((2, 1, 2))), {"num_args": 3}, _atleast, order=2, diff=(0, 1, 2))
    _row(_op, "0-axes", (In(()), In((2,))), {"num_args": 2}, _atleast)
    _row(_op, "special-numbers", (In(values=_SPECIAL),), {"num_args": 1}, lambda x, num_args, f=_function: f(x))
    _error(_op, "count", (In((2,)),), {"num_args": 2})
for _name, _shape, _function in (("hsplit", (2, 4), np.hsplit), ("dsplit", (1, 2, 4), np.dsplit)):
    _op = f"_npi_{_name}"
    _axis = {"axis": 2} if _name == "dsplit" else {}
    _split = (
        lambda f: lambda x, indices, axis=1, squeeze_axis=0, sections=0: tuple(f(x, sections or list(indices)[1:]))
    )(_function)
    _row(_op, "two-sections", (In(_shape),), {"indices": "()", "sections": 2, **_axis}, _split, order=2, diff=(0,))
    _row(_op, "at-indices", (In(_shape),), {"indices": "(0, 1, 3)", **_axis}, _split, order=2, diff=(0,))
    _row(
        _op,
        "special-parts",
        (In(values=np.reshape(_SPECIAL + [1.0], (2, 4) if _name == "hsplit" else (1, 2, 4))),),
        {"indices": "()", "sections": 2, **_axis},
        _split,
    )
    _error(_op, "0-axes", (In(()),), {"indices": "()", "sections": 1})

# ---- edits ----


def _pad(x: np.ndarray, pad_width: Any, mode: str = "constant", constant_value: float = 0) -> np.ndarray:
    return np.pad(x, pad_width, mode, **({"constant_values": constant_value} if mode == "constant" else {}))


for _mode in ("constant", "edge", "reflect", "symmetric", "maximum", "minimum"):
    _row(
        "_npi_pad",
        _mode,
        (In((2, 3), domain="distinct"),),
        {"pad_width": "((1, 1), (2, 1))", "mode": _mode},
        _pad,
        order=2,
        diff=(0,),
    )
_row("_npi_pad", "number", (In((2, 3)),), {"pad_width": "((1, 0), (0, 2))", "constant_value": 7}, _pad)
_row("_npi_pad", "special-numbers", (In(values=[_SPECIAL]),), {"pad_width": "((1, 1), (2, 1))", "mode": "edge"}, _pad)
_row("_npi_pad", "mirrored-often", (In((3,)),), {"pad_width": "((7, 5),)", "mode": "symmetric"}, _pad, oracle=_OTHER)
_error("_npi_pad", "0-axes", (In(()),), {"pad_width": "((1, 1), (1, 1))"})
_error("_npi_pad", "negative", (In((2,)),), {"pad_width": "((-1, 1),)"})
_HUGE = {"pad_width": "((9223372036854775807, 1),)", "mode": "edge"}
_error("_npi_pad", "too-large", (In((2,)),), _HUGE, oracle="skip: the sum of widths overflows")


def _slice(start: Any, stop: Any, step: Any, int_ind: Any, obj: Any) -> Any:
    return obj if obj is not None else int_ind if int_ind is not None else slice(start, stop, step)


def _delete(x, obj=None, start=None, stop=None, step=None, int_ind=None, axis=None):
    return np.delete(x, _slice(start, stop, step, int_ind, obj), axis)


_usual("_npi_delete", _delete, {"int_ind": 1, "axis": 1}, scalar=False)
_row("_npi_delete", "slice", (In((2, 5)),), {"start": 4, "stop": 0, "step": -2, "axis": 1}, _delete, order=2, diff=(0,))
_row("_npi_delete", "line", (In((2, 3)),), {"int_ind": -1}, _delete, order=2, diff=(0,))
_row("_npi_delete", "array", (In((2, 4)), In(dtype="int64", values=[0, -1, 0])), {"axis": 1}, _delete)
_error("_npi_delete", "outside", (In((2, 3)),), {"int_ind": 9, "axis": 0})


def _insert(x, *more, val=None, start=None, stop=None, step=None, int_ind=None, axis=None):
    values = val if val is not None else more[0]
    obj = more[-1] if len(more) == 2 or (val is not None and more) else None
    return np.insert(x, _slice(start, stop, step, int_ind, obj), values, axis)


_usual("_npi_insert_scalar", _insert, {"val": 5, "int_ind": 1, "axis": 1}, scalar=False)
_row("_npi_insert_scalar", "array", (In((2, 3)), In((2,))), {"int_ind": 1, "axis": 1}, _insert, order=2, diff=(0, 1))
_row(
    "_npi_insert_scalar", "several", (In((2, 3)), In((2, 2))), {"int_ind": 1, "axis": 1}, _insert, order=2, diff=(0, 1)
)
_error("_npi_insert_scalar", "outside", (In((2, 3)),), {"val": 1, "int_ind": 9, "axis": 0})
_usual("_npi_insert_slice", _insert, {"val": 5, "start": 0, "stop": 2, "axis": 1}, scalar=False)
_row(
    "_npi_insert_slice",
    "array",
    (In((2, 3)), In((2,))),
    {"start": 0, "stop": 2, "axis": 1},
    _insert,
    order=2,
    diff=(0, 1),
)
_at = In(dtype="int64", values=[2, 0])
_row("_npi_insert_tensor", "array", (In((2, 3)), In((2,)), _at), {"axis": 1}, _insert, order=2, diff=(0, 1))
_row("_npi_insert_tensor", "same-place", (In((3,)), In((2,)), In(dtype="int64", values=[1, 1])), {}, _insert)
_row("_npi_insert_tensor", "special-numbers", (In(values=_SPECIAL), In(values=[np.nan, 1.0]), _at), {}, _insert)
_error("_npi_insert_tensor", "0-axes", (In(()), In(()), _at), {"axis": 0})

_mask = In(dtype="bool", values=[[True, False, True], [False, False, True]])


def _mask_set(x, mask, *value_array, value=None, start_axis=0):
    out = x.copy()
    out[(slice(None),) * start_axis + (mask,)] = value_array[0] if value_array else value
    return out


_op = "_npi_boolean_mask_assign_scalar"
_row(
    _op,
    "usual",
    (In((2, 3)), _mask),
    {"value": 9, "start_axis": 0},
    _mask_set,
    order=2,
    diff=(0,),
    oracle="forward: 1.9.1 has no gradient",
)
_row(_op, "rows", (In((2, 3)), In(dtype="bool", values=[False, True])), {"value": 9, "start_axis": 0}, _mask_set)
_row(
    _op, "columns", (In((2, 3)), In(dtype="bool", values=[False, True, True])), {"value": 9, "start_axis": 1}, _mask_set
)
_row(
    _op,
    "special-numbers",
    (In(values=[_SPECIAL[:3], _SPECIAL[3:6]]), _mask),
    {"value": "nan", "start_axis": 0},
    lambda x, mask, value, start_axis: np.where(mask, np.nan, x),
)
_row(
    _op,
    "0-axes",
    (In(()), In((), "bool", "bool")),
    {"value": 3, "start_axis": 0},
    oracle="skip: 1.9.1 reads beyond",
    function=lambda x, mask, value, start_axis: np.where(mask, value, x),
)
_error(_op, "shapes", (In((2, 3)), In((3,), "bool", "bool")), {"value": 1, "start_axis": 0})
_op = "_npi_boolean_mask_assign_tensor"
_row(
    _op,
    "usual",
    (In((2, 3)), _mask, In((3,))),
    {"start_axis": 0},
    _mask_set,
    order=2,
    diff=(0, 2),
    oracle="forward: 1.9.1 has no gradient",
)
_row(_op, "one", (In((2, 3)), _mask, In((1,))), {"start_axis": 0}, _mask_set)
_row(
    _op, "columns", (In((2, 3)), In(dtype="bool", values=[False, True, True]), In((2, 2))), {"start_axis": 1}, _mask_set
)
_row(
    _op,
    "special-numbers",
    (In(values=[_SPECIAL[:3], _SPECIAL[3:6]]), _mask, In(values=_SPECIAL[4:7])),
    {"start_axis": 0},
    _mask_set,
)
_error(_op, "0-axes", (In(()), In((2,), "bool", "bool"), In((2,))), {"start_axis": 0})
_error(_op, "count", (In((2, 3)), _mask, In((2,))), {"start_axis": 0})
_op = "_npx_nonzero"
_row(_op, "usual", (In(values=[[1, 0], [2, 3]]),), {}, lambda x: np.argwhere(x))
_row(_op, "special-numbers", (In(values=_SPECIAL),), {}, lambda x: np.argwhere(x))
_row(_op, "none", (In(values=[0, 0]),), {}, lambda x: np.argwhere(x))
_row(_op, "0-axes", (In(values=2.0),), {}, lambda x: np.zeros((1, 1), "int64"))
_row(_op, "0-axes-of-0", (In(values=0.0),), {}, lambda x: np.zeros((0, 1), "int64"))
_error(_op, "two", (In((2,)), In((2,))))

# ---- values ----

_around = lambda x, decimals=0: np.around(x, decimals)  # noqa: E731
for _decimals in (0, 2, -1):
    _row(
        "_npi_around", f"to-{_decimals}", (In(values=[1.255, -2.5, 0.5, 15.0, 24.9]),), {"decimals": _decimals}, _around
    )
_row("_npi_around", "int32", (In(dtype="int32", values=[14, 21, -12]),), {"decimals": -1})
_usual("_npi_around", _around, {"decimals": 1}, order=0)
_FEW = In(values=[1.255, -2.5, 0.0, 24.9])
_row("_npi_around", "to-50", (_FEW,), {"decimals": 50}, lambda x, decimals: x)
_row("_npi_around", "to--50", (_FEW,), {"decimals": -50}, lambda x, decimals: x * 0)
_nan = lambda x, nan=0.0, posinf=None, neginf=None: np.nan_to_num(x, True, nan, posinf, neginf)  # noqa: E731
_usual("_npi_nan_to_num", _nan)
_row("_npi_nan_to_num", "given", (In(values=_SPECIAL),), {"nan": 2, "posinf": 3, "neginf": -4}, _nan)
_row("_npi_nan_to_num", "int32", (In(dtype="int32", values=[1, 2]),), {}, _nan)


def _average(x, w=None, axis=None, returned=0, weighted=1):
    axis = axis[0] if isinstance(axis, tuple) and len(axis) == 1 else axis
    found = np.average(x.astype("float64"), axis, w, returned=True)
    total = np.asarray(found[1]).astype(x.dtype)
    if w is None or w.ndim == 1:
        total = total.ravel()[0]
    return (found[0].astype(x.dtype), total) if returned else found[0].astype(x.dtype)


_usual("_npi_average", _average, {"weighted": 0})
_row(
    "_npi_average",
    "weights",
    (In((2, 3)), In((3,), domain="positive")),
    {"axis": "(1,)"},
    _average,
    order=2,
    diff=(0, 1),
)
_row(
    "_npi_average",
    "bool",
    (In(dtype="bool", values=[True, False]),),
    {"weighted": 0},
    lambda x, weighted: np.float32(0.5),
)
_row(
    "_npi_average",
    "bool-weights",
    (In(dtype="float32", values=[3.0, 5.0]), In(dtype="bool", values=[True, False])),
    {},
    lambda x, w: np.float32(3),
)
_row("_npi_average", "returned", (In((2, 3)), In((2, 3), domain="positive")), {"axis": "(0,)", "returned": 1}, _average)
_error("_npi_average", "shapes", (In((2, 3)), In((2,))), {"axis": "(1,)"})
_poly = lambda p, x: np.polyval(p, x)  # noqa: E731
_row("_npi_polyval", "usual", (In((4,)), In((2, 3))), {}, _poly, order=2, diff=(0, 1))
_row("_npi_polyval", "special-numbers", (In(values=[1.0, 2.0]), In(values=_SPECIAL)), {}, _poly)
_row("_npi_polyval", "0-axes", (In((3,)), In(())), {}, _poly)
_error("_npi_polyval", "two-axes", (In((2, 2)), In((2,))))
_diff = lambda a, n=1, axis=-1: np.diff(a, n, axis)  # noqa: E731
_usual("_npi_diff", _diff, scalar=False)
_row("_npi_diff", "twice", (In((4, 3)),), {"n": 2, "axis": 0}, _diff, order=2, diff=(0,))
_row("_npi_diff", "many", (In((2, 3)),), {"n": 9}, _diff)
_error("_npi_diff", "negative", (In((2, 3)),), {"n": -1})
_usual("_npi_ediff1d", lambda x: np.ediff1d(x))
_row(
    "_npi_ediff1d",
    "numbers",
    (In((2, 3)),),
    {"to_begin_scalar": 8, "to_end_scalar": 9},
    lambda x, to_begin_scalar, to_end_scalar: np.ediff1d(x, to_end_scalar, to_begin_scalar),
    order=2,
    diff=(0,),
)
_row(
    "_npi_ediff1d",
    "arrays",
    (In((2, 3)), In((1, 2)), In((2,))),
    {"to_begin_arr_given": 1, "to_end_arr_given": 1},
    lambda x, begin, end, **_: np.ediff1d(x, end, begin),
    order=2,
    diff=(0, 1, 2),
)
_counted = In(dtype="int32", values=[0, 1, 1, 3])


def _bin(x, *w, minlength=0, has_weights=0):
    return np.bincount(x, *w, minlength=minlength).astype(w[0].dtype if w else x.dtype)


_row("_npi_bincount", "usual", (_counted,), {}, _bin)
_row("_npi_bincount", "long", (_counted,), {"minlength": 7}, _bin)
_row(
    "_npi_bincount",
    "weights",
    (_counted, In((4,))),
    {"has_weights": 1},
    _bin,
    order=2,
    diff=(1,),
    oracle="forward: 1.9.1 has no gradient",
)
_row(
    "_npi_bincount", "special-numbers", (_counted, In(values=[np.nan, np.inf, 1.0, -np.inf])), {"has_weights": 1}, _bin
)
_error("_npi_bincount", "negative", (In(dtype="int32", values=[0, -1]),))
_error("_npi_bincount", "0-axes", (In((), "int32", ("int", 0, 3)),))
_row("_npx_constraint_check", "true", (In(dtype="bool", values=[True, True]),), {}, lambda x: np.asarray(True))
_row("_npx_constraint_check", "special-none", (In(dtype="bool", values=[]),), {}, lambda x: np.asarray(True))
_row("_npx_constraint_check", "0-axes", (In(dtype="bool", values=True),), {}, lambda x: np.asarray(True))
_error("_npx_constraint_check", "false", (In(dtype="bool", values=[True, False]),), {"msg": "no"})
_row("_npi_share_memory", "apart", (In((2,)), In((2,))), {}, lambda a, b: np.asarray(False))
_row(
    "_npi_share_memory",
    "special-numbers",
    (In(values=_SPECIAL), In(values=_SPECIAL)),
    {},
    lambda a, b: np.asarray(False),
)
_row("_npi_share_memory", "0-axes", (In(()), In(())), {}, lambda a, b: np.asarray(False))
_error("_npi_share_memory", "one", (In((2,)),))

# ---- numbers in a row ----


def _arange(start: float, stop: float | None = None, step: float = 1.0, dtype: str = "float32") -> np.ndarray:
    return np.arange(start, stop, step, dtype)


for _label, _params in {
    "one-number": {"start": 3, "dtype": "int32"},
    "steps": {"start": 2, "stop": 9, "step": 2.5},
    "down": {"start": 3, "stop": -1, "step": -1, "dtype": "float64"},
    "nothing": {"start": 3, "stop": 0},
    "nothing-below-0": {"start": 0, "stop": 3, "step": -1, "dtype": "int32"},
    "nothing-of-0": {"start": 0},
}.items():
    _row("_npi_arange", _label, (), _params, _arange)
_error("_npi_arange", "no-repeat", (), {"start": 3, "repeat": 0})

#: What 1.9.1 answers otherwise (a row of docs/compatibility.md each), or dies of.
_NO_GRADIENT = "forward: 1.9.1 has no gradient"
_DIFFERENT = {
    "_npi_bitwise_and/bool _npi_bitwise_or/bool _npi_bitwise_xor/bool": "differs: 1.9.1's operator refuses bool",
    "_npi_copysign/special-numbers _npi_rcopysign_scalar/special-numbers": "differs: 1.9.1 sees no sign of -0 and NaN",
    "_np_diagflat/0-axes": "differs: 1.9.1 refuses it",
    "_npi_delete/usual _npi_delete/float64 _npi_delete/slice _npi_delete/line": _NO_GRADIENT,
    "_npi_delete/array": "differs: 1.9.1 counts a position that is named twice as two",
    "_npi_ldexp/float64 _npi_rldexp_scalar/float64": "forward: 1.9.1 computes the derivative in float32",
    "_npi_rarctan2_scalar/usual _npi_rarctan2_scalar/float64": "forward: 1.9.1 has the sign of another derivative",
    "_npi_rot90/usual _npi_rot90/float64 _npi_rot90/turns-3": "forward: 1.9.1 turns the gradient the other way",
    "_np_atleast_1d/usual _np_atleast_2d/usual _np_atleast_3d/usual": "forward: 1.9.1's gradient fails",
    "_npi_delete/0-axes _npi_insert_scalar/0-axes _npi_bincount/0-axes": "differs: 1.9.1 answers",
    "_npi_insert_scalar/usual _npi_insert_scalar/float64 _npi_insert_scalar/special-numbers"
    " _npi_insert_slice/usual _npi_insert_slice/float64 _npi_insert_slice/special-numbers _npi_insert_slice/array": (
        "differs: 1.9.1 has no such call"
    ),
    "_npi_insert_slice/0-axes": "differs: 1.9.1 has no such call",
    "_npi_insert_scalar/array _npi_insert_scalar/several _npi_insert_tensor/array": _NO_GRADIENT,
    " ".join(f"_npi_boolean_mask_assign_scalar/{label}" for label in ("usual", "rows", "columns", "special-numbers")): (
        "differs: 1.9.1 only writes into its input"
    ),
    " ".join(f"_npi_boolean_mask_assign_tensor/{label}" for label in ("usual", "one", "columns", "special-numbers")): (
        "differs: 1.9.1 only writes into its input"
    ),
    "_npi_around/to-50": "differs: 1.9.1 answers infinities",
    "_npi_average/bool _npi_average/bool-weights": "differs: 1.9.1 refuses bool",
    "_npi_average/usual _npi_average/float64 _npi_average/weights": "forward: 1.9.1's gradient fails",
    "_npi_copysign_scalar/usual _npi_copysign_scalar/float64"
    " _npi_rcopysign_scalar/usual _npi_rcopysign_scalar/float64": ("forward: 1.9.1's gradient fails"),
    " ".join(f"_npi_pad/{mode}" for mode in ("edge", "reflect", "symmetric", "maximum", "minimum")): _NO_GRADIENT,
    "_npx_constraint_check/false": "skip: the process ends",
}
_WHY = {name: why for names, why in _DIFFERENT.items() for name in names.split()}
CASES[:] = [replace(case, oracle=_WHY.get(case.id, case.oracle)) for case in CASES]
