"""Arrays of bytes: special numbers, the largest and the smallest bytes, and limits without axes."""

from __future__ import annotations

from .._case import Case, In
from .quantized import (
    _CALIB,
    _CONV,
    _D,
    _FC,
    _LIMITS,
    _Q,
    _R,
    _SUMS,
    _V2,
    _bytes,
    _conv,
    _dense,
    _dequantize,
    _kernel,
    _one,
    _quantize,
    _requantize,
    _v2,
)
from .quantized_pieces import (
    _ACT,
    _ADD,
    _BN,
    _CAL,
    _CAT,
    _EMB,
    _FLAT,
    _IMPERATIVE,
    _MUL,
    _POOL,
    _add,
    _concat,
    _edges,
    _flatten,
    _image,
    _mul,
    _norm,
    _pool,
    _relu,
    _rows,
    _stats,
    _two,
)

CASES: list = []

# ---- special numbers, and arrays without axes ----

_ODD = In(values=[float("nan"), float("inf"), -float("inf"), -0.0, 1e-40, 3e38])
_ENDS, _ENDS_U = In(values=[[-128, -127, -1, 0, 1, 127]], dtype="int8"), In(values=[[0, 1, 128, 255]], dtype="uint8")
_NONE = In(values=2.0)
_int32 = In(values=[[-(2**31), -(2**31) + 1, -1, 0, 2**31 - 1]], dtype="int32")
_flat_stats = tuple(In(values=[v] * 6) for v in (1.0, 0.5, 0.25, 2.0))
CASES += [
    Case(_Q, "special-numbers", (_ODD, *_one(-1, 1)), {"out_type": "int8"}, _quantize),
    Case(_V2, "special-numbers", (_ODD,), _CALIB, _v2),
    Case(_D, "special-ends", (_ENDS, *_one(-1, 2)), {}, _dequantize),
    Case(_R, "special-ends", (_int32, *_one(-5, 5)), _CALIB, _requantize),
    Case(_ACT, "special-ends", (_ENDS, *_one(-1, 2)), {"act_type": "relu"}, _relu),
    Case(_FLAT, "special-ends", (_ENDS, *_one(-1, 2)), {}, _flatten),
    Case(_FC, "special-ends", (_ENDS, _ENDS, *_LIMITS), {"num_hidden": 1, "no_bias": True}, _dense),
    Case(
        _EMB,
        "special-numbers",
        (In(values=[float("inf"), -float("inf")]), _bytes((4, 3)), *_one(-1, 2)),
        _rows,
        None,
        oracle="skip: an index that is no number",
    ),
    Case(_CAT, "special-ends", (_ENDS, _ENDS_U, *_two), {"num_args": 2}, _concat),
    Case(_ADD, "special-ends", (_ENDS, _ENDS, *_one(-1, 2, -1, 2)), {}, _add),
    Case(_MUL, "special-ends", (_ENDS, _ENDS, *_one(-1, 2, -1, 2)), {}, _mul, oracle=_IMPERATIVE),
    Case(_BN, "special-ends", (_ENDS, *_flat_stats, *_one(-1, 2)), _CALIB, _norm),
    Case(
        _POOL,
        "special-ends",
        (In(values=[[[[-128, 127], [0, -1]]]], dtype="int8"), *_one(-1, 2)),
        {"kernel": (2, 2), "pool_type": "avg"},
        _pool,
    ),
    Case(
        _CONV,
        "special-ends",
        (In(values=[[[[255, 0]]]], dtype="uint8"), In(values=[[[[-128, 127]]]], dtype="int8"), *_LIMITS),
        {"kernel": (1, 2), "num_filter": 1, "no_bias": True},
        _conv,
        oracle="differs: the limits of uint8 data's sums are those of int8 data's there",
    ),
    Case(
        _CAL,
        "special-empty",
        (In(values=[0.0] * 101), _edges),
        {"num_quantized_bins": 15},
        None,
        oracle="skip: a histogram without numbers",
    ),
]
_limits = {
    _Q: (In((3,)), _NONE, *_one(1)),
    _D: (_ENDS, _NONE, *_one(1)),
    _R: (_SUMS, _NONE, *_one(1)),
    _ACT: (_ENDS, _NONE, *_one(1)),
    _FLAT: (_ENDS, _NONE, *_one(1)),
    _POOL: (_image[0], _NONE, *_one(1)),
    _FC: (_ENDS, _ENDS, _NONE, *_LIMITS[1:]),
    _CONV: (_bytes((1, 3, 5, 5), "uint8"), _bytes((4, 3, 3, 3)), _NONE, *_LIMITS[1:]),
    _EMB: (In(values=[0]), _bytes((4, 3)), _NONE, *_one(2)),
    _CAT: (_ENDS, _ENDS, _NONE, *_two[1:]),
    _ADD: (_ENDS, _ENDS, _NONE, *_two[1:]),
    _MUL: (_ENDS, _ENDS, _NONE, *_two[1:]),
    _BN: (_bytes((2, 3, 5, 4)), *_stats, _NONE, *_one(2)),
    _CAL: (_NONE, _edges),
    _V2: (_NONE,),
}
_given = {
    _ACT: {"act_type": "relu"},
    _POOL: {"kernel": (2, 2)},
    _FC: {"num_hidden": 1, "no_bias": True},
    _CONV: _kernel,
    _EMB: _rows,
    _CAT: {"num_args": 2},
    _BN: _CALIB,
}
for _op, _inputs in _limits.items():
    CASES.append(
        Case(
            _op,
            "no-axes",
            _inputs,
            _given.get(_op, {}),
            None if _op != _V2 else _v2,
            error=_op != _V2,
            np_shape=True,
            oracle="skip: limits without axes are not checked there",
        )
    )
