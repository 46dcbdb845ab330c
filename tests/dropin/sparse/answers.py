"""Answers programs, each in a process of its own that is forked: pickles on a file. compare.py starts it.

Answers are of plain Python alone: an array is a list of its class, storage type, shape, dtype, indices and numbers.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import os
import pickle
import signal
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from programs import program

DIED = ["died"]  # the answer of a step at which the process ends
SECONDS = 60  # of one program


def numbers(shape: tuple, density: float, dtype: str, seed: int, special: bool) -> np.ndarray:
    """Multiples of a half, of which sums are exact."""
    state = np.random.RandomState(seed)
    values = state.randint(1, 9, shape) * state.choice([-0.5, 0.5], shape)
    if special and values.size:
        values.flat[:: max(values.size // 3, 1)] = state.choice([np.nan, np.inf, -np.inf])
    values[state.uniform(size=shape) >= density] = 0
    if dtype.startswith("int"):
        values = np.nan_to_num(values, posinf=9, neginf=-9)
    return values.astype(dtype)


def maker(mx: Any, dense: bool = False) -> Any:
    """The function `make` of the programs: arrays of which some store zeros too."""
    nd, sp = mx.nd, mx.nd.sparse

    def make(stype: str, shape: tuple, density: float, dtype: str, seed: int, special: bool = False) -> Any:
        values = numbers(shape, density, dtype, seed, special)
        zeros = seed % 4 == 0 and density > 0
        if dense or stype == "default":
            return nd.array(values, dtype=dtype)
        if stype == "row_sparse":
            rows = np.flatnonzero(values.reshape(shape[0], -1).any(axis=1) | (zeros & (np.arange(shape[0]) % 3 == 0)))
            if not rows.size:
                return sp.zeros("row_sparse", shape, dtype=dtype)
            return sp.row_sparse_array((values[rows], rows), shape=shape, dtype=dtype)
        kept = (values != 0) | (zeros & (np.arange(values.size).reshape(shape) % 5 == 0))
        if not kept.any() and shape[0]:
            return sp.zeros("csr", shape, dtype=dtype)
        ends = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
        return sp.csr_matrix((values[kept], np.nonzero(kept)[1], ends), shape=shape, dtype=dtype)

    return make


def describe(mx: Any, value: Any) -> Any:
    """An answer."""
    if isinstance(value, (list, tuple)):
        return [describe(mx, each) for each in value]
    if not isinstance(value, mx.nd.NDArray):
        return repr(value)
    parts = [type(value).__name__, value.stype, tuple(value.shape), np.dtype(value.dtype).name]
    if value.stype == "default":
        return [*parts, value.asnumpy().ravel().tolist()]
    data, indices = value.data.asnumpy(), value.indices.asnumpy()
    if value.stype == "csr":
        # 1.9.1 leaves room behind the last element, and columns of sums in any order.
        ends = value.indptr.asnumpy()
        stored = int(ends[-1]) if ends.size else 0
        order = np.lexsort((indices[:stored], np.searchsorted(ends, np.arange(stored), "right")))
        data, indices = data[:stored][order], indices[:stored][order]
        parts.append(ends.tolist())
    return [*parts, np.dtype(indices.dtype).name, indices.tolist(), data.shape, data.ravel().tolist()]


def answer(mx: Any, scope: dict, text: str, shows: list[str]) -> Any:
    """What a step gives; of an error "!" and the names of its classes."""
    try:
        exec(text, scope)
        return [describe(mx, eval(name, scope)) for name in shows]
    except Exception as problem:
        classes = [each.__name__ for each in type(problem).__mro__]
        message = next((line for line in str(problem).splitlines() if "Error" in line or "Check" in line), str(problem))
        try:
            mx.nd.waitall()
        except Exception:  # 1.9.1 raises some again
            pass
        return ["!", classes[: classes.index("Exception") + 1], message[:200]]


def run(mx: Any, number: int, dense: bool, write: Any) -> None:
    scope = {
        **{"mx": mx, "nd": mx.nd, "sp": mx.nd.sparse, "np": np, "make": maker(mx, dense)},
        "recording": mx.autograd.set_recording,
    }
    for at, step in enumerate(program(number)):
        write((number, at), DIED)
        write((number, at), answer(mx, scope, step.text, step.shows))
    mx.autograd.set_recording(False)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("output")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--dense", action="store_true", help="all arrays are dense")
    options = parser.parse_args()
    faulthandler.enable()
    warnings.simplefilter("ignore")
    mx = importlib.import_module(options.package)
    with Path(options.output).open("ab") as output:

        def write(key: tuple, item: Any) -> None:
            pickle.dump((key, item), output)
            output.flush()

        for number in range(options.first, options.last):
            child = os.fork()
            if child == 0:
                signal.alarm(SECONDS)
                run(mx, number, options.dense, write)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            if status != 0:
                write((number, "end"), status)


if __name__ == "__main__":
    main()
