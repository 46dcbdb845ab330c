"""What the training scripts share: the same initial parameters and data on every package, and what is reported."""

import json
import struct
import time
import zlib

import mxnet as mx
import numpy as np

STEPS = 50


class Seeded(mx.init.Initializer):
    """Weights of NumPy's generator, seeded by the parameter's name: the same numbers wherever the script runs."""

    def __init__(self, scale=0.1):
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name, array):
        random = np.random.RandomState(zlib.crc32(str(name).encode()) % (1 << 31))
        array[:] = mx.nd.array(random.normal(0, self.scale, array.shape))


class Log:
    """Losses of the steps, and the time of all but the first five; printed as JSON when the script is done."""

    def __init__(self):
        self.losses = []
        self.started = None

    def step(self, loss):
        """Notes the mean of a loss; True while there are steps to do."""
        self.losses.append(float(loss.mean().asscalar()) if hasattr(loss, "mean") else float(loss))
        if len(self.losses) == 5:
            self.started = time.time()
        return len(self.losses) < STEPS

    def done(self):
        mx.nd.waitall()
        print(json.dumps({"losses": self.losses, "seconds": time.time() - self.started}))


def blobs(count, features, classes, seed=0):
    """Points around a centre for each class, and their classes."""
    random = np.random.RandomState(seed)
    centres = random.normal(0, 1, (classes, features))
    labels = random.randint(0, classes, count)
    return (centres[labels] + random.normal(0, 0.8, (count, features))).astype("float32"), labels.astype("float32")


def squares(count, size, channels=1, seed=0):
    """Images of noise with a bright square, whose place is the class: one of nine; and the squares' boxes."""
    random = np.random.RandomState(seed)
    images = random.uniform(0, 60, (count, size, size, channels))
    labels = random.randint(0, 9, count)
    third = size // 3
    boxes = np.zeros((count, 4), "float32")
    for i, label in enumerate(labels):
        y, x = label // 3 * third, label % 3 * third
        images[i, y : y + third, x : x + third] += 150
        boxes[i] = [x / size, y / size, (x + third) / size, (y + third) / size]
    return images.astype("uint8"), labels.astype("float32"), boxes


def png(image):
    """A picture as bytes of PNG."""
    height, width, _ = image.shape
    rows = b"".join(b"\0" + row.tobytes() for row in image)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
