"""The recorded graph: walks it, hooks a node, writes a table and a picture."""

from __future__ import annotations

import os
import tempfile

from typing_extensions import assert_type

from mxlite import autograd, nd
from mxlite.autograd import graph


def names_of(start: graph.Node) -> list[str]:
    """The names of all nodes that lead to one, each once."""
    found: list[str] = []
    waiting, seen = [start], {start}
    while waiting:
        node = waiting.pop()
        found.append(node.name())
        for source, output in node.next_functions:
            assert_type(output, int)
            if source is not None and source not in seen:
                seen.add(source)
                waiting.append(source)
    return found


def double(
    grad_inputs: tuple[nd.NDArray | None, ...], grad_outputs: tuple[nd.NDArray | None, ...]
) -> tuple[nd.NDArray | None, ...]:
    """A hook: the gradients of the inputs, twice as large."""
    return tuple(None if each is None else each * 2 for each in grad_inputs)


def main() -> None:
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = nd.exp(x).sum()
    node = y.grad_fn
    assert node is not None and len(names_of(node)) == 3
    handle = node.register_hook(double)
    assert_type(handle, graph.RemovableHandle)
    y.backward(retain_graph=True)
    handle.remove()
    assert abs(float(x.grad[0]) - 2 * 2.7182817) < 1e-4
    with x.register_hook(lambda grad: grad * 0):
        y.backward()
    assert float(x.grad.sum()) == 0
    with autograd.record():
        z = (x * x).sum()
    assert "mul" in graph.summary(z, names={"x": x})
    assert graph.to_dot(z).startswith("digraph")
    picture = graph.draw(z)
    with tempfile.TemporaryDirectory() as folder:
        assert_type(graph.draw(z, os.path.join(folder, "z.svg"), engine="own"), None)
    assert picture is not None


if __name__ == "__main__":
    main()
