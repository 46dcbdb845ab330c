"""mx.io."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path

import numpy as np
from _case import case

from gluon_cases._png import pixels, records


def _batch(batch):
    labels = None if batch.label is None else [each.asnumpy() for each in batch.label]
    index = None if batch.index is None else np.asarray(batch.index).astype("int64")
    return [[each.asnumpy() for each in batch.data], labels, batch.pad, index]


def _epochs(iterator, count=3):
    got = [_descriptions(iterator)]
    for _ in range(count):
        got.append([_batch(batch) for batch in iterator])
        iterator.reset()
    return got


def _descriptions(iterator):
    kinds = iterator.provide_data, iterator.provide_label
    return [[[each.name, each.shape, np.dtype(each.dtype).name, each.layout] for each in kind] for kind in kinds]


# ---- descriptions and batches


@case(layout=[None, "NCHW", "TNC", "CH", "N", ""])
def batch_axis(mx, layout):
    return mx.io.DataDesc.get_batch_axis(layout)


@case
def description(mx):
    one = mx.io.DataDesc("a", (2, 3))
    other = mx.io.DataDesc("b", (2,), "float16", "NC")
    same = [one == ("a", (2, 3)), one == mx.io.DataDesc("a", (2, 3), "int8"), hash(one) == hash(("a", (2, 3)))]
    return [repr(other), tuple(one), np.dtype(one.dtype).name, one.layout, len(one), one[1], other.dtype, *same]


@case
def pickled_description(mx):
    copy = pickle.loads(pickle.dumps(mx.io.DataDesc("a", (2, 3), "int8", "NC")))
    return [copy.name, copy.shape, copy.dtype, copy.layout]


@case(types=[None, [("a", "float16"), ("b", "int8")], [("a", "int8")]])
def list_of_descriptions(mx, types):
    return [repr(each) for each in mx.io.DataDesc.get_list([("a", (1, 2)), ("b", (3,))], types)][:1] + [
        each.name for each in mx.io.DataDesc.get_list([("a", (1, 2)), ("b", (3,))], types)
    ]


@case(data=["list", "tuple", "number", "none"], label=["list", "tuple", "number", "none"])
def batch(mx, data, label):
    kinds = {"list": [mx.nd.ones((2, 3))], "tuple": (mx.nd.ones((2,)),), "number": 3, "none": None}
    made = mx.io.DataBatch(kinds[data], kinds[label], pad=1)
    return [made.pad, made.index, made.bucket_key, made.provide_data, made.provide_label, sorted(vars(made))]


@case(label=[True, False])
def batch_as_text(mx, label):
    return str(mx.io.DataBatch([mx.nd.ones((2, 3)), mx.nd.ones((2,))], [mx.nd.ones((2,))] if label else None))


@case(method=["reset", "iter_next", "getdata", "getlabel", "getindex", "getpad", "next", "__next__"])
def base_class(mx, method):
    iterator = mx.io.DataIter(3)
    assert iter(iterator) is iterator
    return [iterator.batch_size, getattr(iterator, method)()]


# ---- arrays


@case(handle=["pad", "discard", "roll_over"], count=[4, 5, 7, 8], batch_size=[2, 3])
def arrays(mx, handle, count, batch_size):
    data = np.arange(count * 2.0).reshape(count, 2)
    return _epochs(mx.io.NDArrayIter(data, np.arange(count) * 10, batch_size, last_batch_handle=handle))


@case(handle=["pad", "discard", "roll_over"], batch_size=[6, 7])
def batches_larger_than_the_data(mx, handle, batch_size):
    return _epochs(mx.io.NDArrayIter(np.arange(5.0), None, batch_size, last_batch_handle=handle))


@case(batch_size=[12, 23])
def batches_of_all_data_and_more(mx, batch_size):
    return _epochs(mx.io.NDArrayIter(np.arange(10.0).reshape(5, 2), None, batch_size))


@case(dtype=["float16", "float32", "float64", "uint8", "int8", "int32", "int64"], own=[False, True])
def dtypes(mx, dtype, own):
    data = np.arange(4).astype(dtype)
    given = mx.nd.array(data, dtype=dtype) if own else data
    return _epochs(mx.io.NDArrayIter(given, given, 2), 1)


_GIVEN = {
    "dict": lambda a: {"b": a, "a": a + 1},
    "list": lambda a: [a, a + 1],
    "one in a list": lambda a: [a],
    "lists": lambda a: [[1, 2], [3, 4]],
    "dict of lists": lambda a: {"a": [1, 2, 3]},
    "tuple": lambda a: (a, a),
    "pairs": lambda a: [("x", a)],
    "none": lambda a: None,
    "empty": lambda a: [],
    "text": lambda a: "abc",
    "number": lambda a: 3,
    "no axes": lambda a: np.array(1.0),
    "no samples": lambda a: np.zeros((0, 2)),
}


@case(given=list(_GIVEN), place=["data", "label"])
def kinds_of_data(mx, given, place):
    value = _GIVEN[given](np.arange(2.0))
    data, label = (value, None) if place == "data" else (np.arange(2.0), value)
    if place == "label" and given in ("dict of lists", "no axes", "no samples", "number"):
        return "1.9.1 asks for as many labels as data only later"
    return _epochs(mx.io.NDArrayIter(data, label, 1), 1)


@case(given=["dict", "list", "one in a list", "none", "empty", "text"], allow_empty=[True, False])
def init_data(mx, given, allow_empty):
    return [(name, each) for name, each in mx.io._init_data(_GIVEN[given](np.arange(2.0)), allow_empty, "d")]


@case
def names_of_arrays(mx):
    one = mx.io.NDArrayIter(np.ones(4), np.ones(4), 2, data_name="q", label_name="w")
    more = mx.io.NDArrayIter([np.ones(4)] * 2, [np.ones(4)] * 2, 2, data_name="q", label_name="w", layout="NC")
    return [_descriptions(one), _descriptions(more)]


@case(batch_size=[0, 2.0, 1.5])
def bad_batch_size(mx, batch_size):
    return _epochs(mx.io.NDArrayIter(np.arange(4.0), None, batch_size))


@case
def labels_of_another_length(mx):
    return _epochs(mx.io.NDArrayIter(np.arange(5.0), np.arange(4.0), 2), 1)


@case(differs="any text is taken, as discard")
def another_handling_of_the_last_batch(mx):
    return _epochs(mx.io.NDArrayIter(np.arange(5.0), None, 2, last_batch_handle="keep"), 1)


@case(differs="no batch and no error")
def negative_batch_size(mx):
    return _epochs(mx.io.NDArrayIter(np.arange(5.0), None, -1), 1)


@case(handle=["pad", "discard", "roll_over"], count=[4, 5])
def shuffled(mx, handle, count):
    iterator = mx.io.NDArrayIter(np.arange(float(count)), np.arange(count), 2, True, handle)
    return _epochs(iterator, 1)


@case
def shuffled_covers_all(mx):
    iterator = mx.io.NDArrayIter(np.arange(9.0), np.arange(9.0), 3, shuffle=True)
    got = []
    for _ in range(3):
        batches = [(batch.data[0].asnumpy(), batch.label[0].asnumpy()) for batch in iterator]
        iterator.reset()
        data, label = (np.concatenate(each) for each in zip(*batches))
        got.append([np.sort(data), bool((data == label).all())])
    return got


@case
def steps_by_hand(mx):
    iterator = mx.io.NDArrayIter(np.arange(5.0), np.arange(5.0), 2)
    got = [iterator.cursor, iterator.num_data, iterator.num_source, iterator.getpad()]
    while iterator.iter_next():
        got += [iterator.cursor, iterator.getdata(), iterator.getlabel(), iterator.getpad(), iterator.getindex()]
    iterator.hard_reset()
    return [*got, iterator.cursor]


@case
def no_batch_yet(mx):
    return mx.io.NDArrayIter(np.arange(5.0), None, 2).getdata()


@case
def hard_reset_forgets(mx):
    iterator = mx.io.NDArrayIter(np.arange(5.0), None, 2, last_batch_handle="roll_over")
    first = [_batch(each) for each in iterator]
    iterator.hard_reset()
    return [first, [_batch(each) for each in iterator]]


@case
def at_the_end(mx):
    iterator = mx.io.NDArrayIter(np.arange(2.0), None, 2)
    iterator.next()
    return iterator.next()


# ---- iterators over iterators


def _arrays(mx, factor=1, count=5):
    return mx.io.NDArrayIter(np.arange(float(count)) * factor, np.arange(float(count)), 2)


@case(size=[0, 1, 3, 5, 8], reset_internal=[True, False])
def resized(mx, size, reset_internal):
    return _epochs(mx.io.ResizeIter(_arrays(mx), size, reset_internal), 2)


@case
def resized_by_hand(mx):
    iterator = mx.io.ResizeIter(_arrays(mx), 4)
    got = [iterator.batch_size, iterator.size, iterator.cur]
    while iterator.iter_next():
        got += [iterator.getdata(), iterator.getlabel(), iterator.getpad(), iterator.getindex()]
    return got


@case(count=[4, 5])
def prefetched(mx, count):
    return _epochs(mx.io.PrefetchingIter(_arrays(mx, 1, count)))


@case(rename=[True, False])
def prefetched_together(mx, rename):
    names = [[{"data": "x"}, {"data": "y"}], [{"softmax_label": "l"}, {"softmax_label": "m"}]] if rename else []
    iterator = mx.io.PrefetchingIter([_arrays(mx), _arrays(mx, 2)], *names)
    return [iterator.batch_size, iterator.n_iter, _epochs(iterator, 2)]


@case
def prefetched_by_hand(mx):
    iterator = mx.io.PrefetchingIter(_arrays(mx))
    got = []
    while iterator.iter_next():
        got += [iterator.getdata(), iterator.getlabel(), iterator.getpad(), iterator.getindex()]
    return got


@case
def prefetched_of_none(mx):
    return mx.io.PrefetchingIter([])


# ---- files


def _csv(folder, name, rows, columns, factor=1):
    path = Path(folder, name)
    path.write_text(
        "".join(",".join(str((i * columns + j) * factor) for j in range(columns)) + "\n" for i in range(rows))
    )
    return str(path)


@case(round_batch=[True, False], batch_size=[2, 3, 5], label=[True, False])
def csv(mx, folder, round_batch, batch_size, label):
    more = {"label_csv": _csv(folder, "l.csv", 5, 1, 10)} if label else {}
    data = _csv(folder, "a.csv", 5, 3)
    return _epochs(
        mx.io.CSVIter(data_csv=data, data_shape=(3,), batch_size=batch_size, round_batch=round_batch, **more)
    )


@case(dtype=["float32", "int32", "int64"])
def csv_of_a_dtype(mx, folder, dtype):
    return _epochs(mx.io.CSVIter(data_csv=_csv(folder, "a.csv", 4, 2), data_shape=(2,), batch_size=2, dtype=dtype), 1)


@case(dtype=["float64", "uint8", "float16"])
def csv_of_a_refused_dtype(mx, folder, dtype):
    return mx.io.CSVIter(data_csv=_csv(folder, "a.csv", 4, 2), data_shape=(2,), batch_size=2, dtype=dtype)


@case(data_shape=[(2, 3), (6,), (1, 6, 1), "(3, 2)"])
def csv_in_a_shape(mx, folder, data_shape):
    return _epochs(mx.io.CSVIter(data_csv=_csv(folder, "a.csv", 4, 6), data_shape=data_shape, batch_size=2), 1)


@case(label_shape=[(2,), (2, 1)])
def csv_labels_in_a_shape(mx, folder, label_shape):
    more = {"label_csv": _csv(folder, "l.csv", 4, 2, 10), "label_shape": label_shape}
    return _epochs(mx.io.CSVIter(data_csv=_csv(folder, "a.csv", 4, 3), data_shape=(3,), batch_size=2, **more), 1)


@case
def csv_names(mx, folder):
    more = {"data_name": "x", "label_name": "y"}
    return _epochs(mx.io.CSVIter(data_csv=_csv(folder, "a.csv", 4, 3), data_shape=(3,), batch_size=4, **more), 1)


@case(missing=["data_csv", "data_shape", "batch_size"])
def csv_without(mx, folder, missing):
    given = {"data_csv": _csv(folder, "a.csv", 4, 3), "data_shape": (3,), "batch_size": 2}
    del given[missing]
    return mx.io.CSVIter(**given)


@case
def csv_missing_file(mx, folder):
    return mx.io.CSVIter(data_csv=str(Path(folder, "none")), data_shape=(3,), batch_size=2)


def _mnist(folder):
    images = (np.arange(30) * 8 % 256).astype("uint8").reshape(5, 2, 3)
    paths = {}
    for name, array in (("image", images), ("label", np.arange(5, dtype="uint8"))):
        head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
        Path(folder, name).write_bytes(head + array.tobytes())
        paths[name] = str(Path(folder, name))
    return paths


@case(batch_size=[1, 2, 5], flat=[True, False])
def mnist(mx, folder, batch_size, flat):
    given = {"batch_size": batch_size, "flat": flat, "shuffle": False, "silent": True}
    iterator = mx.io.MNISTIter(**_mnist(folder), **given)
    got = []
    for _ in range(2):
        got.append([_batch(each) for each in iterator])
        iterator.reset()
    return [_descriptions(iterator), got]


@case(differs="the iterator cannot be made")
def mnist_of_fewer_images_than_a_batch(mx, folder):
    return _epochs(mx.io.MNISTIter(**_mnist(folder), batch_size=7, silent=True), 1)


@case(part_index=[0, 1, 2])
def mnist_in_parts(mx, folder, part_index):
    given = {"batch_size": 1, "shuffle": False, "silent": True, "num_parts": 3, "part_index": part_index}
    return _epochs(mx.io.MNISTIter(**_mnist(folder), **given), 1)


@case
def mnist_shuffled(mx, folder):
    iterator = mx.io.MNISTIter(**_mnist(folder), batch_size=5, silent=True, seed=3)
    batch = iterator.next()
    return [np.sort(batch.label[0].asnumpy()), batch.data[0].asnumpy().sum(), batch.data[0].shape]


@case(missing=["image", "label"])
def mnist_missing_file(mx, folder, missing):
    return mx.io.MNISTIter(**{**_mnist(folder), missing: str(Path(folder, "none"))}, batch_size=1)


_SVM = "1 0:0.5 2:1.5\n0 1:2\n\n3.5 0:1 1:3\n4 1:6\n5 2:-1e-3\n"


@case(given=[{}, {"num_parts": 2, "part_index": 1}, {"round_batch": False}, {"data_shape": (3, 1)}, {"label_shape": 2}])
def libsvm(mx, folder, given):
    path = Path(folder, "a.svm")
    path.write_text(_SVM)
    iterator = mx.io.LibSVMIter(**{"data_libsvm": str(path), "data_shape": (3,), "batch_size": 2, **given})
    return _epochs(iterator, 2)


@case
def libsvm_labels(mx, folder):
    path = Path(folder, "a.svm")
    path.write_text(_SVM)
    given = {"data_libsvm": str(path), "label_libsvm": str(path), "data_shape": (3,), "label_shape": (3,)}
    return [batch.label[0].asnumpy() for batch in mx.io.LibSVMIter(**given, batch_size=2)]


# ---- records of images


def _images(mx, folder, shape=(2, 2, 3), labels=(0.0, 1.0, 2.0, 3.0, 4.0), **given):
    paths = records(mx, folder, list(labels), *shape)
    given = {"batch_size": len(labels), "data_shape": (3, 2, 2), "verbose": False, **given}
    return mx.io.ImageRecordIter(path_imgrec=paths["path_imgrec"], **given)


@case(batch_size=[1, 2, 5])
def images(mx, folder, batch_size):
    return _epochs(_images(mx, folder, batch_size=batch_size))


@case(batch_size=[1, 5])
def images_not_rounded(mx, folder, batch_size):
    return _epochs(_images(mx, folder, batch_size=batch_size, round_batch=False))


_VALUES = {
    "mean": {"mean_r": 10, "mean_g": 20, "mean_b": 30},
    "mean of red": {"mean_r": 10},
    "std": {"std_r": 2, "std_g": 4, "std_b": 5},
    "scale": {"scale": 1 / 255},
    "all": {"mean_r": 10.5, "mean_g": 2, "mean_b": 3, "std_r": 2, "std_g": 4, "std_b": 5, "scale": 0.5},
    "mirror": {"mirror": True},
    "text": {"mean_r": "10", "mirror": "True", "batch_size": "5", "data_shape": "(3, 2, 2)"},
    "uint8": {"dtype": "uint8"},
    "int8": {"dtype": "int8"},
}


@case(values=list(_VALUES))
def images_with_values(mx, folder, values):
    return _epochs(_images(mx, folder, **_VALUES[values]), 1)


@case(kind=["ImageRecordUInt8Iter", "ImageRecordInt8Iter"])
def images_of_bytes(mx, folder, kind):
    paths = records(mx, folder, [0.0, 1.0], 2, 2, 3)
    return _epochs(getattr(mx.io, kind)(**paths, batch_size=2, data_shape=(3, 2, 2), verbose=False), 2)


@case(part_index=[0, 1], num_parts=[2, 3])
def images_in_parts(mx, folder, part_index, num_parts):
    return _epochs(_images(mx, folder, batch_size=1, part_index=part_index, num_parts=num_parts), 2)


@case(part_index=[0, 1])
def images_in_parts_by_index(mx, folder, part_index):
    paths = records(mx, folder, [0.0, 1.0, 2.0, 3.0, 4.0], 2, 2, 3)
    given = {"batch_size": 1, "data_shape": (3, 2, 2), "verbose": False, "part_index": part_index, "num_parts": 2}
    return _epochs(mx.io.ImageRecordIter(**paths, **given), 1)


@case(
    shape=[(5, 7, 3), (3, 4, 3), (2, 2, 3), (2, 5, 3), (5, 2, 3), (1, 1, 3)],
    data_shape=[(3, 2, 2), (3, 3, 4), (1, 2, 2)],
)
def images_cropped(mx, folder, shape, data_shape):
    return _epochs(_images(mx, folder, shape, (0.0,), data_shape=data_shape), 1)


@case(resize=[3, 4, 8], shape=[(5, 7, 3), (6, 4, 3)], inter_method=[0, 1, 2])
def images_resized(mx, folder, resize, shape, inter_method):
    return _epochs(_images(mx, folder, shape, (0.0,), resize=resize, inter_method=inter_method), 1)


@case(pad=[1, 2], fill_value=[255, 7])
def images_padded(mx, folder, pad, fill_value):
    return _epochs(_images(mx, folder, (2, 3, 3), (0.0,), pad=pad, fill_value=fill_value, data_shape=(3, 4, 5)), 1)


@case(label_width=[1, 2, 3], labels=[1, 2])
def images_with_labels(mx, folder, label_width, labels):
    given = [[i, i + 0.5][:labels] if labels > 1 else float(i) for i in range(2)]
    return _epochs(_images(mx, folder, labels=given, label_width=label_width), 1)


@case
def images_shuffled(mx, folder):
    labels = next(_images(mx, folder, shuffle=True)).label[0].asnumpy()
    return np.sort(labels)


@case
def images_cropped_at_random(mx, folder):
    iterator = _images(mx, folder, (6, 6, 3), rand_crop=True, rand_mirror=True)
    batch = next(iterator).data[0].asnumpy()
    inside = [np.isin(each, pixels(6, 6, 3, seed=i)).all() for i, each in enumerate(batch)]
    return [batch.shape, [bool(each) for each in inside]]


_BAD = {
    "no shape": {"data_shape": None},
    "two axes": {"data_shape": (2, 2)},
    "dtype": {"dtype": "float16"},
    "large batches": {"batch_size": 12},
    "no number": {"batch_size": "x"},
}


@case(bad=list(_BAD))
def images_refused(mx, folder, bad):
    given = {"batch_size": 5, "data_shape": (3, 2, 2), **_BAD[bad]}
    given = {name: value for name, value in given.items() if value is not None}
    paths = records(mx, folder, [0.0, 1.0], 2, 2, 3)
    return _epochs(mx.io.ImageRecordIter(path_imgrec=paths["path_imgrec"], verbose=False, **given), 1)


@case
def images_of_a_missing_file(mx, folder):
    path = str(Path(folder, "none.rec"))
    return mx.io.ImageRecordIter(path_imgrec=path, batch_size=1, data_shape=(3, 2, 2), verbose=False)


@case
def images_of_no_file(mx):
    return mx.io.ImageRecordIter(batch_size=1, data_shape=(3, 2, 2), verbose=False)
