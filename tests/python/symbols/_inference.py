"""What a library infers for rows of the case table of which little is known: one input, all but one, or an output."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from _graph import GraphError, Library, Symbol
from cases import CASES

DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool"]
#: Rows of one operator that are asked, at most.
ROWS = 3


def _arrays(case: Any) -> list[np.ndarray]:
    with np.errstate(over="ignore"):
        return case.arrays()


def rows() -> Iterator[Any]:
    """Rows that differ in parameters or numbers of axes, some of each operator."""
    seen: dict[str, set] = {}
    for case in CASES:
        arrays = _arrays(case)
        kind = (tuple(sorted(case.strings().items())), tuple(array.ndim for array in arrays))
        whole = case.np_shape or all(array.ndim > 0 and array.size > 0 for array in arrays)
        kinds = seen.setdefault(case.op, set())
        if case.error or case.random or not whole or kind in kinds or len(kinds) >= ROWS:
            continue
        kinds.add(kind)
        yield case


def _said(ask: Callable[[], list]) -> list | None:
    try:
        return ask()[1:]
    except GraphError:
        return None


def _ask(
    answers: dict[str, Any], what: str, infer: Callable[..., list], joined: Callable[[int], Symbol], known: dict
) -> None:
    """Of shapes or dtypes: all inputs, each one, all but each one, and each output."""
    ask = lambda **said: _said(lambda: infer(symbol)(True, **said))  # noqa: E731
    symbol = joined(-1)
    answers[f"{what}s of all"] = whole = ask(**known)
    for name, value in known.items():
        answers[f"{what} of {name}"] = ask(**{name: value})
        if len(known) > 2:
            answers[f"{what}s without {name}"] = ask(**{key: other for key, other in known.items() if key != name})
    for i, result in enumerate(whole[1] if whole else []):
        if result not in ([], -1):
            symbol = joined(i)
            answers[f"{what} of output {i}"] = ask(z=result)


def answers(g: Library, case: Any) -> dict[str, Any]:
    """Per question the arguments, outputs and states, each what is known; None: an error."""
    g.call("MXSetIsNumpyShape", int(case.np_shape), ctypes.byref(ctypes.c_int()))
    arrays = _arrays(case)
    try:
        it = g.op(case.op, "it", *[g.variable(f"in{i}") for i in range(len(arrays))], **case.strings())
        names = [name for name in it.arguments() if name.startswith("in")]

        def joined(output: int) -> Symbol:
            return it if output < 0 else g.op("elemwise_add", "sum", it.output(output), g.variable("z"))

        found: dict[str, Any] = {}
        shapes = {name: list(arrays[int(name[2:])].shape) for name in names}
        dtypes = {name: DTYPES.index(arrays[int(name[2:])].dtype.name) for name in names}
        _ask(found, "shape", lambda symbol: symbol.shapes, joined, shapes)
        _ask(found, "dtype", lambda symbol: symbol.dtypes, joined, dtypes)
    except GraphError:
        found = {}
    finally:
        g.call("MXSetIsNumpyShape", 0, ctypes.byref(ctypes.c_int()))
    return found


def large_shapes(case: Any) -> Iterator[list[list[int]]]:
    """The shapes of a row's inputs with 2^40 elements, or a little more, along each size that occurs in them."""
    shapes = [list(array.shape) for array in _arrays(case)]
    for size in sorted({size for shape in shapes for size in shape if size > 0}):
        extent = 2 ** (40 // max(shape.count(size) for shape in shapes))
        yield [[extent if own == size else own for own in shape] for shape in shapes]


def result_shapes(g: Library, case: Any, shapes: list[list[int]]) -> list[list[int]] | None:
    """The shapes of results; None: an error."""
    g.call("MXSetIsNumpyShape", int(case.np_shape), ctypes.byref(ctypes.c_int()))
    try:
        it = g.op(case.op, "it", *[g.variable(f"in{i}") for i in range(len(shapes))], **case.strings())
        names = [name for name in it.arguments() if name.startswith("in")]
        whole = _said(lambda: it.shapes(True, True, **{name: shapes[int(name[2:])] for name in names}))
    except GraphError:
        whole = None
    finally:
        g.call("MXSetIsNumpyShape", 0, ctypes.byref(ctypes.c_int()))
    return None if whole is None else whole[1]


def unknown_sizes(case: Any) -> Iterator[list[list[int]]]:
    """The shapes of a row's inputs of which one size is unknown, or all sizes of one input, or all sizes."""
    shapes, unknown = [list(array.shape) for array in _arrays(case)], -1 if case.np_shape else 0
    for i, shape in enumerate(shapes):
        for k in range(len(shape)):
            yield [*shapes[:i], [*shape[:k], unknown, *shape[k + 1 :]], *shapes[i + 1 :]]
        yield [*shapes[:i], [unknown] * len(shape), *shapes[i + 1 :]]
    yield [[unknown] * len(shape) for shape in shapes]


def in_every_dtype(case: Any) -> Iterator[list[np.ndarray]]:
    """A row's inputs as they are, with all or the floating ones in every dtype, and with each one in another."""
    arrays = _arrays(case)
    every, floating = range(len(arrays)), [i for i, array in enumerate(arrays) if array.dtype.kind == "f"]
    yield arrays
    for chosen in dict.fromkeys([tuple(every), tuple(floating), *[(i,) for i in every]]):
        for dtype in [] if not chosen else DTYPES if len(chosen) > 1 or len(arrays) == 1 else ["float64", "int32"]:
            with np.errstate(all="ignore"):
                yield [array.astype(dtype) if i in chosen else array for i, array in enumerate(arrays)]


def result_dtypes(g: Library, case: Any, arrays: list[np.ndarray]) -> list[int] | None:
    """The dtypes of results; None: an error."""
    try:
        it = g.op(case.op, "it", *[g.variable(f"in{i}") for i in range(len(arrays))], **case.strings())
        known = {f"in{i}": DTYPES.index(array.dtype.name) for i, array in enumerate(arrays)}
        whole = _said(lambda: it.dtypes(True, **{name: known[name] for name in it.arguments() if name in known}))
    except GraphError:
        whole = None
    return None if whole is None else whole[1]


def knows(found: list, expected: list) -> bool:
    """Whether everything that is known of `expected` is the same in `found`."""
    pairs = list(zip(found, expected))
    return all(len(a) == len(b) for a, b in pairs) and all(_fits(x, y) for a, b in pairs for x, y in zip(a, b))


def _fits(found: Any, expected: Any) -> bool:
    """Of one dtype, or one shape: unknown are -1, in MXNet's legacy mode sizes of 0 and no sizes at all."""
    if isinstance(expected, int):
        return expected < 0 or found == expected
    if not expected:
        return True
    return len(found) == len(expected) and all(size in (-1, 0) or size == own for own, size in zip(found, expected))
