"""set_inplace: what edits in place do while MXNet's calls are recorded."""

from __future__ import annotations

import ctypes

from mxlite._lib import LIB, ask
from mxlite._public.near import did_you_mean

_RULES = ("strict", "rebase")


class set_inplace:  # noqa: N801 - used as a function: set_inplace("rebase"), or as a with-block
    """Says what edits in place (`y += 1`, `y[2:] = v`, `out=`) of recorded arrays do on this thread, at once.

    "strict", as at the start, is MXNet's rule: most are refused while recording. "rebase" is PyTorch's: an array that
    was computed may be edited, its gradient is that of its new value, and views of it follow; a variable may not.
    As a with-block: until its end.

    Raises: ValueError: another rule.
    """

    def __init__(self, rule: str) -> None:
        if rule not in _RULES:
            raise ValueError(
                f"set_inplace: there is no rule {rule!r}; there are 'strict' and 'rebase'{did_you_mean(rule, _RULES)}"
            )
        self.before = _RULES[ask(ctypes.c_int, LIB.MXLSetInplace, _RULES.index(rule))]

    def __enter__(self) -> set_inplace:
        return self

    def __exit__(self, *_: object) -> None:
        ask(ctypes.c_int, LIB.MXLSetInplace, _RULES.index(self.before))
