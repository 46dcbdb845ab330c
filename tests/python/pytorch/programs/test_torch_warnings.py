"""Calls that PyTorch 2.13 warns of, and their neighbours of which it says nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite.torch import nn, optim

F = nn.functional


def read_only() -> np.ndarray:
    array = np.ones(3)
    array.flags.writeable = False
    return array


def numbers(*shape: int) -> torch.Tensor:
    return torch.ones(*shape)


def sgd() -> optim.SGD:
    return optim.SGD([nn.Parameter(numbers(1))], 0.1)


def schedule() -> optim.lr_scheduler.StepLR:
    return optim.lr_scheduler.StepLR(sgd(), 1)


def encoder_layer(width: int, heads: int, **given: bool) -> nn.Module:
    return nn.TransformerEncoderLayer(width, heads, 8, batch_first=True, **given)


class Exp(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.exp()


def hooked(module: nn.Module) -> None:
    module.register_backward_hook(lambda *_: None)
    module(torch.ones(2, requires_grad=True) * 2).sum().backward()


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
    "std of one": lambda: numbers(1).std(),
    "var of one along a dimension": lambda: numbers(3, 1).var(1),
    "var of a correction": lambda: numbers(2).var(correction=3),
    "std_mean of one": lambda: torch.std_mean(numbers(1)),
    "var of nothing": lambda: numbers(0).var(),
    "cov of one": lambda: torch.cov(numbers(1, 1)),
    "T of a batch": lambda: numbers(2, 3, 4).T,
    "get_lr": lambda: schedule().get_lr(),
    "get_lr of restarts": lambda: optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 2).get_lr(),
    "epoch of ReduceLROnPlateau": lambda: optim.lr_scheduler.ReduceLROnPlateau(sgd()).step(1.0, epoch=2),
    "storage": lambda: numbers(2).storage(),
    "dropout2d of a matrix of steps": lambda: F.dropout2d(numbers(2, 3, 4)),
    "dropout3d of 3": lambda: F.dropout3d(numbers(2, 3, 4)),
    "an encoder of steps first": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2),
    "an encoder of odd heads": lambda: nn.TransformerEncoder(encoder_layer(3, 3), 2),
    "an encoder of norms first": lambda: nn.TransformerEncoder(encoder_layer(4, 2, norm_first=True), 2),
    "masks of two dtypes": lambda: nn.MultiheadAttention(4, 2)(
        *[numbers(3, 1, 4)] * 3, attn_mask=torch.zeros(3, 3), key_padding_mask=torch.zeros(1, 3, dtype=torch.bool)
    ),
    "trunc_normal_ far away": lambda: nn.init.trunc_normal_(numbers(2), mean=10.0),
    "old weight_norm": lambda: nn.utils.weight_norm(nn.Linear(2, 2)),
    "same of an even kernel": lambda: F.conv1d(numbers(1, 1, 4), numbers(1, 1, 2), padding="same"),
    "old backward hook of several nodes": lambda: hooked(nn.Linear(2, 2)),
    "volatile": lambda: torch.autograd.Variable(numbers(2), volatile=True),
    "pin_memory": lambda: list(torch.utils.data.DataLoader([1], pin_memory=True)),
    "an empty part": lambda: torch.utils.data.random_split([1], [1, 0]),
    "set_default_tensor_type": lambda: torch.set_default_tensor_type(torch.FloatTensor),
    "a read-only buffer": lambda: torch.frombuffer(b"abcd", dtype=torch.uint8),
    "a list of arrays": lambda: torch.tensor([np.ones(2), np.ones(2)]),
    "old state_dict by position": lambda: nn.Linear(2, 2).state_dict({}, "a.", True),
    "a parameter twice": lambda: optim.SGD([nn.Parameter(numbers(1))] * 2, 0.1),
    "channels of InstanceNorm": lambda: nn.InstanceNorm1d(3)(numbers(2, 4, 5)),
    "embedding_bag turned": lambda: F.embedding_bag(numbers(2, 2), torch.tensor([[0]])),
    "eps of gumbel_softmax": lambda: F.gumbel_softmax(numbers(2), eps=1e-9),
    "old min_value": lambda: nn.Hardtanh(min_value=-2),
    "random_ of large integers": lambda: numbers(2).random_(0, 2**30),
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
    "std of two": lambda: numbers(2).std(),
    "std of one, biased": lambda: numbers(1).std(unbiased=False),
    "get_last_lr": lambda: schedule().get_last_lr(),
    "untyped_storage": lambda: numbers(2).untyped_storage(),
    "dropout2d": lambda: F.dropout2d(numbers(2, 3, 4, 5)),
    "dropout1d of a matrix": lambda: F.dropout1d(numbers(2, 3)),
    "dropout3d of 4": lambda: F.dropout3d(numbers(2, 3, 4, 5)),
    "an encoder": lambda: nn.TransformerEncoder(encoder_layer(4, 2), 2),
    "no nested tensors": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2, None, False),
    "a hook of one node": lambda: hooked(Exp()),
    "schedules made": lambda: optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 2),
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
