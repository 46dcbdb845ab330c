"""As image pipelines do: augmenters over images in memory, ImageIter over files, a detector's augmenter."""

import os
import tempfile

import mxnet as mx
import numpy as np
from common import png, squares


class Brighter(mx.image.Augmenter):
    def __init__(self, by):
        super().__init__(by=by)
        self.by = by

    def __call__(self, src):
        return src * self.by


images, labels, boxes = squares(6, 24, channels=3, seed=12)
first = mx.image.imdecode(png(images[0]))
chain = [
    mx.image.ResizeAug(18, interp=1),
    mx.image.ForceResizeAug((20, 16), interp=1),
    mx.image.CenterCropAug((16, 16)),
    mx.image.HorizontalFlipAug(1.0),
    mx.image.CastAug(),
    Brighter(0.5),
    mx.image.ColorNormalizeAug(mx.nd.array([60.0, 50, 40]), mx.nd.array([30.0, 30, 30])),
]
steps = [first]
for each in chain:
    steps.append(each(steps[-1]))
listed = mx.image.CreateAugmenter((3, 16, 16), resize=20, mean=True, std=True, inter_method=1)
with tempfile.TemporaryDirectory() as folder:
    for at, image in enumerate(images):
        with open(os.path.join(folder, f"{at}.png"), "wb") as file:
            file.write(png(image))
    imglist = [[float(label), f"{at}.png"] for at, label in enumerate(labels)]
    batches = mx.image.ImageIter(4, (3, 16, 16), imglist=imglist, path_root=folder, aug_list=listed)
    read = [(batch.data[0].copy(), batch.label[0].copy(), batch.pad) for batch in batches]
    batches.reset()
    again = batches.next().data[0]
flipped, box = mx.image.DetHorizontalFlipAug(1.0)(first, np.array([[2.0, *boxes[0]]]))
found = {
    "decoded": first[10, 10],
    "means": [step.astype("float32").mean().asscalar() for step in steps],
    "shapes": [list(step.shape) for step in steps],
    "kinds": [np.dtype(step.dtype).name for step in steps],
    "augmenters": [type(each).__name__ for each in listed],
    "dumped": chain[2].dumps(),
    "batches": [[float(data.mean().asscalar()), label.asnumpy().tolist(), pad] for data, label, pad in read[:1]],
    "pads": [pad for _, _, pad in read],
    "again": float((again - read[0][0]).abs().max().asscalar()),
    "cropped": list(mx.image.center_crop(first, (10, 12), interp=1)[1]),
    "fixed": mx.image.fixed_crop(first, 2, 3, 8, 8).astype("float32").mean().asscalar(),
    "resized": mx.image.imresize(first, 6, 4, interp=1)[2, 3],
    "scaled": list(mx.image.scale_down((10, 12), (20, 6))),
    "flipped": flipped[4, 3],
    "box": [round(float(each), 6) for each in box[0]],
    "border": mx.image.copyMakeBorder(first, 1, 1, 2, 2).shape[1],
}
