"""A network on a GPU, PyTorch's."""

import torch

net = torch.nn.Linear(2, 3)
net.cuda()  # stops
