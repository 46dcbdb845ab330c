"""How calls of mxlite.torch differ from PyTorch's and stay so, by name, with the reason: check_calls.py reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Difference:
    """What differs of some functions.

    Attributes:
        names: A pattern that the function's whole name matches.
        what: A pattern of what differs: "refused", "values", "gradient 2", ...
        reason: Why it stays.
        detail: A pattern found in the answers.
        text: A pattern found in the call.
    """

    names: str
    what: str
    reason: str
    detail: str = ""
    text: str = ""

    def is_that(self, call: Any, what: str, detail: str) -> bool:
        """Whether a call's difference is this one."""
        return bool(
            re.fullmatch(self.names, call.name)
            and re.fullmatch(self.what, what)
            and re.search(self.detail, detail)
            and re.search(self.text, call.program())
        )


DIFFER = (Difference(".*", "refused", "there is no int16, which uint8 and int8 are promoted to", "has no torch.int16"),)
