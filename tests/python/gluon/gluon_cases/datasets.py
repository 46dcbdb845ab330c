"""Cases of data sets, samplers and the files of data sets."""

from __future__ import annotations

import gzip
import os
import struct
from typing import Any

import numpy as np
from _case import case, summary

SIZES = [0, 1, 2, 5, 10]


def _simple(mx: Any, size: int = 10) -> Any:
    return mx.gluon.data.SimpleDataset(list(range(size)))


def _listed(dataset: Any) -> list:
    return [dataset[number] for number in range(len(dataset))]


@case(size=SIZES, least=[0, 3, 99])
def filtered(mx, size, least):
    return _listed(_simple(mx, size).filter(lambda x: x >= least))


@case(size=SIZES, shards=[1, 3, 7])
def shards(mx, size, shards):
    return [_listed(_simple(mx, size).shard(shards, number)) for number in range(shards)]


@case(shards=[3, 0, -1], index=[3, -1, 0])
def shard_beyond(mx, shards, index):
    return _listed(_simple(mx).shard(shards, index))


@case(size=SIZES, count=[None, 0, 1, 3, 10, 50, -1, 1.5])
def taken(mx, size, count):
    return _listed(_simple(mx, size).take(count))


@case
def sampled(mx):
    data = mx.gluon.data
    return _listed(_simple(mx).sample(data.SequentialSampler(4, 3)))


@case(sampler=[[1, 2], None, "ab"])
def sampled_by_another(mx, sampler):
    return _simple(mx).sample(sampler)


@case(lazy=[True, False])
def transformed(mx, lazy):
    made = _simple(mx).transform(lambda x: x * 2, lazy)
    return [type(made).__name__, len(made), _listed(made)]


@case(lazy=[True, False])
def transformed_first(mx, lazy):
    pairs = mx.gluon.data.ArrayDataset([1, 2, 3], [4, 5, 6])
    return [_listed(pairs.transform_first(lambda x: x * 10, lazy)), _listed(_simple(mx).transform_first(str, lazy))]


@case(lazy=[True, False])
def transformed_pairs(mx, lazy):
    pairs = mx.gluon.data.ArrayDataset([1, 2, 3], [4, 5, 6])
    return [_listed(pairs.transform(lambda a, b: a * b, lazy)), _listed(_simple(mx).transform(float, lazy))]


@case(lazy=[True, False])
def transform_that_wants_more(mx, lazy):
    return _listed(_simple(mx).transform(lambda a, b: a, lazy))


@case(index=[0, 3, -1, 4, -5])
def array_sample(mx, index):
    arrays = np.arange(12).reshape(4, 3), mx.nd.array([1, 2, 3, 4]), [5, 6, 7, 8]
    return mx.gluon.data.ArrayDataset(*arrays)[index]


@case(kind=["list", "array", "matrix", "numpy"], index=[0, -1])
def array_alone(mx, kind, index):
    made = {
        "list": [1, 2],
        "array": mx.nd.array([1, 2]),
        "matrix": mx.nd.array([[1, 2], [3, 4]]),
        "numpy": np.array([1, 2], "int8"),
    }[kind]
    sample = mx.gluon.data.ArrayDataset(made)[index]
    return [type(sample).__name__, sample]


@case(lengths=[[], [1, 2], [2, 2, 3], [0, 0]])
def array_lengths(mx, lengths):
    return len(mx.gluon.data.ArrayDataset(*[list(range(length)) for length in lengths]))


@case(of=["[0]", "len", "[20]"])
def abstract(mx, of):
    dataset = mx.gluon.data.Dataset()
    return len(dataset) if of == "len" else dataset[int(of[1:-1])]


@case(index=[0, -1, 10])
def simple(mx, index):
    return _simple(mx)[index]


@case(size=SIZES, start=[0, 2, -3])
def sequential(mx, size, start):
    sampler = mx.gluon.data.SequentialSampler(size, start)
    return [list(sampler), len(sampler)]


@case(size=SIZES)
def at_random(mx, size):
    sampler = mx.gluon.data.RandomSampler(size)
    return [list(sampler), list(sampler), len(sampler)]


@case(size=SIZES, least=[0, 3])
def filter_sampler(mx, size, least):
    sampler = mx.gluon.data.FilterSampler(lambda x: x > least, _simple(mx, size))
    return [list(sampler), len(sampler)]


@case(size=SIZES, batch=[1, 3, 10], last=["keep", "discard", "rollover"])
def batches(mx, size, batch, last):
    sampler = mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(size), batch, last)
    return [[list(sampler), len(sampler)] for _ in range(3)]


@case(last=["x", None, ""], of=["list", "len"])
def batches_last(mx, last, of):
    sampler = mx.gluon.data.BatchSampler(mx.gluon.data.SequentialSampler(5), 3, last)
    return list(sampler) if of == "list" else len(sampler)


@case(of=["list", "len", "iter"])
def abstract_sampler(mx, of):
    sampler = mx.gluon.data.Sampler()
    return {"list": list, "len": len, "iter": iter}[of](sampler)


@case(length=[3, 13], interval=[1, 3, 5], rollover=[True, False])
def interval(mx, length, interval, rollover):
    sampler = mx.gluon.contrib.data.IntervalSampler(length, interval, rollover)
    return [list(sampler), len(sampler)]


def _records(mx: Any, folder: str) -> str:
    path = os.path.join(folder, "a.rec")
    writer = mx.recordio.MXIndexedRecordIO(os.path.join(folder, "a.idx"), path, "w")
    for number in range(4):
        header = mx.recordio.IRHeader(0, float(number) if number % 2 else [1.0, number], number, 0)
        image = np.full((4, 5, 3), number * 9, "uint8")
        writer.write_idx(number, mx.recordio.pack_img(header, image, img_fmt=".png"))
    writer.close()
    return path


@case(index=[0, -1])
def record(mx, index, folder):
    path = os.path.join(folder, "a.rec")
    writer = mx.recordio.MXIndexedRecordIO(os.path.join(folder, "a.idx"), path, "w")
    for number in range(4):
        writer.write_idx(number * 3, b"x" * number)
    writer.close()
    dataset = mx.gluon.data.RecordFileDataset(path)
    return [len(dataset), dataset[index], os.path.basename(dataset.idx_file)]


@case(of=["RecordFileDataset", "ImageRecordDataset"])
def record_missing(mx, of, folder):
    places = {**vars(mx.gluon.data), "ImageRecordDataset": mx.gluon.data.vision.ImageRecordDataset}
    return places[of](os.path.join(folder, "none.rec"))


@case(flag=[0, 1], index=[0, 1, 3, 4])
def image_record(mx, flag, index, folder):
    return mx.gluon.data.vision.ImageRecordDataset(_records(mx, folder), flag)[index]


@case
def image_record_transform(mx, folder):
    path = _records(mx, folder)
    return mx.gluon.data.vision.ImageRecordDataset(path, 1, lambda image, label: (image.shape, label))[1]


def _pictures(mx: Any, folder: str) -> str:
    from_record = mx.recordio.pack_img(
        mx.recordio.IRHeader(0, 1.0, 0, 0), np.full((2, 3, 3), 7, "uint8"), img_fmt=".png"
    )
    content = mx.recordio.unpack(from_record)[1]
    for label in ("b", "a", "c.d"):
        os.makedirs(os.path.join(folder, label))
        for name in ("2.png", "1.PNG", "n.txt", "x.jpeg", "none"):
            with open(os.path.join(folder, label, name), "wb") as file:
                file.write(content)
    open(os.path.join(folder, "top.png"), "w").close()
    return folder


@case(flag=[0, 1])
def image_folder(mx, flag, folder):
    dataset = mx.gluon.data.vision.ImageFolderDataset(_pictures(mx, folder), flag)
    items = [(os.path.relpath(path, folder), label) for path, label in dataset.items]
    return [dataset.synsets, items, len(dataset), dataset[4]]


@case
def image_folder_transform(mx, folder):
    dataset = mx.gluon.data.vision.ImageFolderDataset(_pictures(mx, folder), transform=lambda x, y: (x.shape, y))
    return [dataset[0], dataset[-1]]


@case
def image_folder_missing(mx, folder):
    return mx.gluon.data.vision.ImageFolderDataset(os.path.join(folder, "none"))


def _any_file_will_do(mx: Any) -> None:
    """Takes files as they are, whatever their sums."""
    for module in (mx.gluon.utils, mx.gluon.data.vision.datasets):
        module.check_sha1 = lambda path, sha1: True


@case(name=["MNIST", "FashionMNIST"], train=[True, False], index=[0, 2])
def mnist(mx, name, train, index, folder):
    kept = mx.gluon.utils.check_sha1
    _any_file_will_do(mx)
    try:
        for part, count in (("train", 5), ("t10k", 3)):
            with gzip.open(f"{folder}/{part}-labels-idx1-ubyte.gz", "wb") as file:
                file.write(struct.pack(">II", 2049, count) + bytes(range(count)))
            with gzip.open(f"{folder}/{part}-images-idx3-ubyte.gz", "wb") as file:
                file.write(struct.pack(">IIII", 2051, count, 28, 28) + np.random.bytes(784 * count))
        dataset = getattr(mx.gluon.data.vision, name)(folder, train)
        image, label = dataset[index]
        return [len(dataset), summary(image), label, type(label).__name__, str(dataset._label.dtype)]
    finally:
        mx.gluon.utils.check_sha1 = mx.gluon.data.vision.datasets.check_sha1 = kept


@case(name=["CIFAR10", "CIFAR100"], train=[True, False], fine=[True, False], transform=[True, False])
def cifar(mx, name, train, fine, transform, folder):
    kept = mx.gluon.utils.check_sha1
    _any_file_will_do(mx)
    try:
        row = 3073 if name == "CIFAR10" else 3074
        for file in [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch", "train", "test"]:
            np.random.randint(0, 255, (2, row)).astype("uint8").tofile(f"{folder}/{file}.bin")
        more = {"fine_label": fine} if name == "CIFAR100" else {}
        if transform:
            more["transform"] = lambda image, label: (image.transpose((2, 0, 1)), label + label)
        dataset = getattr(mx.gluon.data.vision, name)(folder, train=train, **more)
        image, label = dataset[1]
        return [len(dataset), summary(image), label, type(label).__name__, list(dataset._label)]
    finally:
        mx.gluon.utils.check_sha1 = mx.gluon.data.vision.datasets.check_sha1 = kept
