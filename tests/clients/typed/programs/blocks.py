"""Blocks of one's own: what `forward` and `hybrid_forward` say is the type of a call."""

from __future__ import annotations

from typing import Any

from typing_extensions import assert_type

from mxlite import gluon, nd, sym
from mxlite.gluon import nn


class Scale(gluon.HybridBlock):
    """x times a vector that is learned."""

    def __init__(self, size: int, prefix: str | None = None) -> None:
        super().__init__(prefix=prefix)
        with self.name_scope():
            self.factor = self.params.get("factor", shape=(size,), init="ones")

    def hybrid_forward(self, F: Any, x: nd.NDArray, factor: nd.NDArray) -> nd.NDArray:  # noqa: N803
        scaled: nd.NDArray = F.broadcast_mul(x, factor)
        return scaled


class Encoder(gluon.Block):
    """A mean and a deviation for each row."""

    def __init__(self, size: int) -> None:
        super().__init__()
        with self.name_scope():
            self.hidden = nn.Dense(16, activation="relu")
            self.mean = nn.Dense(size)
            self.scale = Scale(size)

    def forward(self, x: nd.NDArray, noise: float = 0.0) -> tuple[nd.NDArray, nd.NDArray]:
        hidden = self.hidden(x)
        mean = self.mean(hidden)
        return mean + noise, self.scale(mean).exp()


class Split(gluon.HybridBlock):
    """Two halves by name."""

    def hybrid_forward(self, F: Any, x: nd.NDArray) -> dict[str, nd.NDArray]:  # noqa: N803
        left, right = F.split(x, num_outputs=2, axis=1)
        return {"left": left, "right": right}


def main() -> None:
    x = nd.ones((3, 4))
    encoder = Encoder(2)
    encoder.initialize()
    mean, deviation = encoder(x, 0.5)
    assert_type(mean, nd.NDArray)
    assert_type(encoder(x), tuple[nd.NDArray, nd.NDArray])
    assert deviation.shape == (3, 2)
    assert_type(Split()(x)["left"], nd.NDArray)
    scale = Scale(4, prefix="scale_")
    scale.initialize()
    assert_type(scale(x), nd.NDArray)
    assert_type(scale(sym.var("x")), sym.Symbol)
    seen: list[str] = []
    handle = encoder.register_forward_hook(lambda block, inputs, outputs: seen.append(block.name))
    encoder(x)
    handle.detach()
    encoder.apply(lambda block: seen.append(block.prefix))
    assert len(seen) == 1 + 5
    assert set(encoder.collect_params(".*bias").keys()) == {"encoder0_dense0_bias", "encoder0_dense1_bias"}


if __name__ == "__main__":
    main()
