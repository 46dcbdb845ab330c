"""A function of a batch for a function of an example: what vmap is made of."""

from __future__ import annotations

import ctypes
import warnings
from functools import wraps
from typing import Any, Callable

from mxlite._lib import LIB, check_call
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._recompute import random_state
from mxlite.autograd._transforms.levels import Level
from mxlite.autograd._transforms.trees import flatten, spread


def mapped(
    front_end: FrontEnd, func: Callable, in_dims: Any, out_dims: Any, randomness: str, chunk_size: int | None = None
) -> Callable:
    """A function that applies func to all parts of its arguments along a dimension at once.

    Args:
        in_dims, out_dims, randomness, chunk_size: As of vmap.
    """

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        batch = _Batch(front_end, args, kwargs, in_dims)
        if not chunk_size or batch.size <= chunk_size:
            return batch.run(func, 0, batch.size, out_dims, randomness)
        starts = range(0, batch.size, chunk_size)
        chunks = [
            flatten(batch.run(func, start, min(chunk_size, batch.size - start), out_dims, randomness))
            for start in starts
        ]
        dims = spread(_out_dims(out_dims, chunks[0][1](chunks[0][0])), chunks[0][1](chunks[0][0])) or []
        joined = [
            each[0] if dim is None else front_end.concat(list(each), dim)
            for each, dim in zip(zip(*(leaves for leaves, _ in chunks)), dims)
        ]
        return chunks[0][1](joined)

    return wrapper


class _Batch:
    """The arguments of a call, and the dimension of the parts of each of their leaves."""

    def __init__(self, front_end: FrontEnd, args: tuple, kwargs: dict, in_dims: Any) -> None:
        self.front_end = front_end
        leaves, self.build = flatten((args, kwargs))
        if not leaves:
            raise ValueError("vmap: there are no arguments")
        if not isinstance(in_dims, (int, tuple)):
            raise ValueError(f"vmap: in_dims is an int or a tuple for the arguments, got {type(in_dims).__name__}")
        dims = spread(in_dims, args)
        if dims is None:
            raise ValueError(f"vmap: in_dims has not the structure of the arguments: {in_dims}")
        self.leaves, self.dims = leaves, [*dims, *[None] * (len(leaves) - len(dims))]
        sizes = {self._size(each, dim) for each, dim in zip(leaves, self.dims) if dim is not None}
        if len(sizes) != 1:
            wrong = f"have sizes {sorted(sizes)}" if sizes else "are all None"
            raise ValueError(f"vmap: the dimensions of the parts have one size, these {wrong}")
        self.size = sizes.pop()

    def _size(self, leaf: Any, dim: Any) -> int:
        """The number of parts of an argument."""
        if not isinstance(dim, int):
            raise ValueError(f"vmap: in_dims has ints and None, got {type(dim).__name__}")
        if not isinstance(leaf, self.front_end.array_class):
            raise ValueError(f"vmap: a tensor has parts, a {type(leaf).__name__} none; None in in_dims gives it whole")
        if not -leaf.ndim <= dim < leaf.ndim:
            raise ValueError(f"vmap: in_dims has {dim}, but the argument has {leaf.ndim} dimensions")
        return leaf.shape[dim]

    def run(self, func: Callable, start: int, size: int, out_dims: Any, randomness: str) -> Any:
        """The results for some parts; of no parts func runs on one of zeros, for the shapes of the results."""
        state = tuple(random_state())
        with Level(self.front_end, max(size, 1), randomness) as level:
            given, named = self.build(
                each if dim is None else level.batch(self._parts(each, dim % each.ndim, start, size))
                for each, dim in zip(self.leaves, self.dims)
            )
            result = func(*given, **named)
            joined = _joined(level, result, out_dims, size)
        if randomness == "error" and tuple(random_state()) != state:
            raise RuntimeError("vmap: a random function was called; randomness='same' or 'different' permits that")
        _warn_of_loop()
        return joined

    def _parts(self, leaf: Any, dim: int, start: int, size: int) -> Any:
        """Some parts of an argument along the first dimension."""
        if not size:
            return self.front_end.zeros((1, *leaf.shape[:dim], *leaf.shape[dim + 1 :]), leaf.dtype)
        leaf = leaf.movedim(dim, 0) if dim else leaf
        return leaf if size == self.size else leaf[start : start + size]


def _warn_of_loop() -> None:
    name = ctypes.c_char_p()
    check_call(LIB.MXLBatchLooped(ctypes.byref(name)))
    if name.value is not None:
        warnings.warn(f"vmap: {name.value.decode()} has no rule for batches and ran example by example", stacklevel=4)


def _out_dims(out_dims: Any, result: Any) -> Any:
    """`out_dims` of a map: of a single result its entry, where it is given as a tuple of one."""
    whole = isinstance(out_dims, tuple) and len(out_dims) == 1 and not isinstance(result, (tuple, list))
    return out_dims[0] if whole else out_dims


def _joined(level: Level, result: Any, out_dims: Any, size: int) -> Any:
    """The result with the dimension of the parts."""
    front_end = level.front_end
    leaves, build = flatten(result)
    if out_dims is not None and not isinstance(out_dims, (int, tuple, list, dict)):
        raise ValueError(f"vmap: out_dims is an int, None or a tree of them, got {type(out_dims).__name__}")
    dims = spread(_out_dims(out_dims, result), result)
    if dims is None:
        raise ValueError(f"vmap: out_dims has not the structure of the results: {out_dims}")
    made = []
    for value, dim in zip(leaves, dims):
        if not isinstance(value, front_end.array_class):
            if dim is None:
                made.append(value)
                continue
            raise ValueError(f"vmap: the function returns tensors, got {type(value).__name__}")
        whole, has_axis = level.whole(value)
        if dim is None:
            if has_axis:
                raise ValueError("vmap: out_dims has None for a result of which each part has its own")
            made.append(whole)
            continue
        if not -value.ndim - 1 <= dim <= value.ndim:
            raise IndexError(f"vmap: out_dims has {dim}, but the result has {value.ndim + 1} dimensions")
        joined = level.with_axis(value)
        made.append((joined if size else joined[:0]).movedim(0, dim))
    return build(made)
