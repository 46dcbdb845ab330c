"""Data sets of images: of files that others made, of records, and of folders."""

from __future__ import annotations

import gzip
import os
import warnings
from typing import Any, Callable

import numpy as np

from mxlite import ndarray
from mxlite._public import show
from mxlite.error import MXNetError
from mxlite.gluon.data import _files, dataset
from mxlite.ndarray._kinds import as_mode


class MNIST(dataset._DownloadedDataset):
    """Handwritten digits: images (28, 28, 1) of uint8, labels of int32.

    Args:
        root: the folder with the four files `...-ubyte.gz`; a missing one is downloaded.
        train: the 60,000 images to train with, else the 10,000 to test with.
        transform: a function of data and label.
    Raises: MXNetError: a file is missing and the download fails.
    """

    _namespace = "mnist"
    _sums = (
        "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d",
        "2a80914081dc54586dbdf242f9805a6b8d2a15fc",
        "c3a25af1f52dad7f726cce8cacb138654b760d48",
        "763e7fa3757d93b0cdec073cef058b2004252c17",
    )

    def __init__(
        self, root: str = _files.folder_of("mnist"), train: bool = True, transform: Callable | None = None
    ) -> None:
        self._train = train
        super().__init__(root, transform)

    def _get_data(self) -> None:
        part, sums = ("train", self._sums[:2]) if self._train else ("t10k", self._sums[2:])
        names = f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz"
        images, labels = (
            _bytes_after(_files.fetched(self._namespace, name, sha1, self._root), header)
            for name, sha1, header in zip(names, sums, (16, 8))
        )
        if len(images) != len(labels) * 784:
            raise MXNetError(f"{names[0]} and {names[1]} in {self._root} have different numbers of samples")
        self._label = labels.astype(np.int32)
        self._data = as_mode(ndarray.array(images.reshape(-1, 28, 28, 1), dtype=np.uint8))


def _bytes_after(path: str, header: int) -> np.ndarray:
    with gzip.open(path, "rb") as file:
        return np.frombuffer(file.read(), np.uint8)[header:]


class FashionMNIST(MNIST):
    """Pictures of clothes: as MNIST, of ten kinds of clothes."""

    _namespace = "fashion-mnist"
    _sums = (
        "0cf37b0d40ed5169c6b3aba31069a9770ac9043d",
        "236021d52f1e40852b06a4c3008d8de8aef1e40b",
        "626ed6a7c06dd17c0eec72fa3be1740f146a2863",
        "17f9ab60e7257a1620f4ad76bbbaf857c3920701",
    )

    def __init__(
        self, root: str = _files.folder_of("fashion-mnist"), train: bool = True, transform: Callable | None = None
    ) -> None:
        super().__init__(root, train, transform)


class CIFAR10(dataset._DownloadedDataset):
    """Photographs of ten kinds of things: images (32, 32, 3) of uint8, labels of int32.

    Args:
        root: the folder with the files `data_batch_1.bin` to 5 and `test_batch.bin`; where they are missing, their
            archive is downloaded.
        train: the 50,000 images to train with, else the 10,000 to test with.
        transform: a function of data and label.
    Raises: MXNetError: a file is missing and the download fails.
    """

    _namespace = "cifar10"
    _archive = ("cifar-10-binary.tar.gz", "fab780a1e191a7eda0f345501ccd62d20f7ed891")
    _train_files = [
        ("data_batch_1.bin", "aadd24acce27caa71bf4b10992e9e7b2d74c2540"),
        ("data_batch_2.bin", "c0ba65cce70568cd57b4e03e9ac8d2a5367c1795"),
        ("data_batch_3.bin", "1dd00a74ab1d17a6e7d73e185b69dbf31242f295"),
        ("data_batch_4.bin", "aab85764eb3584312d3c7f65fd2fd016e36a258e"),
        ("data_batch_5.bin", "26e2849e66a845b7f1e4614ae70f4889ae604628"),
    ]
    _test_files = [("test_batch.bin", "67eb016db431130d61cd03c7ad570b013799c88c")]
    #: Bytes before an image, and which is its label.
    _labels, _label_at = 1, 0

    def __init__(
        self, root: str = _files.folder_of("cifar10"), train: bool = True, transform: Callable | None = None
    ) -> None:
        self._train = train
        super().__init__(root, transform)

    def _get_data(self) -> None:
        _files.unpacked(self._namespace, self._archive, self._train_files + self._test_files, self._root)
        names = [name for name, _ in (self._train_files if self._train else self._test_files)]
        rows = np.concatenate([self._rows_of(os.path.join(self._root, name)) for name in names])
        images = rows[:, self._labels :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self._data = as_mode(ndarray.array(images, dtype=np.uint8))
        self._label = rows[:, self._label_at].astype(np.int32)

    def _rows_of(self, path: str) -> np.ndarray:
        return np.fromfile(path, np.uint8).reshape(-1, self._labels + 3072)


class CIFAR100(CIFAR10):
    """Photographs of a hundred kinds of things: as CIFAR10, of the files `train.bin` and `test.bin`.

    Args:
        fine_label: labels are the hundred kinds; else the twenty groups of them.
    """

    _namespace = "cifar100"
    _archive = ("cifar-100-binary.tar.gz", "a0bb982c76b83111308126cc779a992fa506b90b")
    _train_files = [("train.bin", "e207cd2e05b73b1393c74c7f5e7bea451d63e08e")]
    _test_files = [("test.bin", "8fb6623e830365ff53cf14adec797474f5478006")]
    _labels = 2

    def __init__(
        self,
        root: str = _files.folder_of("cifar100"),
        fine_label: bool = False,
        train: bool = True,
        transform: Callable | None = None,
    ) -> None:
        self._fine_label = fine_label
        self._label_at = int(fine_label)
        super().__init__(root, train, transform)


class ImageRecordDataset(dataset.RecordFileDataset):
    """The images and labels of a file of records.

    Args:
        flag: 1: images of three channels; 0: of one.
        transform: a function of image and label.
    """

    def __init__(self, filename: str, flag: int = 1, transform: Callable | None = None) -> None:
        super().__init__(filename)
        self._flag = flag
        self._transform = transform

    def __getitem__(self, idx: Any) -> Any:
        from mxlite import image, recordio

        header, content = recordio.unpack(super().__getitem__(idx))
        decoded = image.imdecode(content, self._flag)
        return (decoded, header.label) if self._transform is None else self._transform(decoded, header.label)


class ImageFolderDataset(dataset.Dataset):
    """The images of a folder with a folder per label: root/label/name.jpg (or .jpeg, .png).

    `synsets` has the labels' names, sorted; `items` pairs (path, number of the label). Other files are skipped with
    a warning.

    Args:
        flag: 1: images of three channels; 0: of one.
        transform: a function of image and label.
    """

    def __init__(self, root: str, flag: int = 1, transform: Callable | None = None) -> None:
        self._root = os.path.expanduser(root)
        self._flag = flag
        self._transform = transform
        self._exts = [".jpg", ".jpeg", ".png"]
        self.synsets: list[str] = []
        self.items: list[tuple[str, int]] = []
        self._list_images(self._root)

    def _list_images(self, root: str) -> None:
        for label in sorted(os.listdir(root)):
            folder = os.path.join(root, label)
            if not os.path.isdir(folder):
                warnings.warn(f"{folder} is no folder; it is left out", stacklevel=3)
                continue
            number = len(self.synsets)
            self.synsets.append(label)
            for name in sorted(os.listdir(folder)):
                path = os.path.join(folder, name)
                kind = os.path.splitext(name)[1]
                if kind.lower() in self._exts:
                    self.items.append((path, number))
                else:
                    only = ", ".join(self._exts)
                    warnings.warn(f"Ignoring {path} of type {kind}. Only support {only}", stacklevel=3)

    def __getitem__(self, idx: Any) -> Any:
        from mxlite import image

        path, label = self.items[idx]
        picture = image.imread(path, self._flag)
        return (picture, label) if self._transform is None else self._transform(picture, label)

    def __len__(self) -> int:
        return len(self.items)


show(globals())
