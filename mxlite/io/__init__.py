"""`mx.io`: iterators over batches of arrays, of text files and of files of records.

train = mx.io.NDArrayIter(images, labels, batch_size=32, shuffle=True)
for batch in train:
    loss = step(batch.data[0], batch.label[0])
train.reset()
"""

from mxlite._public import show
from mxlite.io import io, utils
from mxlite.io.io import (
    CSVIter,
    DataBatch,
    DataDesc,
    DataIter,
    ImageDetRecordIter,
    ImageRecordInt8Iter,
    ImageRecordIter,
    ImageRecordIter_v1,
    ImageRecordUInt8Iter,
    ImageRecordUInt8Iter_v1,
    LibSVMIter,
    MNISTIter,
    MXDataIter,
    NDArrayIter,
    PrefetchingIter,
    ResizeIter,
)
from mxlite.io.utils import _getdata_by_idx, _has_instance, _init_data  # noqa: F401 - scripts use them

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
    "io",
    "utils",
]

show(globals())
