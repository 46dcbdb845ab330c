"""Sizes of 0 in layers and losses, with what PyTorch 2.13 answers: a shape, numbers, or the class of an error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite.torch import nn
from mxlite.torch.nn import functional as F  # noqa: N812


def full(*shape: int) -> Any:
    return torch.full(shape, 0.5).requires_grad_()


NAMES = {"torch": torch, "nn": nn, "F": F, "f": full, "inf": math.inf}

SHAPES = {
    # PyTorch drops the output's channels with the input's
    "F.conv1d(f(2, 0, 5), f(3, 0, 2), f(3))": (2, 0, 4),
    "F.conv2d(f(2, 0, 5, 4), f(4, 0, 2, 2), groups=2)": (2, 0, 4, 3),
    "F.conv3d(f(0, 5, 5, 5), f(3, 0, 2, 2, 2))": (0, 4, 4, 4),
    "F.conv2d(f(0, 2, 5, 4), f(4, 2, 2, 2), f(4))": (0, 4, 4, 3),
    "nn.Conv2d(0, 4, 2)(f(2, 0, 5, 5))": (2, 0, 4, 4),
    "F.conv_transpose2d(f(0, 2, 5, 4), f(2, 3, 2, 2))": (0, 3, 6, 5),
    "F.max_pool2d(f(0, 2, 4, 4), 2)": (0, 2, 2, 2),
    "F.avg_pool1d(f(0, 2, 4), 2)": (0, 2, 2),
    "F.adaptive_avg_pool3d(f(2, 0, 4, 4, 4), 3)": (2, 0, 3, 3, 3),
    "F.adaptive_max_pool2d(f(0, 2, 4, 4), 2)": (0, 2, 2, 2),
    "F.adaptive_max_pool1d(f(2, 3, 4), 0)": (2, 3, 0),
    "F.group_norm(f(0, 4, 3), 2)": (0, 4, 3),
    "F.batch_norm(f(0, 3), torch.zeros(3), torch.ones(3), f(3), f(3), training=True)": (0, 3),
    "nn.GRU(3, 4)(f(3, 0, 3))[0]": (3, 0, 4),
}
VALUES = {
    "F.linear(f(2, 2, 0), f(3, 0), f(3))": [[[0.5] * 3] * 2] * 2,
    "F.linear(f(0), f(2, 0), f(2))": [0.5] * 2,
    "torch.tensordot(f(2, 0), f(0, 3), 1)": [[0.0] * 3] * 2,
    "F.scaled_dot_product_attention(f(1, 2, 0), f(1, 5, 0), f(1, 5, 2))": [[[0.5] * 2] * 2],
    "F.cross_entropy(f(5, 0), torch.rand(5, 0))": math.nan,
    "F.cross_entropy(f(5, 0), torch.rand(5, 0), reduction='sum', label_smoothing=0.1)": 0.0,
}
ERRORS = {
    "F.conv1d(f(2, 3, 15), f(0, 3, 2))": RuntimeError,
    "F.conv1d(f(2, 2, 0), f(3, 2, 2), padding=1)": RuntimeError,
    "F.conv2d(f(2, 2, 5, 5), f(3, 2, 2, 0))": RuntimeError,
    "F.conv2d(f(2, 3, 5, 5), f(4, 3, 3, 3), groups=0)": RuntimeError,
    "F.conv2d(f(2, 3, 5, 5), f(4, 3, 3, 3), stride=0)": RuntimeError,
    "F.conv2d(f(2, 3, 5, 5), f(4, 3, 3, 3), dilation=(1, 0))": RuntimeError,
    "F.conv_transpose1d(f(2, 0, 5), f(0, 4, 3))": RuntimeError,
    "F.conv_transpose2d(f(2, 3, 5, 5), f(3, 0, 2, 2))": RuntimeError,
    "F.conv_transpose2d(f(2, 3, 5, 5), f(3, 4, 2, 2), stride=0)": RuntimeError,
    "F.max_pool2d(f(2, 0, 4, 4), 2)": RuntimeError,
    "F.max_pool1d(f(2, 2, 4), 0)": RuntimeError,
    "F.avg_pool2d(f(2, 2, 4, 4), 2, stride=0)": RuntimeError,
    "F.max_pool2d(f(2, 2, 4, 4), 2, padding=-1)": RuntimeError,
    "F.adaptive_max_pool1d(f(2, 0, 4), 1)": RuntimeError,
    "F.group_norm(f(2, 4, 3), 0)": ZeroDivisionError,
    "nn.GRU(0, 4)": ValueError,
    "nn.LSTM(3, 0)": ValueError,
    "nn.LSTM(3, 4)(f(0, 2, 3))": RuntimeError,
    "nn.RNN(3, 4, batch_first=True)(f(2, 0, 3))": RuntimeError,
    "torch.multinomial(torch.ones(3), 0)": RuntimeError,
}


def evaluate(text: str) -> Any:
    return eval(text, dict(NAMES))


@pytest.mark.parametrize("text", SHAPES)
def test_shapes(text: str) -> None:
    made = evaluate(text)
    assert tuple(made.shape) == SHAPES[text]
    made.sum().backward()


@pytest.mark.parametrize("text", VALUES)
def test_values(text: str) -> None:
    made = evaluate(text)
    np.testing.assert_array_equal(made.detach().numpy(), VALUES[text])
    made.sum().backward()


@pytest.mark.parametrize("text", ERRORS)
def test_errors(text: str) -> None:
    with pytest.raises(ERRORS[text]):
        evaluate(text)


def test_gradients_of_a_convolution_without_channels() -> None:
    layer, x = nn.Conv1d(0, 8, 2, stride=2), full(2, 0, 15)
    layer(x).sum().backward()
    assert layer.bias.grad.tolist() == [0.0] * 8
    assert (layer.weight.grad.shape, x.grad.shape) == ((8, 0, 2), (2, 0, 15))


def test_an_empty_batch_leaves_running_statistics() -> None:
    layer = nn.BatchNorm1d(3)
    layer(torch.ones(0, 3))
    assert (layer.running_mean.tolist(), layer.running_var.tolist()) == ([0.0] * 3, [1.0] * 3)
