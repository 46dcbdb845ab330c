"""A GPU where there is one, PyTorch's ways to ask."""

import torch

use_cuda = torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")
net = torch.nn.Linear(2, 3).to(device)
if use_cuda:
    net.cuda()
print(net(torch.zeros(1, 2, device=device)).shape)
