"""`mx.random`: seeding, and arrays of random numbers."""

from __future__ import annotations

import operator

from mxlite._lib import LIB, check_call
from mxlite._public import show as _show
from mxlite.context import Context, require_cpu
from mxlite.ndarray.random import (
    exponential,
    gamma,
    generalized_negative_binomial,
    multinomial,
    negative_binomial,
    normal,
    poisson,
    randint,
    randn,
    shuffle,
    uniform,
)

__all__ = [
    "exponential",
    "gamma",
    "generalized_negative_binomial",
    "multinomial",
    "negative_binomial",
    "normal",
    "poisson",
    "randint",
    "randn",
    "seed",
    "shuffle",
    "uniform",
]


def seed(seed_state: int, ctx: Context | str = "all") -> None:
    """Seeds the generator that random operators draw from.

    Args:
        seed_state: any integer; its lowest 32 bits count.
        ctx: "all", or one device.
    Raises: ValueError: not an integer.
    """
    try:
        number = operator.index(seed_state)
    except TypeError:
        raise ValueError("seed: the state is a whole number") from None
    number = (number + (1 << 31)) % (1 << 32) - (1 << 31)
    if ctx == "all":
        check_call(LIB.MXRandomSeed(number))
    else:
        ctx = require_cpu(Context(ctx))
        check_call(LIB.MXRandomSeedContext(number, ctx.device_typeid, ctx.device_id))


_show(globals())
