"""The names of `mx.io`, where scripts written for MXNet may import them from too."""

from mxlite._public import show
from mxlite.io._arrays import NDArrayIter
from mxlite.io._base import DataBatch, DataDesc, DataIter
from mxlite.io._files import CSVIter, LibSVMIter, MNISTIter
from mxlite.io._images import (
    ImageDetRecordIter,
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordIter_v1,
    ImageRecordUInt8Iter,
    ImageRecordUInt8Iter_v1,
)
from mxlite.io._native import MXDataIter
from mxlite.io._wrappers import PrefetchingIter, ResizeIter
from mxlite.io.utils import _init_data  # noqa: F401 - scripts use it

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordIter_v1",
    "ImageRecordUInt8Iter",
    "ImageRecordUInt8Iter_v1",
    "LibSVMIter",
    "MNISTIter",
    "MXDataIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]

show(globals())
