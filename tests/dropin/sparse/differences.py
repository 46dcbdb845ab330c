"""The differences of random sparse programs that are on purpose; docs/compatibility.md has each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Found:
    """A step that differs."""

    program: int
    step: int
    text: str
    function: str
    stypes: list[str]  # of its inputs
    grads: list[str]  # storage types of their gradients, "" of those that have none
    how: str
    ours: Any
    theirs: Any


def reason(found: Found) -> str:
    """Why a step differs, or nothing."""
    return ""
