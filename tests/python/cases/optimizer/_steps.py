"""What the rows of optimizers share: definitions in float64, and the rows that every one of them has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import wraps
from inspect import signature
from typing import Any, Callable

import numpy as np

from .._case import Case, In

#: 1.9.1 computes in the arrays' dtype, but with float32 numbers.
NEAR = {"float64": (1e-6, 1e-7), "float32": (1e-5, 1e-6)}
#: The same where it computes 1 - beta2^t in float32, which leaves little of it.
CORRECTED = {"float64": (1e-6, 1e-7), "float32": (3e-5, 1e-5)}

#: Labels and parameters of what most steps share.
SCALED = {
    "plain": {},
    "decay": {"wd": 0.5},
    "rescale": {"rescale_grad": 0.25},
    "rescale-negative": {"rescale_grad": -2.0},
    "clip": {"clip_gradient": 0.5},
    "clip-and-decay": {"wd": 0.5, "rescale_grad": 3.0, "clip_gradient": 1.0},
    "clip-zero": {"clip_gradient": 0.0},
    "clip-negative": {"clip_gradient": -2.0},
}


def single(value: Any) -> Any:
    """A number as the library keeps it, rounded to float32; lists too."""
    if isinstance(value, (list, tuple)):
        return tuple(single(each) for each in value)
    return float(np.float32(value)) if isinstance(value, float) else value


def step(one: Callable[..., tuple]) -> Callable[..., tuple]:
    """A definition in float64: its arrays are widened, its results have the dtypes of its arrays, its numbers and their
    defaults are those of float32.

    It takes weight, gradient and state, and returns the new weight and the new state.
    """

    defaults = {
        name: each.default for name, each in signature(one).parameters.items() if each.default is not each.empty
    }

    @wraps(one)
    def rounded(weight: np.ndarray, grad: np.ndarray, *state: np.ndarray, **params: Any) -> tuple:
        arrays = (array.astype("float64") for array in (weight, grad, *state))
        results = one(*arrays, **{name: single(value) for name, value in {**defaults, **params}.items()})
        return tuple(np.asarray(new).astype(old.dtype) for new, old in zip(results, (weight, *state)))

    return rounded


def mixed(one: Callable[..., tuple]) -> Callable[..., tuple]:
    """The same step of a float32 copy, which is the last array."""

    @wraps(one)
    def copied(weight: np.ndarray, grad: np.ndarray, *state: np.ndarray, **params: Any) -> tuple:
        new, *changed = one(state[-1], grad.astype("float32"), *state[:-1], **params)
        return (new.astype(weight.dtype), *changed, new)

    return copied


def clipped(g: np.ndarray, limit: float) -> np.ndarray:
    """Within the limit; a negative one is none."""
    return np.clip(g, -limit, limit) if limit >= 0 else g


def sign(x: np.ndarray) -> np.ndarray:
    """-1, 0 or 1; 0 for NaN."""
    return (x > 0) * 1.0 - (x < 0) * 1.0


def arrays(shape: tuple, dtype: str, state: int, mp: bool = False) -> tuple:
    """Weight, gradient and state, which is positive; with a copy of the weight, whose numbers are others."""
    inner = "float32" if mp else dtype
    rest = (*(In(shape, inner, "positive") for _ in range(state)), *([In(shape, inner)] if mp else []))
    return (In(shape, dtype), In(shape, dtype), *rest)


def _special(dtype: str, state: int, mp: bool) -> tuple:
    """Infinities, NaN and zeros, at other places in each array; the state is not negative."""
    numbers = np.array([0.0, np.inf, -0.0, 1.5, np.nan, -2.0, -np.inf])
    inner = "float32" if mp else dtype
    rest = [In(dtype=inner, values=np.abs(np.roll(numbers, 2 * i + 3))) for i in range(state)]
    copy = [In(dtype=inner, values=np.roll(numbers, 1))] if mp else []
    return (In(dtype=dtype, values=numbers), In(dtype=dtype, values=np.roll(numbers, 3)), *rest, *copy)


def rows(
    op: str,
    one: Callable[..., tuple],
    state: int,
    base: Mapping[str, Any],
    variants: Mapping[str, Mapping[str, Any]],
    *,
    mp: bool = False,
    after: Sequence[In] = (),
    half: str = "",
    overruns: str = "",
    tolerance: Mapping[str, tuple] = NEAR,
) -> list[Case]:
    """The rows of a step of one weight.

    base: parameters without which the call fails. after: inputs behind those of the weight. half: why 1.9.1 answers
    otherwise in float16. overruns: why it accepts states of another shape.
    """
    last = 2 + state + mp
    mutates = tuple(range(2, last))
    dtypes = ("float16",) if mp else ("float32", "float64")

    def row(label: str, inputs: tuple, params: Mapping[str, Any], **more: Any) -> Case:
        common = {"forward": one, "tolerance": tolerance, "mutates": mutates}
        return Case(op, label, (*inputs, *after), params, **{**common, **more})

    def bad(label: str, inputs: tuple, params: Mapping[str, Any] = base, **more: Any) -> Case:
        return Case(op, label, inputs, params, error=True, **more)

    def take(shape: tuple, dtype: str = dtypes[0]) -> tuple:
        return arrays(shape, dtype, state, mp)

    three = (*take((3,)), *after)
    found = [
        row(f"{dtype}-{label}", take((3, 4), dtype), {**base, **params})
        for label, params in variants.items()
        for dtype in dtypes
    ]
    found += [
        row("1037-elements", take((1037,)), base),
        row("given-output", take((3,)), base, out=(((3,), dtypes[0]),)),
        row("empty", take((0,)), base, np_shape=True),
        row("no-axes", take(()), base, np_shape=True),
        row("one-of-many", take((1, 1, 1)), base),
    ]
    if not mp:
        found.append(row("float16-plain", take((3, 4), "float16"), base, oracle=f"differs: {half}" if half else ""))
    halved = base if after else {**base, "rescale_grad": 0.5}
    found += [row(f"special-numbers-{dtype}", _special(dtype, state, mp), halved) for dtype in dtypes]
    found += [
        bad(f"without-{name}", three, {key: value for key, value in base.items() if key != name}) for name in base
    ]
    found += [
        bad("malformed", three, {**base, next(iter(base)): "x"}),
        bad("parameter-unknown", three, {**base, "foo": 1}),
        bad("an-input-less", three[:-1]),
        bad("one-input-more", (*three, In((3,)))),
        bad("weight-of-another-shape", (In((2,), dtypes[0]), *three[1:])),
        bad("gradient-of-another-dtype", (three[0], three[1].like("float64"), *three[2:])),
        bad("weight-of-another-dtype", (three[0].like("float64"), *three[1:])),
        bad("whole-numbers", tuple(In((3,), "int32", ("int", 0, 9)) for _ in range(last)) + tuple(after)),
    ]
    other = "float16" if mp else "float64"
    for i in range(2, last):
        before, behind = three[:i], three[i + 1 :]
        found.append(bad(f"state{i}-of-another-shape", (*before, In((2,), three[i].dtype), *behind), oracle=overruns))
        found.append(bad(f"state{i}-of-another-dtype", (*before, three[i].like(other), *behind)))
    return found
