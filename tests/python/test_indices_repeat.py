"""Everything that reads or writes by index, with indices that repeat, count from the end, and lie outside.

Values are NumPy's; gradients to order 2 are compared with central differences.
"""

from __future__ import annotations

from functools import partial
from typing import Callable, NamedTuple

import numpy as np
import pytest
from _derivatives import Engine, check

import mxlite.torch as torch

X = np.arange(12.0).reshape(3, 4) / 7 - 0.6
ROWS = np.array([2, 0, 2, 2, 1])
ALONG = np.array([[0, 3, 3, 1, 3], [2, 2, 2, 2, 2], [1, 0, 0, 1, 3]])
SOURCE = np.arange(20.0).reshape(5, 4) / 9 - 1
BESIDE = np.arange(15.0).reshape(3, 5) / 8 - 1


class Row(NamedTuple):
    """A function of a module and arrays, NumPy's function of the arrays, the arrays."""

    call: Callable
    numpy: Callable
    arrays: tuple = (X,)


def long(torch, values):
    return torch.tensor(np.asarray(values).tolist(), dtype=torch.int64)


def added(x, key, values):
    made = x.copy()
    np.add.at(made, key, values)
    return made


TORCH = {
    "gather": Row(lambda t, x: x.gather(1, long(t, ALONG)), lambda x: np.take_along_axis(x, ALONG, 1)),
    "gather_rows": Row(
        lambda t, x: x.gather(0, long(t, [[0, 2, 2], [0, 2, 1]])),
        lambda x: np.take_along_axis(x[:, :3], np.array([[0, 2, 2], [0, 2, 1]]), 0),
    ),
    "take_along_dim": Row(
        lambda t, x: t.take_along_dim(x, long(t, ALONG), 1), lambda x: np.take_along_axis(x, ALONG, 1)
    ),
    "embedding": Row(lambda t, x: t.nn.functional.embedding(long(t, ROWS), x), lambda x: x[ROWS]),
    "scatter_add": Row(
        lambda t, x, y: x.scatter_add(1, long(t, ALONG), y),
        lambda x, y: added(x, (np.arange(3)[:, None], ALONG), y),
        (X, BESIDE),
    ),
    "index_add": Row(
        lambda t, x, y: x.index_add(0, long(t, ROWS), y, alpha=3),
        lambda x, y: added(x, ROWS, 3 * y),
        (X, SOURCE),
    ),
}


def plain(row: Row, *arrays: np.ndarray) -> np.ndarray:
    inputs = [torch.tensor(array.tolist(), dtype=torch.float64) for array in arrays]
    return np.array(row.call(torch, *inputs).tolist(), np.float64)


@pytest.mark.parametrize("name", TORCH)
def test_torch(name: str) -> None:
    row = TORCH[name]
    arrays = list(row.arrays)
    np.testing.assert_allclose(plain(row, *arrays), row.numpy(*arrays), rtol=1e-14)
    check(name, partial(Engine.torch, row.call), row.numpy, arrays)
