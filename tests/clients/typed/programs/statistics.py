"""Arrays: standardizes the columns of a table, and counts what lies far from the mean."""

from __future__ import annotations

import numpy as np
from typing_extensions import assert_type

from mxlite import nd


def standardized(table: nd.NDArray, epsilon: float = 1e-6) -> tuple[nd.NDArray, nd.NDArray, nd.NDArray]:
    """The table with mean 0 and deviation 1 in each column; means; deviations."""
    mean = table.mean(axis=0, keepdims=True)
    centred = nd.broadcast_sub(table, mean)
    deviation = nd.sqrt((centred**2).mean(axis=0, keepdims=True) + epsilon)
    return centred / deviation, mean, deviation


def outliers(table: nd.NDArray, limit: float) -> list[int]:
    """The rows with an element farther than `limit` deviations from its column's mean."""
    far = nd.max(nd.abs(standardized(table)[0]), axis=1) > limit
    assert_type(far, nd.NDArray)
    return [int(row) for row in np.flatnonzero(far.asnumpy())]


def main() -> None:
    table = nd.array(np.arange(40, dtype="float32").reshape(10, 4) % 7)
    table[3, 1] = 100
    scaled, mean, _ = standardized(table)
    assert_type(scaled.shape, tuple[int, ...])
    parts = nd.split(scaled, num_outputs=2, axis=1)
    assert_type(parts, list[nd.NDArray])
    joined = nd.concat(*parts, dim=1)
    assert joined.shape == (10, 4) and mean.shape == (1, 4)
    assert outliers(table, 2.5) == [3]
    values, places = nd.topk(table, k=2, ret_typ="both", axis=0)
    assert int(places[0, 1].asscalar()) == 3 and float(values[0, 1]) == 100


if __name__ == "__main__":
    main()
