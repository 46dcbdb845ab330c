"""Reading files with a token and its vector on each line."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any

import numpy as np

from mxlite.error import WrongValueError


def read_vectors(path: str, delimiter: str, encoding: str, unknown: Any) -> tuple[list[str], list[Any], Any]:
    """The tokens of a file, their vectors, and that of the unknown token (None: the file has none).

    Lines with a vector of one number are headers, and later lines of a known token are left out; both with a warning.

    Raises: ValueError: there is no such file, or a line that is not as the others.
    """
    path = os.path.expanduser(path)
    if not os.path.isfile(path):
        raise ValueError(f"there is no file {path} with vectors of tokens")
    logging.info("reading token embeddings of %s", path)
    tokens: dict[str, np.ndarray] = {}
    of_unknown, length = None, None
    with open(path, encoding=encoding) as file:
        for number, line in enumerate(file, 1):
            token, *numbers = line.rstrip().split(delimiter)
            if not numbers:
                raise WrongValueError(
                    f"At line {number} of {path}: there is no vector; is {delimiter!r} the delimiter?"
                )
            if token == unknown and of_unknown is None:
                of_unknown = np.array(numbers, "float32")
            elif token == unknown or token in tokens:
                warnings.warn(f"At line {number} of {path}: the token {token} has a vector already", stacklevel=3)
            elif len(numbers) == 1:
                warnings.warn(f"At line {number} of {path}: the token {token} is likely a header", stacklevel=3)
            elif length is not None and len(numbers) != length:
                raise WrongValueError(
                    f"At line {number} of {path}: {token} has {len(numbers)} numbers, tokens before have {length}"
                )
            else:
                length = len(numbers)
                tokens[token] = np.array(numbers, "float32")
    if length is None:
        raise TypeError(f"{path} has no vectors")
    return list(tokens), list(tokens.values()), of_unknown
