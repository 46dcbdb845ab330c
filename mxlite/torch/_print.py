"""The text of a tensor, as PyTorch prints it: `tensor([1.0000, 2.5000], grad_fn=<AddBackward0>)`.

One format serves all elements of a tensor; it is chosen from the values that are printed. Rows are broken at the line
width, and of a tensor with more than `threshold` elements the outer `edgeitems` of every axis are shown.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


class Options:
    """How tensors are printed; torch.set_printoptions sets it."""

    precision = 4
    threshold: float = 1000
    edgeitems = 3
    linewidth = 80
    sci_mode: bool | None = None


_PROFILES: dict[str, tuple[int, float, int]] = {
    "default": (4, 1000, 3),
    "short": (2, 1000, 2),
    "full": (4, math.inf, 3),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Sets how tensors are printed; what is not given stays as it is.

    Args:
        precision: Digits behind the point.
        threshold: The number of elements beyond which a tensor is summarised.
        edgeitems: How many are shown at either end of each axis then.
        linewidth: Where lines are broken.
        profile: "default", "short" or "full": sets all of the above.
        sci_mode: Whether numbers are printed with an exponent; None: where they need it.
    """
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"set_printoptions: there is no profile {profile!r}")
        Options.precision, Options.threshold, Options.edgeitems = _PROFILES[profile]
        Options.linewidth = 80
    for name, value in (("precision", precision), ("threshold", threshold), ("edgeitems", edgeitems)):
        if value is not None:
            setattr(Options, name, value)
    if linewidth is not None:
        Options.linewidth = linewidth
    Options.sci_mode = sci_mode


class _Format:
    """The format of all elements of a tensor, chosen from the numbers that are shown: finite ones that are not zero."""

    def __init__(self, values: np.ndarray) -> None:
        self.floating = values.dtype.kind == "f"
        self.whole = self.scientific = False
        self.width = 1
        if not self.floating:
            self.width = max([1, *(len(str(value)) for value in values.reshape(-1).tolist())])
            return
        numbers = values.reshape(-1).astype(np.float64)
        numbers = numbers[np.isfinite(numbers) & (numbers != 0)]
        self.whole = bool((np.ceil(numbers) == numbers).all())
        if not numbers.size:
            return
        largest, smallest = float(np.abs(numbers).max()), float(np.abs(numbers).min())
        self.scientific = largest / smallest > 1000.0 or largest > 1.0e8 or (not self.whole and smallest < 1.0e-4)
        if Options.sci_mode is not None:
            self.scientific = Options.sci_mode
        self.width = max(len(self._number(number)) for number in numbers.tolist())

    def _number(self, value: float) -> str:
        if self.scientific:
            return f"{value:.{Options.precision}e}"
        if self.whole:
            return f"{value:.0f}."
        return f"{value:.{Options.precision}f}"

    def text(self, value: Any) -> str:
        """One element, filled up with blanks."""
        if not self.floating:
            text = str(value)
        elif math.isfinite(value):
            text = self._number(value)
        else:
            text = str(float(value))  # nan, inf, -inf
        return text.rjust(self.width)


def _row(values: np.ndarray, indent: int, summarize: bool, form: _Format) -> str:
    per_line = max(1, (Options.linewidth - indent) // (form.width + 2))
    edge = Options.edgeitems
    if summarize and edge == 0:
        texts = ["..."]
    elif summarize and len(values) > 2 * edge:
        texts = [*map(form.text, values[:edge].tolist()), " ...", *map(form.text, values[-edge:].tolist())]
    else:
        texts = [form.text(value) for value in values.tolist()]
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _body(values: np.ndarray, indent: int, summarize: bool, form: _Format) -> str:
    if values.ndim == 0:
        return form.text(values.item())
    if values.ndim == 1:
        return _row(values, indent, summarize, form)
    edge = Options.edgeitems
    if summarize and len(values) > 2 * edge:
        first = [_body(part, indent + 1, summarize, form) for part in values[:edge]]
        last = [_body(part, indent + 1, summarize, form) for part in values[len(values) - edge :]]
        parts = [*first, "...", *last]
    else:
        parts = [_body(part, indent + 1, summarize, form) for part in values]
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _shown(values: np.ndarray) -> np.ndarray:
    """The elements that are shown of a tensor that is summarised."""
    edge = Options.edgeitems
    for axis, size in enumerate(values.shape):
        if size > 2 * edge:
            places = [*range(edge), *range(size - edge, size)]
            values = values[(slice(None),) * axis + (places,)]  # take() would copy what is not contiguous
    return values


def tensor_text(values: np.ndarray | None, facts: list[str], indent: int = 0) -> str:
    """The text of a tensor.

    Args:
        values: Its elements; None: it has none.
        facts: The text behind the values: `dtype=...`, `requires_grad=True`, `grad_fn=<...>`.
        indent: Of the lines behind the first.
    """
    start = "tensor("
    indent += len(start)
    facts = list(facts)
    if values is None:
        body = "..."
    elif values.size == 0:
        # An empty tensor shows no elements, so neither its shape nor an integer dtype can be seen in them.
        body = "[]"
        if values.ndim != 1:
            facts.insert(0, "size=" + str(tuple(values.shape)))
    else:
        summarize = values.size > Options.threshold
        form = _Format(_shown(values) if summarize else values)
        body = _body(values, indent, summarize, form)
    text = start + body
    length = len(text) - text.rfind("\n") + 1
    for fact in facts:
        if length + len(fact) + 2 > Options.linewidth:
            text += ",\n" + " " * indent + fact
            length = indent + len(fact)
        else:
            text += ", " + fact
            length += len(fact) + 2
    return text + ")"
