"""BatchNorm and its kin, LayerNorm, InstanceNorm, GroupNorm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._case import Case, In

CASES: list = []
#: Sums of float32 in another order; and gradients, which are differences of such sums.
_NEAR = {"float32": (5e-5, 2e-5), "float64": (1e-10, 1e-11), "float16": (1e-2, 2e-2)}
_STATISTICS = "forward: 1.9.1 ignores gradients of the statistics"
_EMPTY = "skip: 1.9.1 ends the process"


def _scaled(x, gamma, beta, shared: tuple, along: tuple, eps: float) -> tuple:
    """The result in float64, the mean and sqrt(variance + eps) over the axes `shared`; gamma gets the shape `along`."""
    y = x.astype("float64")
    mean, deviation = y.mean(shared, keepdims=True), np.sqrt(y.var(shared, keepdims=True) + eps)
    return (y - mean) / deviation * gamma.reshape(along) + beta.reshape(along), mean, deviation


# ---- BatchNorm ----


def _batch(train: bool, floor: bool = False, op: str = "BatchNorm"):
    """NumPy's BatchNorm in training mode or not; with `floor` negative results are 0."""

    def forward(x, gamma, beta, mean, var, eps=0.0010000000474974513, fix_gamma=True, use_global_stats=False,
                output_mean_var=False, axis=1, **others):  # fmt: skip
        axis %= x.ndim
        along = tuple(x.shape[i] if i == axis else 1 for i in range(x.ndim))
        y = x.astype("float64")
        if train and not use_global_stats:
            rest = tuple(i for i in range(x.ndim) if i != axis)
            mean, var = y.mean(rest), y.var(rest)
        mean, var = mean.astype("float64"), var.astype("float64")
        root = np.sqrt(var + eps)
        y = (y - mean.reshape(along)) / root.reshape(along)
        y = y * (1 if fix_gamma else gamma.astype("float64").reshape(along)) + beta.reshape(along)
        y = (np.maximum(y, 0) if floor else y).astype(x.dtype)
        second = var if op == "_contrib_SyncBatchNorm" else 1 / root
        return (y, mean.astype(gamma.dtype), second.astype(gamma.dtype)) if output_mean_var else y

    return forward


def _channels(shape: tuple, axis: int, dtype: str = "float32", ones: bool = False) -> tuple:
    """The five inputs of a BatchNorm."""
    size = (shape[axis],)
    wide = "float32" if dtype == "float16" else dtype
    gamma = In(size, wide, ("int", 1, 1) if ones else "away")
    return In(shape, dtype), gamma, In(size, wide), In(size, wide), In(size, wide, "positive")


#: label -> shape, axis
_SHAPES = {
    "batch": ((5, 3), 1), "series": ((4, 3, 5), 1), "image": ((3, 2, 4, 5), 1), "volume": ((2, 3, 2, 3, 2), 1),
    "axis-0": ((4, 3, 5), 0), "last": ((3, 4, 5), -1), "image-last": ((2, 3, 4, 5), 3), "image-2": ((2, 3, 4, 2), 2),
    "one-channel": ((7, 1, 3, 3), 1), "wide": ((3, 2, 37), 1), "vector": ((6,), 0), "one-example": ((1, 3, 7), 1),
    "one-number-each": ((3, 4, 1, 1), 1), "negative": ((2, 3, 4), -2),
}  # fmt: skip
#: Channels of one number, whose variance is 0.
_SINGLE = ("vector", "one-number-each")
for _label, (_shape, _axis) in _SHAPES.items():
    for _fixed in (False, True):
        for _global in (False, True):
            for _train in (False, True):
                _params = {"fix_gamma": _fixed, "use_global_stats": _global}
                if _axis != 1:
                    _params["axis"] = _axis
                if _label in _SINGLE:
                    _params["eps"] = 0.25
                _words = ["fixed"] * _fixed + ["global"] * _global + ["train" if _train else "predict"]
                CASES.append(
                    Case("BatchNorm", "-".join([_label, *_words]), _channels(_shape, _axis, ones=_fixed), _params,
                         _batch(_train), order=2, diff=(0, 1, 2), train=_train, tolerance=_NEAR)
                )  # fmt: skip
for _dtype in ("float64", "float16"):
    for _label in ("batch", "series", "image", "image-last"):
        _shape, _axis = _SHAPES[_label]
        for _train in (False, True):
            CASES.append(
                Case("BatchNorm", f"{_label}-{_dtype}-{'train' if _train else 'predict'}",
                     _channels(_shape, _axis, _dtype), {"fix_gamma": False, "axis": _axis}, _batch(_train), order=2,
                     diff=(0, 1, 2), train=_train, tolerance={**_NEAR, "float32": (2e-3, 2e-3)})
            )  # fmt: skip
for _op in ("BatchNorm", "_contrib_SyncBatchNorm"):
    for _fixed in (False, True):
        for _global in (False, True):
            for _train in (False, True):
                _params = {"fix_gamma": _fixed, "use_global_stats": _global, "output_mean_var": True}
                _oracle = _STATISTICS
                if _op != "BatchNorm":
                    _params["key"] = "statistics"
                    if _global or not _train:
                        _oracle = "differs: 1.9.1 answers zeros in place of the statistics"
                _words = ["fixed"] * _fixed + ["global"] * _global + ["train" if _train else "predict"]
                CASES.append(
                    Case(_op, "-".join(["statistics", *_words]), _channels((3, 2, 4), 1, ones=_fixed), _params,
                         _batch(_train, op=_op), order=2, diff=(0, 1, 2), train=_train, tolerance=_NEAR, oracle=_oracle)
                )  # fmt: skip

_gamma = In(values=[2.0, -1.5])
_two = (In((3, 2, 4)), _gamma, In((2,)), In((2,)), In((2,), domain="positive"))
for _label, _params in {
    "eps": {"eps": 0.5}, "momentum": {"momentum": 0.25}, "eps-small": {"eps": 1e-8}, "cudnn-off": {"cudnn_off": True},
    "calibrated": {"min_calib_range": -1.0, "max_calib_range": 2.0}, "calibrated-none": {"min_calib_range": None},
}.items():  # fmt: skip
    CASES.append(
        Case("BatchNorm", _label, _two, {"fix_gamma": False, **_params}, _batch(True), order=2, diff=(0, 1, 2),
             train=True, tolerance=_NEAR)
    )  # fmt: skip
CASES += [
    Case("BatchNorm", "large-mean", (In(values=1000 + np.arange(12).reshape(2, 2, 3)), *_two[1:]), {"fix_gamma": False},
         _batch(True), train=True, diff=(0, 1, 2), tolerance=_NEAR),
    Case("BatchNorm", "long", _channels((3, 2, 2501), 1), {"fix_gamma": False}, _batch(True), train=True, diff=(0, 1),
         tolerance={"float32": (2e-4, 2e-4)}),
    Case("BatchNorm", "many-short", _channels((70, 2, 35), 1), {"fix_gamma": False}, _batch(True), train=True,
         diff=(0, 1), tolerance={"float32": (2e-4, 2e-4)}),
    Case("BatchNorm", "no-examples", _channels((0, 3, 2), 1, ones=True), {}, lambda x, *_, **__: x, np_shape=True,
         oracle=_EMPTY),
    Case("BatchNorm", "no-examples-scaled", _channels((0, 3, 2), 1), {"fix_gamma": False}, lambda x, *_, **__: x,
         np_shape=True, order=2, diff=(0, 1, 2), train=True, oracle=_EMPTY),
    Case("BatchNorm", "no-channels", _channels((2, 0, 3), 1, ones=True), {}, lambda x, *_, **__: x, np_shape=True,
         oracle=_EMPTY, train=True),
    Case("BatchNorm", "too-few-factors", (_two[0], In((1,)), *_two[2:]), {}, error=True,
         oracle="differs: 1.9.1 does not compare the number of channels with that of factors"),
    Case("BatchNorm", "too-many-factors", (_two[0], In((3,)), *_two[2:]), {}, error=True,
         oracle="differs: 1.9.1 does not compare the number of channels with that of factors"),
    Case("BatchNorm", "axis-too-large", _two, {"axis": 3}, error=True),
    Case("BatchNorm", "axis-too-small", _two, {"axis": -4}, error=True),
    Case("BatchNorm", "no-axis-1", (In((2,)), *_two[1:]), {}, error=True),
    Case("BatchNorm", "half-factors", (In((3, 2, 4), "float16"), *(one.like("float16") for one in _two[1:])), {},
         error=True),
    Case("BatchNorm", "double-factors", (In((3, 2, 4)), *(one.like("float64") for one in _two[1:])), {}, error=True),
    Case("BatchNorm", "int32", (In((3, 2, 4), "int32", ("int", 0, 9)), *_two[1:]), {}, error=True),
    Case("BatchNorm", "three-inputs", _two[:3], {}, error=True),
    Case("BatchNorm", "malformed-eps", _two, {"eps": "x"}, error=True),
    Case("BatchNorm", "malformed-momentum", _two, {"momentum": "x"}, error=True),
    Case("BatchNorm", "unknown-parameter", _two, {"foo": 1}, error=True),
]  # fmt: skip

# ---- its kin ----

#: operator -> what every call needs
_KIN = {"BatchNorm_v1": {}, "_contrib_SyncBatchNorm": {"key": "k"}, "_contrib_BatchNormWithReLU": {}}
#: operator -> numbers of axes, beside other dtypes than float32, that 1.9.1 refuses
_REFUSED = {"BatchNorm_v1": (3, 5), "_contrib_SyncBatchNorm": (), "_contrib_BatchNormWithReLU": (2, 3, 5)}
_DENSE = "differs: 1.9.1 takes float32 only, and not arrays of any number of axes"
_FORGOTTEN = "forward: outside of training 1.9.1's gradient does not know which results were negative"
for _op, _needs in _KIN.items():
    _with_relu = _op.endswith("ReLU")
    for _label in ("batch", "series", "image", "one-channel", "volume"):
        _shape, _axis = _SHAPES[_label]
        for _fixed, _global, _train in ((0, 0, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 0, 0)):
            _params = {**_needs, "fix_gamma": bool(_fixed), "use_global_stats": bool(_global)}
            _words = ["fixed"] * _fixed + ["global"] * _global + ["train" if _train else "predict"]
            CASES.append(
                Case(_op, "-".join([_label, *_words]), _channels(_shape, 1, ones=bool(_fixed)), _params,
                     _batch(bool(_train), _with_relu, _op), order=2, diff=(0, 1, 2), train=bool(_train),
                     tolerance=_NEAR, oracle=_DENSE if len(_shape) in _REFUSED[_op] else
                     _FORGOTTEN if _with_relu and not _train else "")
            )  # fmt: skip
    for _dtype in ("float64", "float16"):
        CASES.append(
            Case(_op, _dtype, _channels((3, 2, 4, 5), 1, _dtype), {**_needs, "fix_gamma": False},
                 _batch(False, _with_relu, _op), order=2, diff=(0, 1, 2), tolerance=_NEAR,
                 oracle=_DENSE)
        )  # fmt: skip
    CASES += [
        Case(_op, "no-examples", _channels((0, 3, 2, 2), 1, ones=True), _needs, lambda x, *_, **__: x, np_shape=True,
             oracle=_EMPTY),
        Case(_op, "too-few-factors", (_two[0], In((1,)), *_two[2:]), _needs, error=True),
        Case(_op, "three-inputs", _two[:3], _needs, error=True),
        Case(_op, "int32", (In((3, 2, 4), "int32", ("int", 0, 9)), *_two[1:]), _needs, error=True),
        Case(_op, "malformed-eps", _two, {**_needs, "eps": "x"}, error=True),
        Case(_op, "unknown-parameter", _two, {**_needs, "foo": 1}, error=True),
    ]  # fmt: skip
CASES += [
    Case("_contrib_SyncBatchNorm", "no-key", _two, {}, error=True),
    Case("_contrib_SyncBatchNorm", "devices", _two, {"key": "d", "ndev": 1, "fix_gamma": False}, _batch(True), order=2,
         diff=(0, 1, 2), train=True, tolerance=_NEAR),
    Case("_contrib_BatchNormWithReLU", "axis-3", _channels((2, 3, 4, 5), 3), {"axis": 3, "fix_gamma": False},
         _batch(True, True), order=2, diff=(0, 1, 2), train=True, tolerance=_NEAR, oracle=_DENSE),
    Case("_contrib_BatchNormWithReLU", "statistics", _channels((2, 3, 4, 5), 1), tolerance=_NEAR, train=True, order=2,
         params={"output_mean_var": True, "fix_gamma": False}, forward=_batch(True, True), diff=(0, 1, 2),
         oracle=_STATISTICS),
]  # fmt: skip

CASES = [case if case.params.get("use_global_stats") else replace(case, updates=(3, 4)) for case in CASES]

# ---- LayerNorm ----


def _layer(x, gamma, beta, axis=-1, eps=1e-5, output_mean_var=False):
    along = tuple(x.shape[i] if i == axis % x.ndim else 1 for i in range(x.ndim))
    found = [one.astype(x.dtype) for one in _scaled(x, gamma, beta, (axis,), along, eps)]
    return tuple(found) if output_mean_var else found[0]


def _along(shape: tuple, size: int, dtype: str = "float32") -> tuple:
    return In(shape, dtype), In((size,), dtype, "away"), In((size,), dtype)


for _shape in ((6,), (3, 7), (2, 3, 4), (2, 5, 3, 2), (4, 1), (1, 9), (3, 2, 33), (2, 1, 5)):
    for _axis in range(-len(_shape), len(_shape)):
        for _statistics in (False, True):
            if _shape[_axis] == 1 and _statistics:
                continue
            _params = {"axis": _axis, "eps": 1e-5 if _axis < 0 and _shape[_axis] > 3 else 0.25}
            _text = "x".join(map(str, _shape)) + f"-axis{_axis}"
            if _statistics:
                _params["output_mean_var"] = True
            CASES.append(
                Case("LayerNorm", _text + "-statistics" * _statistics, _along(_shape, _shape[_axis]), _params, _layer,
                     order=2 if _shape[_axis] > 1 else 0, diff=(0, 1, 2), tolerance={**_NEAR, "float32": (1e-4, 1e-4)},
                     oracle=_STATISTICS if _statistics else "")
            )  # fmt: skip
for _dtype in ("float64", "float16"):
    for _axis in (0, 1, 2):
        CASES.append(
            Case("LayerNorm", f"{_dtype}-{_axis}", _along((4, 5, 6), 4 + _axis, _dtype), {"axis": _axis}, _layer,
                 order=2, diff=(0, 1, 2), tolerance={**_NEAR, "float16": (2e-2, 6e-2)})
        )  # fmt: skip
_rows = _along((2, 3), 3)
CASES += [
    Case("LayerNorm", "default", _along((5, 8), 8), {}, _layer, order=2, diff=(0, 1, 2), tolerance=_NEAR),
    Case("LayerNorm", "many-rows", _along((150, 41), 41), {}, _layer, diff=(0, 1, 2),
         tolerance={"float32": (1e-4, 2e-4)}),
    Case("LayerNorm", "long-row", _along((2, 4999), 4999), {}, _layer, diff=(0, 1, 2),
         tolerance={"float32": (1e-4, 2e-4)}),
    Case("LayerNorm", "long-row-half", _along((2, 4999), 4999, "float16"), {}, _layer, tolerance=_NEAR),
    Case("LayerNorm", "large-mean", (In(values=[[1000.0, 1001.0, 1003.0]]), *_rows[1:]), {}, _layer, tolerance=_NEAR),
    Case("LayerNorm", "no-rows", _along((0, 3), 3), {}, _layer, np_shape=True),
    Case("LayerNorm", "no-columns", _along((3, 0), 0), {}, lambda x, *_: x, np_shape=True),
    Case("LayerNorm", "scalar", (In(()), In((1,)), In((1,))), {}, error=True, np_shape=True),
    Case("LayerNorm", "axis-too-large", _rows, {"axis": 2}, error=True),
    Case("LayerNorm", "axis-too-small", _rows, {"axis": -3}, error=True),
    Case("LayerNorm", "too-few-factors", (_rows[0], In((2,)), _rows[2]), {}, error=True),
    Case("LayerNorm", "factors-of-two-axes", (_rows[0], In((1, 3)), In((1, 3))), {}, error=True),
    Case("LayerNorm", "mixed-dtypes", (_rows[0], _rows[1].like("float64"), _rows[2]), {}, error=True),
    Case("LayerNorm", "int32", tuple(In(one.shape, "int32", ("int", 0, 9)) for one in _rows), {}, error=True),
    Case("LayerNorm", "malformed-eps", _rows, {"eps": "x"}, error=True),
    Case("LayerNorm", "unknown-parameter", _rows, {"foo": 1}, error=True),
]  # fmt: skip

# ---- InstanceNorm and GroupNorm ----


def _groups(x, gamma, beta, num_groups, eps=1e-5, output_mean_var=False):
    parts = x.reshape((x.shape[0], num_groups, -1))
    y, mean, deviation = _scaled(parts, gamma, beta, (2,), (1, num_groups, 1), eps)
    y = y.reshape(x.shape).astype(x.dtype)
    return (y, mean[..., 0].astype(x.dtype), deviation[..., 0].astype(x.dtype)) if output_mean_var else y


def _instance(x, gamma, beta, eps=0.00100000005):
    return _groups(x, gamma, beta, x.shape[1], eps)


_ONLY = "differs: 1.9.1 takes float32 only"
for _shape in ((2, 3, 4), (2, 3, 4, 5), (1, 2, 3, 2, 2), (3, 1, 5), (2, 3, 40), (2, 4, 1)):
    for _eps in (1e-3, 0.5):
        CASES.append(
            Case("InstanceNorm", "x".join(map(str, _shape)) + f"-{_eps}", _along(_shape, _shape[1]), {"eps": _eps},
                 _instance, order=2 if _shape[-1] > 1 else 0, diff=(0, 1, 2), tolerance=_NEAR)
        )  # fmt: skip
for _shape in ((2, 4, 3), (2, 6, 2, 3), (3, 4, 1), (1, 4, 2, 2, 2), (2, 8, 17)):
    for _count in (1, 2, _shape[1]):
        for _statistics in (False, True):
            if _count == _shape[1] and _shape[-1] == 1:
                continue
            _params = (
                {"num_groups": _count, "eps": 1e-3 if _shape[-1] > 1 else 0.25} if _count > 1 else {"num_groups": 1}
            )
            if _statistics:
                _params["output_mean_var"] = True
            CASES.append(
                Case("GroupNorm", "x".join(map(str, _shape)) + f"-{_count}" + "-statistics" * _statistics,
                     _along(_shape, _count), _params, _groups, order=2, diff=(0, 1, 2),
                     tolerance={**_NEAR, "float32": (1e-4, 1e-4)}, oracle=_STATISTICS if _statistics else "")
            )  # fmt: skip
for _dtype in ("float64", "float16"):
    _tolerance = {**_NEAR, "float16": (2e-2, 6e-2)}
    CASES += [
        Case("InstanceNorm", _dtype, _along((2, 3, 7), 3, _dtype), {}, _instance, order=2, diff=(0, 1, 2),
             tolerance=_tolerance, oracle=_ONLY),
        Case("GroupNorm", _dtype, _along((2, 4, 7), 2, _dtype), {"num_groups": 2}, _groups, order=2, diff=(0, 1, 2),
             tolerance=_tolerance),
    ]  # fmt: skip
_three = _along((2, 4, 3), 4)
_NONE = {"InstanceNorm": _EMPTY, "GroupNorm": ""}
for _op, _params in (("InstanceNorm", {}), ("GroupNorm", {"num_groups": 4})):
    CASES += [
        Case(_op, "default", _along((2, 4, 3), 4 if _op == "InstanceNorm" else 1), {}, order=2, diff=(0, 1, 2),
             forward=_instance if _op == "InstanceNorm" else lambda x, g, b: _groups(x, g, b, 1), tolerance=_NEAR),
        Case(_op, "no-examples", _along((0, 4, 3), 4), _params, lambda x, *_, **__: x, np_shape=True,
             oracle=_NONE[_op]),
        Case(_op, "no-positions", _along((2, 4, 0), 4), _params, lambda x, *_, **__: x, np_shape=True),
        Case(_op, "two-axes", _along((2, 4), 4), _params, error=True),
        Case(_op, "one-axis", _along((4,), 4), _params, error=True),
        Case(_op, "too-few-factors", (_three[0], In((3,)), In((3,))), _params, error=True),
        Case(_op, "mixed-dtypes", (_three[0], _three[1].like("float64"), _three[2]), _params, error=True),
        Case(_op, "int32", tuple(In(one.shape, "int32", ("int", 0, 9)) for one in _three), _params, error=True),
        Case(_op, "malformed-eps", _three, {**_params, "eps": "x"}, error=True),
        Case(_op, "unknown-parameter", _three, {**_params, "foo": 1}, error=True),
    ]  # fmt: skip
CASES += [
    Case("InstanceNorm", "no-channels", _along((2, 0, 3), 0), {}, lambda x, *_: x, np_shape=True, oracle=_EMPTY),
    Case("GroupNorm", "three-groups-of-four", _along((2, 4, 3), 3), {"num_groups": 3}, error=True),
    Case("GroupNorm", "factors-of-channels", _three, {"num_groups": 2}, error=True),
    Case("GroupNorm", "no-groups", _three, {"num_groups": 0}, error=True, oracle="skip: 1.9.1 ends the process"),
    Case("GroupNorm", "negative-groups", _three, {"num_groups": -1}, error=True, oracle="skip: 1.9.1 may crash"),
]  # fmt: skip
