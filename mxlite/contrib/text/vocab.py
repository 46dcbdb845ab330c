"""Tokens and their indices."""

from __future__ import annotations

from collections import Counter
from typing import Any

from mxlite._public import show as _show
from mxlite.error import WrongTypeError, WrongValueError


class Vocabulary:
    """Indices of tokens: 0 is the unknown one, then come the reserved ones, then the others, the most frequent first.

    Tokens that occur equally often are in alphabetical order.

    Args:
        counter: how often each token occurs; None: there are none.
        most_freq_count: the most tokens to take from the counter; None: all.
        min_freq: how often a token must occur at least.
        unknown_token: stands for every token that is not in the vocabulary.
        reserved_tokens: tokens to take in any case.

    Raises: TypeError: `counter` is no Counter. ValueError: `min_freq` is below 1, or reserved tokens occur twice or
        are the unknown one.
    """

    def __init__(
        self,
        counter: Counter | None = None,
        most_freq_count: int | None = None,
        min_freq: int = 1,
        unknown_token: Any = "<unk>",
        reserved_tokens: list | None = None,
    ) -> None:
        if min_freq <= 0:
            raise WrongValueError(f"Vocabulary: min_freq must be 1 or more, got {min_freq}")
        reserved = list(reserved_tokens or ())
        if unknown_token in reserved:
            raise WrongValueError(f"Vocabulary: {unknown_token!r} is the unknown token and cannot be reserved too")
        if len(set(reserved)) != len(reserved):
            raise WrongValueError("Vocabulary: reserved tokens occur twice")
        self._unknown_token = unknown_token
        self._reserved_tokens = None if reserved_tokens is None else reserved
        self._idx_to_token = [unknown_token, *reserved]
        if counter is not None:
            self._take(counter, most_freq_count, min_freq)
        self._token_to_idx = {token: index for index, token in enumerate(self._idx_to_token)}

    def _take(self, counter: Counter, most: int | None, least_often: int) -> None:
        if not isinstance(counter, Counter):
            raise WrongTypeError(f"Vocabulary: counter must be a collections.Counter, got {type(counter).__name__}")
        known = set(self._idx_to_token)
        ranked = sorted(counter.items(), key=lambda pair: (-pair[1], pair[0]))
        new = [token for token, count in ranked if count >= least_often and token not in known]
        self._idx_to_token += new if most is None or most < 0 else new[:most]

    def __len__(self) -> int:
        return len(self._idx_to_token)

    @property
    def token_to_idx(self) -> dict:
        """The index of each token."""
        return self._token_to_idx

    @property
    def idx_to_token(self) -> list:
        """The tokens by their indices."""
        return self._idx_to_token

    @property
    def unknown_token(self) -> Any:
        """What stands for other tokens."""
        return self._unknown_token

    @property
    def reserved_tokens(self) -> list | None:
        """The reserved tokens; None: none were given."""
        return self._reserved_tokens

    def to_indices(self, tokens: Any) -> Any:
        """The index of a token, or a list of those of a list; 0 for unknown ones."""
        if isinstance(tokens, list):
            return [self._token_to_idx.get(token, 0) for token in tokens]
        return self._token_to_idx.get(tokens, 0)

    def to_tokens(self, indices: Any) -> Any:
        """The token of an index, or a list of those of a list.

        Raises: ValueError: an index that is no integer, or too large.
        """
        found = []
        for index in indices if isinstance(indices, list) else [indices]:
            if not isinstance(index, int):
                kind = ValueError if isinstance(index, float) else TypeError
                raise kind(f"Vocabulary: {index!r} is no index of a token")
            if index >= len(self):
                raise ValueError(f"Vocabulary: there is no token {index}; there are {len(self)}")
            found.append(self._idx_to_token[index])
        return found if isinstance(indices, list) else found[0]


_show(globals())
