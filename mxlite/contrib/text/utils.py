"""Counting tokens."""

from __future__ import annotations

import re
from collections import Counter

from mxlite._public import show as _show


def count_tokens_from_str(
    source_str: str,
    token_delim: str = " ",
    seq_delim: str = "\n",
    to_lower: bool = False,
    counter_to_update: Counter | None = None,
) -> Counter:
    """How often each token occurs in a text.

    Args:
        token_delim, seq_delim: regular expressions of what is between tokens and between sequences.
        to_lower: count tokens in lower case.
        counter_to_update: counts to add to, which are returned.
    """
    tokens = [token for token in re.split(f"{token_delim}|{seq_delim}", source_str) if token]
    if to_lower:
        tokens = [token.lower() for token in tokens]
    counter = Counter() if counter_to_update is None else counter_to_update
    counter.update(tokens)
    return counter


_show(globals())
