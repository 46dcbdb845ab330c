"""Writes networks as PyTorch's own exporters write them, with what they compute and its gradients, for check_models.py.

    .venvs/peers/bin/python tests/onnx/torch_models.py FOLDER

It needs torch, onnx and onnxscript. NAME_fixed.onnx and NAME_open.onnx (sizes of batches and sequences are open) are
from the exporter of TorchScript, NAME_program.onnx from that of exported programs; NAME.npz has inputs (in0, ...),
outputs (out0, ...), a weight for each element of these (weight0, ...) and the gradients of the weighted sum: grad_in0
of an input of floats, and grad_NAME of parameters, whose values are value_NAME.
"""

from __future__ import annotations

import logging
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


class Residual(nn.Module):
    def __init__(self, width: int, out: int, stride: int = 1) -> None:
        super().__init__()
        self.first, self.norm1 = nn.Conv2d(width, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out)
        self.second, self.norm2 = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.short = nn.Sequential(nn.Conv2d(width, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: Any) -> Any:
        inner = self.norm2(self.second(torch.relu(self.norm1(self.first(x)))))
        return torch.relu(inner + self.short(x))


class Inverted(nn.Module):
    def __init__(self, width: int, wide: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(width, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.ReLU6(),
            nn.Conv2d(wide, wide, 3, 1, 1, groups=wide, bias=False), nn.BatchNorm2d(wide), nn.Hardswish(),
            nn.Conv2d(wide, width, 1, bias=False), nn.BatchNorm2d(width),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return x + self.inner(x)


class Mean(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.mean([2, 3])


def heads(x: Any, count: int) -> Any:
    return x.view(x.shape[0], x.shape[1], count, -1).transpose(1, 2)


class Bert(nn.Module):
    def __init__(self, words: int = 50, units: int = 16, count: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.words, self.places, self.kinds = (nn.Embedding(each, units) for each in (words, 32, 2))
        self.norm, self.count = nn.LayerNorm(units), count

        def layer() -> nn.ModuleDict:
            dense = {name: nn.Linear(units, units) for name in ("q", "k", "v", "o")}
            inner = {"up": nn.Linear(units, 4 * units), "down": nn.Linear(4 * units, units)}
            return nn.ModuleDict({**dense, **inner, "n1": nn.LayerNorm(units), "n2": nn.LayerNorm(units)})

        self.layers = nn.ModuleList([layer() for _ in range(layers)])
        self.pool = nn.Linear(units, units)

    def forward(self, ids: Any, mask: Any) -> Any:
        batch, length = ids.shape
        places = torch.arange(length).unsqueeze(0).expand(batch, length)
        x = self.norm(self.words(ids) + self.places(places) + self.kinds(torch.zeros_like(ids)))
        away = (1.0 - mask[:, None, None, :].to(x.dtype)) * torch.finfo(torch.float32).min
        for each in self.layers:
            q, k, v = (heads(each[name](x), self.count) for name in "qkv")
            soft = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + away, -1)
            mixed = (soft @ v).permute(0, 2, 1, 3).contiguous().view(batch, length, -1)
            x = each["n1"](x + each["o"](mixed))
            x = each["n2"](x + each["down"](F.gelu(each["up"](x))))
        return x, torch.tanh(self.pool(x[:, 0]))


class Gpt(nn.Module):
    def __init__(self, words: int = 50, units: int = 16, count: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.words, self.places, self.count = nn.Embedding(words, units), nn.Embedding(32, units), count
        sizes = {"qkv": (units, 3 * units), "o": (units, units), "up": (units, 4 * units), "down": (4 * units, units)}
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    **{name: nn.Linear(*size) for name, size in sizes.items()},
                    "n1": nn.LayerNorm(units),
                    "n2": nn.LayerNorm(units),
                }
            )
            for _ in range(layers)
        )
        # Not the words' weight, as in GPT-2: PyTorch's exporters would make two of it.
        self.norm, self.out = nn.LayerNorm(units), nn.Linear(units, words, bias=False)
        self.register_buffer("past", torch.tril(torch.ones(32, 32)).bool().view(1, 1, 32, 32))

    def forward(self, ids: Any) -> Any:
        batch, length = ids.shape
        x = self.words(ids) + self.places(torch.arange(length))
        for each in self.layers:
            q, k, v = (heads(part, self.count) for part in each["qkv"](each["n1"](x)).split(x.shape[-1], -1))
            scores = (q @ k.transpose(-1, -2)) / q.shape[-1] ** 0.5
            soft = torch.where(self.past[:, :, :length, :length], scores, torch.tensor(-1e4)).softmax(-1)
            x = x + each["o"]((soft @ v).transpose(1, 2).reshape(batch, length, -1))
            x = x + each["down"](F.gelu(each["up"](each["n2"](x)), approximate="tanh"))
        return self.out(self.norm(x))


class T5(nn.Module):
    """Relative places and root mean squares, as T5 has them."""

    def __init__(self, units: int = 16, count: int = 4) -> None:
        super().__init__()
        self.words, self.near, self.count = nn.Embedding(50, units), nn.Embedding(8, count), count
        self.q, self.k, self.v, self.o = (nn.Linear(units, units, bias=False) for _ in range(4))
        self.gain = nn.Parameter(torch.rand(units) + 0.5)

    def forward(self, ids: Any) -> Any:
        batch, length = ids.shape
        x = self.words(ids)
        normal = self.gain * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))
        apart = (torch.arange(length)[None] - torch.arange(length)[:, None]).abs().float()
        bucket = torch.minimum((torch.log(apart + 1) * 2).long(), torch.full((length, length), 7))
        bias = self.near(bucket).permute(2, 0, 1).unsqueeze(0)
        q, k, v = (heads(each(normal), self.count) for each in (self.q, self.k, self.v))
        mixed = torch.softmax(q @ k.transpose(3, 2) + bias, -1) @ v
        return x + self.o(mixed.transpose(1, 2).contiguous().view(batch, -1, 16))


class Recurrent(nn.Module):
    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer = getattr(nn, kind)(3, 5, 2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(10, 2)

    def forward(self, x: Any) -> Any:
        return self.out(self.layer(x)[0][:, -1])


class Pictures(nn.Module):
    """Layers that make pictures larger, as networks of segmentation have them."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 4, 3, 2, 1), nn.ConvTranspose2d(4, 4, 4, 2, 1)
        self.groups, self.each = nn.GroupNorm(2, 4), nn.InstanceNorm2d(4, affine=True)

    def forward(self, x: Any) -> Any:
        y = self.groups(self.down(x))
        smooth = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=False)
        plain = F.interpolate(y, size=x.shape[2:], mode="nearest")
        edge = F.pad(y, (1, 2, 3, 1), mode="reflect")[:, :, 2:-2, 1:-2]
        shuffled = F.pixel_shuffle(y, 2)
        return torch.cat([shuffled, self.up(y), smooth, self.each(plain), F.interpolate(edge, size=x.shape[2:])], 1)


def networks() -> dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]]:
    """Networks with their inputs."""
    picture, ids = torch.randn(2, 3, 32, 32), torch.randint(0, 40, (2, 7))
    mask = torch.ones(2, 7, dtype=torch.int64)
    mask[0, 5:] = 0
    resnet = nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(3, 2, 1), Residual(8, 8),
        Residual(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5),
    )  # fmt: skip
    mobilenet = nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.SiLU(), Inverted(8, 24), Inverted(8, 24), Mean(),
        nn.Dropout(0.2), nn.Linear(8, 5),
    )  # fmt: skip
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)
    return {
        "resnet": (resnet, (picture,)), "mobilenet": (mobilenet, (picture,)), "bert": (Bert(), (ids, mask)),
        "gpt2": (Gpt(), (ids,)), "t5": (T5(), (ids,)), "lstm": (Recurrent("LSTM"), (torch.randn(2, 6, 3),)),
        "gru": (Recurrent("GRU"), (torch.randn(2, 6, 3),)), "encoder": (encoder, (torch.randn(2, 6, 16),)),
        "pictures": (Pictures(), (picture,)),
    }  # fmt: skip


def write(folder: Path, name: str, net: nn.Module, inputs: tuple[torch.Tensor, ...]) -> None:
    """Writes one network's files."""
    names = [f"in{number}" for number in range(len(inputs))]
    axes = {each: {0: "batch"} if x.dim() > 3 else {0: "batch", 1: "length"} for each, x in zip(names, inputs)}
    common = {"input_names": names, "dynamo": False, "opset_version": 17, "do_constant_folding": True}
    torch.onnx.export(net, inputs, str(folder / f"{name}_fixed.onnx"), **common)
    torch.onnx.export(net, inputs, str(folder / f"{name}_open.onnx"), dynamic_axes=axes, **common)
    program = folder / f"{name}_program.onnx"
    torch.onnx.export(net, inputs, str(program), input_names=names, dynamo=True, external_data=False, verbose=False)
    given = [each.clone().requires_grad_(each.is_floating_point()) for each in inputs]
    made = net(*given)
    outputs = made if isinstance(made, tuple) else (made,)
    weights = [torch.randn_like(each) for each in outputs]
    sum((each * weight).sum() for each, weight in zip(outputs, weights)).backward()
    held = {f"in{number}": each.numpy() for number, each in enumerate(inputs)}
    held.update({f"out{number}": each.detach().numpy() for number, each in enumerate(outputs)})
    held.update({f"weight{number}": each.numpy() for number, each in enumerate(weights)})
    held.update({f"grad_in{number}": each.grad.numpy() for number, each in enumerate(given) if each.grad is not None})
    for key, each in net.named_parameters():
        if each.grad is not None:
            held.update({f"grad_{key}": each.grad.numpy(), f"value_{key}": each.detach().numpy()})
    np.savez(folder / f"{name}.npz", **held)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)
    for name, (net, inputs) in networks().items():
        with torch.no_grad():
            for each in net.parameters():  # the exporter merges those that are equal
                each.add_(torch.randn_like(each) * 0.02)
            for each in net.modules():  # statistics that are not those of the beginning
                if isinstance(each, nn.BatchNorm2d):
                    each.running_mean.normal_(0, 0.3)
                    each.running_var.uniform_(0.5, 2)
        write(folder, name, net.eval(), inputs)


if __name__ == "__main__":
    main()
