"""A network moved to a device that an option names."""

import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
args = parser.parse_args([])
net = torch.nn.Linear(2, 3).to(args.device)  # stops
