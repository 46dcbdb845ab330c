"""A device of PyTorch's, by text."""

import torch

device = "cuda:0"
x = torch.zeros(2, device=device)  # stops
