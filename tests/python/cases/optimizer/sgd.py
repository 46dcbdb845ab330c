"""Steps of gradient descent: the answer is the new weight; momentum and float32 copies are updated in place."""

from __future__ import annotations

from .._case import Case, In
from ._steps import NEAR, SCALED, clipped, mixed, rows, sign, step

CASES: list = []


@step
def sgd(w, g, lr, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0, lazy_update=True):
    """(1 - lr wd) w - lr clip(rescale g)"""
    return ((1 - lr * wd) * w - lr * clipped(rescale_grad * g, clip_gradient),)


@step
def momentum(w, g, mom, lr, momentum=0.0, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0, lazy_update=True):
    """mom = momentum mom - lr (clip(rescale g) + wd w); w + mom"""
    mom = momentum * mom - lr * (clipped(rescale_grad * g, clip_gradient) + wd * w)
    return w + mom, mom


@step
def nag(w, g, mom, lr, momentum=0.0, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0):
    """The same, and once more with the new momentum."""
    g = clipped(rescale_grad * g, clip_gradient) + wd * w
    mom = momentum * mom - lr * g
    return w + momentum * mom - lr * g, mom


@step
def nag_in_place(w, g, mom, lr, momentum=0.0, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0):
    """The same; the momentum has the decay of the new weight."""
    g = clipped(rescale_grad * g, clip_gradient)
    new = w + momentum * (momentum * mom - lr * (g + wd * w)) - lr * (g + wd * w)
    return new, momentum * mom - lr * (g + wd * new)


@step
def signsgd(w, g, lr, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0):
    """(1 - lr wd) w - lr sign(g)"""
    return ((1 - lr * wd) * w - lr * sign(g),)


@step
def signum(w, g, mom, lr, momentum=0.0, wd=0.0, rescale_grad=1.0, clip_gradient=-1.0, wd_lh=0.0):
    """mom = momentum mom - (1 - momentum) (wd w + clip(rescale g)); (1 - lr wd_lh) w + lr sign(mom)"""
    mom = momentum * mom - (1 - momentum) * wd * w - (1 - momentum) * clipped(rescale_grad * g, clip_gradient)
    return (1 - lr * wd_lh) * w + lr * sign(mom), mom


_LR = {"lr": 0.1}
_LAZY = {"not-lazy": {"lazy_update": False}}
_MOMENTUM = {
    "momentum": {"momentum": 0.9},
    "momentum-and-all": {"momentum": 0.9, "wd": 0.5, "rescale_grad": 3.0, "clip_gradient": 1.0},
}
_ALL = {**SCALED, "lr-zero": {"lr": 0.0}}
_PULLED = {"decay-of-the-weight": {"wd_lh": 0.25}, "both-decays": {"wd_lh": 0.25, "wd": 0.5, "momentum": 0.5}}

CASES += rows("sgd_update", sgd, 0, _LR, {**_ALL, **_LAZY})
CASES += rows("sgd_mom_update", momentum, 1, _LR, {**_ALL, **_LAZY, **_MOMENTUM})
CASES += rows("nag_mom_update", nag, 1, _LR, {**_ALL, **_MOMENTUM})
CASES += rows("mp_sgd_update", mixed(sgd), 0, _LR, {**_ALL, **_LAZY}, mp=True)
CASES += rows("mp_sgd_mom_update", mixed(momentum), 1, _LR, {**_ALL, **_LAZY, **_MOMENTUM}, mp=True)
CASES += rows("mp_nag_mom_update", mixed(nag_in_place), 1, _LR, {**_ALL, **_MOMENTUM}, mp=True)
CASES += rows("signsgd_update", signsgd, 0, _LR, _ALL)
CASES += rows("signum_update", signum, 1, _LR, {**_ALL, **_MOMENTUM, **_PULLED})

# ---- float32 copies of weights that are not float16 ----

for _dtype in ("float32", "float64"):
    for _op, _one, _state in (("sgd", sgd, 0), ("sgd_mom", momentum, 1), ("nag_mom", nag_in_place, 1)):
        _inputs = (In((5,), _dtype), In((5,), _dtype), *(In((5,)) for _ in range(_state + 1)))
        _params = {"lr": 0.1, "wd": 0.5, **({"momentum": 0.9} if _state else {})}
        _mutates = tuple(range(2, 3 + _state))
        CASES.append(
            Case(
                f"mp_{_op}_update",
                _dtype,
                _inputs,
                _params,
                mixed(_one),
                tolerance=NEAR,
                mutates=_mutates,
            )
        )

_three = (In((3,)), In((3,)), In((3,)))
CASES += [
    Case("sgd_mom_update", "lr-too-large", _three, {"lr": "1e39"}, error=True),
    Case("sgd_mom_update", "malformed-lazy", _three, {"lr": 0.1, "lazy_update": "x"}, error=True),
    Case("sgd_update", "malformed-lazy", _three[:2], {"lr": 0.1, "lazy_update": "x"}, error=True),
]
