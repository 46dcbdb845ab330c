"""Helpers for tests: random arrays, comparisons with tolerances by dtype, gradients by differences, tests of fit.

Names, arguments and tolerances are those of MXNet 1.9.1's `mx.test_utils`, for what works on dense arrays.
`check_numeric_gradient` takes functions of NDArrays too. What needs sparse arrays says so when it is called.
"""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.test_utils._around import *  # noqa: F403
from mxlite.test_utils._arrays import *  # noqa: F403
from mxlite.test_utils._comparison import *  # noqa: F403
from mxlite.test_utils._distributions import *  # noqa: F403
from mxlite.test_utils._files import *  # noqa: F403
from mxlite.test_utils._gradients import *  # noqa: F403
from mxlite.test_utils._missing import missing_helper as _missing_helper
from mxlite.test_utils._symbols import *  # noqa: F403
from mxlite.test_utils._training import *  # noqa: F403

_show(globals(), _missing_helper)
