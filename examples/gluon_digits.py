"""Reads handwritten digits with a network of Gluon's layers, data loader and trainer.

    mxlite run examples/gluon_digits.py [--epochs 20] [--seed 1] [--workers 2] [--no-picture]

A script as it is written for MXNet 1.9.1: it imports mxnet and nothing of mxlite, and `python examples/gluon_digits.py`
runs it on MXNet. Worker processes read and augment the images; the trained parameters are saved, loaded into a network
of its own, and that one reads the digits that were held out. The last line printed is its accuracy on them.
"""

from __future__ import annotations

import pathlib
import time
from typing import Any, Callable

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon
from mxnet.gluon import nn
from mxnet.gluon.data.vision import transforms
from report import (
    CLASSES,
    HERE,
    TRAIN,
    Bar,
    digit_records,
    draw_reading,
    options_of,
    parser_of,
    print_confusion,
    print_table,
    save,
)

BATCH, RATE = 64, 0.004
CHANNELS = (32, 64)  # of the layers before each pooling


def network() -> nn.HybridSequential:
    """Four convolutions, two poolings, two dense layers: images (n, 1, 8, 8) -> scores (n, 10)."""
    net = nn.HybridSequential(prefix="digits_")
    with net.name_scope():
        for channels in CHANNELS:
            for _ in range(2):
                net.add(nn.Conv2D(channels, 3, padding=1, use_bias=False), nn.BatchNorm(), nn.Activation("relu"))
            net.add(nn.MaxPool2D(2))
        net.add(nn.Dense(128, activation="relu"), nn.Dropout(0.5), nn.Dense(CLASSES))
    return net


class Shift(gluon.Block):
    """An image (height, width, channels) moved by a random step of at most `most` pixels, the border filled with 0."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def forward(self, image: Any) -> Any:
        height, width, _ = image.shape
        y, x = np.random.randint(0, 2 * self.most + 1, 2)
        wide = mx.nd.zeros((height + 2 * self.most, width + 2 * self.most, image.shape[2]), dtype=image.dtype)
        wide[self.most : self.most + height, self.most : self.most + width] = image
        return wide[int(y) : int(y) + height, int(x) : int(x) + width]


def loaders(pixels: np.ndarray, digits: np.ndarray, workers: int) -> tuple[Any, Any]:
    """Batches of the images to train on, shuffled and augmented, and of those held out."""
    # ToTensor makes 0 .. 1 of 0 .. 255, and puts the channels first.
    images = mx.nd.array((pixels * (255 / 16)).reshape(-1, 8, 8, 1), dtype="uint8")
    augment = transforms.Compose([Shift(1), transforms.RandomBrightness(0.2), transforms.ToTensor()])
    plain = transforms.ToTensor()

    def batches(part: slice, transform: Callable[..., Any], **more: Any) -> Any:
        data = gluon.data.ArrayDataset(images[part], digits[part].astype(np.float32))
        return gluon.data.DataLoader(data.transform_first(transform), BATCH, **more)

    return (
        batches(slice(0, TRAIN), augment, shuffle=True, num_workers=workers),
        batches(slice(TRAIN, None), plain),
    )


class Tally:
    """Accuracy and mean cross-entropy of the batches that were added."""

    def __init__(self) -> None:
        self.count, self.right, self.loss = 0, 0, 0.0

    def add(self, scores: Any, digits: Any) -> np.ndarray:
        """Adds a batch; returns the digit that each of its images is read as."""
        read: np.ndarray = scores.argmax(axis=1).asnumpy()
        self.count += len(read)
        self.right += int((read == digits.asnumpy()).sum())
        self.loss -= mx.nd.pick(mx.nd.log_softmax(scores), digits).sum().asscalar()
        return read.astype(int)

    def figures(self) -> str:
        return f"{self.loss / self.count:16.4f}{self.right / self.count:11.3f}"


def train_epoch(net: Any, trainer: gluon.Trainer, batches: Any, tally: Tally, bar: Bar, text: str) -> None:
    """Every image once; the tally is of the scores as they were before each step."""
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    for number, (x, y) in enumerate(batches):
        x, y = x.as_in_context(mx.cpu()), y.as_in_context(mx.cpu())  # out of the memory shared with the workers
        with autograd.record():
            scores = net(x)
            loss = loss_of(scores, y)
        loss.backward()
        trainer.step(len(x))
        tally.add(scores, y)
        bar.show(100 * number // len(batches), text)
    bar.clear()


def read_held(net: Any, batches: Any, tally: Tally) -> np.ndarray:
    """The digit that each image is read as."""
    return np.concatenate([tally.add(net(x), y) for x, y in batches])


def main() -> None:
    parser = parser_of(__doc__, "gluon_digits", "epochs", 20)
    parser.add_argument("--workers", type=int, default=2, help="processes that read and augment; 0: this one")
    parser.add_argument("--parameters", type=pathlib.Path, default=HERE / "out" / "gluon_digits.params")
    options = options_of(parser)
    mx.random.seed(options.seed)
    np.random.seed(options.seed)
    pixels, digits = digit_records()
    train, held = loaders(pixels, digits, options.workers)
    net = network()
    net.initialize(mx.init.Xavier(magnitude=2.24))
    net.hybridize(static_alloc=True)
    schedule = mx.lr_scheduler.CosineScheduler(options.epochs * len(train), RATE, final_lr=RATE / 100, warmup_steps=20)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"lr_scheduler": schedule, "learning_rate": RATE})
    curves: dict[str, list[float]] = {"training": [], "held out": []}
    bar = Bar(100)
    print("epoch   training loss   accuracy   held-out loss   accuracy      rate   seconds")
    for epoch in range(1, options.epochs + 1):
        begin = time.perf_counter()
        tallies = {name: Tally() for name in curves}
        train_epoch(net, trainer, train, tallies["training"], bar, f"epoch {epoch} of {options.epochs}")
        read_held(net, held, tallies["held out"])
        for name, tally in tallies.items():
            curves[name].append(tally.loss / tally.count)
        figures = "".join(tally.figures() for tally in tallies.values())
        print(f"{epoch:5}{figures}{trainer.learning_rate:10.5f}{time.perf_counter() - begin:10.2f}", flush=True)

    options.parameters.parent.mkdir(parents=True, exist_ok=True)
    net.save_parameters(str(options.parameters))
    loaded = network()
    loaded.load_parameters(str(options.parameters))
    read, true = read_held(loaded, held, Tally()), digits[TRAIN:].astype(int)
    print_table(read, true)
    print_confusion(read, true)
    print(f"parameters: {options.parameters}")
    if not options.no_picture:
        wrong = [(int(i), int(read[i]), int(true[i])) for i in np.flatnonzero(read != true)]
        page, _ = draw_reading("Gluon on handwritten digits", curves, pixels[TRAIN:], wrong)
        save(page, options.picture)
        print(f"losses, misread digits: {options.picture}")
    print(f"held-out accuracy {(read == true).mean():.3f}")


if __name__ == "__main__":
    main()
