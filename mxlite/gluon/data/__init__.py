"""`mx.gluon.data`: data sets, samplers, and a loader of batches."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mxlite._public import show
from mxlite.gluon.data import dataloader, dataset, sampler
from mxlite.gluon.data.dataloader import DataLoader
from mxlite.gluon.data.dataset import ArrayDataset, Dataset, RecordFileDataset, SimpleDataset
from mxlite.gluon.data.sampler import BatchSampler, FilterSampler, RandomSampler, Sampler, SequentialSampler

if TYPE_CHECKING:
    from mxlite.gluon.data import vision

__all__ = [
    "ArrayDataset",
    "BatchSampler",
    "DataLoader",
    "Dataset",
    "FilterSampler",
    "RandomSampler",
    "RecordFileDataset",
    "Sampler",
    "SequentialSampler",
    "SimpleDataset",
    "dataloader",
    "dataset",
    "sampler",
    "vision",
]


def _later(name: str) -> Any:
    return importlib.import_module("mxlite.gluon.data.vision") if name == "vision" else None


show(globals(), _later)
