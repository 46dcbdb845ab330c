"""What was meant by a name that there is not: the nearest of those that there are, for all errors in Python.

`capi/base/text/near.c` does the same for errors of the library.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Callable

#: What PyTorch and NumPy call things, and their names in MXNet: each is near to the other.
#: capi/base/text/near.c has those of operators' parameters.
_WORDS = (
    ("axis", "dims"),
    ("betas", "beta1"),
    ("cat", "concat"),
    ("dim", "axis"),
    ("eps", "epsilon"),
    ("in_features", "in_units"),
    ("keepdim", "keepdims"),
    ("lr", "learning_rate"),
    ("masked_select", "boolean_mask"),
    ("matmul", "dot"),
    ("out_channels", "channels"),
    ("out_features", "units"),
    ("permute", "transpose"),
    ("step_size", "step"),
    ("tensor", "array"),
    ("unsqueeze", "expand_dims"),
    ("weight_decay", "wd"),
)

#: The share of equal letters that makes a name near: where all names that anyone may mean are known, and where a name
#: may well be one that mxlite lacks.
CLOSE, CLOSER = 0.6, 0.76

#: So much less than the nearest's is not near; and what a name that begins in the other case has less.
_BEHIND = 0.12
_OTHER_CASE = 0.05


def near(name: str, names: Iterable[str], share: float = CLOSE, most: int = 3) -> list[str]:
    """The names nearest to one that there is not, the nearest first; [] where none is near.

    Args:
        share: the least share of equal letters (2 * equal / all), without regard to case.
    """
    import difflib  # for errors alone: it would make every import slower

    known = {each: each.lower() for each in names}
    for one, other in _WORDS:
        if name.lower() in (one, other) and (other if name.lower() == one else one) in known:
            return [other if name.lower() == one else one]
    wanted = name.lower()
    matcher = difflib.SequenceMatcher()
    matcher.set_seq2(wanted)
    found = []
    for each, lower in known.items():
        matcher.set_seq1(lower)
        if matcher.real_quick_ratio() >= share and matcher.quick_ratio() >= share:
            ratio = matcher.ratio()
            if ratio >= share:
                found.append((_OTHER_CASE * (each[:1].isupper() != name[:1].isupper()) - ratio, each))
    found.sort()
    return [each for behind, each in found[:most] if behind <= found[0][0] + _BEHIND]


def alternatives(names: Iterable[str], text: Callable[[str], str] = repr) -> str:
    """'a', 'b' or 'c'."""
    *first, last = map(text, names)
    return f"{', '.join(first)} or {last}" if first else last


def did_you_mean(name: object, names: Iterable[str], share: float = CLOSE) -> str:
    """The end of an error about a name that there is not: "; did you mean 'relu'?", or "" where no name is near."""
    found = near(name, names, share) if isinstance(name, str) else []
    return f"; did you mean {alternatives(found)}?" if found else ""
