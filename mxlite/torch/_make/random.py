"""Random tensors: rand, randn, randint, normal, bernoulli, ..., from the library's generator."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from mxlite._lib import LIB
from mxlite.torch._basic import holds, laid_as, placed
from mxlite.torch._calls import both, check_call, function, method, prepare, run, whole
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import dtype, finfo, float32, int64
from mxlite.torch._edits import copy_
from mxlite.torch._errors import none_of, warn
from mxlite.torch._make.creation import finish, of_none, of_shape, options, shape_of, whole_range
from mxlite.torch._nodes import unrecorded
from mxlite.torch._tensor import Tensor, from_values, full_of, require_fits, zeros_of

_seed = 0


@function()
def manual_seed(seed: int) -> Any:
    """Starts the generator anew. The numbers are the library's own, not PyTorch's."""
    global _seed
    _seed = int(seed)
    check_call(LIB.MXRandomSeed(ctypes.c_int(_seed & 0xFFFFFFFF).value))
    return None


@function()
def initial_seed() -> int:
    """What manual_seed was given last."""
    return _seed


@cache
def _drawing(operator: str, bounds: tuple[str, str], kind: dtype) -> int:
    return prepare(None, operator, *bounds, "shape", dtype=kind.name)


def _draw(operator: str, bounds: tuple, shape: tuple[int, ...], kind: dtype, first: Any, second: Any) -> Tensor:
    if 0 in shape:
        return zeros_of(shape, kind)
    return run(_drawing(operator, bounds, kind), [], first, second, shape, kind=kind)


def uniform_of(shape: tuple[int, ...], kind: dtype, low: float = 0.0, high: float = 1.0) -> Tensor:
    """Numbers from low to high."""
    return _draw("_random_uniform", ("low", "high"), shape, kind, float(low), float(high))


def normal_of(shape: tuple[int, ...], kind: dtype, loc: float = 0.0, scale: float = 1.0) -> Tensor:
    """Normally distributed numbers."""
    if scale < 0:
        raise RuntimeError(f"normal: std is 0 or more, got {scale}")
    if scale == 0:
        return full_of(shape, float(loc), kind)
    return _draw("_random_normal", ("loc", "scale"), shape, kind, float(loc), float(scale))


def integers_of(shape: tuple[int, ...], kind: dtype, low: int, high: int) -> Tensor:
    """Integers from low to before high."""
    return cast(_draw("_random_randint", ("low", "high"), shape, int64, int(low), int(high)), kind)


_rand = of_shape("rand", uniform_of, "Numbers from 0 to before 1", "_random_uniform", low=0.0, high=1.0)
_randn = of_shape(
    "randn", normal_of, "Normally distributed numbers, of mean 0 and variance 1", "_random_normal", loc=0.0, scale=1.0
)


@function()
def randint(*args: Any, **given: Any) -> Tensor:
    """Integers: randint(high, size), randint(low, high, size)."""
    low, high = given.pop("low", 0), given.pop("high", None)
    args = list(args)
    size = given.pop("size", None)
    if size is None and args:
        size = args.pop()
    if args:
        high = args.pop()
    if args:
        low = args.pop()
    if high is None or size is None or args:
        raise TypeError("randint: takes (high, size) or (low, high, size)")
    if low >= high:
        raise RuntimeError(f"randint: low is below high, not {low} and {high}")
    kind, requires_grad = options("randint", given, int64)
    return finish(integers_of(shape_of("randint", (size,), {}), kind, low, high), requires_grad)


_shuffle = prepare(None, "_shuffle")


#: What `hot.direct` is told of functions that draw, without a generator of the caller's.
USUAL = {"rand": _rand, "randn": _randn, "randperm": {**of_none(_shuffle, int64, n=whole), "first": whole_range}}


@function()
def randperm(n: int, **given: Any) -> Tensor:
    """The integers from 0 to before n in a random order."""
    kind, requires_grad = options("randperm", given, int64)
    if kind.name == "bool":
        raise none_of("randperm", kind)
    if n < 0:
        raise RuntimeError(f"randperm: n is 0 or more, got {n}")
    made = run(_shuffle, [run(whole_range, [], float(n), kind=int64)], kind=int64) if n else zeros_of((0,), int64)
    return finish(cast(made, kind), requires_grad)


@function()
def randint_like(input: Tensor, *bounds: int, **given: Any) -> Tensor:
    """As randint, with the shape and, unless `dtype` says otherwise, the dtype of `input`."""
    bounds = [*bounds, *(given.pop(each) for each in ("low", "high") if each in given)]
    kind, requires_grad = options("randint_like", given, input._dtype)
    low, high = bounds if len(bounds) == 2 else (0, bounds[0])
    return finish(laid_as(placed(integers_of, input.device), input, kind, low, high), requires_grad)


@function()
def normal(mean: Any, std: Any = 1.0, size: Any = None, **given: Any) -> Tensor:
    """Normally distributed numbers: of a mean and a deviation each (tensors), or of a shape."""
    kind, requires_grad = options("normal", given)
    if size is not None:
        return finish(normal_of(shape_of("normal", (size,), {}), kind, mean, std), requires_grad)
    like = mean if isinstance(mean, Tensor) else std
    if not (holds(std >= 0) if isinstance(std, Tensor) else std >= 0):
        raise RuntimeError("normal: std is 0 or more")
    with unrecorded():
        return normal_of(tuple(like.shape), like._dtype) * std + mean


@both()
def bernoulli(input: Tensor) -> Tensor:
    """1 with the probability that an element says, else 0."""
    if not input._dtype.is_floating_point:
        raise NotImplementedError(f"bernoulli: probabilities are of floating dtypes, got {input._dtype}")
    if not holds((input >= 0) & (input <= 1)):
        raise RuntimeError("bernoulli: probabilities are from 0 to 1")
    return cast(uniform_of(tuple(input.shape), float32) < cast(input.detach(), float32), input._dtype)


@both()
def multinomial(input: Tensor, num_samples: int, replacement: bool = False) -> Tensor:
    """Indices drawn with probabilities in proportion to the elements of each row."""
    if not input._dtype.is_floating_point:
        raise RuntimeError(f"multinomial: weights are of floating dtypes, got {input._dtype}")
    if num_samples < 1:
        raise RuntimeError(f"multinomial: num_samples must be 1 or more, got {num_samples}")
    weights = input._values().astype(np.float64)
    rows = weights.reshape(-1, weights.shape[-1])
    if (rows < 0).any() or not (rows.sum(1) > 0).all():
        raise RuntimeError("multinomial: weights are not negative, and in each row one or more is above 0")
    count = num_samples
    if replacement:
        sums = np.cumsum(rows / rows.sum(1, keepdims=True), 1)
        drawn = uniform_of((len(rows), count), float32)._values().astype(np.float64)
        found = np.stack([np.searchsorted(s, d, side="right") for s, d in zip(sums, drawn)])
        found = np.minimum(found, rows.shape[1] - 1)
    else:
        if count > rows.shape[1]:
            raise RuntimeError(f"multinomial: {count} samples without replacement, of {rows.shape[1]} categories")
        # The largest of log(u) / weight are a sample without replacement.
        drawn = np.maximum(uniform_of(rows.shape, float32)._values().astype(np.float64), 1e-300)
        with np.errstate(divide="ignore"):
            keys = np.where(rows > 0, np.log(drawn) / np.maximum(rows, 1e-300), -np.inf)
        found = np.argsort(-keys, 1, kind="stable")[:, :count]
    return from_values(found.astype(np.int64).reshape(weights.shape[:-1] + (count,)))


@method()
def uniform_(self: Tensor, *bounds: float, generator: Any = None, **given: float) -> Tensor:
    """Random numbers from one to another (`from`, 0; `to`, 1) in every element; returns the tensor."""
    low, high = (*bounds, 1.0)[:2] if bounds else (given.get("from", 0.0), given.get("to", 1.0))
    return copy_(self, uniform_of(tuple(self.shape), self._dtype, low, high))


@method()
def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    """Normally distributed numbers in every element; returns the tensor."""
    return copy_(self, normal_of(tuple(self.shape), self._dtype, mean, std))


@method()
def bernoulli_(self: Tensor, p: Any = 0.5) -> Tensor:
    """1 with probability p, else 0, in every element; returns the tensor."""
    return copy_(self, cast(uniform_of(tuple(self.shape), float32) < p, self._dtype))


@method()
def random_(self: Tensor, *bounds: int) -> Tensor:
    """Random integers in every element: below a bound, or from one to before another; returns the tensor."""
    low, high = bounds if len(bounds) == 2 else (0, bounds[0] if bounds else 1 << 24)
    for bound in (low, high - 1) if bounds else ():
        require_fits(bound, self._dtype)
        if self._dtype.is_floating_point and abs(bound) > 2 / finfo(self._dtype).eps:
            warn(f"random_: not all integers to {bound} are numbers of {self._dtype}")
    return copy_(self, integers_of(tuple(self.shape), self._dtype, low, high))
