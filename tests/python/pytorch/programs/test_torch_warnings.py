"""Calls that PyTorch 2.13 warns of, and their neighbours of which it says nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite.torch import nn

F = nn.functional


def read_only() -> np.ndarray:
    array = np.ones(3)
    array.flags.writeable = False
    return array


def numbers(*shape: int) -> torch.Tensor:
    return torch.ones(*shape)


WARNED = {
    "tensor of a tensor": lambda: torch.tensor(numbers(2)),
    "new_tensor of a tensor": lambda: numbers(2).new_tensor(numbers(2)),
    "T of a vector": lambda: numbers(3).T,
    "T of a number": lambda: torch.tensor(1.0).T,
    "the mean of kl_div": lambda: F.kl_div(torch.zeros(2, 2), numbers(2, 2)),
    "KLDivLoss": lambda: nn.KLDivLoss()(torch.zeros(2, 2), numbers(2, 2)),
    "out of another size": lambda: torch.add(numbers(3), 1, out=numbers(2)),
    "dropout of one layer": lambda: nn.LSTM(2, 2, 1, dropout=0.5),
    "float with a gradient": lambda: float(torch.ones((), requires_grad=True)),
    "init of nothing": lambda: nn.init.kaiming_uniform_(numbers(0, 2)),
    "meshgrid": lambda: torch.meshgrid(numbers(2), numbers(3)),
    "a read-only array": lambda: torch.from_numpy(read_only()),
    "upsample": lambda: F.upsample(numbers(1, 1, 2, 2), scale_factor=2),
    "old init": lambda: nn.init.uniform(numbers(2)),
    "old clip": lambda: nn.utils.clip_grad_norm([nn.Parameter(numbers(2))], 1.0),
    "range": lambda: torch.range(0, 3),
    "cross": lambda: torch.cross(numbers(3, 3), numbers(3, 3)),
    "workers": lambda: torch.utils.data.DataLoader([1, 2], num_workers=4096),
    "grid_sample": lambda: F.grid_sample(numbers(1, 1, 2, 2), torch.zeros(1, 1, 1, 2)),
    "affine_grid": lambda: F.affine_grid(torch.zeros(1, 2, 3), (1, 1, 2, 2)),
    "chain_matmul": lambda: torch.chain_matmul(numbers(2, 2), numbers(2, 2)),
    "qr": lambda: torch.qr(numbers(2, 2)),
    "cholesky": lambda: torch.cholesky(torch.eye(2)),
    "softmax": lambda: F.softmax(numbers(2, 2)),
    "sizes of mse_loss": lambda: F.mse_loss(numbers(2, 2), numbers(2)),
    "size_average": lambda: F.mse_loss(numbers(2), numbers(2), size_average=False),
    "a mask of bytes": lambda: numbers(2)[torch.ones(2, dtype=torch.uint8)],
}
SILENT = {
    "as_tensor": lambda: torch.as_tensor(numbers(2)),
    "T of a matrix": lambda: numbers(2, 3).T,
    "batchmean": lambda: F.kl_div(torch.zeros(2, 2), numbers(2, 2), reduction="batchmean"),
    "out without elements": lambda: torch.add(numbers(3), 1, out=numbers(0)),
    "dropout of two layers": lambda: nn.GRU(2, 2, 2, dropout=0.5),
    "item": lambda: torch.ones((), requires_grad=True).item(),
    "indexing": lambda: torch.meshgrid(numbers(2), numbers(3), indexing="xy"),
    "a copy of a read-only array": lambda: torch.tensor(read_only()),
    "a dimension": lambda: torch.cross(numbers(3, 3), numbers(3, 3), dim=1),
    "aligned": lambda: F.grid_sample(numbers(1, 1, 2, 2), torch.zeros(1, 1, 1, 2), align_corners=False),
    "linalg": lambda: torch.linalg.qr(numbers(2, 2)),
}


@pytest.mark.parametrize("name", WARNED)
def test_warned(name):
    with pytest.warns((UserWarning, FutureWarning)) as found:
        WARNED[name]()
    assert found[0].category is (FutureWarning if name.startswith("old") else UserWarning)
    assert found[0].filename == __file__  # the line of the program, not one of the package


@pytest.mark.parametrize("name", SILENT)
def test_silent(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SILENT[name]()
