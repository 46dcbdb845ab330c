"""`mx.gluon.data.vision`: data sets of images, and what changes images."""

from __future__ import annotations

from mxlite._public import show
from mxlite.gluon.data.vision import datasets, transforms
from mxlite.gluon.data.vision.datasets import (
    CIFAR10,
    CIFAR100,
    MNIST,
    FashionMNIST,
    ImageFolderDataset,
    ImageRecordDataset,
)

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "MNIST",
    "FashionMNIST",
    "ImageFolderDataset",
    "ImageRecordDataset",
    "datasets",
    "transforms",
]

show(globals())
