"""Rows of steps of several weights in one call: each weight has its own arrays and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from .._case import Case, In
from ._steps import NEAR, arrays

#: Of each weight, so that the shapes differ, and an array is longer than a chunk of anything.
SHAPES = ((3, 4), (5,), (1, 2, 1))


@dataclass(frozen=True)
class Step:
    """An operator of several weights, and the definition of one.

    lists: names of parameters with a number for each weight, and their names of one weight. numbers: for three weights.
    count: the parameter that says how many there are.
    """

    op: str
    one: Callable[..., tuple]
    state: int
    mp: bool
    lists: Mapping[str, str]
    numbers: Mapping[str, tuple]
    count: str

    @property
    def stride(self) -> int:
        """How many arrays each weight has."""
        return 2 + self.state + self.mp

    def inputs(self, shapes: Sequence[tuple] = SHAPES, dtype: str = "") -> tuple:
        """The arrays of all weights."""
        dtype = dtype or ("float16" if self.mp else "float32")
        return tuple(each for shape in shapes for each in arrays(shape, dtype, self.state, self.mp))

    def params(self, number: int = 3, **more: Any) -> dict:
        """The parameters of so many weights."""
        return {**{name: values[:number] for name, values in self.numbers.items()}, self.count: number, **more}

    def out(self, shapes: Sequence[tuple] = SHAPES, dtype: str = "") -> tuple:
        """The outputs, which 1.9.1 wants given."""
        return tuple((shape, dtype or ("float16" if self.mp else "float32")) for shape in shapes)

    def mutates(self, number: int = 3) -> tuple:
        """The positions of what is updated."""
        return tuple(i for i in range(number * self.stride) if i % self.stride >= 2)

    def forward(self, *given: np.ndarray, **params: Any) -> tuple:
        """All new weights, then all that is updated, in the order of the inputs."""
        number = params.pop(self.count)
        lists = {name: params.pop(name) for name in self.lists}
        weights, states = [], []
        for i in range(number):
            numbers = {self.lists[name]: values[i] for name, values in lists.items()}
            new, *state = self.one(*given[i * self.stride : (i + 1) * self.stride], **numbers, **params)
            weights.append(new)
            states += state
        return (*weights, *states)


def several_rows(
    step: Step,
    variants: Mapping[str, Mapping[str, Any]],
    after: Sequence[In] = (),
    with_after: Callable[[Callable], Callable] = lambda forward: forward,
    otherwise: Mapping[str, str] = {},  # noqa: B006
    tolerance: Mapping[str, tuple] = NEAR,
) -> list[Case]:
    """Values.

    after: inputs behind those of the weights, which with_after takes. otherwise: dtypes in which 1.9.1 differs.
    """
    forward = with_after(step.forward)

    def row(label: str, shapes: Sequence[tuple], dtype: str = "", **more: Any) -> Case:
        params = step.params(len(shapes), **more.pop("params", {}))
        behind = after if step.mp or not dtype else tuple(each.like(dtype) for each in after)
        common = {"out": step.out(shapes, dtype), "mutates": step.mutates(len(shapes)), "tolerance": tolerance}
        if dtype in otherwise and not step.mp:
            common["oracle"] = otherwise[dtype]
        return Case(step.op, label, (*step.inputs(shapes, dtype), *behind), params, forward, **{**common, **more})

    found = [row("plain", SHAPES), row("one", SHAPES[:1]), row("two", SHAPES[1:])]
    found += [row(label, SHAPES, params=params) for label, params in variants.items()]
    found += [
        row("new-outputs", SHAPES, out=None, oracle="differs: 1.9.1 wants outputs given"),
        row("long", ((1037,), (3, 700), (16411,))),
        row("some-empty", ((0,), (3,), (2, 0)), np_shape=True),
        row("all-empty", ((0,), (0,)), np_shape=True),
        row("0-axes", ((), (3,), ()), np_shape=True),
    ]
    dtypes = ("float32", "float64") if step.mp else ("float64", "float16")
    copies = {"oracle": "differs: 1.9.1 leaves the copy out where the weights are float32"}
    found += [row(dtype, SHAPES, dtype, **(copies if dtype == "float32" else {})) for dtype in dtypes]
    return found


def error_rows(step: Step, after: Sequence[In] = ()) -> list[Case]:
    """Calls that fail: nothing is changed by them."""
    given, params = (*step.inputs(), *after), step.params()

    def bad(label: str, inputs: tuple, **more: Any) -> Case:
        changed = {name: value for name, value in {**params, **more}.items() if value is not None}
        return Case(step.op, label, inputs, changed, out=step.out(), error=True)

    found = [bad(f"no-{name}", given, **{name: None}) for name in step.lists]
    for name, values in step.numbers.items():
        found += [
            bad(f"{name}-too-short", given, **{name: values[:2]}),
            bad(f"{name}-too-long", given, **{name: (*values, 1)}),
        ]
        found.append(bad(f"{name}-malformed", given, **{name: "(0.1, x)"}))
    found += [
        bad("count-missing", given, **{step.count: None}),
        bad("count-too-small", given, **{step.count: 2}),
        bad("count-too-large", given, **{step.count: 4}),
        bad("count-zero", given, **{step.count: 0}),
        bad("count-negative", given, **{step.count: -1}),
        bad("count-huge", given, **{step.count: 2**31 - 1}),
        bad("input-missing", given[:-1]),
        bad("input-too-many", (*given, given[0])),
        bad("unknown-parameter", given, foo=1),
    ]
    stride = step.stride
    for i, label in ((0, "first"), (stride, "second")):
        gradient = In((7,), given[i].dtype)
        found.append(bad(f"{label}-gradient-of-another-shape", (*given[: i + 1], gradient, *given[i + 2 :])))
        found.append(
            bad(f"{label}-gradient-of-another-dtype", (*given[: i + 1], given[i + 1].like("float64"), *given[i + 2 :]))
        )
    for k in range(2, stride):
        at = stride + k
        other = "float16" if step.mp else "float64"
        found.append(bad(f"state{k}-of-another-shape", (*given[:at], In((7,), given[at].dtype), *given[at + 1 :])))
        found.append(bad(f"state{k}-of-another-dtype", (*given[:at], given[at].like(other), *given[at + 1 :])))
    whole = [In(each.shape, "int32", ("int", 0, 9)) for each in given]
    found.append(bad("int32", tuple(whole)))
    doubles = tuple(each.like("float64") for each in given[stride : 2 * stride])
    found.append(bad("weights-of-two-dtypes", (*given[:stride], *doubles, *given[2 * stride :])))
    return found
