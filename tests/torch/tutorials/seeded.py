"""What the tutorials share: initial weights that are the same on every library."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn


def initial(model: nn.Module, seed: int) -> nn.Module:
    """The module with parameters drawn by NumPy: uniform, up to 1 / sqrt(what one output reads); returns it."""
    numbers = np.random.default_rng(seed)
    with torch.no_grad():
        for name, each in model.named_parameters():
            if "norm" in name:
                continue
            bound = 1 / np.sqrt(np.prod(each.shape[1:])) if each.dim() > 1 else 0.1
            values = numbers.uniform(-bound, bound, tuple(each.shape))
            each.copy_(torch.from_numpy(values).to(each.dtype))
    return model
