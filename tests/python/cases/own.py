"""Operators that 1.9.1 has not, `_mxl_*`: those that functions of mxlite.torch are. They have no part in CASES."""

from __future__ import annotations

import numpy as np

from ._case import Case, In

CASES: list = []

_INTEGERS = {
    "uint8": ("int", 0, 255),
    "int8": ("int", -128, 127),
    "int32": ("int", -(2**31), 2**31 - 1),
    "int64": ("int", -(2**62), 2**62),
}
_FLOATS = ("float16", "float32", "float64")
_SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan]
_SQUARE = [np.array(each) for each in np.meshgrid(_SPECIAL, _SPECIAL)]


def _pair(dtype: str, domain="real", shapes=((3, 4), (4,))) -> tuple:
    return tuple(In(shape, dtype, domain) for shape in shapes)


def _refuses(op: str, **rows: tuple) -> None:
    for label, (inputs, *params) in rows.items():
        CASES.append(Case(op, f"error-{label.replace('_', '-')}", inputs, *params, error=True, np_shape=True))


# ---- bits ----

_BITS = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}

for _name, _function in _BITS.items():
    _op = f"_npi_{_name}" if "bitwise" in _name else f"_mxl_{_name}"
    for _dtype, _domain in _INTEGERS.items():
        _amounts = [[0, 1, 7, 8], [31, 32, 63, 64], [100, 5, 3, 2]]
        if _dtype != "uint8":
            _amounts[2][:2] = [-1, -100]
        _other = In((3, 4), _dtype, _domain)
        if "shift" in _name:
            _other = In(dtype=_dtype, values=_amounts)
        CASES += [
            Case(_op, _dtype, (In((3, 4), _dtype, _domain), _other), {}, _function),
            Case(
                _op,
                f"{_dtype}-outer",
                (In((3, 1), _dtype, ("int", 0, 5)), In((1, 2), _dtype, ("int", 0, 5))),
                {},
                _function,
            ),
            Case(_op, f"{_dtype}-long", _pair(_dtype, ("int", 0, 7), ((1037,), (1037,))), {}, _function),
        ]
    CASES += [
        Case(_op, "0-axes", _pair("int32", ("int", 0, 9), ((), ())), {}, _function, np_shape=True),
        Case(_op, "empty", _pair("int64", ("int", 0, 9), ((0, 3), (3,))), {}, _function, np_shape=True),
    ]
    if "shift" not in _name:
        CASES.append(Case(_op, "bool", _pair("bool", "bool"), {}, _function))
    else:
        _refuses(_op, bool=(_pair("bool", "bool"),))
    _refuses(
        _op,
        float=(_pair("float32"),),
        shapes=(_pair("int32", ("int", 0, 9), ((2,), (3,))),),
        dtypes=((In((2,), "int32", ("int", 0, 9)), In((2,), "int8", ("int", 0, 9))),),
    )

for _dtype, _domain in _INTEGERS.items():
    CASES.append(Case("_npi_bitwise_not", _dtype, (In((3, 5), _dtype, _domain),), {}, np.invert))
CASES += [
    Case("_npi_bitwise_not", "bool", (In((7,), "bool", "bool"),), {}, np.invert),
    Case("_npi_bitwise_not", "0-axes", (In((), "int32", ("int", 0, 9)),), {}, np.invert, np_shape=True),
    Case("_npi_bitwise_not", "empty", (In((2, 0), "uint8", ("int", 0, 9)),), {}, np.invert, np_shape=True),
]
_refuses("_npi_bitwise_not", float=((In((2,)),),), none=((),))

# ---- isclose ----


def _isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=False):
    return np.isclose(a, b, rtol, atol, bool(equal_nan))


_op = "_mxl_isclose"
for _dtype in _FLOATS:
    for _equal in (False, True):
        CASES.append(
            Case(
                _op,
                f"special-{_dtype}-{_equal}",
                tuple(In(dtype=_dtype, values=x) for x in _SQUARE),
                {"equal_nan": _equal},
                _isclose,
            )
        )
    CASES.append(Case(_op, _dtype, _pair(_dtype), {"rtol": 0.5, "atol": 0.25}, _isclose))
for _dtype, _domain in (*_INTEGERS.items(), ("bool", "bool")):
    CASES.append(Case(_op, _dtype, _pair(_dtype, _domain), {"rtol": 0.5}, _isclose))
CASES += [
    Case(_op, "near", (In(values=[1.0, 1.0, 100.0]), In(values=[1.0 + 2e-6, 1.0 + 2e-5, 100.0005])), {}, _isclose),
    Case(
        _op,
        "far-int64",
        (In(dtype="int64", values=[2**62, 2**62, -(2**62)]), In(dtype="int64", values=[2**62 + 1, 2**62, 2**62])),
        {"rtol": 0, "atol": 0},
        lambda a, b, **_: a == b,
    ),
    Case(_op, "0-axes", _pair("float32", shapes=((), (3,))), {"rtol": 1}, _isclose, np_shape=True),
    Case(_op, "empty", _pair("float32", shapes=((0,), (1,))), {}, _isclose, np_shape=True),
]
_refuses(
    _op,
    shapes=(_pair("float32", shapes=((2,), (3,))),),
    dtypes=((In((2,)), In((2,), "float64")),),
    parameter=(_pair("float32"), {"tolerance": 1}),
)

# ---- atan2 ----

_op = "_npi_arctan2"
for _dtype in _FLOATS:
    CASES += [
        Case(_op, _dtype, _pair(_dtype, shapes=((9, 40), (9, 40))), {}, np.arctan2),
        Case(_op, f"special-{_dtype}", tuple(In(dtype=_dtype, values=x) for x in _SQUARE), {}, np.arctan2),
        Case(
            _op,
            f"extremes-{_dtype}",
            tuple(In(dtype=_dtype, values=x) for x in ([1e-7, 6e4, 6e4, -1e-7], [6e4, 1e-7, -6e4, -6e4])),
            {},
            np.arctan2,
        ),
    ]
CASES += [
    Case(_op, "same", _pair("float32", "away", ((2, 3), (2, 3))), {}, np.arctan2, order=2, diff=(0, 1)),
    Case(_op, "outer", _pair("float64", "away", ((3, 1), (1, 4))), {}, np.arctan2, order=2, diff=(0, 1)),
    Case(_op, "second", _pair("float64", "away", ((3,), (3,))), {}, np.arctan2, order=2, diff=(1,)),
    Case(_op, "0-axes", _pair("float32", shapes=((), ())), {}, np.arctan2, np_shape=True),
    Case(_op, "empty", _pair("float32", shapes=((0, 2), (2,))), {}, np.arctan2, np_shape=True),
]
_refuses(_op, integers=(_pair("int32", ("int", 0, 9)),), shapes=(_pair("float32", shapes=((2,), (3,))),))

# ---- argmax, argmin ----

for _name, _function in (("argmax", np.argmax), ("argmin", np.argmin)):
    _op = f"_mxl_{_name}"

    def _arg(x, axis=None, keepdims=False, function=_function):
        found = function(x, axis)
        if keepdims:
            return np.expand_dims(found, axis) if axis is not None else np.reshape(found, (1,) * x.ndim)
        return np.reshape(found, np.shape(found) or (1,)).astype(np.int64)  # no axes: as sum in this front end

    for _axis in (0, 1, 2, -1):
        CASES.append(Case(_op, f"axis{_axis}", (In((3, 5, 4)),), {"axis": _axis}, _arg))
    for _dtype, _domain in (*_INTEGERS.items(), *((each, "real") for each in _FLOATS)):
        CASES.append(Case(_op, _dtype, (In((3, 70), _dtype, _domain),), {"axis": 1, "keepdims": True}, _arg))
    CASES += [
        Case(_op, "none", (In((3, 4)),), {}, _arg, np_shape=True),
        Case(_op, "none-kept", (In((3, 4)),), {"keepdims": True}, _arg),
        Case(_op, "ties", (In(values=[[1, 3, 3, 1], [0, 0, 0, 0]]),), {"axis": 1}, _arg),
        Case(_op, "special-nan", (In(values=[_SPECIAL, _SPECIAL[::-1]]),), {"axis": 1}, _arg),
        Case(_op, "special-infinities", (In(values=[_SPECIAL[:-1], _SPECIAL[-2::-1]]),), {"axis": 1}, _arg),
        Case(_op, "0-axes", (In(()),), {}, _arg, np_shape=True),
        Case(_op, "long", (In((40000,), "float32", "distinct"),), {"axis": 0}, _arg, np_shape=True),
    ]
    _refuses(
        _op,
        empty=((In((0, 3)),), {"axis": 0}),
        axis=((In((2,)),), {"axis": 1}),
        bool=((In((2,), "bool", "bool"),), {"axis": 0}),
    )

# ---- running products ----


def _cumprod(x, axis=-1, exclusive=False):
    made = np.cumprod(x, axis, dtype=x.dtype)
    if exclusive:
        made = np.concatenate([np.ones_like(made.take([0], axis)), np.delete(made, -1, axis)], axis)
    return made


def _linear(x, f, axis=-1, reverse=False):
    x, f = (np.moveaxis(each, axis, 0)[:: -1 if reverse else 1] for each in (x, f))
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = x[i] + f[i - 1 if reverse else i] * y[i - 1]
    return np.moveaxis(y[:: -1 if reverse else 1], 0, axis)


_ZEROS = [[2.0, 0.0, 3.0, -1.0], [0.0, 0.5, 0.0, 2.0], [1.0, 2.0, 3.0, 0.0], [0.0, 0.0, 0.0, 1.5]]
_near = {"float16": (1e-2, 1e-2), "float32": (1e-5, 1e-5)}
for _op, _f, _count, _flag in (
    ("_mxl_cumprod", _cumprod, 1, "exclusive"),
    ("_mxl_scan_linear", _linear, 2, "reverse"),
):
    _grad: dict = {"order": 2, "diff": tuple(range(_count)), "tolerance": _near}
    for _on in (False, True):
        for _axis in (0, 1, -1):
            CASES.append(
                Case(_op, f"axis{_axis}-{_on}", (In((3, 5, 4)),) * _count, {"axis": _axis, _flag: _on}, _f, **_grad)
            )
        CASES += [
            Case(_op, f"zeros-{_on}", (In(dtype="float64", values=_ZEROS),) * _count, {_flag: _on}, _f, **_grad),
            Case(_op, f"one-{_on}", (In((3, 1)),) * _count, {_flag: _on}, _f, **_grad),
            Case(_op, f"rows-{_on}", (In((19, 6), "float64"),) * _count, {_flag: _on}, _f),
            Case(
                _op,
                f"wide-{_on}",
                (In((3, 2500), "float32", "unit"),) * _count,
                {"axis": 0, _flag: _on},
                _f,
                tolerance=_near,
            ),
            Case(_op, f"special-{_on}", (In(values=_SPECIAL),) * _count, {_flag: _on}, _f),
            Case(
                _op,
                f"empty-{_on}",
                (In((2, 0, 3)),) * _count,
                {"axis": 2, _flag: _on},
                lambda x, *_, **__: x,
                np_shape=True,
            ),
            Case(
                _op,
                f"empty-axis-{_on}",
                (In((2, 0, 3)),) * _count,
                {"axis": 1, _flag: _on},
                lambda x, *_, **__: x,
                np_shape=True,
            ),
        ]
    CASES += [Case(_op, _dtype, (In((3, 9), _dtype),) * _count, {}, _f, tolerance=_near) for _dtype in _FLOATS]
    if _count == 1:
        CASES += [Case(_op, _dtype, (In((3, 9), _dtype, ("int", 0, 5)),), {}, _f) for _dtype in _INTEGERS]
    else:
        _refuses(_op, integers=((In((3,), "int32", ("int", 0, 5)),) * 2,), shapes=((In((3,)), In((4,))),))
    _refuses(
        _op,
        axis=((In((2, 3)),) * _count, {"axis": 2}),
        no_axes=((In(()),) * _count,),
        bool=((In((3,), "bool", "bool"),) * _count,),
    )

# ---- along an axis ----


def _places(shape: tuple, index: np.ndarray, axis: int) -> tuple:
    where = list(np.indices(index.shape))
    where[axis] = index
    return tuple(where)


def _gather(x, index, axis):
    return x[_places(x.shape, index, axis)]


def _crop(source, shape):
    return source[tuple(slice(0, extent) for extent in shape)]


def _scatter(x, index, source, axis):
    made = x.copy()
    made[_places(x.shape, index, axis)] = _crop(source, index.shape)
    return made


def _scatter_add(x, index, source, axis):
    made = x.copy()
    np.add.at(made, _places(x.shape, index, axis), _crop(source, index.shape))
    return made


_APART = In(dtype="int64", values=[[2, 0, 1], [0, 1, 2]])  # each row's are different
_TWICE = In(dtype="int64", values=[[1, 1, 0], [2, 2, 2]])
_ROWS = In(dtype="int64", values=[[0, 2, 1, 0], [3, 3, 1, 0], [1, 1, 1, 1]])  # none, some and all are equal
_DOWN = In(dtype="int64", values=[[0, 1, 0, 0], [3, 0, 1, 1], [2, 2, 2, 3]])  # of axis 0
_ALONG = (("_mxl_gather", _gather, False), ("_mxl_scatter", _scatter, True), ("_mxl_scatter_add", _scatter_add, True))
for _op, _f, _puts in _ALONG:

    def _given(x: In, index: In, source: In, puts=_puts) -> tuple:
        return (x, index, source) if puts else (x, index)

    _diff: dict = {"order": 2, "diff": (0, 2) if _puts else (0,)}
    _once = _diff if _op != "_mxl_scatter" else {}
    _int64 = np.array(_DOWN.values)
    CASES += [
        Case(_op, "last", _given(In((2, 3)), _APART, In((2, 3))), {"axis": 1}, _f, **_diff),
        Case(_op, "twice", _given(In((2, 3)), _TWICE, In((2, 3))), {"axis": -1}, _f, **_once),
        Case(_op, "all-rows", _given(In((3, 5)), _ROWS, In((3, 4))), {"axis": 1}, _f, **_once),
        Case(_op, "first", _given(In((4, 5)), _DOWN, In((3, 4))), {"axis": 0}, _f, **_once),
        Case(
            _op,
            "short",
            _given(In((4, 5), "float64"), In(dtype="int64", values=[[1, 0], [3, 2]]), In((5, 3), "float64")),
            {"axis": 0},
            _f,
            **_diff,
        ),
        Case(
            _op,
            "middle",
            _given(In((3, 4, 5)), In((2, 9, 5), "int64", ("int", 0, 3)), In((2, 9, 5))),
            {"axis": 1},
            _f,
            **_once,
        ),
        Case(
            _op,
            "special",
            _given(In(values=_SPECIAL), In(dtype="int64", values=[7, 0, 5]), In(values=[np.inf, np.nan, -np.inf])),
            {"axis": 0},
            _f,
        ),
        Case(
            _op,
            "empty",
            _given(In((0, 3)), In((0, 3), "int64", ("int", 0, 0)), In((0, 3))),
            {"axis": 1},
            _f,
            np_shape=True,
        ),
        Case(
            _op,
            "no-indices",
            _given(In((2, 3)), In((2, 0), "int64", ("int", 0, 0)), In((2, 0))),
            {"axis": 1},
            _f,
            np_shape=True,
        ),
    ]
    for _dtype, _domain in (*_INTEGERS.items(), *((each, "real") for each in _FLOATS), ("bool", "bool")):
        CASES.append(
            Case(_op, _dtype, _given(In((4, 5), _dtype, _domain), _DOWN, In((3, 4), _dtype, _domain)), {"axis": 0}, _f)
        )
    _rows: dict = {
        "high": (In(dtype="int64", values=[[3, 0, 1], [0, 1, 2]]), {"axis": 1}),
        "negative": (In(dtype="int64", values=[[-1, 0, 1], [0, 1, 2]]), {"axis": 1}),
        "int32": (In(dtype="int32", values=[[0, 0, 1], [0, 1, 2]]), {"axis": 1}),
        "long": (In(dtype="int64", values=[[0, 0, 1]] * 3), {"axis": 1}),
        "axes": (In(dtype="int64", values=[0, 1]), {"axis": 1}),
        "axis": (_APART, {"axis": 2}),
        "no_axis": (_APART, {}),
    }
    _refuses(
        _op, **{label: (_given(In((2, 3)), index, In((3, 3))), params) for label, (index, params) in _rows.items()}
    )
    if _puts:
        _refuses(
            _op,
            dtypes=((In((2, 3)), _APART, In((2, 3), "float64")), {"axis": 1}),
            source=((In((2, 3)), _APART, In((2, 2))), {"axis": 1}),
        )

# ---- nonzero ----


def _nonzero(x, by_axis=False):
    found = np.nonzero(np.atleast_1d(x))[: max(1, x.ndim)]
    rows = np.stack(found, 1).astype(np.int64)[:, : x.ndim]
    return rows.T if by_axis else rows


_op = "_mxl_nonzero"
for _dtype, _domain in (*((each, ("int", 0, 2)) for each in (*_INTEGERS, *_FLOATS)), ("bool", "bool")):
    CASES += [
        Case(_op, _dtype, (In((3, 5, 7), _dtype, _domain),), {}, _nonzero, np_shape=True),
        Case(_op, f"{_dtype}-by-axis", (In((2, 33), _dtype, _domain),), {"by_axis": True}, _nonzero, np_shape=True),
    ]
CASES += [
    Case(_op, "special", (In(values=_SPECIAL),), {}, _nonzero, np_shape=True),
    Case(_op, "none", (In(values=[[0.0, 0.0]]),), {}, _nonzero, np_shape=True),
    Case(_op, "empty", (In((3, 0)),), {"by_axis": True}, _nonzero, np_shape=True),
    Case(_op, "0-axes", (In((), domain="positive"),), {}, _nonzero, np_shape=True),
    Case(_op, "0-axes-zero", (In(values=0.0),), {}, _nonzero, np_shape=True),
    Case(_op, "few", (In(dtype="bool", values=np.arange(1000) % 333 == 1),), {}, _nonzero, np_shape=True),
]
_refuses(_op, none=((),), parameter=((In((2,)),), {"axis": 0}))

# ---- an element of each row ----


def _found(x, what, axis=-1, keepdims=False, alone=False):
    if axis is None:
        return _found(x.reshape(-1), what, 0)[0] if alone else _found(x.reshape(-1), what, 0)
    nan = x != x
    if what == "median":
        index = np.take(np.argsort(x, axis, kind="stable"), (x.shape[axis] - 1) // 2, axis)
    else:
        index = {"max": np.argmax, "min": np.argmin}[what](x, axis)
    index = np.expand_dims(np.where(nan.any(axis), np.argmax(nan, axis), index), axis)
    made = np.take_along_axis(x, index, axis), index
    return made if keepdims else tuple(each.squeeze(axis) for each in made)


_op = "_mxl_found"
for _what in ("max", "min", "median"):
    _params: dict = {"what": _what}
    for _axis in (0, 1, -1):
        CASES += [
            Case(_op, f"{_what}-axis{_axis}{'-kept' * _kept}", (In((3, 6, 5), domain="distinct"),),
                 {**_params, "axis": _axis, "keepdims": _kept}, _found)
            for _kept in (False, True)
        ]  # fmt: skip
    for _dtype, _domain in (*_INTEGERS.items(), *((each, "real") for each in _FLOATS), ("bool", "bool")):
        CASES.append(Case(_op, f"{_what}-{_dtype}", (In((5, 301), _dtype, _domain),), _params, _found))
    CASES += [
        Case(_op, f"{_what}-ties", (In(values=[[3.0, 1, 1, 1, 2, 3], [0, 0, -1, 0, -0.0, -1]]),), _params, _found),
        Case(_op, f"{_what}-special", (In(values=[_SPECIAL, _SPECIAL[::-1]]),), _params, _found),
        Case(_op, f"{_what}-infinities", (In(values=[_SPECIAL[:-1], _SPECIAL[-2::-1]]),), _params, _found),
        Case(_op, f"{_what}-one", (In((4, 1)),), _params, _found),
        Case(_op, f"{_what}-vector", (In((7,)),), _params, _found, np_shape=True),
        Case(_op, f"{_what}-long", (In((70001,), "float32", "distinct"),), _params, _found, np_shape=True),
        Case(_op, f"{_what}-all", (In((3, 6, 5), domain="distinct"),), {**_params, "axis": None}, _found,
             np_shape=True),
        Case(_op, f"{_what}-alone", (In((3, 5), domain="distinct"),), {**_params, "axis": None, "alone": True}, _found,
             np_shape=True),
        Case(_op, f"{_what}-no-rows", (In((0, 3)),), _params,
             lambda x, **_: (np.zeros(0, x.dtype), np.zeros(0, np.int64)), np_shape=True),
    ]  # fmt: skip
_refuses(_op, axis=((In((2, 3)),), {"what": "max", "axis": 2}), empty=((In((2, 0)),), {"what": "max"}),
         no_axes=((In(()),), {"what": "min"}), what=((In((2,)),), {"what": "mean"}),
         none=((In((2,)),), {}))  # fmt: skip

# ---- solve ----


def _solve(a, b, transpose=False):
    return np.linalg.solve(a.swapaxes(-1, -2) if transpose else a, b)


_MATRIX = [[4.0, 1, 0.5], [0.25, 0, 2], [1, 3, 1]]  # its second pivot needs an exchange
_op = "_mxl_solve"
for _on in (False, True):
    _grad = {"order": 2, "diff": (0, 1), "tolerance": {"float32": (1e-4, 1e-4), "float64": (1e-9, 1e-9)}}
    CASES += [
        Case(_op, f"float32-{_on}", (In(values=_MATRIX), In((3, 2))), {"transpose": _on}, _solve, **_grad),
        Case(
            _op,
            f"batch-{_on}",
            (In(dtype="float64", values=[_MATRIX, np.transpose(_MATRIX)]), In((2, 3, 1), "float64")),
            {"transpose": _on},
            _solve,
            **_grad,
        ),
        Case(
            _op,
            f"large-{_on}",
            (
                In(dtype="float64", values=np.eye(70) * 3 + np.arange(4900).reshape(70, 70) % 7 / 50),
                In((70, 40), "float64"),
            ),
            {"transpose": _on},
            _solve,
            tolerance=_grad["tolerance"],
        ),
    ]
CASES += [
    Case(_op, "one", (In(values=[[2.0]]), In((1, 3))), {}, _solve, order=2, diff=(0, 1)),
    Case(
        _op,
        "special",
        (In(values=[[1.0, 0], [0, 1]]), In(values=[[np.nan], [1.0]])),
        {},
        lambda a, b: np.full((2, 1), np.nan, "float32"),
    ),
    Case(_op, "empty", (In((0, 2, 2)), In((0, 2, 3))), {}, lambda a, b: b, np_shape=True),
    Case(_op, "no-columns", (In(values=_MATRIX), In((3, 0))), {}, lambda a, b: b, np_shape=True),
]
_refuses(
    _op,
    singular=((In(values=[[1.0, 2], [2, 4]]), In((2, 1))),),
    square=((In((2, 3)), In((2, 1))),),
    rows=((In((2, 2)), In((3, 1))),),
    batch=((In((2, 2, 2)), In((3, 2, 1))),),
    dtypes=((In((2, 2)), In((2, 1), "float64")),),
    integers=((In((2, 2), "int32", ("int", 1, 9)),) * 2,),
    no_axes=((In(()), In(())),),
)
