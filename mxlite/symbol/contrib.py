"""`mx.sym.contrib`: a function for every operator `_contrib_*`, named without that beginning, and a few of Python."""

from __future__ import annotations

import math

from mxlite.symbol import random
from mxlite.symbol._control import cond, foreach, while_loop  # noqa: F401
from mxlite.symbol._generate import show_functions as _show_functions
from mxlite.symbol.symbol import Symbol


def rand_zipfian(true_classes: Symbol, num_sampled: int, range_max: int) -> tuple[Symbol, Symbol, Symbol]:
    """Classes that are rarer the larger their numbers are, with repetitions; as `mx.nd.contrib.rand_zipfian`."""
    log_range = math.log(range_max + 1)
    exponents = random.uniform(0, log_range, shape=(num_sampled,), dtype="float64")
    drawn = (exponents.exp() - 1).astype("int64") % range_max

    def expected(classes: Symbol) -> Symbol:
        share = ((classes.astype("float64") + 2.0) / (classes.astype("float64") + 1.0)).log() / log_range
        return share * num_sampled

    return drawn, expected(true_classes), expected(drawn)


_show_functions(globals())
