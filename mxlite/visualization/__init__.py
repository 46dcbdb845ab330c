"""`mx.viz`: pictures and tables of symbols, of which mxlite has none yet: both functions say so."""

from __future__ import annotations

from typing import Any, NoReturn

from mxlite._public import show as _show
from mxlite.error import MXNotImplementedError

__all__ = ["plot_network", "print_summary"]

_WHY = "symbolic graphs are not in mxlite yet, use Block.summary; see 'Not supported yet' in docs/compatibility.md"


def print_summary(
    symbol: Any,
    shape: Any = None,
    line_length: int = 120,
    positions: Any = (0.44, 0.64, 0.74, 1.0),
) -> NoReturn:
    """Raises: NotImplementedError: always; `Block.summary` prints the layers of a Gluon block."""
    raise MXNotImplementedError(f"print_summary: {_WHY}")


def plot_network(
    symbol: Any,
    title: str = "plot",
    save_format: str = "pdf",
    shape: Any = None,
    dtype: Any = None,
    node_attrs: Any = None,
    hide_weights: bool = True,
) -> NoReturn:
    """Raises: NotImplementedError: always; `mx.autograd.graph` draws what was recorded."""
    raise MXNotImplementedError(f"plot_network: {_WHY}")


_show(globals())
