"""Saved models that commands read: symbols with their parameters, and models of ONNX."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import mxlite as mx
from mxlite.error import MXNetError
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol

Shapes = dict[str, tuple[int, ...]]


class WrongError(Exception):
    """What is wrong with the command line or a file, as a line."""


def is_onnx(path: str) -> bool:
    """Whether a file is one of ONNX, by its name."""
    return path.lower().endswith(".onnx")


def read_model(
    path: str, shapes: Mapping[str, tuple[int, ...]], batch: int | None = None
) -> tuple[Symbol, dict[str, NDArray], dict[str, NDArray], Shapes]:
    """The symbol of a file of ONNX, its arguments and states, and the shapes of its inputs as far as they are known.

    Args: batch: the first size of shapes that the file tells.
    Raises: WrongError.
    """
    try:
        said = mx.onnx.get_model_metadata(path)["input_tensor_data"]
        known = {name: (batch or shape[0], *shape[1:]) for name, shape, _ in said if shape}
        known = {name: shape for name, shape in known.items() if min(shape) > 0}
        shapes = {**(known if batch else {}), **shapes}
        symbol, arguments, states = mx.onnx.import_model(path, shapes or None)
    except (MXNetError, ImportError, OSError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise WrongError(text if path in text else f"{path}: {text}") from None
    return symbol, arguments, states, {**known, **shapes}


def read_symbol(path: str) -> Symbol:
    """The symbol in a file. Raises: WrongError."""
    try:
        return mx.sym.load(path)
    except (MXNetError, OSError, ValueError) as error:
        raise WrongError(f"{path}: {error}") from None


def shapes_of(words: Iterable[str]) -> Shapes:
    """Shapes as they are written on the command line: data=1,3,224,224. Raises: WrongError."""
    found = {}
    for word in words:
        name, _, sizes = word.partition("=")
        try:
            found[name] = tuple(int(each) for each in sizes.strip("()").split(",") if each.strip())
        except ValueError:
            found[name] = ()
        if not name or not sizes or not found[name] or min(found[name]) < 1:
            raise WrongError(f"--shape {word}: expected NAME=SIZES, such as data=1,3,224,224")
    return found
