"""A function of a batch for a function of an example: what vmap is made of."""

from __future__ import annotations

from functools import wraps
from typing import Any, Callable

from mxlite._lib import LIB, check_call
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._recompute import random_state
from mxlite.autograd._transforms.trees import flatten, spread


def mapped(front_end: FrontEnd, func: Callable, in_dims: Any, out_dims: Any, randomness: str) -> Callable:
    """A function that applies func to each part of its arguments along a dimension, one by one, and stacks the results.

    Args:
        in_dims, out_dims, randomness: As of vmap.
    """

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        batch = _Batch(front_end, args, kwargs, in_dims)
        state = random_state()
        results = []
        for number in range(max(batch.size, 1)):
            if randomness == "same":
                check_call(LIB.MXLRandomSetState(state))
            given, named = batch.part(number)
            results.append(func(*given, **named))
            if randomness == "error" and tuple(random_state()) != tuple(state):
                raise RuntimeError("vmap: a random function was called; randomness='same' or 'different' permits that")
        return _joined(front_end, results, out_dims, batch.size)

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

    def part(self, number: int) -> Any:
        """The arguments for one part; of no parts, zeros, for the shapes of the results."""
        return self.build(
            each if dim is None else self._part(each, dim % each.ndim, number)
            for each, dim in zip(self.leaves, self.dims)
        )

    def _part(self, leaf: Any, dim: int, number: int) -> Any:
        if self.size:
            return leaf[(slice(None),) * dim + (number,)]
        return self.front_end.zeros((*leaf.shape[:dim], *leaf.shape[dim + 1 :]), leaf.dtype)


def _joined(front_end: FrontEnd, results: list, out_dims: Any, size: int) -> Any:
    """The results of all parts, stacked."""
    taken = [flatten(each) for each in results]
    first, build = taken[0]
    if out_dims is not None and not isinstance(out_dims, (int, tuple, list, dict)):
        raise ValueError(f"vmap: out_dims is an int, None or a tree of them, got {type(out_dims).__name__}")
    whole = isinstance(out_dims, tuple) and len(out_dims) == 1 and not isinstance(results[0], (tuple, list))
    dims = spread(out_dims[0] if whole else out_dims, results[0])
    if dims is None:
        raise ValueError(f"vmap: out_dims has not the structure of the results: {out_dims}")
    made = []
    for number, (value, dim) in enumerate(zip(first, dims)):
        if dim is None:
            made.append(value)
            continue
        if not isinstance(value, front_end.array_class):
            raise ValueError(f"vmap: the function returns tensors, got {type(value).__name__}")
        if not -value.ndim - 1 <= dim <= value.ndim:
            raise IndexError(f"vmap: out_dims has {dim}, but the result has {value.ndim + 1} dimensions")
        joined = front_end.stack([leaves[number] for leaves, _ in taken])
        made.append((joined if size else joined[:0]).movedim(0, dim))
    return build(made)
