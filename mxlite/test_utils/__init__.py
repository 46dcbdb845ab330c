"""Helpers for tests: random arrays, comparisons with tolerances by dtype, gradients by differences, tests of fit.

Names, arguments and tolerances are those of MXNet 1.9.1's `mx.test_utils`. `check_numeric_gradient` takes functions of
NDArrays too.
"""

from __future__ import annotations

from mxlite._public import show as _show
from mxlite.test_utils._around import *  # noqa: F403
from mxlite.test_utils._arrays import *  # noqa: F403
from mxlite.test_utils._comparison import *  # noqa: F403
from mxlite.test_utils._distributions import *  # noqa: F403
from mxlite.test_utils._files import *  # noqa: F403
from mxlite.test_utils._gradients import *  # noqa: F403
from mxlite.test_utils._sparse import *  # noqa: F403
from mxlite.test_utils._symbols import *  # noqa: F403
from mxlite.test_utils._training import *  # noqa: F403

_show(globals())
