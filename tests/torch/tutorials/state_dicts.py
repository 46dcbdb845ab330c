"""State dicts in files, between libraries: `state_dicts.py write FOLDER`, then `state_dicts.py read FOLDER` by another.

Without arguments it does both by itself. Reading goes on with the training where the writer stopped.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import OrderedDict

import numpy as np
import torch
import torch.nn as nn
from seeded import initial


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            OrderedDict([("conv", nn.Conv1d(2, 4, 3, bias=False)), ("norm", nn.BatchNorm1d(4)), ("act", nn.GELU())])
        )
        self.rnn = nn.LSTM(4, 6, batch_first=True)
        self.head = nn.Linear(6, 3)
        self.tied = nn.Linear(6, 3, bias=False)
        self.tied.weight = self.head.weight
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.register_buffer("scratch", torch.ones(2), persistent=False)

    def forward(self, x):
        if self.training:
            self.steps += 1
        y, _ = self.rnn(self.features(x).transpose(1, 2))
        return self.head(y[:, -1]) + self.tied(y.mean(1))


def make():
    model = initial(Net(), 0)
    decay, rest = [], []
    for p in model.parameters():
        (decay if p.dim() > 1 else rest).append(p)
    groups = [{"params": decay, "weight_decay": 1e-2}, {"params": rest, "lr": 2e-2}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2, weight_decay=0.0, amsgrad=True)
    return model, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)


def train(model, optimizer, scheduler, first, count):
    for step in range(first, first + count):
        rng = np.random.default_rng(step)
        x, y = torch.from_numpy(rng.normal(size=(8, 2, 9))).float(), torch.from_numpy(rng.integers(0, 3, 8))
        loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        print(step, loss.item(), scheduler.get_last_lr())


def write(folder):
    model, optimizer, scheduler = make()
    train(model, optimizer, scheduler, 0, 5)
    checkpoint = {
        "epoch": 5, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "size": torch.Size([8, 2]),
        "scheduler": scheduler.state_dict(), "best": float("inf"), "dtype": torch.float32, "names": ("a", "b"),
    }  # fmt: skip
    torch.save(checkpoint, os.path.join(folder, "checkpoint.pt"))
    torch.save(torch.arange(6).view(2, 3).t(), os.path.join(folder, "tensor.pt"))


def read(folder):
    checkpoint = torch.load(os.path.join(folder, "checkpoint.pt"), map_location="cpu", weights_only=True)
    for name, each in checkpoint["model"].items():
        print(name, tuple(each.shape), each.dtype, each.double().sum())
    print({key: value for key, value in checkpoint.items() if key not in ("model", "optimizer", "scheduler")})
    model, optimizer, scheduler = make()
    print(model.load_state_dict(checkpoint["model"]), model.tied.weight is model.head.weight)
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    print(optimizer)
    train(model, optimizer, scheduler, checkpoint["epoch"], 5)
    model.eval()
    print(model.steps, model(torch.ones(1, 2, 9)))
    partial = {k: v for k, v in checkpoint["model"].items() if not k.startswith("head")}
    print(model.load_state_dict({**partial, "extra": torch.ones(1)}, strict=False))
    try:
        model.load_state_dict({**checkpoint["model"], "head.bias": torch.ones(4)})
    except RuntimeError as error:
        print(type(error).__name__)
    tensor = torch.load(os.path.join(folder, "tensor.pt"))
    print(tensor, tensor.stride(), tensor.is_contiguous())


if __name__ == "__main__":
    if len(sys.argv) == 3:
        {"write": write, "read": read}[sys.argv[1]](sys.argv[2])
    else:
        with tempfile.TemporaryDirectory() as folder:
            write(folder)
            read(folder)
