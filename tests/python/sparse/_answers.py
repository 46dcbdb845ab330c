"""Expressions over sparse arrays, and what each answers as text, of this package and of MXNet 1.9.1 alike.

    PYTHONPATH=tests/python/sparse .venvs/mxnet/bin/python -m _answers mxnet tests/reference/sparse.json

writes the answers of 1.9.1. A line of `expressions.txt` is an expression, after statements that end with `;;`.
"""

from __future__ import annotations

import importlib
import json
import os
import pickle
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

EXPRESSIONS = Path(__file__).with_name("expressions.txt")


def lines() -> list[str]:
    """All expressions."""
    text = EXPRESSIONS.read_text(encoding="ascii").splitlines()
    return [line for line in text if line and not line.startswith("#")]


def names(mx: Any) -> dict[str, Any]:
    """What the expressions use."""
    nd, sp = mx.nd, mx.nd.sparse
    matrix = [[0, 1, 0], [2, 0, 3], [0, 0, 0], [4, 0, 0]]
    rows = [[0, 0, 0], [2, 0, 3], [0, 0, 0], [4, 0, 0]]

    def csr(dtype: str = "float32") -> Any:
        return sp.csr_matrix(np.array(matrix, dtype), dtype=dtype)

    def rsp(dtype: str = "float32") -> Any:
        return sp.row_sparse_array(np.array(rows, dtype), dtype=dtype)

    def dense() -> Any:
        return nd.array(matrix)

    def grads(compute: Any, *arrays: Any) -> list:
        with mx.autograd.record():
            result = compute(*arrays)
        result.backward()
        return [each.grad for each in arrays]

    return {
        **{"mx": mx, "nd": nd, "sp": sp, "np": np, "csr": csr, "rsp": rsp, "dense": dense, "grads": grads},
        **{"pickle": pickle, "tu": mx.test_utils, "gluon": mx.gluon},
    }


def _numbers(values: np.ndarray) -> Any:
    if values.dtype.kind == "f":  # -0 is 0
        return [_numbers(each) for each in values] if values.ndim else float(f"{float(values) + 0.0:.5g}")
    return values.tolist()


def _describe_array(x: Any) -> str:
    parts = [type(x).__name__, x.stype, str(x.shape), np.dtype(x.dtype).name, str(x.context)]
    if x.stype == "default":
        return " ".join([*parts, str(_numbers(x.asnumpy()))])
    data, indices = x.data.asnumpy(), x.indices.asnumpy()
    if x.stype == "csr":
        # 1.9.1 leaves room behind the last element, and columns of sums in any order.
        ends = x.indptr.asnumpy()
        stored = int(ends[-1]) if ends.size else 0
        order = np.lexsort((indices[:stored], np.searchsorted(ends, np.arange(stored), "right")))
        data, indices = data[:stored][order], indices[:stored][order]
        parts.append(str(ends.tolist()))
    return " ".join([*parts, np.dtype(indices.dtype).name, str(indices.tolist()), str(_numbers(data))])


def describe(mx: Any, value: Any) -> str:
    """An answer as text."""
    if isinstance(value, mx.nd.NDArray):
        return _describe_array(value)
    if isinstance(value, (list, tuple)):
        return f"{'[' if isinstance(value, list) else '('}{', '.join(describe(mx, each) for each in value)})"
    if isinstance(value, dict):
        return str({name: describe(mx, value[name]) for name in sorted(value)})
    if isinstance(value, np.ndarray):
        return f"numpy {value.dtype} {_numbers(value)}"
    if isinstance(value, (np.floating, float)):
        return f"{float(value):.5g}"
    if isinstance(value, type):
        return value.__name__
    return repr(value)


def answer(mx: Any, line: str) -> str:
    """What an expression gives; of an error `!` and the names of its classes, the nearest first."""
    *statements, expression = (part.strip() for part in line.split(";;"))
    scope = names(mx)
    try:
        with mx.name.NameManager():  # names count from 0, whatever ran before
            for statement in statements:
                exec(statement, scope)
            return describe(mx, eval(expression, scope))
    except Exception as problem:
        classes = [each.__name__ for each in type(problem).__mro__]
        return "! " + " ".join(classes[: classes.index("Exception") + 1])
    finally:
        mx.autograd.set_recording(False)


def main(package: str, path: str) -> None:
    """Writes the answers of a package."""
    warnings.simplefilter("ignore")
    os.environ["MXNET_STORAGE_FALLBACK_LOG_VERBOSE"] = "0"
    mx = importlib.import_module(package)
    answers = {line: answer(mx, line) for line in lines()}
    Path(path).write_text(json.dumps(answers, indent=0) + "\n", encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
