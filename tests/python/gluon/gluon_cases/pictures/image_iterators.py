"""Iterators of mx.image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from _case import case

from gluon_cases._png import pixels, png, records


def _epochs(iterator, count=2):
    got = [list(iterator.provide_data), list(iterator.provide_label), iterator.batch_size]
    for _ in range(count):
        for batch in iterator:
            data = batch.data[0].asnumpy()
            got.append([data.shape, str(data.dtype), data[:, 0, :2, :2], batch.label[0], batch.pad])
        got.append("end")
        iterator.reset()
    return got


_SIZE = {"batch_size": 2, "data_shape": (3, 4, 5)}
_LABELS = [0.0, 1.0, 2.0, 3.0, 4.0]


def _from_records(mx, folder, index=True, labels=_LABELS, **given):
    paths = records(mx, folder, labels, 4, 5, 3)
    if not index:
        del paths["path_imgidx"]
    return mx.image.ImageIter(**paths, **{**_SIZE, **given})


@case(handle=["pad", "discard", "roll_over"], index=[True, False], batch_size=[2, 3, 5, 7])
def iterator_of_records(mx, folder, handle, index, batch_size):
    return _epochs(_from_records(mx, folder, index, last_batch_handle=handle, batch_size=batch_size), 3)


@case(differs="any text is taken")
def iterator_with_another_handling_of_the_last_batch(mx, folder):
    return _epochs(_from_records(mx, folder, last_batch_handle="keep"), 1)


@case(part_index=[0, 1, 2], num_parts=[2, 3])
def iterator_in_parts(mx, folder, part_index, num_parts):
    return _epochs(_from_records(mx, folder, part_index=part_index, num_parts=num_parts), 1)


@case(what=[{"shuffle": True}, {"num_parts": 2}])
def iterator_without_an_index(mx, folder, what):
    return _epochs(_from_records(mx, folder, False, **what), 1)


@case
def iterator_shuffled(mx, folder):
    return _epochs(_from_records(mx, folder, shuffle=True), 1)


_GIVEN = [
    {"data_shape": (3, 2, 2), "batch_size": 5},
    {"data_shape": (3, 8, 9), "batch_size": 5},
    {"data_shape": (3, 8, 9), "aug_list": []},
    {"aug_list": []},
    {"dtype": "int32"},
    {"dtype": "uint8"},
    {"data_shape": (4, 5)},
    {"data_shape": (1, 4, 5)},
    {"resize": 8, "mean": True},
    {"other": 3},
    {"data_name": "a", "label_name": "b"},
    {"label_width": 2},
]


@case(given=list(range(len(_GIVEN))))
def iterator_with(mx, folder, given):
    return _epochs(_from_records(mx, folder, **_GIVEN[given]), 1)


@case
def iterator_of_two_labels(mx, folder):
    labels = [[i, i + 0.5] for i in range(4)]
    return _epochs(_from_records(mx, folder, labels=labels, label_width=2), 1)


def _files(folder, labels=1):
    lines = []
    for number in range(5):
        Path(folder, f"{number}.png").write_bytes(png(pixels(4, 5, 3, seed=number)))
        words = [str(number), *(str(number * 2 + each) for each in range(labels)), f"{number}.png"]
        lines.append("\t".join(words) + "\n")
    Path(folder, "a.lst").write_text("".join(lines))
    return {"path_imglist": str(Path(folder, "a.lst")), "path_root": folder}


@case(labels=[1, 2], label_width=[1, 2])
def iterator_of_a_list_file(mx, folder, labels, label_width):
    return _epochs(mx.image.ImageIter(**_SIZE, **_files(folder, labels), label_width=label_width), 1)


_LISTS = {
    "one label": ([[1, "0.png"], [2, "1.png"]], 1),
    "two labels": ([[1, 2, "0.png"], [3, 4, "1.png"]], 2),
    "a list of labels": ([[[1, 2], "0.png"], [[3, 4], "1.png"]], 2),
}


@case(given=list(_LISTS))
def iterator_of_a_list(mx, folder, given):
    _files(folder)
    imglist, width = _LISTS[given]
    return _epochs(mx.image.ImageIter(**_SIZE, imglist=imglist, path_root=folder, label_width=width), 1)


@case(index=[True, False])
def iterator_of_records_and_a_list(mx, folder, index):
    return _epochs(_from_records(mx, folder, index, path_imglist=_files(folder)["path_imglist"]), 1)


@case
def iterator_of_missing_images(mx, folder):
    return _epochs(mx.image.ImageIter(**_SIZE, **{**_files(folder), "path_root": folder + "/none"}), 1)


@case
def iterator_of_nothing(mx):
    return mx.image.ImageIter(**_SIZE)


@case
def samples_by_hand(mx, folder):
    iterator = _from_records(mx, folder)
    label, data = iterator.next_sample()
    image = iterator.imdecode(data)
    changed = iterator.augmentation_transform(image)
    return [label, data, image, changed, iterator.postprocess_data(image), list(iterator.seq), len(iterator.auglist)]


_HEADS = {2: [2, 5], 4: [4, 5, 9, 9]}


def _objects(count, head=2):
    return _HEADS[head] + sum([[count + i, 0.1, 0.2, 0.5, 0.6 + 0.1 * i] for i in range(count)], [])


def _detection(mx, folder, **given):
    paths = records(mx, folder, [_objects(each + 1) for each in range(3)], 10, 12, 3)
    return mx.image.ImageDetIter(**{"batch_size": 2, "data_shape": (3, 10, 12), **paths, **given})


@case(handle=["pad", "discard", "roll_over"], size=[(10, 12), (5, 6)])
def detection_iterator(mx, folder, handle, size):
    return _epochs(_detection(mx, folder, last_batch_handle=handle, data_shape=(3, *size)))


_PARSED = {
    "one": [2, 5, 1, 0.1, 0.2, 0.5, 0.6],
    "long head": _objects(1, 4),
    "six columns": [2, 6, 1, 0.1, 0.2, 0.5, 0.6, 0.7],
    "second is empty": [2, 5, 1, 0.1, 0.2, 0.5, 0.6, 1, 0.5, 0.5, 0.4, 0.4],
    "none": [2, 5],
    "short head": [1, 5, 1, 0.1, 0.2, 0.5, 0.6],
    "empty": [2, 5, 1, 0.5, 0.2, 0.1, 0.6],
    "cut": [2, 5, 1, 0.1, 0.2, 0.5],
    "three": [1, 2, 3],
}


@case(label=list(_PARSED))
def parsed_label(mx, folder, label):
    return _detection(mx, folder)._parse_label(np.array(_PARSED[label]))


@case(label_shape=[(3, 5), (6, 5), (1, 5), (5,), (4, 7)])
def detection_iterator_reshaped(mx, folder, label_shape):
    iterator = _detection(mx, folder)
    iterator.reshape((3, 4, 4), label_shape)
    return [iterator.label_shape, iterator.provide_label, iterator.provide_data]


@case(verbose=[True, False])
def detection_iterators_together(mx, folder, verbose):
    one, other = _detection(mx, folder), _detection(mx, folder)
    other.reshape(None, (6, 5))
    one.sync_label_shape(other, verbose)
    return [one.label_shape, other.label_shape, next(one).label[0]]


@case
def detection_iterator_drawn(mx, folder):
    return [(each.shape, str(each.dtype)) for each in _detection(mx, folder).draw_next()]
