"""Data sets: one of the program's own, transforms, samplers, batches made by a function."""

from __future__ import annotations

import numpy as np
from typing_extensions import assert_type

from mxlite import gluon, nd
from mxlite.gluon.data.vision import transforms


class Squares(gluon.data.Dataset):
    """Images of one shade, and the square of their number."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __getitem__(self, idx: int) -> tuple[nd.NDArray, float]:
        return nd.full((4, 4, 3), idx, dtype="uint8"), float(idx**2)

    def __len__(self) -> int:
        return self.count


def batch(samples: list[tuple[nd.NDArray, float]]) -> tuple[nd.NDArray, nd.NDArray]:
    """Images along a new axis, and their labels."""
    images, labels = zip(*samples)
    return nd.stack(*images), nd.array(labels)


def main() -> None:
    squares = Squares(10)
    change = transforms.Compose([transforms.ToTensor(), transforms.Normalize(0.5, 0.25)])
    changed = squares.transform_first(change)
    assert_type(changed, gluon.data.Dataset)
    loader = gluon.data.DataLoader(changed, batch_size=4, last_batch="discard", batchify_fn=batch)
    shapes = [(images.shape, labels.shape) for images, labels in loader]
    assert shapes == [((4, 3, 4, 4), (4,))] * 2 and len(loader) == 2
    order = gluon.data.BatchSampler(gluon.data.SequentialSampler(10), 5, "keep")
    for numbers in order:
        assert len(numbers) == 5
    pairs = gluon.data.ArrayDataset(np.arange(6), nd.arange(6))
    small = pairs.filter(lambda pair: bool(pair[0] < 3)).take(2)
    assert len(small) == 2
    total = sum(float(label.sum()) for _, label in gluon.data.DataLoader(squares, 5, batchify_fn=batch))
    assert total == 285


if __name__ == "__main__":
    main()
