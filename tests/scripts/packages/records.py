"""As im2rec's users do: images packed into RecordIO with an index, read back, and by ImageRecordIter in batches."""

import os
import tempfile

import mxnet as mx
import numpy as np
from common import png, squares

images, labels, boxes = squares(9, 20, channels=3, seed=13)
with tempfile.TemporaryDirectory() as folder:
    record, index = os.path.join(folder, "train.rec"), os.path.join(folder, "train.idx")
    writer = mx.recordio.MXIndexedRecordIO(index, record, "w")
    for at, image in enumerate(images):
        label = float(labels[at]) if at % 2 else np.array([labels[at], *boxes[at]], "float32")
        writer.write_idx(at, mx.recordio.pack(mx.recordio.IRHeader(0, label, at, 0), png(image)))
    writer.close()
    reader = mx.recordio.MXIndexedRecordIO(index, record, "r")
    header, data = mx.recordio.unpack(reader.read_idx(4))
    second, _ = mx.recordio.unpack(reader.read_idx(5))
    keys = list(reader.keys)
    decoded = mx.image.imdecode(data)
    reader.close()
    plain = mx.recordio.MXRecordIO(record, "r")
    count = 0
    while plain.read():
        count += 1
    plain.reset()
    plain.close()
    only = os.path.join(folder, "only.rec")
    writer = mx.recordio.MXRecordIO(only, "w")
    for at, image in enumerate(images):
        writer.write(mx.recordio.pack(mx.recordio.IRHeader(0, float(labels[at]), at, 0), png(image)))
    writer.close()
    batches = mx.io.ImageRecordIter(
        path_imgrec=only,
        data_shape=(3, 20, 20),
        batch_size=4,
        mean_r=60,
        mean_g=50,
        mean_b=40,
        std_r=30,
        std_g=30,
        std_b=30,
        preprocess_threads=1,
        shuffle=False,
    )
    read = [(batch.data[0].copy(), batch.label[0].copy(), batch.pad, batch.index.tolist()) for batch in batches]
    dataset = mx.gluon.data.RecordFileDataset(record)
    raw = len(dataset[2])
    pictures = mx.gluon.data.vision.ImageRecordDataset(record)
    image, label = pictures[5]
    provided = [batches.provide_data[0].name, list(batches.provide_data[0].shape), batches.provide_label[0].name]
found = {
    "label": header.label.tolist(),
    "header": [header.flag, header.id, header.id2, second.flag, second.label],
    "decoded": float((decoded.asnumpy() == images[4]).mean()),
    "count": [count, len(keys), raw],
    "means": [data.mean(axis=(2, 3)) for data, _, _, _ in read],
    "labels": [label for _, label, _, _ in read],
    "pads": [[pad, index] for _, _, pad, index in read],
    "dataset": [len(pictures), float(label), list(image.shape), float(image.astype("float32").mean().asscalar())],
    "provided": provided,
}
