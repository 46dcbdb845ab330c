"""Generators of random numbers and their states; samplers of further distributions."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Callable

import numpy as np

from mxlite._lib import LIB
from mxlite.torch._basic import from_values, of_all
from mxlite.torch._calls import check_call, direct, function, functions, method, methods
from mxlite.torch._convert import cast
from mxlite.torch._dtypes import dtype_named
from mxlite.torch._edits import copy_
from mxlite.torch._errors import none_of
from mxlite.torch._kinds import CPU
from mxlite.torch._make import random
from mxlite.torch._nodes import formula
from mxlite.torch._tensor import Tensor


def random_state(new: Any = None) -> Any:
    """The library's generator: its seed, and how many numbers were drawn; `new`: what it becomes."""
    values = (ctypes.c_uint64 * 2)(*(new or (0, 0)))
    check_call((LIB.MXLRandomGetState if new is None else LIB.MXLRandomSetState)(values))
    return tuple(values)


class Generator:
    """A sequence of random numbers of its own: rand(2, generator=g)."""

    device = CPU

    def __init__(self, device: Any = "cpu") -> None:
        self._own: Any = (67280421310721, 0)

    def _swap(self, new: Any = None) -> Any:
        found, self._own = self._own, self._own if new is None else new
        return found

    def manual_seed(self, seed: int) -> Generator:
        """Starts the sequence of a seed; returns the generator."""
        self._swap((int(seed) & (1 << 64) - 1, 0))
        return self

    def seed(self) -> int:
        """Starts the sequence of a seed that the clock gives, and returns it."""
        self.manual_seed(time.time_ns() & (1 << 53) - 1)
        return self.initial_seed()

    def initial_seed(self) -> int:
        """The seed of the sequence."""
        return int(self._swap()[0])

    def get_state(self) -> Tensor:
        """The state as bytes."""
        return from_values(np.array(self._swap(), np.uint64).view(np.uint8))

    def clone_state(self) -> Generator:
        """Another generator, at the same place of the same sequence."""
        return Generator().set_state(self.get_state())

    def set_state(self, new_state: Tensor) -> Generator:
        """Goes on from a state."""
        if not isinstance(new_state, Tensor) or new_state.dtype is not dtype_named("uint8") or new_state.numel() != 16:
            raise TypeError("set_state: takes what get_state gives, 16 bytes")
        self._swap(tuple(np.ascontiguousarray(new_state._values()).view(np.uint64).tolist()))
        return self


class _Default(Generator):
    """The library's own."""

    def _swap(self, new: Any = None) -> Any:
        found = random_state()
        if new is not None:
            random_state(new)
        return found


default_generator = _Default()
functions.update(
    Generator=Generator, get_rng_state=default_generator.get_state, set_rng_state=default_generator.set_state
)


@function()
def seed() -> int:
    """Starts the generator anew, from a seed that the clock gives and that it returns."""
    random.manual_seed(time.time_ns() & (1 << 31) - 1)
    return random.initial_seed()


@contextmanager
def drawing_from(generator: Generator | None) -> Iterator[None]:
    """A block in which random functions draw from a generator; None: from the default one."""
    if generator is None or generator is default_generator:
        yield
        return
    before = default_generator._swap(generator._swap())
    try:
        yield
    finally:
        generator._swap(default_generator._swap(before))


def drawing(made: Callable) -> Callable:
    """A function that draws, from another generator where one is given."""

    @wraps(made)
    def function(*args: Any, **named: Any) -> Any:
        with drawing_from(named.pop("generator", None)):
            return made(*args, **named)

    return function


@contextmanager
def fork_rng(devices: Any = (), enabled: bool = True, *_: Any, **__: Any) -> Iterator[None]:
    """A with-block after which the generator is as before it, if `enabled`."""
    before = default_generator._swap()
    try:
        yield
    finally:
        if enabled:
            default_generator._swap(before)


# ---- distributions ----


def _numbers() -> np.random.Generator:
    """NumPy's, that goes on from the library's."""
    return np.random.default_rng(int(random.uniform_of((), dtype_named("float64")).item() * (1 << 53)))


@function()
def poisson(input: Tensor) -> Tensor:
    """Numbers of Poisson's distribution with the elements as rates."""
    if not bool(of_all(input >= 0).all()):
        raise RuntimeError("poisson: rates are 0 or more")
    draw = lambda x: cast(from_values(np.asarray(_numbers().poisson(x._values()))), x._dtype)  # noqa: E731
    return formula("PoissonBackward0", [input], draw, lambda grad: [grad * 0])


@function()
def binomial(count: Tensor, prob: Tensor) -> Tensor:
    """How many of so many draws succeed with a probability, of each element."""
    found = _numbers().binomial(count._values().astype(np.int64), prob._values())
    return cast(from_values(np.asarray(found)), count._dtype)


def _filling(name: str, draw: Callable, document: str) -> None:
    """Registers a method that draws into the tensor; `draw`: of numbers from 0 to before 1, and its parameters."""

    @method(name, document=f"{document} in every element; returns the tensor.")
    def fill(self: Tensor, *args: Any, **named: Any) -> Tensor:
        if name != "geometric_" and not self._dtype.is_floating_point:
            raise none_of(name, self._dtype) if name[0] == "l" else RuntimeError(f"{name}: the dtype is floating")
        numbers = random.uniform_of(tuple(self.shape), dtype_named("float64"))
        return copy_(self, cast(draw(numbers, *args, **named), self._dtype))


_filling("exponential_", lambda u, lambd=1.0: (1 - u).log() / -lambd, "Exponentially distributed numbers")
_filling(
    "geometric_", lambda u, p: ((1 - u).log() / math.log(1 - p)).ceil().clamp_min(1), "How often to try for success"
)
_filling("cauchy_", lambda u, median=0.0, sigma=1.0: ((u - 0.5) * math.pi).tan() * sigma + median, "Cauchy's numbers")
_filling("log_normal_", lambda u, mean=1.0, std=2.0: ((2 * u - 1).erfinv() * math.sqrt(2) * std + mean).exp(),
         "Numbers whose logarithms are normally distributed")  # fmt: skip

_FUNCTIONS = (
    "rand randn randint randperm normal bernoulli multinomial rand_like randn_like randint_like poisson binomial"
)
_METHODS = "bernoulli multinomial uniform_ normal_ bernoulli_ random_ exponential_ geometric_ cauchy_ log_normal_"
for _table, _names in ((functions, _FUNCTIONS), (methods, _METHODS)):
    _table.update({name: drawing(_table[name]) for name in _names.split()})
functions.update({name: direct(functions[name], calls) for name, calls in random.USUAL.items()})
