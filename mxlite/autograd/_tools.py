"""What mx.autograd offers beside backward, for NDArrays: checkpoint, saved_tensors_hooks, detect_anomaly, checks."""

from __future__ import annotations

from typing import Any, Callable

from mxlite.autograd import _recompute
from mxlite.autograd._checks import Checks
from mxlite.autograd.anomaly import Anomaly
from mxlite.autograd.saved import SavedHooks
from mxlite.ndarray._gradient import FRONT_END
from mxlite.ndarray._kinds import by_inputs, front_end_for

_CHECKS = (None, "nan", "inf")


def checkpoint(fn: Callable, *args: Any, preserve_rng_state: bool = True, **kwargs: Any) -> Any:
    """fn(*args, **kwargs), whose intermediate values backward computes again instead of keeping them.

    Args:
        fn: A function of NDArrays and whatever else; it must do the same each time.
        preserve_rng_state: Whether the second run draws the random numbers of the first.
    """
    return _recompute.checkpoint(front_end_for(args, kwargs), fn, args, kwargs, preserve_rng_state)


class saved_tensors_hooks(SavedHooks):  # noqa: N801 - PyTorch's name
    __doc__ = SavedHooks.__doc__

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        super().__init__(pack_hook, unpack_hook, front_end_for())


class detect_anomaly(Anomaly):  # noqa: N801 - PyTorch's name
    """A with-block of this thread in which each node keeps where in the user's code it was recorded.

    An operator whose result, or a gradient that is made from it in backward, is not finite is an error that names the
    operator and the line.

    Args:
        check: "inf": NaN and infinities; "nan": NaN alone; None: nothing, nodes keep their places only
            (`node.metadata["traceback_"]`).
    """

    def __init__(self, check: str | None = "inf") -> None:
        if check not in _CHECKS:
            raise ValueError(f"detect_anomaly: check is {check!r}; it may be 'inf', 'nan' or None")
        super().__init__(front_end_for(), _CHECKS.index(check))


_checks = Checks(FRONT_END)
gradcheck, gradgradcheck = by_inputs(_checks.gradcheck), by_inputs(_checks.gradgradcheck)
