"""Finding where NaN comes from: detect_anomaly and set_detect_anomaly, which hold for the thread that calls them."""

from __future__ import annotations

import linecache
import re
import warnings

from mxlite._public import show as _show
from mxlite.autograd import anomaly
from mxlite.autograd.graph import Node
from mxlite.torch._gradient import FRONT_END

__all__ = ["detect_anomaly", "set_detect_anomaly"]

_FOUND = re.compile(r"its backward returned NaN for input (\d+)")


class _Mode(anomaly.Anomaly):
    """PyTorch's way: results may be NaN, gradients may not; a warning shows where the node was recorded."""

    def __init__(self, check_nan: bool) -> None:
        super().__init__(FRONT_END, int(check_nan), results=False)

    def explained(self, problem: Exception, node: Node, frames: list[tuple[str, int, str]] | None) -> Exception:
        lines = [f"{node.name()}: its backward failed;"]
        if frames is None:
            lines[0] += " it is not known where it was recorded:"
            lines[0] += " detect_anomaly was off then"
        else:
            lines[0] += " it was recorded at:"
            for path, line, name in reversed(frames):
                lines += [f'  File "{path}", line {line}, in {name}', f"    {linecache.getline(path, line).strip()}"]
        warnings.warn("\n".join(lines), stacklevel=2)
        found = _FOUND.search(str(problem))
        if found is None:
            return problem
        return RuntimeError(f"{node.name()}: its backward made NaN in output {found.group(1)}")


def is_anomaly_enabled() -> bool:
    """Whether nodes of this thread keep where they were recorded."""
    return isinstance(anomaly.current(), _Mode)


def is_anomaly_check_nan_enabled() -> bool:
    """Whether a NaN in a backward of this thread is an error then."""
    mode = anomaly.current()
    return mode.check > 0 if isinstance(mode, _Mode) else True


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switches it for this thread."""
    anomaly.switch(_Mode(check_nan) if mode else None)


class detect_anomaly(_Mode):  # noqa: N801 - PyTorch's name
    """A with-block in which each node keeps where in the user's code it was recorded.

    A backward that fails warns with that place. Where a gradient is NaN it fails (`check_nan`).
    """

    def __init__(self, check_nan: bool = True) -> None:
        warnings.warn(
            "detect_anomaly: slows down all that is recorded; it is for debugging",
            stacklevel=2,
        )
        super().__init__(check_nan)


class set_detect_anomaly:  # noqa: N801 - used as a function, or as a with-block
    """Switches the detection of anomalies on or off, at once; as a with-block: until its end.

    Args:
        mode: Whether nodes keep where they were recorded.
        check_nan: Whether a gradient that is NaN is an error then.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = anomaly.switch(_Mode(check_nan) if mode else None)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        anomaly.switch(self.before)


_show(globals())
