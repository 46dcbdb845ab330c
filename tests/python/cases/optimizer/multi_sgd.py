"""Gradient descent for several weights in one call, with learning rates and decays as parameters or in arrays."""

from __future__ import annotations

from dataclasses import replace

from .._case import Case, In
from ._several import SHAPES, Step, error_rows, several_rows
from ._steps import mixed
from .adam import adam
from .sgd import momentum, sgd

CASES: list = []
INTERNAL: list = []
_LISTS = {"lrs": "lr", "wds": "wd"}
_NUMBERS = {"lrs": (0.1, 0.25, 0.0), "wds": (0.0, 0.5, 0.25)}
_MORE = {
    "rescale": {"rescale_grad": 0.25},
    "clip": {"clip_gradient": 0.5},
    "clip-zero": {"clip_gradient": 0.0},
    "clip-negative": {"clip_gradient": -2.0},
    "clip-and-rescale": {"clip_gradient": 0.5, "rescale_grad": -3.0},
}
_MOMENTUM = {"momentum": {"momentum": 0.9}, "momentum-and-clip": {"momentum": 0.9, "clip_gradient": 0.5}}

_STEPS = (
    (Step("multi_sgd_update", sgd, 0, False, _LISTS, _NUMBERS, "num_weights"), _MORE),
    (Step("multi_sgd_mom_update", momentum, 1, False, _LISTS, _NUMBERS, "num_weights"), {**_MORE, **_MOMENTUM}),
    (Step("multi_mp_sgd_update", mixed(sgd), 0, True, _LISTS, _NUMBERS, "num_weights"), _MORE),
    (Step("multi_mp_sgd_mom_update", mixed(momentum), 1, True, _LISTS, _NUMBERS, "num_weights"),
     {**_MORE, **_MOMENTUM}),
)  # fmt: skip


def _loaded(case: Case, op: str = "") -> Case:
    """The same row of preloaded_*, or of an operator without lists: these are arrays behind the others."""
    params = dict(case.params)
    lists = tuple(In(dtype="float32", values=params.pop(name)) for name in _LISTS)
    forward = case.forward

    def unloaded(*arrays, **given):
        return forward(*arrays[:-2], lrs=tuple(map(float, arrays[-2])), wds=tuple(map(float, arrays[-1])), **given)

    return replace(case, op=op or f"preloaded_{case.op}", inputs=(*case.inputs, *lists), params=params,
                   forward=None if case.error else unloaded)  # fmt: skip


for _step, _variants in _STEPS:
    _rows, _errors = several_rows(_step, _variants), error_rows(_step)
    CASES += [*_rows, *_errors]
    CASES += [_loaded(case) for case in _rows]
    CASES += [_loaded(case) for case in _errors if not case.label.startswith(("no-", "lrs", "wds"))]
    CASES += [
        Case(_step.op, "numbers-alone", _step.inputs(SHAPES[:1]), {"lrs": 0.25, "wds": 0.5},
             lambda *arrays, lrs, wds, step=_step: step.one(*arrays, lr=lrs, wd=wds), mutates=_step.mutates(1),
             out=_step.out(SHAPES[:1])),
    ]  # fmt: skip
    _op, _given, _three = f"preloaded_{_step.op}", _step.inputs(), In((3,), "float32", "positive")
    for _label, _behind in {
        "lrs-too-short": (In((2,)), _three),
        "wds-too-short": (_three, In((2,))),
        "lrs-too-long": (In((4,)), _three),
        "wds-too-long": (_three, In((4,))),
        "lrs-float64": (In((3,), "float64"), _three),
        "wds-float16": (_three, In((3,), "float16")),
    }.items():
        CASES.append(Case(_op, _label, (*_given, *_behind), {"num_weights": 3}, out=_step.out(), error=True))

# ---- NaN and infinities ----

_ZERO = "differs: an infinite weight whose decay is 0 is NaN there, and in sgd_update it is not"
_NAN, _INF = float("nan"), float("inf")
for _step, _ in _STEPS:
    _dtype = "float16" if _step.mp else "float32"
    _weight = In(dtype=_dtype, values=[0.0, _INF, 1.0, -_INF, _NAN])
    _grad = In(dtype=_dtype, values=[_NAN, 1.0, _INF, -_INF, 0.0])
    _rest = tuple(In(dtype="float32", values=[1.0, _NAN, -_INF, 2.0, 0.0][:5]) for _ in range(_step.stride - 2))
    _case = Case(_step.op, "special-numbers", (_weight, _grad, *_rest) * 2, _step.params(2, clip_gradient=0.5),
                 _step.forward, out=_step.out(((5,), (5,))), mutates=_step.mutates(2),
                 oracle="" if _step.state else _ZERO)  # fmt: skip
    CASES += [_case, _loaded(_case)]

# ---- Adam, which 1.9.1 has for one weight only ----

_STEP = Step("_mxl_multi_adam_update", adam, 2, False, _LISTS, _NUMBERS, "num_weights")
_BETAS = {"betas": {"beta1": 0.5, "beta2": 0.75, "epsilon": 0.125}}
INTERNAL += [_loaded(case, case.op) for case in several_rows(_STEP, {**_MORE, **_BETAS})]
INTERNAL += [_loaded(case, case.op) for case in error_rows(_STEP) if not case.label.startswith(("no-", "lrs", "wds"))]
