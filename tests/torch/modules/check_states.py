"""States of optimizers and layers that go from PyTorch to mxlite.torch and back: both go on alike."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch as real

import mxlite.torch as ours

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "pytorch" / "values"))
from _value_cases import ROWS  # noqa: E402

OPTIMIZERS = [eval(row[6:-1]) for row in ROWS if row.startswith("steps(")]
OPTIMIZERS += ["SGD(groups, 0.05, 0.9)", "Adam(groups, 0.05, amsgrad=True)", "AdamW(groups, 0.05)", "RMSprop(groups)"]

LAYERS = (
    "Transformer(4, 2, 1, 1, 6)", "LSTM(3, 4, 2, bidirectional=True)", "BatchNorm2d(3)", "EmbeddingBag(5, 3)",
    "MultiheadAttention(4, 2, kdim=3, vdim=2, add_bias_kv=True)", "GRUCell(3, 4)", "RMSNorm(4)",
    "ParameterDict({'a': nn.Parameter(torch.ones(2))})",
)  # fmt: skip


def moved(value: Any, to: Any) -> Any:
    """A state with tensors of another library."""
    if isinstance(value, dict):
        return {key: moved(each, to) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(moved(each, to) for each in value)
    if isinstance(value, (real.Tensor, ours.Tensor)):
        kind = getattr(to, str(value.dtype).split(".")[-1])
        return to.tensor(value.detach().tolist(), dtype=kind).reshape(tuple(value.shape))
    return value


def steps(torch: Any, text: str, start: list, state: Any, count: int) -> tuple[list, Any]:
    """The parameters and the state of an optimizer after steps from a state."""
    p, q = (torch.nn.Parameter(torch.tensor(each, dtype=torch.float64)) for each in start)
    made = eval(text, {**vars(torch.optim), "groups": [p, q]})
    if state is not None:
        made.load_state_dict(state)

    def closure() -> Any:
        made.zero_grad()
        loss = (1 - p[0]) ** 2 + 5 * (p[1] - p[0] ** 2) ** 2 + ((q - p[1]) ** 4).sum()
        loss.backward()
        return loss

    for _ in range(count):
        made.step(closure)
    return [p.tolist(), q.tolist()], made.state_dict()


def check(text: str) -> bool:
    """Whether both libraries go on alike from either's state."""
    found = []
    for first in (real, ours):
        half, state = steps(first, text, [[-1.2, 1.0], [[0.5], [2.0]]], None, 5)
        for second in (real, ours):
            found.append(steps(second, text, half, moved(state, second), 5)[0])
    return all(np.allclose(*pair, 1e-5, 1e-7) for each in found for pair in zip(each, found[0]))


def check_layer(text: str) -> bool:
    """Whether a layer's state loads in the other library, both ways, with nothing missing."""
    made = [eval(f"nn.{text}", {"torch": torch, "nn": torch.nn}) for torch in (real, ours)]
    for source, target, torch in ((made[0], made[1], ours), (made[1], made[0], real)):
        target.load_state_dict(moved(dict(source.state_dict()), torch))
        pairs = zip(source.state_dict().values(), target.state_dict().values())
        if not all(np.array_equal(a.numpy(), b.numpy()) for a, b in pairs):
            return False
    return True


def main() -> int:
    """Prints what does not go on; 1 where something does not."""
    bad = [text for text in OPTIMIZERS if not check(text)] + [text for text in LAYERS if not check_layer(text)]
    print(*bad, f"states: {len(OPTIMIZERS)} optimizers, {len(LAYERS)} layers, {len(bad)} wrong", sep="\n")
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
