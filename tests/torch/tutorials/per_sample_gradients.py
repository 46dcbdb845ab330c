"""Gradients of every sample's loss at once: vmap over grad, of one model and of an ensemble."""

from __future__ import annotations

import copy

import numpy as np
import torch
import torch.nn.functional as F
from seeded import initial
from torch import nn
from torch.func import functional_call, grad, grad_and_value, stack_module_state, vmap


class SimpleCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, 1)
        self.conv2 = nn.Conv2d(6, 8, 3, 1)
        self.fc1 = nn.Linear(72, 16)
        self.fc2 = nn.Linear(16, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.relu(self.conv2(x))
        x = F.max_pool2d(x, 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def loss_fn(predictions, targets):
    return F.nll_loss(predictions, targets)


def main() -> None:
    rng = np.random.default_rng(0)
    batch = 8
    data = torch.from_numpy(rng.normal(size=(batch, 1, 10, 10))).float()
    targets = torch.from_numpy(rng.integers(0, 10, batch))
    model = initial(SimpleCNN(), 1)
    loss = loss_fn(model(data), targets)
    loss.backward()
    print("loss", loss.item())

    def one_by_one():
        gradients = []
        for i in range(batch):
            prediction = model(data[i].unsqueeze(0))
            gradients.append(torch.autograd.grad(loss_fn(prediction, targets[i : i + 1]), list(model.parameters())))
        return [torch.stack(each) for each in zip(*gradients)]

    naive = one_by_one()
    params = {name: p.detach() for name, p in model.named_parameters()}
    buffers = {name: b.detach() for name, b in model.named_buffers()}

    def compute_loss(params, buffers, sample, target):
        predictions = functional_call(model, (params, buffers), (sample.unsqueeze(0),))
        return loss_fn(predictions, target.unsqueeze(0))

    gradients = vmap(grad(compute_loss), in_dims=(None, None, 0, 0))(params, buffers, data, targets)
    for one, (name, each) in zip(naive, gradients.items()):
        print(name, tuple(each.shape), torch.allclose(one, each, atol=1e-5), each.flatten(1).norm(dim=1))
    for name, p in model.named_parameters():
        assert torch.allclose(gradients[name].mean(0), p.grad, atol=1e-5)

    # Private training: each sample's gradient is clipped to length 1, then the mean is taken.
    lengths = torch.stack([each.flatten(1).norm(dim=1) for each in gradients.values()]).norm(dim=0)
    scale = (1.0 / (lengths + 1e-6)).clamp(max=1.0)
    clipped = {name: torch.einsum("n,n...->...", scale, each) / batch for name, each in gradients.items()}
    print("lengths", lengths, "after", sum(each.pow(2).sum() for each in clipped.values()).sqrt())

    # An ensemble: the parameters of three models as one batch.
    models = [initial(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)), seed) for seed in (2, 3, 4)]
    stacked, none = stack_module_state(models)
    base = copy.deepcopy(models[0])
    points = torch.from_numpy(rng.normal(size=(5, 4))).float()

    def call(params, buffers, x):
        return functional_call(base, (params, buffers), (x,))

    together = vmap(call, in_dims=(0, 0, None))(stacked, none, points)
    print(together.mean(0).detach(), torch.allclose(together, torch.stack([m(points) for m in models]), atol=1e-6))
    own = vmap(call)(stacked, none, points[:3].unsqueeze(1))
    print(own.squeeze(1).detach())
    losses = vmap(grad_and_value(lambda p, b, x: call(p, b, x).pow(2).mean()), in_dims=(0, 0, None))(
        stacked, none, points
    )
    print(losses[1].detach(), losses[0]["2.bias"].detach())


if __name__ == "__main__":
    main()
