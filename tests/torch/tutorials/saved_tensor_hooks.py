"""Hooks for saved tensors: what a graph keeps, packed in other ways: as text, on disk, on the CPU, recomputed."""

from __future__ import annotations

import os
import tempfile
import uuid

import numpy as np
import torch
from seeded import initial
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.checkpoint import checkpoint


class SavedOnDisk:
    """A tensor in a file, which goes when this does."""

    def __init__(self, folder: str, tensor: torch.Tensor) -> None:
        self.name = os.path.join(folder, str(uuid.uuid4()))
        torch.save(tensor, self.name)

    def load(self) -> torch.Tensor:
        return torch.load(self.name)

    def __del__(self) -> None:
        if os.path.exists(self.name):
            os.remove(self.name)


def tensor(*shape: int, seed: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).float()


def nodes() -> None:
    """What nodes save."""
    x = tensor(5, seed=0).requires_grad_()
    y = x.pow(2)
    print(x.equal(y.grad_fn._saved_self), x is y.grad_fn._saved_self)
    z = x.exp()
    print(z.equal(z.grad_fn._saved_result), z is z.grad_fn._saved_result)
    z.sum().backward()
    try:
        print(z.grad_fn._saved_result)
    except RuntimeError:
        print("released")


def counting() -> None:
    """Hooks that count, change what is saved, and may not edit it."""
    seen = []

    def pack(x):
        seen.append(tuple(x.shape))
        return x.detach().numpy().copy()

    def unpack(x):
        return torch.from_numpy(x)

    a = torch.ones(3, requires_grad=True)
    b = torch.full((3,), 2.0, requires_grad=True)
    with saved_tensors_hooks(pack, unpack):
        y = (a * b).sin()
    print(seen)
    y.sum().backward()
    print(a.grad, b.grad)
    with saved_tensors_hooks(lambda x: x * 4, lambda x: x):
        y = torch.pow(a.detach().requires_grad_(), 2)
    print(y.grad_fn._saved_self)
    c = torch.ones(2, requires_grad=True)
    product = c * torch.tensor([3.0, 4.0])
    product.grad_fn._raw_saved_other.register_hooks(lambda x: x * 2, lambda x: x + 1)
    product.sum().backward()
    print(c.grad)
    try:
        with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
            with saved_tensors_hooks(pack, unpack):
                a.exp()
    except RuntimeError as error:
        print(error)


def on_disk() -> None:
    """Large tensors go to files while a network waits for its backward."""
    model = initial(nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)), 1)
    x = tensor(32, 20, seed=2)
    model(x).pow(2).mean().backward()
    plain = [p.grad.clone() for p in model.parameters()]
    with tempfile.TemporaryDirectory() as folder:

        def pack(each):
            return each if each.numel() < 1000 else SavedOnDisk(folder, each)

        def unpack(each):
            return each if isinstance(each, torch.Tensor) else each.load()

        model.zero_grad()
        with saved_tensors_hooks(pack, unpack):
            loss = model(x).pow(2).mean()
        print(len(os.listdir(folder)) > 0)
        loss.backward()
        del loss
        print(len(os.listdir(folder)))
    print([torch.equal(p.grad, each) for p, each in zip(model.parameters(), plain)])
    model.zero_grad()
    with torch.autograd.graph.save_on_cpu(pin_memory=False):
        model(x).pow(2).mean().backward()
    print([p.grad.abs().sum().item() for p in model.parameters()])


def recomputed() -> None:
    """Checkpoints: nothing within is saved, it is computed again."""
    blocks = [initial(nn.Sequential(nn.Linear(8, 8), nn.Tanh()), seed) for seed in (3, 4, 5)]
    x = tensor(4, 8, seed=6).requires_grad_()
    calls = []
    for block in blocks:
        block.register_forward_hook(lambda module, inputs, output: calls.append(len(inputs)))
    y = x
    for block in blocks:
        y = checkpoint(block, y, use_reentrant=False)
    print(len(calls), y.sum())
    y.sum().backward()
    print(len(calls), x.grad.sum(1))


if __name__ == "__main__":
    for part in (nodes, counting, on_disk, recomputed):
        print(f"-- {part.__name__}")
        part()
