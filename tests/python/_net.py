"""A network of mxlite.torch with a parameter, a buffer and layers of several kinds, for tests of their states."""

from __future__ import annotations

from typing import Any

import mxlite.torch as torch
from mxlite.torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 4)
        self.norm = nn.BatchNorm1d(4)
        self.last = nn.Linear(4, 1)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("seen", torch.zeros(1), persistent=False)
        self.nothing = None

    def forward(self, x: Any) -> Any:
        return self.last(self.norm(self.first(x)).relu()) * self.scale
