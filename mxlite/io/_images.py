"""Iterators over images in a file of records; the library decodes them on threads, a batch ahead."""

from __future__ import annotations

from mxlite.io._native import MXDataIter


class ImageRecordIter(MXDataIter):
    """Batches of images, (batch, channels, rows, columns), of a file that `mx.recordio` or im2rec wrote.

    An image is resized (its shorter side to `resize`), padded, made large enough for and cropped to `data_shape`, and
    mirrored; its values become (value - mean) / std * scale.

    Args:
        path_imgrec, path_imgidx, path_imglist: Paths of the records; of their index, which is read in place of the
            whole file; of a list with other labels, by the id of a record.
        data_shape: Channels (1 or 3), rows, columns.
        batch_size, round_batch, data_name, label_name: See MXDataIter.
        shuffle, seed: Whether each epoch has a random order; the seed of that.
        label_width: How many labels an image has.
        part_index, num_parts: Which of how many parts of the file to take.
        resize, pad, fill_value, inter_method, rand_crop, mirror, rand_mirror, seed_aug: How images are changed.
        mean_r, ..., std_r, ..., scale: How values are; of uint8 and int8 neither.
        dtype: "float32", "uint8" or "int8".
    Raises: MXNetError: a bad parameter, file or image.
    """

    _kind = "ImageRecordIter"
    _reads_ahead = True


class ImageRecordUInt8Iter(ImageRecordIter):
    """ImageRecordIter whose images are uint8, as they are stored."""

    _kind = "ImageRecordUInt8Iter"


class ImageRecordInt8Iter(ImageRecordIter):
    """ImageRecordIter whose images are int8; values above 127 become 127."""

    _kind = "ImageRecordInt8Iter"


class ImageDetRecordIter(MXDataIter):
    """Batches of images with boxes, of a file of records."""

    _kind = "ImageDetRecordIter"
    _reads_ahead = True
