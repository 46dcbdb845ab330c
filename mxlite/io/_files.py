"""Iterators over text files and MNIST's files; they are read when the iterator is made."""

from __future__ import annotations

from mxlite.io._native import MXDataIter


class CSVIter(MXDataIter):
    """Batches of lines of numbers that are separated by commas.

    Args:
        data_csv, data_shape: Path of the file; the shape that a line becomes.
        label_csv, label_shape: The same of labels; without a file they are zeros.
        batch_size, round_batch, data_name, label_name: See MXDataIter.
        dtype: "float32" (the default), "int32" or "int64".
    Raises: MXNetError: a parameter is missing or bad, a file cannot be read, or a line has another length.
    """

    _kind = "CSVIter"


class LibSVMIter(MXDataIter):
    """Batches of lines "label index:value index:value ...", as csr matrices of float32.

    Args:
        data_libsvm, data_shape: Path of the file; how many elements a row has. The first index is 0.
        label_libsvm, label_shape: Rows of another file that are the labels; without one, the label of a line is the
            number that it begins with.
        part_index, num_parts: Which of how many parts of the file to take.
        batch_size, data_name, label_name: See MXDataIter.
    Raises: MXNetError: a parameter is missing or bad, a file cannot be read, or a line is no such line.
    """

    _kind = "LibSVMIter"


class MNISTIter(MXDataIter):
    """Batches of images of MNIST, float32 from 0 to 1 of the shape (batch, 1, rows, columns), and their digits.

    Samples that do not fill a batch are left out. The files may be compressed by gzip.

    Args:
        image, label: Paths of the files.
        batch_size: 128 by default.
        flat: Whether an image is one row.
        shuffle, seed: Whether the samples are shuffled, once; the seed of that.
        part_index, num_parts: Which of how many parts of the samples to take.
    Raises: MXNetError: a file is missing or broken, or a parameter is bad.
    """

    _kind = "MNISTIter"
