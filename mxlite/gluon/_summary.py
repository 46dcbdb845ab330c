"""The table that Block.summary prints, and the one that a notebook shows of a block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mxlite._notebook import layers
from mxlite.error import WrongStateError
from mxlite.ndarray.ndarray import NDArray


def _shapes(value: Any) -> Any:
    """The shapes of the arrays in lists and tuples; anything else as it is."""
    if isinstance(value, NDArray):
        return value.shape
    return [_shapes(each) for each in value] if isinstance(value, (list, tuple)) else value


def _shapes_text(value: Any) -> str:
    text = str(_shapes(value))
    return text[1:-1] if isinstance(value, (list, tuple)) else text


class _Rows:
    """What the hooks of a run note: a row of the table for each call, and sizes of parameters."""

    def __init__(self, inputs: tuple) -> None:
        given = _shapes_text(inputs[0] if len(inputs) == 1 else inputs)
        self.rows: list[tuple[str, str, int]] = [("Input", given, 0)]
        self.total = self.trainable = self.shared = 0
        self.seen: set[int] = set()

    def add(self, block: Any, _: Any, outputs: Any) -> None:
        """A hook after forward."""
        own = 0
        for param in block._reg_params.values():
            size = param.data().size
            own += size
            self.trainable += size if param.grad_req != "null" else 0
            self.shared += size if id(param) in self.seen else 0
            self.seen.add(id(param))
        self.total += own
        self.rows.append((f"{type(block).__name__}-{len(self.rows)}", _shapes_text(outputs), own))

    def text(self) -> str:
        """The table."""
        lines = ["-" * 80, _line("Layer (type)", "Output Shape", "Param #"), "=" * 80]
        lines += [_line(*row) for row in self.rows]
        lines += [
            "=" * 80,
            "Parameters in forward computation graph, duplicate included",
            f"   Total params: {self.total}",
            f"   Trainable params: {self.trainable}",
            f"   Non-trainable params: {self.total - self.trainable}",
            f"Shared params in forward computation graph: {self.shared}",
            f"Unique parameters in model: {self.total - self.shared}",
            "-" * 80,
        ]
        return "\n".join(lines)


def _line(layer: str, shape: str, size: Any) -> str:
    return f"{layer:>20}  {shape:>42} {size:>15}"


def print_summary(block: Any, inputs: tuple) -> None:
    """Runs a block and prints the table. Raises: MXNetError: a block is hybridized."""
    rows = _Rows(inputs)
    handles: list[Any] = []

    def register(each: Any) -> None:
        if getattr(each, "_active", False):
            raise WrongStateError(f'summary: "{each.name}" is hybridized; a summary needs the plain block')
        if not getattr(each, "_is_container", False):
            handles.append(each.register_forward_hook(rows.add))

    try:
        block.apply(register)
        block(*inputs)
        print(rows.text())
    finally:
        for handle in handles:
            handle.detach()


# ---- for a notebook ----


def as_html(block: Any) -> str:
    """The layers of a block and their parameters as a table."""
    return layers.html(f"{type(block).__name__} {block.name}", _layers(block, 0, ""))


def held_of(params: Iterable[tuple[str, Any]]) -> list[layers.Held]:
    """What the table says of parameters, given by name."""
    return [
        layers.Held(name, each.shape, np.dtype(each.dtype).name, each.grad_req != "null", id(each))
        for name, each in params
    ]


def _layers(block: Any, depth: int, name: str) -> Iterator[tuple[int, str, str, list[layers.Held]]]:
    children = block._children.items()
    own = {id(each) for each in block._reg_params.values()}
    # A SymbolBlock, or a block that asks `params.get`, has parameters that are no attributes.
    others = [(key, each) for key, each in block._params.items() if id(each) not in own]
    text = repr(block)
    text = type(block).__name__ if "\n" in text else text
    yield depth, name or block.name, text, held_of([*block._reg_params.items(), *others])
    for key, child in children:
        yield from _layers(child, depth + 1, key)
