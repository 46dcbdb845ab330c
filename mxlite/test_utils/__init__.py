"""Helpers for tests: random arrays, comparisons with tolerances by dtype, gradients by differences, tests of fit.

Names, arguments and tolerances are those of MXNet 1.9.1's `mx.test_utils`, for what works on dense arrays. Where that
takes a symbol, this takes a function of NDArrays. What needs symbols, sparse arrays or the network is not there.
"""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.test_utils._around import *  # noqa: F403
from mxlite.test_utils._arrays import *  # noqa: F403
from mxlite.test_utils._comparison import *  # noqa: F403
from mxlite.test_utils._distributions import *  # noqa: F403
from mxlite.test_utils._gradients import *  # noqa: F403

_show(globals())
