"""Limits of arrays from data: collectors, which see arrays by their names, and what they find."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mxlite import ndarray as nd

#: Arrays by name.
Arrays = dict[str, "nd.NDArray"]
#: A histogram as `combine_histogram` keeps it: counts, edges, smallest and largest number, and the edges' reach.
Histogram = tuple[np.ndarray, np.ndarray, float, float, float]


def combine_histogram(old_hist: Histogram, arr: np.ndarray, new_min: float, new_max: float, new_th: float) -> Histogram:
    """A histogram with the numbers of one more array, whose largest magnitude is `new_th`.

    The bins stay where they are; where the array reaches farther, bins of the same width are added at both ends.
    """
    counts, edges, low, high, reach = old_hist
    if new_th <= reach:
        more, _ = np.histogram(arr, bins=len(counts), range=(-reach, reach))
        return counts + more, edges, min(low, new_min), max(high, new_max), reach
    width = 2 * reach / len(counts) if reach > 0 else new_th / len(counts)
    added = int((new_th - reach) // width + 1)
    wide = added * width + reach
    more, wide_edges = np.histogram(arr, bins=2 * added + len(counts), range=(-wide, wide))
    more[added : len(more) - added] += counts
    return more, wide_edges, min(low, new_min), max(high, new_max), wide


def check_finite(name: str, low: float, high: float) -> None:
    """Refuses the limits of an array that has NaN or infinite numbers: ValueError."""
    if not np.isfinite([low, high]).all():
        raise ValueError(f"quantization: {name} has numbers that are not finite (from {low} to {high})")


class _Collector:
    """What collectors share: `include_layer` names the arrays that count (None: all)."""

    def __init__(self, include_layer: Iterable[str] | None = None, logger: Any = None) -> None:
        self.include_layer = include_layer
        self.logger = logger

    def collect(self, name: str | bytes, arr: Any) -> None:
        """Takes an array's numbers into account; an executor's monitor gives the name as bytes, and a handle."""
        name = name.decode() if isinstance(name, bytes) else name
        if not isinstance(arr, (nd.NDArray, np.ndarray)):
            arr = nd.NDArray(arr, writable=False)
        if self.include_layer is not None and name not in self.include_layer:
            return
        numbers = arr if isinstance(arr, np.ndarray) else arr.asnumpy()
        if self.logger is not None:
            self.logger.debug("calibration: %s of shape %s", name, numbers.shape)
        if numbers.size:
            self._add(name, numbers)

    def _add(self, name: str, numbers: np.ndarray) -> None:
        raise NotImplementedError


class _LayerOutputMinMaxCollector(_Collector):  # noqa: N801 - as 1.9.1 calls it
    """The smallest and the largest number of each array, in `min_max_dict`."""

    def __init__(self, quantized_dtype: str, include_layer: Iterable[str] | None = None, logger: Any = None) -> None:
        super().__init__(include_layer, logger)
        self.min_max_dict: dict[str, tuple[float, float]] = {}
        self.quantized_dtype = quantized_dtype

    def _add(self, name: str, numbers: np.ndarray) -> None:
        low, high = self.min_max_dict.get(name, (np.inf, -np.inf))
        self.min_max_dict[name] = float(np.minimum(low, numbers.min())), float(np.maximum(high, numbers.max()))


class _LayerHistogramCollector(_Collector):  # noqa: N801
    """A histogram of each array, in `hist_dict`."""

    def __init__(self, num_bins: int = 8001, include_layer: Iterable[str] | None = None, logger: Any = None) -> None:
        super().__init__(include_layer, logger)
        self.hist_dict: dict[str, Histogram] = {}
        self.num_bins = num_bins

    def _add(self, name: str, numbers: np.ndarray) -> None:
        low, high = float(numbers.min()), float(numbers.max())
        check_finite(name, low, high)
        reach = max(abs(low), abs(high))
        if name in self.hist_dict:
            self.hist_dict[name] = combine_histogram(self.hist_dict[name], numbers, low, high, reach)
        else:
            counts, edges = np.histogram(numbers, bins=self.num_bins, range=(-reach, reach))
            self.hist_dict[name] = counts, edges, low, high, reach


def _get_optimal_threshold(  # as 1.9.1 calls it
    hist_data: Histogram, quantized_dtype: str, num_quantized_bins: int = 255
) -> tuple[float, float, float, float]:
    """Where to cut a histogram: the smallest and largest number, the threshold, and the divergence there."""
    counts, edges, low, high, _ = hist_data
    if low >= 0 and quantized_dtype in ("auto", "uint8"):
        num_quantized_bins = num_quantized_bins * 2 + 1  # the half below 0 has none
    if low == high == 0:
        return low, high, 0.0, 0.0
    found = nd.contrib.calibrate_entropy(
        nd.array(counts, dtype="float32"), nd.array(edges, dtype="float32"), num_quantized_bins=num_quantized_bins
    )
    return low, high, float(found[0].asscalar()), float(found[1].asscalar())


def limits_of(collector: Any, quantized_dtype: str) -> dict[str, tuple[float, float]]:
    """The limits that a collector has found, by array; ValueError where they are not finite."""
    if isinstance(collector, _LayerHistogramCollector):
        limits = {}
        for name, histogram in collector.hist_dict.items():
            low, high, threshold, _ = _get_optimal_threshold(histogram, quantized_dtype)
            limits[name] = (0.0 if low >= 0 and quantized_dtype != "int8" else -threshold, threshold)
        return limits
    for name, (low, high) in collector.min_max_dict.items():
        check_finite(name, low, high)
    return dict(collector.min_max_dict)
