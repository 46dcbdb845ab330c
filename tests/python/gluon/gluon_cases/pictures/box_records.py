"""ImageDetRecordIter: images with boxes, where what is done to them does not depend on chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from _case import case

from gluon_cases._png import pixels, png

_LABELS = [
    [2, 5, 0, 0.1, 0.2, 0.4, 0.5],
    [2, 5, 1, 0.25, 0.25, 0.75, 0.75, 2, 0.5, 0.1, 0.9, 0.4],
    [4, 6, 7, 8, 3, 0.3, 0.3, 0.6, 0.9, 55, 1, 0, 0, 1, 1, 66],
]
_SIZES = [(20, 26), (23, 17), (13, 13)]


def _written(mx, folder, labels=_LABELS):
    path = str(Path(folder, "a.rec"))
    writer = mx.recordio.MXRecordIO(path, "w")
    for number, label in enumerate(labels):
        image = png(pixels(*_SIZES[number % 3], 3, seed=number))
        writer.write(mx.recordio.pack(mx.recordio.IRHeader(0, label, number, 0), image))
    writer.close()
    return path


def _batches(mx, folder, labels=_LABELS, **given):
    sizes = {"data_shape": (3, 12, 14), "batch_size": 1, "verbose": False, "preprocess_threads": 1}
    iterator = mx.io.ImageDetRecordIter(path_imgrec=_written(mx, folder, labels), **{**sizes, **given})
    shapes = [[each.name, each.shape] for each in iterator.provide_data + iterator.provide_label]
    return shapes, [(batch.data[0].asnumpy(), batch.label[0].asnumpy(), batch.pad) for batch in iterator]


@case(resize_mode=["force", "fit", "shrink"], data_shape=[(3, 12, 14), (3, 30, 25)], inter_method=[0, 1, 2, 3, 4, 9])
def sizes(mx, folder, resize_mode, data_shape, inter_method):
    return _batches(mx, folder, resize_mode=resize_mode, data_shape=data_shape, inter_method=inter_method)


_GIVEN = {
    "batches": {"batch_size": 2},
    "padded": {"label_pad_width": 25},
    "padded with another value": {"label_pad_width": 16, "label_pad_value": -7},
    "padded to less": {"label_pad_width": 10},
    "other widths": {"label_width": 7},
    "mirrored": {"rand_mirror_prob": 1},
    "resized": {"resize": 30},
    "resized to nothing": {"resize": 0},
    "gray": {"data_shape": (1, 12, 14)},
    "values": {"mean_r": 10, "mean_g": 20, "std_r": 3, "std_b": 7, "scale": 0.7},
    "negative mean": {"mean_r": -5},
    "negative mean of one": {"mean_r": -5, "mean_g": 3},
    "mean of transparency": {"mean_a": 1, "mean_r": -4},
    "negative deviation": {"std_r": -2},
    "values of what is fitted": {"mean_r": 3, "mean_b": 5, "std_r": 1.7, "scale": 0.3, "resize_mode": "fit"},
    "a part": {"num_parts": 2, "part_index": 0},
    "colours that stay": {"random_hue_prob": 1, "max_random_hue": 1, "random_contrast_prob": 1},
    "contrast that stays": {"random_contrast_prob": 1, "max_random_contrast": 1e-9},
    "gray of a hue": {"data_shape": (1, 12, 14), "random_hue_prob": 1, "max_random_hue": 30},
    "no pad": {"rand_pad_prob": 1, "max_pad_scale": 1},
    "no trials": {"rand_crop_prob": 1, "max_crop_trials": 0},
    "no samplers": {"rand_crop_prob": 1, "num_crop_sampler": 0},
    "no such part": {"rand_crop_prob": 1, "min_crop_overlaps": 0.999, "max_crop_scales": 0.5},
    "no scales": {"min_crop_scales": 1, "max_crop_scales": 1},
    "wrong overlaps": {"min_crop_overlaps": 0.9, "max_crop_overlaps": 0.2},
    "wrong ratios": {"min_crop_aspect_ratios": 2, "max_crop_aspect_ratios": 1},
    "large scales": {"max_crop_scales": 2},
    "scales of two samplers": {"num_crop_sampler": 3, "max_crop_scales": (0.5, 0.6)},
    "a dtype": {"dtype": "uint8"},
    "a method": {"inter_method": 7},
    "two axes": {"data_shape": (3, 4)},
    "two channels": {"data_shape": (2, 3, 4)},
}


@case(given=list(_GIVEN))
def boxes(mx, folder, given):
    return _batches(mx, folder, **_GIVEN[given])


_ODD = {
    "class": [3.0],
    "head": [1, 5, 0, 0.1, 0.1, 0.2, 0.2, 0.3],
    "objects": [2, 4, 0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.4, 0.5],
    "rest": [2, 5, 0, 0.1, 0.1, 0.2, 0.2, 0.3],
    "long head": [3, 5, 9, 0, 0.1, 0.1, 0.2, 0.2],
    "only a head": [9, 5, 0, 0.1, 0.1, 0.2, 0.2, 0.3, 0.4],
    "no area": [2, 5, 0, 0.5, 0.1, 0.2, 0.2],
    "some without area": [2, 5, 0, 0.5, 0.3, 0.7, 0.2, 1, 0.1, 0.1, 0.3, 0.3, 2, 0.2, 0.2, 0.2, 0.3],
    "outside": [2, 5, 0, -0.5, 0.1, 1.2, 0.2],
}


@case(label=list(_ODD), mirror=[0, 1])
def odd_labels(mx, folder, label, mirror):
    return _batches(mx, folder, [_ODD[label]], rand_mirror_prob=mirror)


@case(width=[-1, 12])
def lists(mx, folder, width):
    lines = ["0\t2\t5\t1\t.1\t.2\t.3\t.4\ta.png", "1\t2\t5\t1\t.5\t.6\t.7\t.8\t2\t.1\t.1\t.9\t.9\tb.png"]
    Path(folder, "a.lst").write_text("\n".join([*lines, "2\t2\t5\t4\t.5\t.5\t.6\t.6\tc.png", ""]))
    return _batches(mx, folder, path_imglist=str(Path(folder, "a.lst")), label_width=width)


@case(given=[{}, {"scale": 0.3, "std_r": 7, "resize_mode": "fit"}, {"mean_g": 3}])
def means(mx, folder, given):
    path = str(Path(folder, "mean.bin"))
    first = _batches(mx, folder, mean_img=path, **given)
    mean = mx.nd.load(path)
    return first, {name: each.asnumpy() for name, each in mean.items()}, _batches(mx, folder, mean_img=path)


@case
def parts_and_pads(mx, folder):
    """Whatever is cut and padded: labels that belong to the images."""
    given = {"rand_crop_prob": 0.5, "rand_pad_prob": 0.5, "max_pad_scale": 2, "rand_mirror_prob": 0.5}
    _, batches = _batches(mx, folder, _LABELS * 9, **given)
    labels = [label[0, 4 : 4 + int(label[0, 3])] for _, label, _ in batches]
    return [bool((each[:2] == np.array([[2, 5], [4, 6]])).all(1).any()) for each in labels]
