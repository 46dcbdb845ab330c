"""Fits a curve with arrays of mx.np: by a line, from scratch, and by a network of Gluon's layers.

    python examples/numpy_regression.py [--epochs 200] [--seed 1] [--no-picture]

A program in NumPy's style, as it is written for MXNet 1.9.1 from `npx.set_np()` on: arrays, keys and functions are
NumPy's, gradients are recorded, and layers, losses, loaders and the Trainer take and give the same arrays. With
`import mxnet as mx` it runs there too.

Points are noisy samples of a curve. The line is learned by its own gradient steps, the network by Adam. The last line
printed is the mean squared distance of each from the curve, where no point was.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from report import Bar, draw_curves, new_page, options_of, parser_of, parts_of, save

import mxlite as mx
from mxlite import autograd, gluon, np, npx
from mxlite.gluon import nn

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure

POINTS, BATCH, NOISE = 256, 32, 0.15
ROWS = 10  # of the table that is printed while it runs

npx.set_np()


def curve(x: np.ndarray) -> np.ndarray:
    """What the points are samples of."""
    return np.sin(2 * x) + 0.5 * x


def sampled() -> tuple[np.ndarray, np.ndarray]:
    """Points in -3 .. 3: columns of places, and of noisy heights."""
    x = np.random.uniform(-3, 3, size=(POINTS, 1))
    return x, curve(x) + NOISE * np.random.normal(size=x.shape)


class Line:
    """Heights w x + b, learned by gradient steps that are written out."""

    def __init__(self) -> None:
        self.w, self.b = np.random.normal(0, 0.01, size=(1, 1)), np.zeros(1)
        for each in (self.w, self.b):
            each.attach_grad()

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.dot(x, self.w) + self.b

    def learn(self, x: np.ndarray, y: np.ndarray, rate: float) -> float:
        """One step; the loss before it."""
        with autograd.record():
            loss = ((self(x) - y) ** 2).mean()
        loss.backward()
        for each in (self.w, self.b):
            each[:] = each - rate * each.grad
        return float(loss)


class Network:
    """Heights by two hidden layers, learned by a Trainer."""

    def __init__(self) -> None:
        self.net = nn.HybridSequential()
        self.net.add(nn.Dense(32, activation="tanh"), nn.Dense(32, activation="tanh"), nn.Dense(1))
        self.net.initialize(mx.init.Xavier())
        self.net.hybridize()
        self.loss = gluon.loss.L2Loss()
        self.trainer = gluon.Trainer(self.net.collect_params(), "adam", {"learning_rate": 0.01})

    def __call__(self, x: np.ndarray) -> Any:
        return self.net(x)

    def learn(self, x: np.ndarray, y: np.ndarray) -> float:
        """One step; the loss before it, as the line's."""
        with autograd.record():
            loss = self.loss(self(x), y)
        loss.backward()
        self.trainer.step(len(x))
        return 2 * float(loss.mean())


def apart(found: np.ndarray, wanted: np.ndarray) -> float:
    """The mean squared distance of heights."""
    return float(np.square(found - wanted).mean())


def draw_fits(place: SubFigure, points: tuple[np.ndarray, np.ndarray], models: dict[str, Any]) -> None:
    """The points, the curve, and what each model makes of it, somewhat beyond the points."""
    axes = place.subplots()
    places = np.linspace(-3.5, 3.5, 281).reshape(-1, 1)
    x, y = (each.reshape(-1).asnumpy() for each in points)
    axes.scatter(x, y, s=8, color="0.7", label="points")
    axes.plot(places.asnumpy(), curve(places).asnumpy(), color="black", linestyle="--", label="curve")
    for name, model in models.items():
        axes.plot(places.asnumpy(), model(places).asnumpy(), label=name)
    axes.set(title="fits", xlabel="x", ylabel="y")
    axes.grid(True, alpha=0.3)
    axes.legend()


def main() -> None:
    options = options_of(parser_of(__doc__, "numpy_regression", "epochs", 200))
    mx.random.seed(options.seed)
    x, y = sampled()
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(x, y), batch_size=BATCH, shuffle=False)
    line, network = Line(), Network()
    curves: dict[str, list[float]] = {"line": [], "network": []}
    bar, start = Bar(options.epochs), time.perf_counter()
    print("epoch   line  network  seconds")
    for epoch in range(1, options.epochs + 1):
        sums = np.zeros(2)
        for features, heights in loader:
            sums += np.array([line.learn(features, heights, 0.02), network.learn(features, heights)])
        for name, total in zip(curves, sums / len(loader)):
            curves[name].append(float(total))
        bar.show(epoch, f"epoch {epoch}, loss of the network {curves['network'][-1]:.4f}")
        if epoch % max(1, options.epochs // ROWS) == 0:
            bar.clear()
            seconds = time.perf_counter() - start
            print(f"{epoch:5}{curves['line'][-1]:7.3f}{curves['network'][-1]:9.4f}{seconds:9.2f}")
    bar.clear()
    if not options.no_picture:
        page = new_page(7.5)
        fits, losses = parts_of(page, [4.5, 3.0])
        draw_fits(fits, (x, y), {"line": line, "network": network})
        title = f"mean squared distance from the points, whose noise is {NOISE**2:.4f}"
        draw_curves(losses, title, "epoch", "loss", range(1, options.epochs + 1), curves)
        save(page, options.picture)
        print(f"\npicture: {options.picture}")
    places = np.linspace(-2.9, 2.9, 100).reshape(-1, 1)
    found = [apart(model(places), curve(places)) for model in (line, network)]
    print(f"distance from the curve: line {found[0]:.3f}, network {found[1]:.4f}")


if __name__ == "__main__":
    main()
