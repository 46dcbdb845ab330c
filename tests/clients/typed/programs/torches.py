"""mxlite.torch: a module of its own, an optimizer, a few steps."""

from __future__ import annotations

import mxlite.torch as torch
from mxlite.torch import Tensor, nn


class Net(nn.Module):
    """Two linear layers."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.first = nn.Linear(2, hidden)
        self.second = nn.Linear(hidden, 1)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = torch.tanh(self.first(x))
        result: Tensor = self.second(hidden) * self.scale
        return result


def main() -> None:
    torch.manual_seed(0)
    x = torch.rand(64, 2)
    y = (x[:, :1] * x[:, 1:]).detach()
    net = Net(8)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    measure = nn.MSELoss()
    losses: list[float] = []
    for _ in range(30):
        optimizer.zero_grad()
        loss: Tensor = measure(net(x), y)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.item()))
    assert losses[-1] < losses[0]
    assert sum(each.numel() for each in net.parameters()) == 8 * 2 + 8 + 8 + 1 + 1
    with torch.no_grad():
        assert not net(x).requires_grad
    net.load_state_dict(net.state_dict())


if __name__ == "__main__":
    main()
